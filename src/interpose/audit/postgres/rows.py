"""The rows of a forwarded record: the same columns that SQLite has, made again from the body. Pure.

A node may send any body. What does not fit into a column is cut or left out of it; the body stays as it came.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from ...records import Record
from ..columns import (
    ANSWER,
    FIRING,
    NO_COLUMNS,
    PERMISSION,
    QUESTION,
    Columns,
    columns_of,
    permission_columns,
    storable,
)
from ..raw import RawRecord
from ..sql.questions import question_row

__all__ = ["RecordRow", "row_of", "text", "word"]

_LONGEST_WORD = 1000
"""Bytes of a word that is in an index: PostgreSQL does not index long texts. Of a longer one this part is kept."""
_KEPT_OF_WORD = 300
_HIGHEST = (1 << 62) - 1
_MOST_RUNS = 1000
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


class RecordRow(Record):
    """The columns of a record, with what its kind has in other tables."""

    event: str = ""
    session: str = ""
    subject: str = ""
    decision: int = 0
    took: int = 0
    runs: tuple[tuple[str, int, int], ...] = ()
    call: str | None = None
    """The call of a permission."""
    question: tuple[str, str, int] | None = None
    """The id, the session and the moment of expiry of a question."""
    answers: str | None = None
    """The id of the question that it answers."""
    flaw: str = ""
    """Why its columns are empty although its kind has some."""


def text(given: object) -> str:
    """Return a text that PostgreSQL can hold."""
    return storable(given).replace("\0", "\ufffd")


def word(given: object) -> str:
    """Return a text for an index; of a long one the beginning and its hash."""
    made = text(given)
    data = made.encode()
    if len(data) <= _LONGEST_WORD:
        return made
    return f"{made[:_KEPT_OF_WORD]}…{sha256(data).hexdigest()}"


def row_of(record: RawRecord) -> RecordRow:
    """Return the columns of a record."""
    try:
        return _row_of(record)
    except _UNREADABLE:
        return RecordRow(flaw="its body cannot be read")


def _row_of(record: RawRecord) -> RecordRow:
    if not record.body or record.kind not in (FIRING, PERMISSION, QUESTION, ANSWER):
        return RecordRow()
    body = json.loads(record.body)
    if not isinstance(body, dict):
        return RecordRow(flaw="its body cannot be read")
    columns: Columns = NO_COLUMNS
    more: dict[str, Any] = {}
    if record.kind == FIRING:
        columns = columns_of(body)
    elif record.kind == PERMISSION:
        columns = permission_columns(body)
        more["call"] = word(body.get("tool_use_id"))
    elif record.kind == QUESTION:
        name, _, session, until, _ = question_row(record.number, record.body)
        more["question"] = (name, word(session), _number(until))
    else:
        more["answers"] = word(body.get("question"))
    event, session, subject, decision, took, runs = columns
    made = tuple((word(name), what, _number(us)) for name, what, us in runs[:_MOST_RUNS])
    return RecordRow(
        event=word(event), session=word(session), subject=text(subject), decision=decision, took=_number(took),
        runs=made, **more,
    )  # fmt: skip


def _number(given: object) -> int:
    """Return a whole number that a column can hold; 0 for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return 0
    return int(given) if -_HIGHEST <= given <= _HIGHEST else 0
