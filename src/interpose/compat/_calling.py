"""Call a handler the way its own system calls it, and hand the engine what the answer means.

The engine runs hooks of one event. A handler of another system takes other arguments and speaks in other words:
``enter`` makes its arguments of the event, ``leave`` makes a reply of its answer. Where it runs, for how long and what
its failure means stays with the engine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable, signature
from typing import Any

from ..dialects import native
from ..errors import BadHook
from ..event import Event
from ..events import Row
from ..handlers.python import is_async, label_of
from ..records import replace
from ..replies import Failure, HookFailed, Reply

__all__ = ["Adapted", "adapted", "understood"]

Arguments = tuple[Any, ...]
Enter = Callable[[Event], Arguments]
Leave = Callable[[Event, Arguments, Any], Any]
Broke = Callable[[Arguments, Exception], Any]


class Adapted:
    """A handler of another system, callable as the engine calls a hook."""

    def __init__(self, handler: Callable[..., Any], enter: Enter, leave: Leave, broke: Broke, name: str) -> None:
        self.handler = handler
        self._enter = enter
        self._leave = leave
        self._broke = broke
        # What the engine shows of a callable: its name and where it was written.
        self.__qualname__ = name
        self.__code__ = getattr(handler, "__code__", None)

    @property
    def awaits(self) -> bool:
        """Whether a handler that is imported when it is first called has turned out to be async."""
        return bool(getattr(self.handler, "awaits", False))

    def __call__(self, event: Event) -> Any:
        """Call the handler; an answer that must be awaited first comes back as something to await."""
        arguments = self._enter(event)
        try:
            answer = self.handler(*arguments)
        except Exception as error:
            return self._broke(arguments, error)
        if isawaitable(answer):
            return self._later(event, arguments, answer)
        return self._leave(event, arguments, answer)

    async def _later(self, event: Event, arguments: Arguments, answer: Awaitable[Any]) -> Any:
        try:
            said = await answer
        except Exception as error:
            return self._broke(arguments, error)
        return self._leave(event, arguments, said)


class _AdaptedCoroutine(Adapted):
    """The same for a coroutine function, so that the engine can see that it is one."""

    async def __call__(self, event: Event) -> Any:
        arguments = self._enter(event)
        return await self._later(event, arguments, self.handler(*arguments))


def _raise(_: Arguments, error: Exception) -> Any:
    raise error


def adapted(
    handler: Any, takes: int, enter: Enter, leave: Leave, *, broke: Broke = _raise, name: str | None = None
) -> Adapted:
    """Return a hook for the engine, after making sure that the handler can be called with so many arguments."""
    label = name or label_of(handler)
    if not callable(handler):
        raise BadHook(f"{label} cannot be called", hint="give a function")
    try:
        signature(handler).bind(*(None for _ in range(takes)))
    except TypeError as error:
        raise BadHook(f"{label} is called with {takes} argument{'s' * (takes > 1)}: {error}") from None
    except ValueError:  # some functions written in C do not say what they take
        pass
    return (_AdaptedCoroutine if is_async(handler) else Adapted)(handler, enter, leave, broke, label)


def understood(row: Row, answer: object, said: object) -> Reply:
    """Return what the engine reads in an answer, with what was said kept beside it as evidence."""
    reply = native.read(row, answer)
    if isinstance(reply, Failure):
        raise HookFailed(reply.code, reply.text)
    return replace(reply, evidence={"said": said})
