"""Fire events in the current directory and print what each hook did: run as a script, in a process of its own.

It reads a request from standard input: `files` to load in place, or none to use what is found and trusted, and the
`events`, each a name with its fields. For each event the configuration is loaded anew. It imports nothing of the
benchmarks, so hooks get an environment without them.
"""

import asyncio
import json
import sys
import time
from contextlib import suppress
from typing import Any

from interpose import Hooks, InterposeError
from interpose.handlers.command import CommandHandler

PATIENCE = 10.0
"""Seconds for each hook."""


class Recording(CommandHandler):
    """Runs commands as they are, and keeps how each ended."""

    def __init__(self) -> None:
        self.ended: dict[str, dict[str, Any]] = {}
        self.changed = asyncio.Event()

    async def __call__(self, hook: Any, event: Any, deadline: float) -> Any:
        ended = await super().__call__(hook, event, min(deadline, time.monotonic() + PATIENCE))
        self.ended[key(hook)] = {
            "status": ended.status,
            "stdout": ended.stdout.decode("utf-8", "replace"),
            "stderr": ended.stderr,
            "failure": ended.failure.code if ended.failure else "",
        }
        self.changed.set()
        return ended

    async def wait(self, expected: set[str]) -> None:
        """Wait for hooks in the background."""
        while not self.ended.keys() >= expected:
            self.changed.clear()
            await self.changed.wait()

    blocking = None  # type: ignore[assignment]  # so that every command, also one in the background, comes through here


def key(hook: Any) -> str:
    return f"{hook.event} {hook.source} {hook.label}"


def load(request: dict[str, Any]) -> Hooks:
    if request["files"]:
        return Hooks.load(*request["files"], dialect=request["dialect"])
    return Hooks.discover(".", dialect=request["dialect"])


async def fire(hooks: Hooks, event: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the hooks that are armed for an event, how those that ran ended, and what was decided."""
    recording = Recording()
    hooks.add_handler("command", recording)
    outcome = (await hooks.fire(event, **fields)).to_dict()
    armed = {key(hook): hook for hook in hooks if hook.event == outcome["event"]}
    ran = {result["hook"]: result for result in outcome["results"] if result["status"] != "skipped"}
    behind = {name for name, hook in armed.items() if hook.background and hook.type == "command" and hook.label in ran}
    with suppress(TimeoutError):
        await asyncio.wait_for(recording.wait(behind), 2 * PATIENCE)
    for name, hook in armed.items():
        if hook.type != "command" and (result := ran.get(hook.label)):
            recording.ended[name] = {
                "status": 0, "stdout": result["decision"], "stderr": result["reason"],
                "failure": "" if result["status"] == "ok" else result["status"],
            }  # fmt: skip
    said = {name: outcome[name] for name in ("decision", "reason", "context", "messages", "inject", "stop_reason")}
    lines = {name: str(hook.handler) for name, hook in armed.items()}
    return {"armed": lines, "ended": recording.ended, "said": said}


def main() -> None:
    request = json.load(sys.stdin)
    found: list[dict[str, Any]] = []
    for event, fields in request["events"]:
        try:
            found.append(asyncio.run(fire(load(request), event, fields)))
        except InterposeError as error:
            found.append({"problem": str(error)})
    # A hook may write to our standard output too, so this is the last line.
    print(f"\n{json.dumps(found)}")


if __name__ == "__main__":
    main()
