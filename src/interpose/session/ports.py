"""What a session needs of the world: somebody who fires, and a way to call the host's functions.

The session's flow is written once, as coroutines. With these ports it runs on an event loop, or without any.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..errors import UsageError
from ..model import Outcome

__all__ = ["Asynchronous", "Blocking", "Engine", "OnLoop", "Port"]


class Asynchronous(UsageError):
    """A coroutine function where there is no event loop: the host's mistake, and not a failure of what it was to do."""


class Engine(Protocol):
    """Whoever fires: Hooks."""

    @property
    def hook_set(self) -> object:
        """The hooks as they are now: another object after every change."""

    def fire(self, event: str, /, **fields: Any) -> Awaitable[Outcome]:
        """Fire an event."""

    def fire_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event, without an event loop."""

    def fire_guards(self, event: str, /, **fields: Any) -> Awaitable[Outcome]:
        """Ask the guards only."""

    def fire_guards_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Ask the guards only, without an event loop."""

    def take_late(self, session_id: str) -> tuple[list[str], list[str]]:
        """Return what hooks in the background have said since: for the model, and for the person."""

    def scope(
        self, scope: str, hooks: Mapping[str, Any], parent: str | None = None, like: str | None = None
    ) -> AbstractContextManager[object]:
        """Hold hooks for one agent as long as a block runs."""


class Port(Protocol):
    """One way to fire and to call."""

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event."""

    async def fire_guards(self, event: str, /, **fields: Any) -> Outcome:
        """Ask the guards only."""

    async def fire_at_last(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event although the host is being cancelled."""

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call one of the host's functions."""


class OnLoop:
    """Fires and calls on the running event loop."""

    def __init__(self, engine: Engine) -> None:
        self.fire: Callable[..., Awaitable[Outcome]] = engine.fire
        self.fire_guards: Callable[..., Awaitable[Outcome]] = engine.fire_guards

    async def fire_at_last(self, event: str, /, **fields: Any) -> Outcome:
        """Fire in a task of its own and wait for it, although the one that calls may be on its way out."""
        from asyncio import CancelledError, ensure_future, shield

        async def fire() -> Outcome:
            return await self.fire(event, **fields)

        firing, again = ensure_future(fire()), None
        while not firing.done():
            try:
                await shield(firing)
            except CancelledError as error:  # of the caller, once more; what was begun has a deadline of its own
                again = error
        if again is not None and not firing.cancelled():
            firing.exception()  # was seen
            raise again
        return firing.result()

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and wait for what it returns, if that can be awaited."""
        value = function(*arguments)
        return await value if inspect.isawaitable(value) else value


class Blocking:
    """Fires and calls in the caller's thread; never waits for an event loop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event."""
        return self._engine.fire_sync(event, **fields)

    async def fire_guards(self, event: str, /, **fields: Any) -> Outcome:
        """Ask the guards only."""
        return self._engine.fire_guards_sync(event, **fields)

    fire_at_last = fire

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, which must not be a coroutine function."""
        value = function(*arguments)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise Asynchronous(
                f"{getattr(function, '__qualname__', function)!s} is asynchronous, this session is not",
                hint="use hooks.session() in an event loop",
            )
        return value
