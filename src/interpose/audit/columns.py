"""The columns of a record that repeat parts of its body, and the codes in them.

Lists and statistics read the columns and not the documents; ``verify`` computes them again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "ALTERED",
    "ANSWER",
    "CHANGE",
    "DECISIONS",
    "END",
    "FIRING",
    "GAP",
    "KINDS",
    "MOVED",
    "NO_COLUMNS",
    "PERMISSION",
    "QUESTION",
    "RETENTION",
    "STATUSES",
    "UNSEALED",
    "VERDICTS",
    "Columns",
    "RunColumns",
    "columns_of",
    "permission_columns",
    "run_of",
    "storable",
    "what_of",
]

KINDS = ("firing", "gap", "retention", "moved", "end", "permission", "unsealed", "altered", "question", "answer",
         "change")  # fmt: skip
"""The kinds of records: a firing; lost firings; records that retention deleted; an earlier store that was moved aside;
the last record of a process that ended in order; a permission; records before it that were not sealed with the key of
the process that wrote it; a store that was altered while the process that wrote it was running; a question that waits
for a person; the answer to one; what a person has changed about hooks. The place of a kind is its code in the file."""

FIRING, GAP, RETENTION, MOVED, END, PERMISSION, UNSEALED, ALTERED, QUESTION, ANSWER, CHANGE = range(len(KINDS))

DECISIONS = ("none", "allow", "ask", "deny")
STATUSES = ("ok", "failed", "timeout", "skipped")
"""The place of a decision or a status is its code in the file: a storage format, which must not change."""

VERDICTS = {"allowed": "allow", "asked": "ask", "denied": "deny"}
"""The verdict of a permission as a decision."""

RunColumns = tuple[str, int, int]
"""A hook's name, the code of its result, and its duration in microseconds."""

Columns = tuple[str, str, str, int, int, list[RunColumns]]
"""Event, session, subject, decision and duration of a firing, and the runs of its hooks."""

NO_COLUMNS: Columns = ("", "", "", 0, 0, [])
"""The columns of a record that is neither a firing nor a permission."""


def what_of(status: str, decision: str, round: int, enforced: bool) -> int:
    """Return the code of a hook's result."""
    return (
        (STATUSES.index(status) if status in STATUSES else 1)
        + 4 * (DECISIONS.index(decision) if decision in DECISIONS else 0)
        + (0 if enforced else 16)
        + (32 if round == 2 else 0)
    )


def run_of(what: int) -> tuple[str, str, int, bool]:
    """Return the status, the decision, the round and whether it was enforced, from the code of a result."""
    return STATUSES[what & 3], DECISIONS[what >> 2 & 3], 2 if what & 32 else 1, not what & 16


def storable(text: object) -> str:
    """Return a text for a column: empty for other types, and without lone surrogates."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def columns_of(body: Mapping[str, Any]) -> Columns:
    """Return the columns of a firing from its body."""
    decision = body.get("decision", "none")
    given = body.get("input")
    runs = [
        (
            storable(run["hook"]),
            what_of(
                run.get("status", "ok"), run.get("decision", "none"), run.get("round", 1), run.get("enforced", True)
            ),
            run.get("us", 0),
        )
        for run in body.get("runs", ())
    ]
    return (
        storable(body.get("event")),
        storable(given.get("session_id")) if isinstance(given, dict) else "",
        storable(body.get("subject")),
        DECISIONS.index(decision) if decision in DECISIONS else 0,
        body.get("us", 0),
        runs,
    )


def permission_columns(body: Mapping[str, Any]) -> Columns:
    """Return the columns of a permission from its body: its session, its tool and its verdict as a decision."""
    verdict = VERDICTS.get(str(body.get("verdict")), "none")
    session, tool = storable(body.get("session_id")), storable(body.get("tool_name"))
    return "", session, tool, DECISIONS.index(verdict), 0, []
