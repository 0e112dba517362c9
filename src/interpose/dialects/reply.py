"""An outcome written as the reply of one hook, so that a whole configuration can act as a hook of another host.

Each dialect has a ``write_reply`` in its own module. A part of the outcome that a dialect cannot express is returned in
``WrittenReply.unsaid``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import UsageError
from ..model import Outcome, row_of
from ..runtime.faults import log

__all__ = ["WrittenReply", "changed_fields", "reply_body", "write_reply"]


class WrittenReply(NamedTuple):
    """A reply as a JSON object, and the parts of the outcome that the dialect has no field for."""

    body: dict[str, Any]
    unsaid: list[str]


def write_reply(dialect: str, outcome: Outcome, before: Mapping[str, Any]) -> WrittenReply:
    """Write an outcome as a reply in a dialect; ``before`` holds the fields that the event was fired with."""
    if dialect == "claude":
        from .claude.reply import write_reply as write
    else:
        from .native.reply import write_reply as write
    return write(outcome, before)


def reply_body(dialect: str, outcome: Outcome, before: Mapping[str, Any]) -> dict[str, Any]:
    """Write an outcome as a reply in a dialect; log what the dialect has no field for."""
    if dialect not in ("native", "claude"):
        raise UsageError(f"there is no dialect {dialect!r}", hint="native or claude")
    body, unsaid = write_reply(dialect, outcome, before)
    for part in unsaid:
        log("warning", "the reply of %s has no field for %s", outcome.event, part)
    return body


def changed_fields(outcome: Outcome, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the final value of each field that hooks have changed."""
    row = row_of(outcome)
    final = outcome.input
    defaults = row.defaults()
    return {
        name: final[name]
        for name in sorted(row.modifies)
        if name in final and final[name] != before.get(name, defaults.get(name))
    }
