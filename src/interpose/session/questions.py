"""Questions that were answered: a call that is made again need not be asked about again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..records import Record

__all__ = ["Questions", "Said"]

_MOST_REMEMBERED = 1000


class Said(Record, kw_only=False):
    """What somebody said to a call: why not, or nothing; and the input, if it was changed."""

    refused: str = ""
    changed: Any = None
    final: bool = True
    """Whether that is an answer; where nobody could be asked, another attempt may have one."""


class Questions:
    """An answer holds for that call, that input and those hooks: whatever is different is another question."""

    def __init__(self, hook_set: Callable[[], object]) -> None:
        self._hook_set = hook_set
        self._answers: OrderedDict[tuple[str, str, str], tuple[object, Said]] = OrderedDict()

    @property
    def hook_set(self) -> object:
        """The hooks that a question is asked under; taken before it is asked."""
        return self._hook_set()

    def recall(self, call_id: str, tool: str, given: Any) -> Said | None:
        """Return what was answered, if it still holds."""
        key = _key(call_id, tool, given)
        hooks, said = self._answers.get(key, (None, None)) if key else (None, None)
        return said if hooks is self._hook_set() else None

    def remember(self, call_id: str, tool: str, given: Any, said: Said, hook_set: object) -> None:
        """Keep an answer that was given while those hooks held."""
        key = _key(call_id, tool, given)
        if key is None or not said.final:
            return
        self._answers[key] = (hook_set, said)
        while len(self._answers) > _MOST_REMEMBERED:
            self._answers.popitem(last=False)


def _key(call_id: str, tool: str, given: Any) -> tuple[str, str, str] | None:
    """Tell questions apart; None where that is not certain, so that what JSON cannot say is asked about each time."""
    try:
        return call_id, tool, json.dumps(given, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None
