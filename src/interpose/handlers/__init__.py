"""What a hook runs. A handler decides nothing and knows no event.

A handler is one coroutine function: it gets the hook, the hook's own copy of the event and the deadline (on the
monotonic clock), and returns the reply. Python callables are called directly; they need none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..model import Hook
from ..payload import Event

__all__ = ["Handler"]

Handler = Callable[[Hook, Event, float], Awaitable[Any]]
