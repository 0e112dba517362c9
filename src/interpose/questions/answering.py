"""A person's answer to a question that waits in the record. The caller has checked that it is a person's."""

from __future__ import annotations

import os
from typing import Any

from ..audit.protocol import QuestionStore
from ..audit.questions import StoredQuestion
from ..errors import UsageError
from ..redaction import has_redacted

__all__ = ["answer_body", "answer_question"]


def answer_body(id: str, digest: str, state: str, **more: Any) -> dict[str, Any]:
    """Return the record of an answer; parts that are empty are left out."""
    return {"question": id, "digest": digest, "state": state, **{name: value for name, value in more.items() if value}}


def answer_question(
    store: QuestionStore, question: StoredQuestion, *, approved: bool, who: dict[str, str], remembered: str = "",
    reason: str = "", tool_input: Any = None,
) -> StoredQuestion:  # fmt: skip
    """Answer a question that waits, and return it with the answer that counts, which may be another one.

    ``tool_input`` is the input that the call is to run with instead of its own, for this call alone.

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
    if tool_input is not None:
        _check_edited(question, tool_input, approved=approved, remembered=remembered)
    state = "approved" if approved else "refused"
    more = {**who, "pid": os.getpid(), "remembered": remembered, "reason": reason}
    if question.answer is None:
        body = answer_body(question.id, question.digest, state, **more)
        written = store.answer(body if tool_input is None else {**body, "input": tool_input})
        written.block()
        if written.refused and "already" not in written.refused:
            raise UsageError(f"{question.id}: {written.refused}")
    with store.read() as reader:
        found = reader.question(question.id)
    if found is None or found.answer is None:
        raise UsageError(f"{question.id} is not in the record any more")
    return found


def _check_edited(question: StoredQuestion, tool_input: Any, *, approved: bool, remembered: str) -> None:
    """Raise UsageError if a call cannot run with an edited input."""
    if not approved or remembered:
        raise UsageError("an edited input is for one call that is approved")
    if type(tool_input) is not type(question.input):
        raise UsageError("the edited input is of another kind than that of the call", hint="change its values only")
    if has_redacted(tool_input):
        raise UsageError("the edited input has redacted parts, with which the call would run",
                         hint="a call with secrets cannot be edited: approve it as it is, or refuse it")  # fmt: skip
