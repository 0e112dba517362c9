"""Coroutines that never wait for an event loop: a flow that is written once serves hosts with a loop and without."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["drive"]

_T = TypeVar("_T")


def drive(flow: Coroutine[Any, Any, _T]) -> _T:
    """Run such a coroutine to its end in the calling thread, and return what it returns."""
    try:
        flow.send(None)
    except StopIteration as end:
        value: _T = end.value
        return value
    flow.close()
    raise RuntimeError("what was to run without an event loop waited for one")
