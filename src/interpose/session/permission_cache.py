"""Answers to permission questions, so that a call that is made again is not asked about again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..records import Record
from .permission import By

__all__ = ["PermissionAnswer", "PermissionCache"]

_MAX_REMEMBERED = 1000


class PermissionAnswer(Record, kw_only=False):
    """The answer to a permission question: why the call is refused, or nothing; and the input, if it was changed."""

    refused: str = ""
    changed: Any = None
    final: bool = True
    """Whether the answer is kept; False where the question could not be asked."""
    by: By = "person"
    hook: str = ""
    place: str = ""
    asked_at: float | None = None
    answered_at: float | None = None
    person: str = ""
    """Who answered, if that is known; and in ``question`` the id of a question that waited in the record."""
    question: str = ""
    remembered: str = ""
    """``session`` if the answer holds for later calls that the same rule or hook asks about."""


Asked = tuple[str, ...]
"""What is asked about: the agent, the tool, the rule or the hook that asks, and its reason."""


class PermissionCache:
    """Answers by call id, tool and input, and those that hold for a session. An answer holds as long as the hooks and
    rules stay the same.
    """

    def __init__(self, hook_set: Callable[[], object]) -> None:
        self._hook_set = hook_set
        self._answers: OrderedDict[tuple[str, str, str], tuple[object, PermissionAnswer]] = OrderedDict()
        self._of_session: OrderedDict[Asked, tuple[object, PermissionAnswer]] = OrderedDict()

    @property
    def hook_set(self) -> object:
        """The hooks and rules that judge a call now; read before a question is asked."""
        return self._hook_set()

    def recall(self, call_id: str, tool: str, given: Any) -> PermissionAnswer | None:
        """Return the answer to a question, if it still holds."""
        key = _key(call_id, tool, given)
        hooks, answer = self._answers.get(key, (None, None)) if key else (None, None)
        return answer if answer is not None and hooks == self._hook_set() else None

    def remember(self, call_id: str, tool: str, given: Any, answer: PermissionAnswer, hook_set: object) -> None:
        """Keep an answer that was given while these hooks and rules held."""
        key = _key(call_id, tool, given)
        if key is None or not answer.final or answer.remembered:
            return
        self._answers[key] = (hook_set, answer)
        while len(self._answers) > _MAX_REMEMBERED:
            self._answers.popitem(last=False)

    def recall_for_session(self, asked: Asked) -> PermissionAnswer | None:
        """Return the answer that a person gave for the session, if it still holds."""
        hooks, answer = self._of_session.get(asked, (None, None))
        return answer if answer is not None and hooks == self._hook_set() else None

    def remember_for_session(self, asked: Asked, answer: PermissionAnswer, hook_set: object) -> None:
        """Keep an answer that was given for the session while these hooks and rules held."""
        if answer.remembered != "session" or answer.refused or not answer.final:
            return
        self._of_session[asked] = (hook_set, answer)
        while len(self._of_session) > _MAX_REMEMBERED:
            self._of_session.popitem(last=False)


def _key(call_id: str, tool: str, given: Any) -> tuple[str, str, str] | None:
    """Return the key of a question; None for an input that is not JSON, which is asked about each time."""
    try:
        return call_id, tool, json.dumps(given, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None
