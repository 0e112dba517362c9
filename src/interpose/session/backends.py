"""How a session fires events and calls the host's functions: on an event loop, or in the caller's thread.

The session is written once, as coroutines. ``AsyncBackend`` awaits; ``SyncBackend`` never suspends.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..engine import Engine
from ..errors import UsageError
from ..executors.blocking import blocking_executor
from ..model import Outcome

__all__ = ["AsyncBackend", "AsyncFunction", "Backend", "HookEngine", "SyncBackend"]


class AsyncFunction(UsageError):
    """A host function is async and there is no event loop: a mistake of the host, not a failure of the action."""


class HookEngine(Protocol):
    """What a session uses of ``Hooks``."""

    engine: Engine

    def fire(self, event: str, /, **fields: Any) -> Awaitable[Outcome]:
        """Fire an event."""

    def fire_sync(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event, without an event loop."""

    def scope(
        self, scope: str, hooks: Mapping[str, Any], parent: str | None = None, like: str | None = None
    ) -> AbstractContextManager[object]:
        """Register hooks for one agent for the duration of a block."""


class Backend(Protocol):
    """One way to fire events and to call the host's functions."""

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event."""

    async def fire_guards(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event for the guards only."""

    async def fire_shielded(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event even if the host is being cancelled."""

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call one of the host's functions."""

    async def wait(self, awaitable: Awaitable[None]) -> None:
        """Wait for a recorder."""


class AsyncBackend:
    """Fires and calls on the running event loop."""

    def __init__(self, engine: HookEngine) -> None:
        self.fire: Callable[..., Awaitable[Outcome]] = engine.fire
        self.fire_guards: Callable[..., Awaitable[Outcome]] = engine.engine.fire_guards

    async def fire_shielded(self, event: str, /, **fields: Any) -> Outcome:
        """Fire in a new task and wait for it; a cancellation of the caller is raised afterwards."""
        from asyncio import CancelledError, ensure_future, shield

        async def fire() -> Outcome:
            return await self.fire(event, **fields)

        firing, again = ensure_future(fire()), None
        while not firing.done():
            try:
                await shield(firing)
            except CancelledError as error:  # of the caller; the firing has its own deadline
                again = error
        if again is not None and not firing.cancelled():
            firing.exception()  # marks it as retrieved
            raise again
        return firing.result()

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and await what it returns, if that is awaitable."""
        value = function(*arguments)
        return await value if inspect.isawaitable(value) else value

    @staticmethod
    async def wait(awaitable: Awaitable[None]) -> None:
        """Wait for a recorder."""
        await awaitable


class SyncBackend:
    """Fires and calls in the caller's thread, without an event loop."""

    def __init__(self, engine: HookEngine) -> None:
        self._engine = engine

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event."""
        return self._engine.fire_sync(event, **fields)

    async def fire_guards(self, event: str, /, **fields: Any) -> Outcome:
        """Fire an event for the guards only."""
        return await self._engine.engine.fire_guards(event, blocking_executor, **fields)

    fire_shielded = fire
    wait = staticmethod(blocking_executor.wait)

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; raise AsyncFunction if it returns an awaitable, unless that can wait in a thread too."""
        value = function(*arguments)
        block = getattr(value, "block", None)
        if block is not None and inspect.isawaitable(value):
            return block()
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise AsyncFunction(
                f"{getattr(function, '__qualname__', function)!s} is asynchronous, this session is not",
                hint="use hooks.session() in an event loop",
            )
        return value
