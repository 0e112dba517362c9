"""Recorded events and their decisions. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..redaction import has_redacted

__all__ = ["UNKNOWN", "Recorded", "Recording"]

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
    runs: tuple[Mapping[str, Any], ...] = ()
    """What became of each hook, in the shape of ``Result.to_dict``."""
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
    """Its source: store, period, export or transcript."""
    events: list[Recorded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
