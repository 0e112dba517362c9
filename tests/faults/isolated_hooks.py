"""Functions that misbehave in a process of their own; a module, so that another process can find them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from interpose import Reply, context, deny, inject, modify


def well(event: Any) -> Reply:
    return deny(f"no {event.tool} {event.tool_input['command']}") + context("note")


async def later(event: Any) -> Reply:
    await asyncio.sleep(0)
    return deny("later")


def in_the_style_of_the_sdk(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
    return {"decision": "deny", "reason": f"{tool_use_id} {given['tool_name']}"}


def every_part(event: Any) -> Reply:
    return modify(tool_response="changed") + inject("beside", "user_message") + context("one", "two")


def pid(event: Any) -> Reply:
    return deny(str(os.getpid()))


def hangs(event: Any) -> None:
    if event.tool_input.get("command") == "hang":
        # In a session of its own, and deaf to SIGTERM.
        child = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 67 & sleep 67"], start_new_session=True)
        Path(event.tool_input["note"]).write_text(str(child.pid))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)


def exits(event: Any) -> None:
    os._exit(int(event.tool_input["command"]))


def is_killed(event: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raises(event: Any) -> None:
    raise ValueError("boom")


def leaves(event: Any) -> None:
    sys.exit(0)


def prints(event: Any) -> Reply:
    print("{}" * 1000)
    os.write(1, b"\x00\x01garbage")
    return deny("printed")


def answers_with_an_object(event: Any) -> Any:
    return {"decision": "deny", "extra": object()}


def answers_five(event: Any) -> Any:
    return 5


def takes_nothing() -> None:
    return None


def sleeps(event: Any) -> None:
    time.sleep(30)
