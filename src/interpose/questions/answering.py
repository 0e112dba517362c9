"""A person's answer to a question that waits in the record. The caller has checked that it is a person's."""

from __future__ import annotations

import os
from typing import Any

from ..audit.protocol import QuestionStore
from ..audit.questions import StoredQuestion
from ..errors import UsageError

__all__ = ["answer_body", "answer_question"]


def answer_body(id: str, digest: str, state: str, **more: Any) -> dict[str, Any]:
    """Return the record of an answer; parts that are empty are left out."""
    return {"question": id, "digest": digest, "state": state, **{name: value for name, value in more.items() if value}}


def answer_question(
    store: QuestionStore, question: StoredQuestion, *, approved: bool, who: dict[str, str], remembered: str = "",
    reason: str = "",
) -> StoredQuestion:  # fmt: skip
    """Answer a question that waits, and return it with the answer that counts, which may be another one.

    Raises UsageError if it cannot be answered, and StoreDown if the answer cannot be written.
    """
    if question.answer is None and question.state != "waiting":
        why = {"withdrawn": "the process that asked has ended", "expired": "its time is over"}[question.state]
        raise UsageError(f"{question.id} cannot be answered: {why}")
    if not question.is_intact:
        raise UsageError(f"{question.id} was changed in the store since it was asked",
                         hint="`interpose log verify` says more")  # fmt: skip
    if question.asker.get("key", "") != store.key_name:
        raise UsageError(f"{question.id} was asked by a process with another key, which would not believe this answer",
                         hint="run it where the configuration is that names the key of the record")  # fmt: skip
    state = "approved" if approved else "refused"
    more = {**who, "pid": os.getpid(), "remembered": remembered, "reason": reason}
    if question.answer is None:
        written = store.answer(answer_body(question.id, question.digest, state, **more))
        written.block()
        if written.refused and "already" not in written.refused:
            raise UsageError(f"{question.id}: {written.refused}")
    with store.read() as reader:
        found = reader.question(question.id)
    if found is None or found.answer is None:
        raise UsageError(f"{question.id} is not in the record any more")
    return found
