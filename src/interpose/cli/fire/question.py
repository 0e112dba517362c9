"""An ask of ``interpose fire --reply`` that waits in the record for a person's answer, within the hook's own deadline.

Hosts such as Claude Code go on without a hook that runs past its deadline. So the question ends before that.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from time import monotonic, time
from typing import Any

from ...errors import UsageError
from ...model import Outcome, row_of, with_decision
from ...person.permission import Permission
from ...questions import Questions
from ...routes import DEFAULT_TIMEOUT
from ...session.answers import Question
from ...session.calls import hook_that_decided
from ..render import flat

__all__ = ["answered"]

_MARGIN = (0.05, 1.0)
"""What is left of the deadline for the reply: a part of it, and at least some seconds."""


async def answered(
    questions: Questions, outcome: Outcome, dialect: str, began: float, deadline: float | None,
    again: Callable[[Any], Awaitable[Outcome]],
) -> Outcome:  # fmt: skip
    """Return the outcome with the answer of a person in the place of the ask; without an answer it denies.

    ``again`` fires the event with the input that the person has put in the place of its own.
    """
    given = outcome.input
    question = Question(
        tool_name=str(given.get("tool_name") or outcome.event), tool_input=given.get("tool_input", given),
        reason=outcome.reason, tool_use_id=str(given.get("tool_use_id") or ""),
        session_id=str(given.get("session_id") or ""), agent_id=str(given.get("agent_id") or ""),
        **hook_that_decided(outcome),
    )  # fmt: skip
    asked_at = time()
    approval = questions.remembered(question)
    if approval is None:
        left = _seconds(outcome, dialect, deadline) - (monotonic() - began)
        wait = min(questions.wait, left)
        if wait <= 0:
            raise UsageError("the deadline of this hook leaves no time for a question", hint="--deadline, or a timeout")
        approval = questions.ask(question, wait=wait, event=outcome.event).block()
    questions.store.record_permission(Permission(
        verdict="allowed" if approval.approved else "denied", by=approval.by, hook=question.hook, place=question.place,
        reason=outcome.reason if approval.approved else approval.reason, asked_at=asked_at, answered_at=time(),
        remembered=approval.remembered, person=approval.person, question=approval.question,
        tool_name=question.tool_name, tool_use_id=question.tool_use_id, session_id=question.session_id,
        agent_id=question.agent_id,
    ))  # fmt: skip
    if approval.approved and approval.tool_input is not None:
        if "tool_input" not in given:
            return with_decision(outcome, "deny", "the person has edited the input, and this event has none")
        outcome = await again(approval.tool_input)
        if outcome.denied:  # a hook does not allow what the person has written
            return outcome
    reason = "; ".join(part for part in (outcome.reason, approval.reason) if part)
    if approval.approved:
        print(f"interpose fire: {flat(approval.reason)}", file=sys.stderr)
    return with_decision(outcome, "allow" if approval.approved else "deny", reason)


def _seconds(outcome: Outcome, dialect: str, deadline: float | None) -> float:
    """Return the time of this hook, without what is left for the reply."""
    whole = deadline
    if whole is None:
        whole = row_of(outcome).claude.timeout if dialect == "claude" else DEFAULT_TIMEOUT
    return whole - max(_MARGIN[0] * whole, _MARGIN[1])
