"""Run coroutines by hand: a flow that is written once serves hosts with an event loop and hosts without."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from types import coroutine
from typing import Any, TypeVar, cast

__all__ = ["Begun", "Flow", "begin", "drive", "go_on"]

_T = TypeVar("_T")
_ENDED = object()

Flow = Coroutine[Any, Any, None]
Begun = tuple[Context, Flow, Any]
"""A coroutine that has begun in a context of its own, and what it waits for."""


def drive(flow: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends to its end in the calling thread, and return what it returns."""
    try:
        flow.send(None)
    except StopIteration as end:
        return cast("_T", end.value)
    flow.close()
    raise RuntimeError("a coroutine that must run without an event loop has waited for one")


def begin(flow: Flow) -> Begun | None:
    """Begin a coroutine here, in a copy of the context; return what ``go_on`` takes, or None if it has ended."""
    context = copy_context()
    waits_for = context.run(next, flow.__await__(), _ENDED)  # ends without an exception, unlike send()
    return None if waits_for is _ENDED else (context, flow, waits_for)


@coroutine
def go_on(context: Context, flow: Flow, waits_for: Any) -> Generator[Any, Any, None]:
    """Go on with a coroutine that has begun in a context of its own."""
    while True:
        try:
            try:
                sent = yield waits_for
            except BaseException as error:
                waits_for = context.run(flow.throw, error)
            else:
                waits_for = context.run(flow.send, sent)
        except StopIteration:
            return
