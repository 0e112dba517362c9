"""What is replayed: events as they were fired once, and what was decided then. Plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..audit.redact import is_redacted

__all__ = ["UNKNOWN", "Recorded", "Recording", "has_redacted"]

UNKNOWN = "unknown"
"""Stands for the decision where a record does not tell it; such an event is not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One event as it was given to the hooks, and what came of it."""

    id: str
    event: str
    fields: Mapping[str, Any]
    """The input as the hooks were given it."""
    decision: str = "none"
    reason: str = ""
    granted: bool = False
    keep_going: bool = False
    continues: bool = True
    final: Mapping[str, Any] = field(default_factory=dict)
    """The fields that hooks had changed, as they were in the end."""
    deciders: tuple[str, ...] = ()
    """The hooks that said what was decided."""
    time: str = ""
    derived: str = ""
    """In words how the decision was told from what happened next; nothing where it was written down."""

    @property
    def redacted(self) -> bool:
        """Whether something was taken out of the input before it was written down."""
        return has_redacted(self.fields)


@dataclass(slots=True)
class Recording:
    """Events in the order in which they were fired, and what a reader should know about them."""

    name: str
    kind: str
    """Where it is from: a store, an export, a transcript."""
    events: list[Recorded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def has_redacted(value: Any) -> bool:
    """Say whether something was taken out of any text in a value."""
    return any(map(is_redacted, _texts(value)))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)
