"""Reading questions by SQL, and the row of a question."""

from __future__ import annotations

import json
from typing import Any

from ..questions import StoredAnswer, StoredQuestion, digest_of, id_of
from .base import Base

__all__ = ["Row", "find_questions", "question_row"]

Row = tuple[str, int, str, int, int | None]
"""Id, record, session, the moment of expiry, and the record of the answer."""


def question_row(number: int, text: str) -> Row:
    """Return the row of a question from its record."""
    body = json.loads(text)
    session = body.get("session_id")
    until = int((float(body.get("asked_at", 0)) + float(body.get("wait", 0))) * 1e9)
    return id_of(digest_of(text)), number, session if isinstance(session, str) else "", until, None


def find_questions(
    base: Base, *, id: str | None = None, session: str | None = None, answered: bool = False,
    limit: int = 1000,
) -> list[StoredQuestion]:  # fmt: skip
    """Return questions, the newest first; without ``answered``, those that have no answer."""
    where, values = ["1 = 1"], list[Any]()
    if id is not None:
        where, values = ["q.id = ?"], [id]
    elif not answered:
        where.append("q.answer IS NULL")
    if session is not None:
        where.append("q.session = ?")
        values.append(session)
    query = f"{_QUESTIONS.replace('{body}', base.body)} WHERE {' AND '.join(where)} ORDER BY q.record DESC LIMIT ?"
    rows = base.execute(query, (*values, limit if limit >= 0 else 1 << 62))
    return [_question(row) for row in rows]


_QUESTIONS = (
    "SELECT q.id, q.record, r.process, r.time, r.mono, b.body, q.answer, a.time, "
    "(SELECT body FROM bodies WHERE record = q.answer) "
    "FROM questions q JOIN records r ON r.id = q.record {body} "
    "LEFT JOIN records a ON a.id = q.answer"
)


def _question(row: tuple[Any, ...]) -> StoredQuestion:
    number, record, process, at, mono, text, answer, answered_at, answer_text = row
    made = None
    if answer is not None:
        made = StoredAnswer(record=answer, time=(answered_at or 0) / 1e9, body=_body(answer_text))
    return StoredQuestion(
        id=str(number), record=record, process=process, time=at / 1e9, monotonic=mono / 1e9,
        digest=digest_of(str(text)), body=_body(text), answer=made,
    )  # fmt: skip


def _body(text: Any) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):  # it was changed; `interpose log verify` reports it
        return {}
    return found if isinstance(found, dict) else {}
