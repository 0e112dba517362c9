"""What has to be made anew in the child after a fork: locks, threads and counts that belong to the parent.

A module or an object registers a callable once; the child calls all of them, in the order of registration.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from types import MethodType

__all__ = ["after_fork"]

_callbacks: list[Callable[[], Callable[[], None] | None]] = []


def after_fork(callback: Callable[[], None]) -> Callable[[], None]:
    """Call this in the child after every fork. A bound method does not keep its object alive."""
    if isinstance(callback, MethodType):
        _callbacks[:] = [reference for reference in _callbacks if reference() is not None]
        _callbacks.append(weakref.WeakMethod(callback))
    else:
        _callbacks.append(lambda: callback)
    return callback


def _run_callbacks() -> None:
    for reference in tuple(_callbacks):
        if (callback := reference()) is not None:
            callback()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_run_callbacks)
