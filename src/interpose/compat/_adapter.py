"""Call a handler of another system with that system's arguments, and translate its answer for the engine.

``make_arguments`` makes the arguments of a handler from the event, ``read_answer`` makes a reply from its answer. Where
the handler runs, its deadline and the meaning of its failure are the engine's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable, signature
from typing import Any

from ..dialects import native
from ..errors import BadHook
from ..event import Event
from ..events import EventSpec
from ..handlers.python import is_async, label_of
from ..records import replace
from ..replies import Failure, HookFailed, Reply

__all__ = ["AdaptedHook", "adapted", "read_reply"]

Arguments = tuple[Any, ...]
MakeArguments = Callable[[Event], Arguments]
ReadAnswer = Callable[[Event, Arguments, Any], Any]
OnError = Callable[[Arguments, Exception], Any]


class AdaptedHook:
    """A handler of another system, callable as the engine calls a hook."""

    def __init__(
        self,
        handler: Callable[..., Any],
        make_arguments: MakeArguments,
        read_answer: ReadAnswer,
        on_error: OnError,
        name: str,
    ) -> None:
        self.handler = handler
        self._make_arguments = make_arguments
        self._read_answer = read_answer
        self._on_error = on_error
        # The engine reads the name of a callable and its source line from these.
        self.__qualname__ = name
        self.__code__ = getattr(handler, "__code__", None)

    @property
    def awaits(self) -> bool:
        """Whether a handler that is imported at its first call is async."""
        return bool(getattr(self.handler, "awaits", False))

    def __call__(self, event: Event) -> Any:
        """Call the handler and return the reply, or a coroutine of it if the answer is awaitable."""
        arguments = self._make_arguments(event)
        try:
            answer = self.handler(*arguments)
        except Exception as error:
            return self._on_error(arguments, error)
        if isawaitable(answer):
            return self._await_answer(event, arguments, answer)
        return self._read_answer(event, arguments, answer)

    async def _await_answer(self, event: Event, arguments: Arguments, answer: Awaitable[Any]) -> Any:
        try:
            said = await answer
        except Exception as error:
            return self._on_error(arguments, error)
        return self._read_answer(event, arguments, said)


class _AdaptedCoroutineHook(AdaptedHook):
    """An adapted coroutine function, which the engine recognises as one."""

    async def __call__(self, event: Event) -> Any:
        arguments = self._make_arguments(event)
        return await self._await_answer(event, arguments, self.handler(*arguments))


def _raise(_: Arguments, error: Exception) -> Any:
    raise error


def adapted(
    handler: Any,
    takes: int,
    make_arguments: MakeArguments,
    read_answer: ReadAnswer,
    *,
    on_error: OnError = _raise,
    name: str | None = None,
) -> AdaptedHook:
    """Return a hook for the engine; raise BadHook if the handler cannot be called with so many arguments."""
    label = name or label_of(handler)
    if not callable(handler):
        raise BadHook(f"{label} cannot be called", hint="give a function")
    try:
        signature(handler).bind(*(None for _ in range(takes)))
    except TypeError as error:
        raise BadHook(f"{label} is called with {takes} argument{'s' * (takes > 1)}: {error}") from None
    except ValueError:  # some functions written in C have no signature
        pass
    return (_AdaptedCoroutineHook if is_async(handler) else AdaptedHook)(
        handler, make_arguments, read_answer, on_error, label
    )


def read_reply(row: EventSpec, answer: object, original: object) -> Reply:
    """Return the engine's reply for an answer, with the original answer as evidence."""
    reply = native.read(row, answer)
    if isinstance(reply, Failure):
        raise HookFailed(reply.code, reply.text)
    return replace(reply, evidence={"said": original})
