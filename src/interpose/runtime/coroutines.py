"""Run a coroutine without an event loop: a flow that is written once serves hosts with a loop and hosts without."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from types import FunctionType
from typing import Any, TypeVar, cast

__all__ = ["TASKS_BEGIN_AT_ONCE", "drive", "is_coroutine_function"]

_T = TypeVar("_T")


TASKS_BEGIN_AT_ONCE = sys.version_info >= (3, 12)
"""Whether a task can begin in the turn of the event loop in which it is made."""

_COROUTINE = 0x80  # as inspect calls it, which takes long to load


def is_coroutine_function(function: object) -> bool:
    """Say whether a call certainly returns a coroutine."""
    return type(function) is FunctionType and bool(function.__code__.co_flags & _COROUTINE)


def drive(flow: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends to its end in the calling thread, and return what it returns."""
    try:
        flow.send(None)
    except StopIteration as end:
        return cast("_T", end.value)
    flow.close()
    raise RuntimeError("a coroutine that must run without an event loop has waited for one")
