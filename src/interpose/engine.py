"""Fire: the one screen in which the whole flow can be read.

Hooks are planned once per event, subject and scope. A firing goes from lane to lane until no step is left; guards look
again at an input that changed after their turn; what was said is merged into one outcome.
"""

from __future__ import annotations

from .firing import Firing
from .lanes import Lanes
from .model import Outcome
from .plan import Plan
from .step import Engine, Step

__all__ = ["DEEPEST", "bind", "conduct"]

DEEPEST = 8
"""How deep firings may be nested; one more is a deny."""


def bind(engine: Engine, plan: Plan) -> tuple[Step, ...]:
    """Turn a plan into steps that are ready to run."""
    steps = []
    for group in plan.groups:
        members = tuple(Step(engine, hook) for hook in group)
        steps.append(Step(engine, group[0], members) if group[0].parallel and len(group) > 1 else members[0])
    return tuple(steps)


async def conduct(firing: Firing, lanes: Lanes) -> Outcome:
    """Run every step where it belongs, the guards once more if need be, and say what the host must do."""
    firing.lanes = lanes
    while True:
        while not firing.over and firing.position < len(firing.steps):
            await lanes.enter(firing)
        firing.skip_the_rest()
        if not firing.second_round():
            return firing.outcome()
