"""Run a coroutine without an event loop: a flow that is written once serves hosts with a loop and hosts without."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar, cast

__all__ = ["drive"]

_T = TypeVar("_T")


def drive(flow: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends to its end in the calling thread, and return what it returns."""
    try:
        flow.send(None)
    except StopIteration as end:
        return cast("_T", end.value)
    flow.close()
    raise RuntimeError("a coroutine that must run without an event loop has waited for one")
