"""Handlers run what a hook names: a command, a script line, a function in a process of its own.

A handler is a coroutine function: it takes the hook, the hook's copy of the event and the deadline on the monotonic
clock, and returns the answer. It decides nothing and knows no event by name. Python callables need no handler; they are
called directly.

A handler may have four more attributes. ``blocking`` is the same as a plain function, for hosts without an event loop.
``ends_itself`` says that the handler ends what it runs at the deadline, and needs a moment for that. ``only_reads``
says that it never changes the event, so all handlers of a firing can share one copy. ``close`` ends what it keeps
between events: ``Hooks.close()`` calls it.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from ..event import Event
from ..model import Hook, Seal
from ..replies import HookFailed

__all__ = ["Handler", "depth", "hold_to_trust", "inherited_depth", "progress", "trace_context"]

Handler = Callable[[Hook, Event, float], Awaitable[Any]]


def inherited_depth() -> int:
    """Return how many firings of parent processes this process runs inside, as its environment says."""
    given = os.environ.get("INTERPOSE_DEPTH", "")
    return int(given) if given.isascii() and given.isdigit() else 0


depth: ContextVar[int] = ContextVar("interpose_depth", default=inherited_depth())  # noqa: B039 - a number
"""The number of firings that this code runs inside, including those of parent processes."""

progress: ContextVar[Callable[[str, str], None] | None] = ContextVar("interpose_progress", default=None)
"""Takes what a running hook writes: the name of the stream and the text. None if it is not wanted."""


trace_context: ContextVar[Callable[[], dict[str, str]] | None] = ContextVar("interpose_trace_context", default=None)
"""Returns the variables by which a process finds the span that it runs in. None without tracing."""


def hold_to_trust(seal: Seal | None) -> None:
    """Raise HookFailed if the snapshot that a hook is run from does not exist any more."""
    if seal is not None and (path := seal.broken()):
        raise HookFailed("changed", f"what was trusted is gone: {path} (look at it again, then: interpose trust)")
