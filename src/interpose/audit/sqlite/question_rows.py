"""Questions in SQLite: which may be asked, and which answer wins.

Everything that decides is in the transaction that writes the record: of two answers the first is written, whichever
processes they come from, and the other one is told.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from time import time_ns
from typing import Any

from ..columns import ANSWER, QUESTION
from ..entries import PendingRecord, encode
from ..questions import MAX_WAITING, MAX_WAITING_OF_SESSION, is_sealed, seal_answer
from ..sql.questions import Row, question_row

__all__ = ["QuestionCheck", "add_rows", "writable"]


def writable(
    base: sqlite3.Connection, entries: Sequence[PendingRecord], key: bytes | None, store: str
) -> list[PendingRecord]:
    """Return the entries without questions that are too many and answers that are too late; each is told why."""
    answered: set[str] = set()
    asked: dict[str, str] = {}
    kept = []
    for entry in entries:
        entry.refused = ""
        if entry.kind == QUESTION:
            entry.refused = _why_not_asked(base, entry, asked)
        elif entry.kind == ANSWER:
            entry.refused = _why_not_answered(base, entry, answered, asked)
            body = json.loads(entry.text)
            sealed = seal_answer(key, store, body)
            if sealed:
                entry.text = encode({**body, "seal": sealed})
        if not entry.refused:
            kept.append(entry)
    return kept


def _why_not_asked(base: sqlite3.Connection, entry: PendingRecord, asked: dict[str, str]) -> str:
    body = json.loads(entry.text)
    if "nonce" not in body:
        return "the input of the call could not be redacted"
    question, _, session, _, _ = question_row(0, entry.text)
    if question in asked or base.execute("SELECT 1 FROM questions WHERE id = ?", (question,)).fetchone():
        return "there is a question with the same id already"
    query = "SELECT count(*), coalesce(sum(session = ?), 0) FROM questions WHERE answer IS NULL AND until > ?"
    everywhere, here = base.execute(query, (session, time_ns())).fetchone()
    if here + sum(one == session for one in asked.values()) >= MAX_WAITING_OF_SESSION:
        return f"{MAX_WAITING_OF_SESSION} questions of this session wait for an answer already"
    if everywhere + len(asked) >= MAX_WAITING:
        return f"{MAX_WAITING} questions wait for an answer already"
    asked[question] = session
    return ""


def _why_not_answered(base: sqlite3.Connection, entry: PendingRecord, answered: set[str], asked: dict[str, str]) -> str:
    question = str(json.loads(entry.text).get("question"))
    row = base.execute("SELECT answer FROM questions WHERE id = ?", (question,)).fetchone()
    if row is None and question not in asked:
        return "there is no such question"
    if question in answered or (row is not None and row[0] is not None):
        return "the question has an answer already"
    answered.add(question)
    return ""


def add_rows(base: sqlite3.Connection, numbered: Iterable[tuple[int, PendingRecord]]) -> None:
    """Add the rows of questions that were written, and set the answer of those that were answered."""
    for number, entry in numbered:
        if entry.kind == QUESTION:
            base.execute("INSERT INTO questions VALUES (?, ?, ?, ?, ?)", question_row(number, entry.text))
        elif entry.kind == ANSWER:
            question = json.loads(entry.text)["question"]
            base.execute("UPDATE questions SET answer = ? WHERE id = ? AND answer IS NULL", (number, question))


class QuestionCheck:
    """Compares the table of questions with the records, and the seals of answers with the key."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        self._rows: dict[str, Row] = {}
        self._answers: dict[int, dict[str, Any]] = {}

    def see(self, kind: int, number: int, text: str) -> None:
        """Take in a record of the chain."""
        if kind == QUESTION:
            row = question_row(number, text)
            self._rows[row[0]] = row
        elif kind == ANSWER:
            self._answers[number] = json.loads(text)

    def flaws(self, base: sqlite3.Connection, store: str, deleted: int) -> Iterator[tuple[str, int]]:
        """Return what is wrong, each with a record's id. Retention may have deleted questions up to ``deleted``."""
        for number, body in self._answers.items():
            row = self._rows.get(str(body.get("question")))
            if row is None:
                if not deleted:
                    yield "answers a question that is not in the store", number
            elif row[4] is not None:
                yield "answers a question that has an answer already", number
            else:
                self._rows[row[0]] = (*row[:4], number)
            if not is_sealed(self._key, store, body):
                yield "is an answer without the seal of the key", number
        listed = {row[0]: row for row in base.execute("SELECT id, record, session, until, answer FROM questions")}
        for one in listed.keys() | self._rows.keys():
            if listed.get(one) != self._rows.get(one):
                found = self._rows.get(one) or listed[one]
                yield f"the table of questions does not agree with the record of {one}", found[1]
