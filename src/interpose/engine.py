"""Fire: the one screen in which the whole flow can be read.

Hooks are planned once per event, subject and scope. A firing goes from lane to lane until no step is left; guards look
again at an input that changed after their turn; what was said is merged into one outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from .faults import describe
from .firing import Firing
from .lanes import Lanes
from .model import Outcome
from .replies import Failure
from .sprint import Sprint

__all__ = ["DEEPEST", "conduct"]

DEEPEST = 8
"""How deep firings may be nested; one more is a deny."""


async def conduct(firing: Firing, lanes: Lanes, waiting: Awaitable[None] | None = None) -> Outcome:
    """Run every step where it belongs, the guards once more if need be, and say what the host must do.

    ``waiting`` is the end of a lane that the firing has entered already.
    """
    firing.lanes = lanes
    if firing.depth > DEEPEST:
        firing.refuse_all(Failure("too_deep", f"hooks have fired hooks {DEEPEST} deep"))
    while True:
        if waiting is not None:
            await waiting
        while firing.position < len(firing.steps) and not firing.over:
            waiting = lanes.enter(firing)
            if waiting is not None:
                await waiting
        waiting = None
        if firing.silent:
            break
        firing.skip_the_rest()
        if not firing.second_round():
            break
    outcome = firing.outcome()
    if firing.engine.recorder is None:
        return outcome
    return await _recorded(firing, lanes, outcome)


async def _recorded(firing: Firing, lanes: Lanes, outcome: Outcome) -> Outcome:
    """Give the outcome to the recorder before anybody acts on it; a required record that cannot be made denies."""
    recorder = firing.engine.recorder
    try:
        waiting = _given_to(recorder, outcome, firing)
        if waiting is not None:
            await lanes.wait(waiting)
    except Exception as error:
        firing.note_lost_record(describe(error), required=bool(getattr(recorder, "required", False)))
        return firing.outcome()
    return outcome


async def record_sprint(sprint: Sprint, lanes: Lanes) -> Outcome:
    """Give a firing in which nobody spoke to the recorder; more is made of it only if that fails."""
    recorder = sprint._route.engine.recorder
    try:
        waiting = _given_to(recorder, sprint, None)
        if waiting is not None:
            await lanes.wait(waiting)
    except Exception as error:
        firing = sprint._as_firing()
        firing.note_lost_record(describe(error), required=bool(getattr(recorder, "required", False)))
        return firing.outcome()
    return sprint


def _given_to(recorder: Any, outcome: Outcome, firing: Firing | None) -> Any:
    """Show the outcome to the recorder, with its firing if the recorder has an eye for that."""
    see = getattr(recorder, "see", None)
    return recorder(outcome) if see is None else see(outcome, firing)
