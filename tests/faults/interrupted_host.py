"""A host that Ctrl-C interrupts at every moment of a firing, one after the other. It prints the moments that leave
something behind, and how many there were."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.faults import isolated_hooks
from tests.faults.commands import MARK, living, register, stop
from tests.faults.hosts import CALL, eventually

from interpose import Hooks, Reply, deny
from interpose.handlers.supervisors import pool

_MOST_DESCRIPTORS = 40
"""More than a host has that leaves none open: supervisors that were given up keep theirs until they are reaped."""


def denies(event: Any) -> Reply:
    return deny("no")


async def denies_later(event: Any) -> Reply:
    await asyncio.sleep(0)
    return deny("no")


_SERVER = {"command": sys.executable, "args": ["-S", str(Path(__file__).with_name("mcp_small_server.py"))]}

ANSWERING: dict[str, tuple[Any, dict[str, Any]]] = {
    "function": (denies, {}),
    "inline function": (denies, {"inline": True}),
    "coroutine": (denies_later, {}),
    "functions side by side": (denies, {"parallel": True}),
    "MCP tool": (None, {"server": _SERVER, "tool": "echo", "timeout": 60}),
}
"""Hooks that answer; the host fires the event once more after each interruption."""


class InterruptAt:
    """Interrupt this thread once, where a signal can: when the n-th function has begun or one of C has returned."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __enter__(self) -> None:
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _count(self, _: object, event: str, __: object) -> None:
        if event in ("call", "c_return"):
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)


def interrupt_at_every_moment(kind: str, mark: str) -> None:
    """Fire the same event again and again, and interrupt it a moment later each time."""
    sys.unraisablehook = lambda _: None  # about coroutines that are interrupted before they begin
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hooks = Hooks()
    answers = kind in ANSWERING
    if answers:
        handler, options = ANSWERING[kind]
        for number in range(2):
            hooks.register("PreToolUse", handler, name=f"hook {number}", **options)
    elif kind == "worker":
        os.environ[MARK] = mark
        hooks.register("PreToolUse", isolated_hooks.sleeps, isolate="process", timeout=0.02)
    else:
        register(hooks, "sleep 30", isolation=kind, timeout=0.02, env={MARK: mark})
    hooks.fire_sync("PreToolUse", **CALL)
    serving = len(pool._all) - len(pool._idle)  # those of MCP servers, which stay

    moment, struck = 0, True
    while struck:
        moment += 1
        interrupt = InterruptAt(moment)
        with suppress(KeyboardInterrupt), interrupt:
            hooks.fire_sync("PreToolUse", **CALL)
        struck = interrupt.left <= 0
        if answers and not hooks.fire_sync("PreToolUse", **CALL).denied:
            print("no answer after", moment)
        if not eventually(lambda: not living(mark), 3.0):
            print("outlived", moment)
            for process in living(mark):
                stop(process)
        if len(pool._idle) < len(pool._all) - serving:
            print("kept a supervisor", moment)
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            print("replaced the handler", moment)
    if len(os.listdir("/proc/self/fd")) > _MOST_DESCRIPTORS:
        print("kept descriptors")
    print("moments", moment)
