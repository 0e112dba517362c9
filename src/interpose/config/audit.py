"""Read ``audit:`` of a configuration: where firings are recorded, and what happens if they cannot be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..audit.retention import Wrong, read_retention
from ..errors import nearest
from ..matching.written import as_written
from ..runtime.regex import regex
from .state import state_path

__all__ = ["AUDIT_KEYS", "default_path", "read_audit"]

AUDIT_KEYS = {"path", "required", "durable", "retention", "redact", "key", "anchor"}
_KIND = regex(r"[a-z][a-z0-9_-]{0,39}")


def default_path() -> str:
    """Return the default path of the store, in the user's state directory."""
    return state_path("audit.db")


def read_audit(given: Any, directory: str, wrong: Wrong) -> dict[str, Any] | None:
    """Return the options of the store; None if there is none, or if something is wrong."""
    if given is None or given is False:
        return None
    if given is True:
        given = {}
    if given == "required":
        given = {"required": True}
    if not isinstance(given, Mapping):
        wrong("audit", f"{as_written(given)} where a mapping is expected", "audit: {path: audit.db}, true or required")
        return None
    problems = 0

    def problem(path: str, what: str, hint: str = "") -> None:
        nonlocal problems
        problems += 1
        wrong(path, what, hint)

    made: dict[str, Any] = {"path": default_path()}
    for key, value in given.items():
        if isinstance(key, str) and key.startswith("x-"):
            continue
        if key not in AUDIT_KEYS:
            problem(f"audit.{key}", f"{key} is not a key of audit",
                    nearest(str(key), AUDIT_KEYS) or f"keys are {', '.join(sorted(AUDIT_KEYS))}")  # fmt: skip
        elif value is not None:
            made[key] = _option(key, value, directory, problem)
    return None if problems else made


def _option(key: str, value: Any, directory: str, problem: Wrong) -> Any:
    place = f"audit.{key}"
    match key:
        case "required" | "durable":
            if not isinstance(value, bool):
                problem(place, f"{type(value).__name__} where true or false is expected")
            return value
        case "path" | "anchor" | "key":
            if not isinstance(value, str) or not value.strip() or "\0" in value:
                problem(place, f"{value!r} is not the path of a file")
                return None
            if key == "key" and value.startswith("env:"):
                return value
            return os.path.join(directory or os.getcwd(), os.path.expanduser(value))
        case "retention":
            return read_retention(value, place, problem)
        case _:
            return _rules(value, place, problem)


def _rules(value: Any, place: str, problem: Wrong) -> dict[str, str]:
    """Read further rules of redaction: a kind of secret to its pattern."""
    from ..matching.names import linear

    if not isinstance(value, Mapping):
        problem(
            place, f"{type(value).__name__} where kinds and patterns are expected", "redact: {badge: 'EMP-[0-9]{6}'}"
        )
        return {}
    for kind, pattern in value.items():
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            problem(f"{place}.{kind}", f"{kind!r} cannot name a kind of secret", "small letters, digits, - and _")
        elif not isinstance(pattern, str) or not pattern:
            problem(f"{place}.{kind}", f"{pattern!r} is not a pattern", "a regular expression (RE2)")
        else:
            try:
                linear(pattern)
            except ValueError as error:
                problem(f"{place}.{kind}", f"{pattern!a} is not a regular expression: {error}",
                        "RE2 syntax: no look-around, no back-references")  # fmt: skip
    return dict(value)
