"""Questions that were answered: a call that is made again need not be asked about again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

__all__ = ["Questions"]

_MOST_REMEMBERED = 1000

Said = tuple[str, Any]
"""Why not, or nothing; and the input, if it was changed."""


class Questions:
    """An answer holds for that call, that input and those hooks: whatever is different is another question."""

    def __init__(self, hook_set: Callable[[], object]) -> None:
        self._hook_set = hook_set
        self._answers: OrderedDict[tuple[str, str, str], tuple[object, Said]] = OrderedDict()

    def recall(self, call_id: str, tool: str, given: Any) -> Said | None:
        """Return what was answered, if it still holds."""
        hooks, said = self._answers.get(_key(call_id, tool, given), (None, None))
        return said if hooks is self._hook_set() else None

    def remember(self, call_id: str, tool: str, given: Any, said: Said) -> None:
        """Keep an answer."""
        self._answers[_key(call_id, tool, given)] = (self._hook_set(), said)
        while len(self._answers) > _MOST_REMEMBERED:
            self._answers.popitem(last=False)


def _key(call_id: str, tool: str, given: Any) -> tuple[str, str, str]:
    # What JSON cannot say is told apart by its own words; two objects that say the same of themselves are the same.
    try:
        return call_id, tool, json.dumps(given, sort_keys=True, default=repr)
    except (TypeError, ValueError):  # keys that are no text, or a circle
        return call_id, tool, repr(given)
