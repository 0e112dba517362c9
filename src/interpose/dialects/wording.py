"""What a coding agent is told of a decision: by which rule, what the call does, and what to do instead."""

from __future__ import annotations

from ..model import Outcome, with_decision

__all__ = ["worded_for_agent"]

_WORDS = {"deny": "denied by rule", "ask": "asked by rule"}


def worded_for_agent(outcome: Outcome) -> Outcome:
    """Return an outcome whose reason says that a rule has decided, if it begins with the name of the hook that did.

    Policies begin so: ``protected-branches: …`` becomes ``denied by rule protected-branches: …``. The reasons of other
    hooks are their authors' words, and stay.
    """
    words = _WORDS.get(outcome.decision)
    if words is None or not outcome.reason:
        return outcome
    for result in outcome.results:
        if result.enforced and result.decision == outcome.decision and outcome.reason.startswith(f"{result.hook}: "):
            return with_decision(outcome, outcome.decision, f"{words} {outcome.reason}")
    return outcome
