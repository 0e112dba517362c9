"""Recorded events and their decisions. Plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..redaction import is_redacted

__all__ = ["UNKNOWN", "Recorded", "Recording", "has_redacted"]

UNKNOWN = "unknown"
"""The decision of an event whose decision was not recorded; it is not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One event as the hooks got it, and its decision."""

    id: str
    event: str
    fields: Mapping[str, Any]
    """The input as the hooks got it."""
    decision: str = "none"
    reason: str = ""
    granted: bool = False
    keep_going: bool = False
    continues: bool = True
    final: Mapping[str, Any] = field(default_factory=dict)
    """The final values of the fields that hooks changed."""
    deciders: tuple[str, ...] = ()
    """The hooks that made the decision."""
    time: str = ""
    permissions: tuple[Mapping[str, Any], ...] = ()
    """What was decided about the call beside the hooks, as ``StoredPermission.to_dict`` makes it."""
    derived: str = ""
    """How the decision was derived from a transcript; empty if it was recorded."""

    @property
    def redacted(self) -> bool:
        """Whether the input has redacted secrets."""
        return has_redacted(self.fields)


@dataclass(slots=True)
class Recording:
    """Events in the order in which they were fired, with notes for the reader."""

    name: str
    kind: str
    """Its source: store, export or transcript."""
    events: list[Recorded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def has_redacted(value: Any) -> bool:
    """Say whether a value has redacted secrets in it."""
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
