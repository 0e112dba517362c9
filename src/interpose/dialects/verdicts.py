"""The verdicts of models as replies, in every dialect. Loaded with the first hook that asks a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..events import EventSpec
from ..models.judging import Judgement
from ..records import replace
from ..replies import Failure, Reply
from . import dialect
from .claude import LONGEST_TEXT

__all__ = ["verdict_reader"]

_Read = Callable[[EventSpec, object], Reply | Failure]
_Judged = Callable[[EventSpec, Judgement], Reply]


def verdict_reader(name: str) -> _Read:
    """Return the function that reads what a hook which asks a model has answered, in a dialect."""
    return partial(_read, _in_claude if name == "claude" else _in_native, dialect(name).read)


def _read(judged: _Judged, other: _Read, row: EventSpec, answer: object) -> Reply | Failure:
    if not isinstance(answer, Judgement):
        return other(row, answer)  # why there is no verdict
    reply = Reply() if answer.ruling.ok else judged(row, answer)
    problem = Failure("bad_verdict", answer.ruling.flaw) if answer.ruling.flaw else None
    return replace(reply, problem=problem, evidence=answer.evidence)


def _in_native(row: EventSpec, verdict: Judgement) -> Reply:
    """Deny an event that is not ok; one that can never be ok does not keep an agent going."""
    ruling, ends = verdict.ruling, not verdict.continues
    if ruling.impossible and "keep going" in row.can:
        return Reply()
    return Reply(decision="deny", reason=ruling.reason, halt=ends, stop_reason=ruling.reason if ends else "")


def _in_claude(row: EventSpec, verdict: Judgement) -> Reply:
    """Do what the table says that the client does with an event that is not ok."""
    facts, ruling, reply = row.claude.not_ok, verdict.ruling, Reply()
    if facts is None:
        return reply
    effects = (facts.continued if verdict.continues and facts.continued else facts.effects).split(", ")
    reason = ruling.reason[:LONGEST_TEXT]
    if "deny" in effects:
        reply = replace(reply, decision="deny", reason=reason)
    if "end turn" in effects:
        reply = replace(reply, halt=True, stop_reason=reason)
    if "context" in effects:
        reply = replace(reply, context=(reason,))
    if "keep going" in effects and not ruling.impossible:
        reply = replace(reply, keep_going=True, reason=reason)
    if "nothing" in effects:
        reply = replace(reply, ignored=(f"ok is false: {row.name} is not decided by a model",))
    return reply
