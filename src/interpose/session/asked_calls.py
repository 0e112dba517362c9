"""Tool calls with a question that the host answers later: a call that is begun again is the same call."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import BegunTool

__all__ = ["AskedCalls"]

_MAX_KEPT = 1000


class AskedCalls:
    """Calls whose question has no answer yet, or whose answer the host has not acted on yet."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[str, str], BegunTool] = OrderedDict()

    def add(self, call: BegunTool) -> None:
        """Keep a call; the oldest of more than a thousand is forgotten, and judged anew if it is begun again."""
        self._calls[call.key] = call
        while len(self._calls) > _MAX_KEPT:
            self._calls.popitem(last=False)

    def discard(self, call: BegunTool) -> None:
        """Forget a call."""
        if self._calls and self._calls.get(call.key) is call:
            self._calls.pop(call.key, None)

    def find(self, begun: BegunTool) -> BegunTool | None:
        """Return the call that is begun again: with the same id, agent, name, input and hooks.

        A call that was answered meanwhile is handed out once.
        """
        call: Any = self._calls.get(begun.key)
        if call is None or not call.is_same(begun):
            return None
        if call.state != "asked":
            self.discard(call)
        return call if call.state in ("asked", "run", "denied") else None

    def clear(self) -> None:
        """Forget all calls."""
        self._calls.clear()
