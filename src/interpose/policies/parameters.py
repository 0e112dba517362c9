"""Parameters of policies: what each is for, its default, and how its value is read."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import BadHook, nearest
from ..matching.paths import PathPattern
from ..matching.written import as_written
from ..records import Record, made_by
from ..runtime.regex import regex

__all__ = [
    "Parameter",
    "action",
    "actions_by_path",
    "count",
    "duration",
    "flag",
    "known_names",
    "names",
    "one_of",
    "paths",
    "patterns",
    "size",
    "text",
    "texts_by_name",
    "written",
]

_PLAIN = regex(r"[A-Za-z](?:[\w ./+-]*[\w./+-])?|\d+[A-Za-z]+")
"""Texts that need no quotes in YAML."""
_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_BY_NAME = {"type": "object", "additionalProperties": {"type": "string"}}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Parameter(Record, kw_only=False):
    """A parameter of a policy."""

    name: str
    read: Callable[[Any], Any]
    """Returns the checked value; raises BadHook with what is expected."""
    default: Any
    purpose: str
    """What it decides, in a few words."""
    expects: str = ""
    """What can be written, for the page and the schema."""
    schema: Mapping[str, Any] = made_by(factory=dict)
    """The JSON Schema of what can be written; empty for anything."""


def action(name: str, default: str, purpose: str) -> Parameter:
    """Return a parameter that says what is done: deny, ask or allow."""
    return one_of(name, ("deny", "ask", "allow"), default, purpose)


def one_of(name: str, choices: tuple[str, ...], default: str, purpose: str) -> Parameter:
    """Return a parameter with a fixed set of words."""

    def read(value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise BadHook(
            f"{as_written(value)} is not a choice",
            hint=nearest(str(value), choices) or f"choose {', '.join(choices)}",
        )

    return Parameter(name, read, default, purpose, ", ".join(choices), {"enum": list(choices)})


def names(
    name: str, default: tuple[str, ...], purpose: str, expects: str = "a list of names; * stands for any text"
) -> Parameter:
    """Return a parameter that is a list of texts; one text is a list of one."""

    def read(value: Any) -> tuple[str, ...]:
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) and one for one in given):
            raise BadHook(f"{as_written(value)} where a list of texts is expected", hint=expects)
        return tuple(given)

    texts = {"type": "array", "items": {"type": "string", "minLength": 1}}
    return Parameter(name, read, default, purpose, expects, {"anyOf": [{"type": "string"}, texts]})


def known_names(name: str, known: tuple[str, ...], purpose: str) -> Parameter:
    """Return a parameter that is a list of known names, all of them by default; ``*`` stands for any text."""
    given = names(name, ("*",), purpose, f"a list of {', '.join(known)}; * stands for any text")

    def read(value: Any) -> tuple[str, ...]:
        found: tuple[str, ...] = given.read(value)
        for one in found:
            if not any(fnmatch.fnmatchcase(other, one) for other in known):
                raise BadHook(f"there is no {one}", hint=nearest(one, known) or given.expects)
        return found

    return Parameter(name, read, ("*",), purpose, given.expects, given.schema)


def text(name: str, default: str, purpose: str) -> Parameter:
    """Return a parameter that is a text."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise BadHook(f"{as_written(value)} where text is expected")
        return value

    return Parameter(name, read, default, purpose, "text", {"type": "string"})


def flag(name: str, default: bool, purpose: str) -> Parameter:
    """Return a parameter that is true or false."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise BadHook(f"{as_written(value)} where true or false is expected")
        return value

    return Parameter(name, read, default, purpose, "true or false", {"type": "boolean"})


def count(name: str, default: int | None, purpose: str, *, fraction: bool = False) -> Parameter:
    """Return a parameter that is a number above 0, or null for no limit."""

    def read(value: Any) -> float | None:
        kinds = (int, float) if fraction else int
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < 1e15:
            raise BadHook(f"{as_written(value)} is not a number above 0", hint="null means no limit")
        return value

    kind = "number" if fraction else "integer"
    limit = {"type": [kind, "null"], "exclusiveMinimum": 0}
    return Parameter(name, read, default, purpose, "a number above 0", limit)


def size(name: str, default: str | None, purpose: str) -> Parameter:
    """Return a parameter that is a number of bytes: ``1MiB``, ``500 kB`` or a whole number."""

    def read(value: Any) -> int | None:
        if value is None:
            return None
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(value))
        if isinstance(value, bool) or found is None or found[2].lower() not in _UNITS:
            raise BadHook(f"{as_written(value)} is not a size", hint="write 1MiB, 500kB or a number of bytes")
        return int(float(found[1]) * _UNITS[found[2].lower()])

    return Parameter(name, read, default, purpose, "a size such as 1MiB", {"type": ["string", "number", "null"]})


def duration(name: str, default: str | None, purpose: str) -> Parameter:
    """Return a parameter that is a time in seconds: ``90s``, ``15m``, ``2h`` or a number."""

    def read(value: Any) -> float | None:
        if value is None:
            return None
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*", str(value))
        if isinstance(value, bool) or found is None or float(found[1]) == 0:
            raise BadHook(f"{as_written(value)} is not a duration", hint="write 90s, 15m or 2h")
        return float(found[1]) * _SECONDS[found[2] or "s"]

    return Parameter(name, read, default, purpose, "a time such as 15m", {"type": ["string", "number", "null"]})


def patterns(name: str, purpose: str) -> Parameter:
    """Return a parameter that maps names to regular expressions."""

    def read(value: Any) -> Mapping[str, re.Pattern[str]]:
        found = {}
        for key, expression in _texts(value).items():
            try:
                found[key] = re.compile(expression)
            except re.error as error:
                raise BadHook(f"{key}: {expression!r} is not a regular expression: {error}") from None
        return found

    return Parameter(name, read, {}, purpose, "names and regular expressions", _BY_NAME)


def texts_by_name(name: str, purpose: str, expects: str) -> Parameter:
    """Return a parameter that maps names to texts."""
    return Parameter(name, _texts, {}, purpose, expects, _BY_NAME)


def actions_by_path(name: str, purpose: str) -> Parameter:
    """Return a parameter that maps patterns of paths to deny, ask or allow."""
    one = action(name, "ask", purpose)

    def read(value: Any) -> tuple[tuple[PathPattern, str], ...]:
        return tuple((_path(pattern), one.read(word)) for pattern, word in _texts(value).items())

    return Parameter(name, read, {}, purpose, "patterns of paths, each with deny, ask or allow", _BY_NAME)


def paths(name: str, purpose: str) -> Parameter:
    """Return a parameter that is a list of patterns of paths."""
    given = names(name, (), purpose, "a list of patterns such as ~/notes/** or //srv/data/**")

    def read(value: Any) -> tuple[PathPattern, ...]:
        return tuple(map(_path, given.read(value)))

    return Parameter(name, read, (), purpose, given.expects, given.schema)


def _path(pattern: str) -> PathPattern:
    try:
        return PathPattern(pattern)
    except ValueError as error:
        raise BadHook(f"{pattern!r} is not a pattern of paths: {error}") from None


def _texts(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise BadHook(f"{as_written(value)} where names and texts are expected")
    return dict(value)


def written(value: Any) -> str:
    """Return a value as it is written in YAML, on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(written(one) for one in value) + "]"
    if isinstance(value, str) and (not _PLAIN.fullmatch(value) or value.lower() in ("true", "false", "null")):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
