"""What a hook runs. A handler decides nothing and knows no event.

A handler is one coroutine function: it gets the hook, the hook's own copy of the event and the deadline (on the
monotonic clock), and returns the reply. Python callables are called directly; they need none.

A handler may have three attributes more. ``blocking``: the same as a plain function, for hosts without an event loop.
``ends_itself``: it ends what it runs at the deadline, and is given a moment for that. ``only_reads``: it never changes
the event, so all handlers of a firing may be given the same one.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from ..event import Event
from ..model import Hook, Seal
from ..replies import HookFailed

__all__ = ["Handler", "depth", "hold_to_trust", "progress", "trace_context"]

Handler = Callable[[Hook, Event, float], Awaitable[Any]]


def _inherited_depth() -> int:
    given = os.environ.get("INTERPOSE_DEPTH", "")
    return int(given) if given.isascii() and given.isdigit() else 0


depth: ContextVar[int] = ContextVar("interpose_depth", default=_inherited_depth())  # noqa: B039 - a number
"""How many firings this code runs inside of, those of the processes around it included."""

progress: ContextVar[Callable[[str, str], None] | None] = ContextVar("interpose_progress", default=None)
"""Where a handler reports what a running hook writes: the stream's name and the text. None if nobody listens."""


trace_context: ContextVar[Callable[[], dict[str, str]] | None] = ContextVar("interpose_trace_context", default=None)
"""Returns the variables by which a process finds the span that it runs in. None without tracing."""


def hold_to_trust(seal: Seal | None) -> None:
    """Raise HookFailed if a file that was trusted has changed since; without a seal nobody has asked for that."""
    if seal is not None and (path := seal.broken()):
        raise HookFailed("changed", f"{path} has changed since it was trusted (look at it, then: interpose trust)")
