"""Retention: how long records are kept, and how large a store may become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import UsageError
from ..records import Record
from ..runtime.regex import regex

__all__ = ["SMALLEST", "Retention", "read_retention", "retention_of"]

_AGES = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_536_000.0}
_SIZES = {"KB": 1000, "MB": 1000**2, "GB": 1000**3, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_LIMIT = regex(r"\s*(\d{1,9}(?:\.\d{1,3})?)\s*([A-Za-z]+)\s*")
SMALLEST = 1_000_000
"""Bytes that a store has at least."""

Wrong = Callable[..., None]
"""Takes the path of a key, what is wrong with it, and a hint."""


class Retention(Record):
    """How long records are kept, in seconds, and how many bytes a store may have; None means no limit."""

    age: float | None = None
    size: int | None = None


def retention_of(value: Retention | Mapping[str, Any] | str | None) -> Retention:
    """Return what ``AuditStore(retention=…)`` means; raise UsageError for anything that is no retention."""
    if value is None or isinstance(value, Retention):
        return value or Retention()
    problems: list[UsageError] = []

    def wrong(place: str, what: str, hint: str = "") -> None:
        problems.append(UsageError(what, where=place, hint=hint))

    made = read_retention(value, "retention", wrong)
    if problems:
        raise problems[0]
    return Retention(**made)


def read_retention(value: Any, place: str, problem: Wrong) -> dict[str, Any]:
    """Read ``30d``, ``500MB``, or ``{age: 30d, size: 500MB}``."""
    if not isinstance(value, Mapping):
        return _limit(value, place, problem, ("age", "size"))
    made: dict[str, Any] = {}
    for name, limit in value.items():
        if name not in ("age", "size"):
            problem(f"{place}.{name}", f"{name} is not a key of retention", "age and size are")
        elif limit is not None:
            made.update(_limit(limit, f"{place}.{name}", problem, (name,)))
    return made


def _limit(value: Any, place: str, problem: Wrong, kinds: tuple[str, ...]) -> dict[str, Any]:
    examples = {"age": "30d, 12h or 1y", "size": "500MB or 2GiB"}
    found = _LIMIT.fullmatch(value) if isinstance(value, str) else None
    unit = found[2] if found else ""
    if found and "age" in kinds and unit in _AGES and float(found[1]) > 0:
        return {"age": float(found[1]) * _AGES[unit]}
    if found and "size" in kinds and unit.upper() in _SIZES:
        size = int(float(found[1]) * _SIZES[unit.upper()])
        if size < SMALLEST:
            problem(place, f"{value!r} is too small for a store", "at least 1MB")
        return {"size": size}
    what = "a limit" if len(kinds) > 1 else "an age" if kinds[0] == "age" else "a size"
    problem(place, f"{value!r} is not {what}", f"write {', or '.join(examples[kind] for kind in kinds)}")
    return {}
