"""Run a line of a script: fill in its arguments, call its command, return the answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any

from ..event import Event
from ..model import Hook
from ..replies import HookFailed
from ..runtime.faults import is_awaitable
from .commands import Commands, ScriptHost
from .lines import ScriptLine, fill

__all__ = ["ScriptHandler"]

_MOST_KEPT = 100
"""How many threads of commands that hang may be left; beyond that a command fails at once."""

_kept: list[threading.Thread] = []


class ScriptHandler:
    """A handler for hooks of type ``script``: the line is the hook's handler, or its option ``line``.

    Built-in commands run where they are called. A command of the host may wait: an async one runs in the hook's task, a
    sync one in a daemon thread, so that it delays neither the loop nor the end of the process.
    """

    __slots__ = ("commands", "host")

    def __init__(self, commands: Commands, host: ScriptHost) -> None:
        self.commands = commands
        self.host = host

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Any:
        """Run the hook's line and return the answer of its command."""
        answer = self.blocking(hook, event, deadline)
        return await answer if is_awaitable(answer) else answer

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Any:
        """Do the same without an event loop; for a command that waits, return a coroutine."""
        line = hook.handler
        if not isinstance(line, ScriptLine):
            raise HookFailed("bad_handler", f"a hook of type script runs a line, not {type(line).__name__}")
        return self.run(line, event)

    def run(self, line: ScriptLine, event: Event) -> Any:
        """Run a line; return its answer, or a coroutine for it."""
        command = self.commands.get(line.command)
        if command is None:
            raise HookFailed("bad_handler", f"{line.where}: /{line.command} is not a command")
        # Built-in commands take text: a value that cannot be written must not prevent a deny.
        arguments = [fill(argument, event, lenient=command.built_in) for argument in line.arguments]
        call = partial(command.run, arguments, event, self.host)
        return call() if command.built_in or command.awaits else _in_thread(call)


async def _in_thread(call: Callable[[], Any]) -> Any:
    """Call a function in a daemon thread, in the caller's context, and wait for it."""
    import asyncio

    _kept[:] = [thread for thread in _kept if thread.is_alive()]
    if len(_kept) >= _MOST_KEPT:
        raise HookFailed("kept_limit", f"{_MOST_KEPT} threads are kept by script commands that hang")
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = copy_context()

    def tell(answer: Any, error: BaseException | None) -> None:
        if not answered.done():
            answered.set_result((answer, error))

    def job() -> None:
        answer, error = None, None
        try:
            answer = context.run(call)
        except BaseException as raised:  # raised again in the task
            error = raised
        try:
            loop.call_soon_threadsafe(tell, answer, error)
        except RuntimeError:  # the loop was closed meanwhile
            return

    thread = threading.Thread(target=job, name="interpose-script", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:  # no thread is free, or the interpreter is shutting down
        raise HookFailed("spawn_resource", f"no thread can be started: {error}") from None
    try:
        answer, broken = await answered
    except BaseException:
        _kept.append(thread)  # cancelled at its deadline
        raise
    if broken is not None:
        raise broken
    return await answer if is_awaitable(answer) else answer
