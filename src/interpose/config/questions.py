"""Read ``questions:`` of a configuration: how long a question waits for a person, and what happens then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..audit.retention import Wrong
from ..errors import InterposeError, Problem, nearest
from ..matching.written import as_written
from .declare import duration

__all__ = ["QUESTION_KEYS", "needs_audit", "read_questions"]

QUESTION_KEYS = {"wait", "default"}
_SHORTEST, _LONGEST = 1.0, 24 * 3600.0
_DEFAULT = 300.0


def needs_audit(questions: Mapping[str, Any]) -> Problem:
    """Return the problem of a configuration with questions and without a record."""
    return Problem("questions wait in the record, and there is none", where=questions["place"],
                   hint="add `audit: true`, or audit: with a path")  # fmt: skip


def read_questions(given: Any, wrong: Wrong, place: str) -> dict[str, Any] | None:
    """Return the options of questions; None if there are none, or if something is wrong."""
    if given is None or given is False:
        return None
    if given is True:
        given = {}
    if not isinstance(given, Mapping):
        wrong("questions", f"{as_written(given)} where a mapping is expected", "questions: {wait: 5m, default: deny}")
        return None
    wait, good = _DEFAULT, True
    for key, value in given.items():
        if isinstance(key, str) and key.startswith("x-"):
            continue
        if key not in QUESTION_KEYS:
            hint = nearest(str(key), QUESTION_KEYS) or f"keys are {', '.join(sorted(QUESTION_KEYS))}"
            wrong(f"questions.{key}", f"{key} is not a key of questions", hint)
            good = False
        elif key == "default" and value not in (None, "deny"):
            wrong("questions.default", f"{as_written(value)}: a question without an answer can only be denied", "deny")
            good = False
        elif key == "wait" and value is not None:
            try:
                wait = duration("wait", value)
            except InterposeError as error:
                wrong("questions.wait", error.problem.what, error.problem.hint)
                good = False
                continue
            if not _SHORTEST <= wait <= _LONGEST:
                wrong("questions.wait", f"{as_written(value)} is not between 1s and 24h", "such as 5m")
                good = False
    return {"wait": wait, "place": place or "questions"} if good else None
