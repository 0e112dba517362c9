"""One event on its way through its hooks.

``Firing.advance`` is the chain: it runs the steps of one lane one after another, each hook on its own copy of what the
one before it left. It is a coroutine that needs no event loop of its own; the lanes decide what drives it. A hook that
will not end keeps its chain; the firing goes on in a new one, and the old one finds by its token that it is out.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from functools import partial
from time import monotonic
from types import CoroutineType
from typing import Any, ClassVar

from .event import Copiers, Event, copiers
from .faults import describe, is_awaitable, is_one_of, is_the_hosts, log
from .handlers import Handler, depth, progress
from .lanes import ENDING, GRACE, MOST_KEPT, Lanes, kept, too_late, won
from .ledger import BREAKER_FAILURES, Ledger
from .model import Hook
from .plan import Plan
from .records import replace
from .replies import Failure
from .sprint import Sprint
from .step import Route, Step, Stretch

__all__ = ["Firing"]


class Firing(Ledger):
    """The state of one firing: the only thing in the engine that changes, and touched by one chain at a time.

    ``token`` says who the chain is: one that finds another number there has been given up and must not touch anything.
    ``stage`` is 0 while a hook is in time, and 1 once it was told to end.
    """

    __slots__ = ("_times", "_written", "awaitable", "cancelling", "depth", "disturbed", "has_loop", "lane", "lanes",
                 "stage", "step_deadline", "stretches", "task", "token", "total_deadline", "waiter")  # fmt: skip
    cancelled_error: ClassVar[tuple[type[BaseException], ...]] = ()
    """What asyncio raises in a task that is cancelled; known once asyncio is in use."""

    depth: int
    total_deadline: float
    step_deadline: float
    token: int
    stage: int
    disturbed: bool
    """Whether a hook was ever told to end, or given up."""
    # The chain: where it runs, and what the lanes need to end it.
    lane: str
    lanes: Lanes | None
    has_loop: bool
    task: Any
    cancelling: int
    waiter: Any
    awaitable: Any
    stretches: dict[int, Stretch]
    """Where it may sprint."""
    _times: list[float]
    """When each step of a sprint began, and when the last one ended, until that is written down."""
    _written: int
    """How many of them are."""

    due = 0.0
    claim: list[None] = []  # noqa: RUF012 - nobody has a claim to this one
    shared: tuple[dict[str, Any], Event] | None = None
    """The event that handlers which only read are given, and the fields that it was made of."""
    broken: BaseException | None = None

    def __init__(self, route: Route, given: Mapping[str, Any]) -> None:
        # What the host did not give cannot be changed from outside.
        self.open(route, route.template.begin(given), copiers(given), monotonic())
        self.depth = depth.get() + 1

    def open(self, route: Route, fields: dict[str, Any], how: Copiers, now: float) -> None:
        """Begin with an input of which nobody has said anything."""
        super().open(route, fields, how, now)
        self.total_deadline = self.step_deadline = now + route.total
        self.token = self.stage = self.cancelling = self._written = 0
        self.disturbed, self.has_loop, self.lane = False, True, ""
        self.lanes = self.task = self.waiter = self.awaitable = None
        self.stretches, self._times = route.stretches, []

    # Sprints.

    @classmethod
    def after(cls, sprint: Sprint) -> Firing:
        """Return a firing that is where a sprint is, which goes on writing down its times."""
        firing = cls.__new__(cls)
        firing.open(sprint._route, sprint._given, sprint._copiers, sprint._times[0])
        firing.depth, firing._times, firing._rest = sprint._depth, sprint._times, sprint
        firing.lane = firing.steps[0].lane
        if firing.lane == "inline":
            firing.task, firing.cancelling = sprint._task, sprint._cancelling
        return firing

    def _sprint(self, stretch: Stretch) -> Coroutine[Any, Any, None] | None:
        """Return the coroutine that sprints from here, if that may be."""
        soon = min(self.now + stretch.shortest, self.total_deadline - stretch.longest)
        begun = self.allowance or self.awaitable is not None
        if soon <= self.now or begun or self.round == 2 or not self.has_loop or kept.crowded:
            return None
        sprint = Sprint()
        sprint._template, sprint._given, sprint._copiers = self.template, self.fields, self._copiers
        sprint._firing, sprint._token, sprint._depth = self, self.token, self.depth
        sprint._times = self._times = [self.now]
        self._written = 0
        return sprint._run(stretch, soon, self)

    def catch_up(self) -> None:
        """Write down what a sprint has run through since this was last asked."""
        times, written = self._times, self._written
        if len(times) <= written:
            return
        if len(times) > 1:
            for at in range(written or 1, len(times)):
                self.note_silence(self.steps[self.position], times[at] - times[at - 1])
                self.position += 1
        self._written = len(times)
        self.now = self.step_started = now = times[-1]
        if self.position < len(self.steps):
            self.step_deadline = min(now + self.steps[self.position].timeout, self.total_deadline)

    async def walk(self, token: int, now: float, *answers: Any) -> None:
        """Run what a sprint has left. ``answers`` has that of the step which it has called already."""
        if token == self.token:  # else too late: the firing has gone on without that chain
            self.catch_up()
            self._times, self._written, self.now = [], 0, now
            if answers or (self.position < len(self.steps) and self.steps[self.position].lane == self.lane):
                await self._advance(token, *answers)

    # The chain.

    def chain(self) -> Coroutine[Any, Any, None]:
        """Return the coroutine that runs the steps of the lane that the firing has come to."""
        stretch = self.stretches.get(self.position)
        sprint = None if stretch is None else self._sprint(stretch)
        return sprint or self._advance(self.token)

    async def _advance(self, token: int, *answers: Any) -> None:
        """Run steps from where the firing stands, one after another, as long as they belong in this lane.

        ``answers`` has that of the first step, if it has been called already.
        """
        lane = self.lane  # it may be another's by the time a hook that was given up comes back
        depth.set(self.depth)
        try:
            while not self.over and self.position < len(self.steps):
                step = self.steps[self.position]
                if answers:
                    value, answers = answers[0], ()
                elif self.awaitable is None and step.lane != lane and self.lane_of(step) != lane:
                    return
                elif not self._may_begin(step):
                    continue
                else:
                    self.step_started = self.now = monotonic()
                    self.step_deadline = min(self.now + (self.allowance or step.timeout), self.total_deadline)
                    self.claim = claim = [None]  # whoever takes it says what came first, the answer or the deadline
                    try:
                        value = self._call(step)
                    except BaseException as error:
                        value = self._caught(error, token)
                    if lane == "thread" and not (token == self.token and won(claim)):
                        too_late(value)
                        return
                if value is not None and is_awaitable(value):
                    if lane == "thread" or not self.has_loop:
                        self._hand_over(value, step)
                        return
                    try:
                        value = await value
                        if type(value) is CoroutineType:
                            value = await value  # somebody has forgotten an await
                    except BaseException as error:
                        value = self._caught(error, token)
                if token != self.token:
                    return  # too late: the firing has gone on without this chain
                self.now = monotonic()
                self._conclude(step, value)
        finally:
            if lane != "thread":
                self.wake(token)

    def wake(self, token: int) -> None:
        """Tell who waits for this chain that it has ended."""
        waiter = self.waiter
        if waiter is not None and token == self.token and not waiter.done():
            waiter.set_result(None)

    def lane_of(self, step: Step) -> str:
        """Return where a step runs: a handler that needs no event loop runs in the caller's thread if there is none."""
        return step.lane if self.has_loop or step.blocking is None else "inline"

    def _call(self, step: Step) -> Any:
        """Call a hook with its own copy of the input, or go on with what it has begun."""
        if self.awaitable is not None:
            value, self.awaitable = self.awaitable, None
            return value
        if step.handler is not None:
            return self._handle(step, step.handler)
        return step.call(self._event())

    def _event(self) -> Event:
        """Return a copy of the input as it stands."""
        event = self.template.event_type(self.fields)
        event._rest = self
        for name, copy, value in self._copiers:
            event[name] = copy(value)
        if self.phase == 2:
            event["async_phase"] = 2
        return event

    def _handle(self, step: Step, handler: Handler) -> Any:
        """Give a hook to its handler; one that ends hooks itself is watched only in case it does not."""
        deadline = self.step_deadline
        if getattr(handler, "ends_itself", False):
            self.step_deadline += ENDING
        if not getattr(handler, "only_reads", False) or self.phase == 2:
            event = self._event()
        elif self.shared is not None and self.shared[0] is self.fields:
            event = self.shared[1]  # so that it is encoded once per firing
        else:
            event = self._event()
            self.shared = (self.fields, event)
        progress.set(partial(self._report, step.hook) if self.engine.tell is not None else None)
        if not self.has_loop and step.blocking is not None:
            return step.blocking(step.hook, event, deadline)
        return handler(step.hook, event, deadline)

    def _report(self, hook: Hook, stream: str, text: str) -> None:
        self.tell("hook_progress", hook, **{"stdout": "", "stderr": "", stream: text, "output": text})

    def _hand_over(self, value: Any, step: Step) -> None:
        """Leave a coroutine, which came back from a function that looked synchronous, to a lane with a loop."""
        self.awaitable = value
        self.allowance = max(0.001, self.step_deadline - monotonic())
        if getattr(step.call, "awaits", False):
            step.lane = "task"  # now that it is imported

    def _may_begin(self, step: Step) -> bool:
        """Look at everything that can keep a hook from running at its turn; write down why."""
        hook, health = step.hook, step.hook.health
        if self.allowance:
            return True  # it has begun already, in a first phase or in a thread
        if self.now >= self.total_deadline:
            self.step_started = self.now
            self._time_out(step, "the firing's total time was used up before its turn")
        elif hook.judge is not None and not _judged(hook, {**self.fields, **self()}):
            self.skip(step, {"if": hook.condition})
        elif health.failures >= BREAKER_FAILURES and self.now < health.open_until:
            self.break_off(step)
        elif hook.once and self.round == 1 and not won(health.once):
            self.skip(step, {"once": "it has run"})
        elif kept.count >= MOST_KEPT:
            self.refuse(Failure("kept_limit", f"{MOST_KEPT} tasks and threads are kept by hooks that hang"))
        elif hook.background:
            self.tell("hook_started", hook)
            self._detach(step)
        else:
            self.tell("hook_started", hook)
            return True
        return False

    def _caught(self, error: BaseException, token: int) -> Failure | None:
        """Say what an exception out of a hook means; raise it again if it was meant for the host."""
        if token != self.token:
            return None
        if self.lane != "thread":
            if is_one_of(error, *self.cancelled_error) and self._cancelled_from_outside():
                raise error
            if is_the_hosts(error):
                raise error
        return describe(error)

    def _cancelled_from_outside(self) -> bool:
        """Say whether it was the host that was cancelled, and not the hook."""
        if self.lane != "inline" or not self.has_loop:
            # The task is the firing's own: if the host is cancelled, this chain is given up first.
            while self.task is not None and self.task.cancelling() > (1 if self.stage else 0):
                self.task.uncancel()
            return False
        if self.task.cancelling() <= self.cancelling + (1 if self.stage else 0):
            return False
        if self.stage:
            self.task.uncancel()
            self.stage = 0
        return True

    def _conclude(self, step: Step, value: Any) -> None:
        """Say what becomes of a step whose hook has ended."""
        if self.stage or self.now > self.step_deadline:
            self._time_out(step)
        elif value is None:
            self.conclude_silence(step)
        else:
            self.settle(step, value)

    def _time_out(self, step: Step, text: str = "") -> None:
        due = self.due if self.stage else self.step_deadline
        if self.stage and self.task is not None:
            self.task.uncancel()
        self.stage = 0
        if getattr(step.handler, "ends_itself", False):
            due -= ENDING
        text = text or f"no answer within {due - self.step_started:.3g} s"
        self.fail(step, Failure("timeout", text), "timeout")

    # What the lanes use.

    def late(self, now: float) -> None:
        """End a hook that is past its deadline: by cancellation, and if that does not help by going on without it."""
        if self.lane == "thread":
            self.abandon_thread()
        elif self.stage == 0:
            self.stage, self.due, self.disturbed = 1, self.step_deadline, True
            self.step_deadline = now + GRACE if self.lane == "task" else float("inf")
            self.task.cancel()
        else:
            self.lanes.keep(self.task)  # type: ignore[union-attr]
            self.task = None
            self._give_up()

    def abandon_thread(self) -> bool:
        """Go on without a hook that hangs in its thread; false if it has just ended."""
        if not won(self.claim):
            return False
        kept.take()
        self._give_up()
        return True

    def _give_up(self) -> None:
        self.token += 1
        self._times, self._written, self.disturbed = [], 0, True
        self.now = monotonic()
        self._time_out(self.steps[self.position])
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def let_go(self) -> None:
        """Give the chain up and touch nothing more: the host itself is being interrupted."""
        self.token += 1
        self.over = self.disturbed = True
        if self.lane == "thread" and won(self.claim):
            kept.take()

    def go_on_after(self, failure: Failure) -> None:
        """Fail the current step and go on, although its chain was given up."""
        self.over = False
        if self.position < len(self.steps):
            self.refuse(failure)

    def sub(self, step: Step) -> Firing:
        """Return a firing of one step on the current input, to run beside this one."""
        route = Route(self.engine, self.template, Plan((), 0.0))
        firing = Firing(route, self.fields)
        firing.steps, firing.total_deadline = (step,), self.total_deadline
        firing._rest = self()  # the same call id for all of them
        if self.shared is None and step.handler is not None:
            self.shared = (self.fields, self._event())
        if self.shared is not None and self.shared[0] is self.fields:
            firing.shared = (firing.fields, self.shared[1])
        firing.round = self.round
        firing.depth = self.depth
        return firing

    def join(self, parts: list[Firing]) -> None:
        """Go on after a parallel group."""
        self.now = monotonic()
        self.absorb(parts)
        self.next()

    def _detach(self, step: Step) -> None:
        """Start a hook in the background; what it says reaches the session's next firing."""
        part = self.sub(Step(self.engine, replace(step.hook, background=False, judge=None, once=False, parallel=True)))
        part.total_deadline = self.now + step.timeout + 1
        self.step_started = self.now
        self.write(step, "ok", evidence={"background": True})
        if self.lanes is not None:
            self.lanes.detach(part)


def _judged(hook: Hook, fields: dict[str, Any]) -> bool:
    """Judge a hook's ``if``; what cannot be judged counts as true."""
    try:
        return hook.judge is None or bool(hook.judge(fields))
    except Exception as error:
        log("warning", "if %s of hook %s cannot be judged: %s", hook.condition, hook.label, type(error).__name__)
        return True
