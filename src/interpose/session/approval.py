"""What a person answers to a permission question: reading an answer, and answering later."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ..records import Record
from ..replies import Reply, clean
from .answers import Question
from .permission import By
from .permission_cache import PermissionAnswer

__all__ = ["Approval", "later", "read_approval"]

_CHANGEABLE = frozenset({"tool_input", "args"})


class Approval(Record):
    """An answer with more than yes or no: who gave it, and for how long it holds. An approver may return one."""

    approved: bool
    reason: str = ""
    by: By = "person"
    person: str = ""
    """Who answered; and in ``question`` the id of a question that waited in the record."""
    question: str = ""
    remembered: str = ""
    """``session`` if the answer holds for later calls that the same rule or hook asks about."""
    tool_input: Any = None
    """The input that the person has put in the place of the one that was asked about; guards and rules see it again."""


def later(question: Question) -> Any:
    """Leave every question to the host: ``approver=later``. The session does not call it.

    A call that needs an answer then has the state ``asked``; the host tells the answer with ``call.said(...)``.
    """
    raise UsageError("later is not called", hint="pass it as approver=later, and answer with call.said(...)")


def read_approval(said: object) -> PermissionAnswer:
    """Read what an approver returned: True, False, or a reply such as ``deny("not today")``."""
    if said is True:
        return PermissionAnswer()
    if said is False:
        return PermissionAnswer("the person said no")
    if isinstance(said, Approval):
        refused = "" if said.approved else clean(said.reason) or "the person said no"
        return PermissionAnswer(
            refused, said.tool_input if said.approved else None, final=said.by == "person", by=said.by,
            person=said.person, question=said.question, remembered=said.remembered,
        )  # fmt: skip
    if not isinstance(said, Reply) or said.decision not in ("allow", "deny"):
        return PermissionAnswer(
            f"the answer to the question is neither yes nor no: {clean(repr(said))[:200]}", final=False, by="nobody"
        )
    if said.decision == "deny":
        return PermissionAnswer(clean(said.reason) or "the person said no")
    if unknown := sorted(map(str, said.changes.keys() - _CHANGEABLE)):
        return PermissionAnswer(
            f"the answer changes fields that a call does not have: {', '.join(unknown)}", final=False, by="nobody"
        )
    return PermissionAnswer(changed=said.changes.get("tool_input", said.changes.get("args")))
