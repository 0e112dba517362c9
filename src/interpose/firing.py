"""One event on its way through its hooks.

``Firing.advance`` is the chain: it runs the steps of one lane one after another, each hook on its own copy of what the
one before it left. It is a coroutine that needs no event loop of its own; the lanes decide what drives it. A hook that
will not end keeps its chain; the firing goes on in a new one, and the old one finds by its token that it is out.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from inspect import isawaitable
from time import monotonic
from types import CoroutineType
from typing import Any, ClassVar

from .decide import Ran, on_failure, weigh
from .faults import describe, log, raised_on_purpose
from .lanes import GRACE, MOST_KEPT, Lanes, kept
from .ledger import Ledger
from .model import Hook, Status
from .payload import Template
from .plan import under_ceiling
from .replies import Failure, Reply
from .step import Engine, Step

__all__ = ["BREAKER_FAILURES", "BREAKER_SECONDS", "Firing", "depth"]

BREAKER_FAILURES = 10
BREAKER_SECONDS = 30.0

depth: ContextVar[int] = ContextVar("interpose_depth", default=0)
"""How many firings this code runs inside of."""


class Firing(Ledger):
    """The state of one firing: the only thing in the engine that changes, and touched by one chain at a time."""

    __slots__ = (
        "allowance", "awaitable", "broken", "cancelling", "claim", "depth", "due", "lane", "lanes", "now", "phase",
        "stage", "step_deadline", "step_started", "task", "timed_out", "token", "total_deadline", "waiter",
    )  # fmt: skip

    cancelled_error: ClassVar[type[BaseException] | tuple[()]] = ()
    """What asyncio raises in a task that is cancelled; known once asyncio is in use."""

    def __init__(
        self, engine: Engine, template: Template, fields: dict[str, Any], steps: tuple[Step, ...], total: float
    ) -> None:
        super().__init__(engine, template, fields, steps)
        self.phase = 1
        self.depth = depth.get() + 1
        # Time. A second phase has an allowance of its own instead of the step's timeout.
        self.now = self.step_started = monotonic()
        self.total_deadline = self.step_deadline = self.due = self.now + total
        self.allowance = 0.0
        self.timed_out = False
        # The chain: where it runs, who it is, and what the lanes need to end it.
        self.lane = ""
        self.lanes: Lanes | None = None
        self.token = 0
        self.stage = 0
        self.task: Any = None
        self.cancelling = 0
        self.waiter: Any = None
        self.claim: list[None] = []
        self.awaitable: Any = None
        self.broken: BaseException | None = None

    # The chain.

    async def advance(self, token: int) -> None:
        """Run steps from where the firing stands, one after another, as long as they belong in this lane."""
        lane, steps, watched = self.lane, self.steps, self.engine.tell is not None
        threaded = lane == "thread"
        before = depth.set(self.depth)
        try:
            while not self.over and self.position < len(steps):
                step = steps[self.position]
                if step.lane != lane and self.awaitable is None:
                    return
                if (
                    step.gated
                    or watched
                    or step.hook.health.failures >= BREAKER_FAILURES
                    or self.now >= self.total_deadline
                    or kept.count >= MOST_KEPT
                ) and not self._may_begin(step):
                    continue
                self.step_started = self.now
                limit = self.now + (self.allowance or step.timeout)
                self.step_deadline = min(self.total_deadline, limit)
                claim = self.claim = [None]
                try:
                    value, self.awaitable = self.awaitable, None
                    if value is None:
                        value = step.call(self.copy_of_input() if self.phase == 1 else self._second_call())
                    if value is not None and (type(value) is CoroutineType or isawaitable(value)):
                        if threaded:
                            self._hand_over(value, step, claim)
                            return
                        value = await value
                except BaseException as error:
                    value = self._caught(error, token)
                if token != self.token or (threaded and not _won(claim)):
                    if threaded:
                        kept.give_back()
                    return  # too late: the firing has gone on without this chain
                self.now = monotonic()
                if self.timed_out or self.now > self.step_deadline:
                    self._time_out(step)
                elif value is None:
                    self._silence(step)
                else:
                    self._settle(step, value)
        finally:
            if lane == "inline":
                depth.reset(before)
            waiter = self.waiter
            if waiter is not None and token == self.token and not threaded and not waiter.done():
                waiter.set_result(None)

    def _second_call(self) -> Any:
        event = self.copy_of_input()
        event["async_phase"] = 2
        return event

    def _hand_over(self, value: Any, step: Step, claim: list[None]) -> None:
        """Leave a coroutine, which came back from a function that looked synchronous, to a lane with a loop."""
        if _won(claim):
            self.awaitable, step.lane = value, "task"
            self.allowance = max(0.001, self.step_deadline - monotonic())
        else:
            kept.give_back()
            value.close()

    def _may_begin(self, step: Step) -> bool:
        """Look at everything that can keep a hook from running at its turn; write down why."""
        hook, health = step.hook, step.hook.health
        if self.phase == 2 or self.awaitable is not None:
            return True  # it has begun already
        if self.now >= self.total_deadline:
            self.step_started = self.now
            self._time_out(step, "the firing's total time was used up before its turn")
        elif not _judged(hook, self.fields):
            self._skip(step, {"if": hook.condition})
        elif health.failures >= BREAKER_FAILURES and self.now < health.open_until:
            self._break(step)
        elif hook.once and self.round == 1 and not _won(health.once):
            self._skip(step, {"once": "it has run"})
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
            if isinstance(error, self.cancelled_error) and self._cancelled_from_outside():
                raise error
            if isinstance(error, (KeyboardInterrupt, GeneratorExit)) and not raised_on_purpose(error):
                raise error
        return describe(error)

    def _cancelled_from_outside(self) -> bool:
        """Say whether somebody else than the deadline has cancelled this chain's task."""
        ours = 1 if self.stage else 0
        if self.task.cancelling() <= self.cancelling + ours:
            return False
        if ours:
            self.task.uncancel()
            self.stage = 0
        return True

    # What becomes of a step.

    def _silence(self, step: Step) -> None:
        if step.hook.health.failures:
            step.hook.health.failures = 0
        self.note_silence(step, self.now - self.step_started)
        if self.engine.tell is not None:
            self.tell("hook_response", step.hook, outcome="success")
        self._next()

    def _settle(self, step: Step, value: Any) -> None:
        reply = value if type(value) is Failure else self._read(step, value)
        if isinstance(reply, Failure):
            self._fail(step, reply)
        elif reply.again is not None and self.phase == 2:
            self._fail(step, Failure("bad_output", "answered async a second time"))
        elif reply.again is not None:
            self.phase, self.allowance = 2, under_ceiling(reply.again, self.engine.settings)
        else:
            step.hook.health.failures = 0
            may_change = self.round == 1 and not step.hook.parallel
            problem = reply.problem
            self._write(
                step,
                "ok" if problem is None else "failed",
                effect=weigh(self.row, reply, may_change=may_change),
                error=None if problem is None else problem.error,
                reply=reply,
                evidence=reply.evidence,
            )

    def _read(self, step: Step, value: Any) -> Reply | Failure:
        try:
            return step.read(self.row, value)
        except Exception as error:  # an answer whose own methods break
            return Failure("bad_reply", f"the answer cannot be read: {type(error).__name__}")

    def _fail(self, step: Step, failure: Failure, status: Status = "failed") -> None:
        hook, health = step.hook, step.hook.health
        health.failures += 1
        health.open_until = self.now + BREAKER_SECONDS
        if hook.once and not health.once:
            health.once.append(None)
        effect = on_failure(self.row, hook, failure, step.policy)
        health.denied_last = effect is not None
        error = failure.error
        level = "debug" if step.policy == "skip" else "error"
        log(level, "hook %s at %s failed (%s): %s", hook.label, self.row.name, error.code, error, trace=error.trace)
        self._write(step, status, effect=effect, error=error, evidence=failure.evidence)

    def _time_out(self, step: Step, text: str = "") -> None:
        due = self.due if self.stage else self.step_deadline
        if self.stage and self.task is not None:
            self.task.uncancel()
        self.timed_out, self.stage = False, 0
        text = text or f"no answer within {due - self.step_started:.3g} s"
        self._fail(step, Failure("timeout", text), "timeout")

    def _break(self, step: Step) -> None:
        """Do at once what this hook's failures have meant so far: deny, or go on without it."""
        hook = step.hook
        failure = Failure("breaker_open", f"failed {hook.health.failures} times in a row; not waited for")
        denies = hook.health.denied_last or step.policy == "abort"
        effect = on_failure(self.row, hook, failure, "abort") if denies else None
        self.step_started = self.now
        self._write(step, "failed" if effect else "skipped", effect=effect, error=failure.error)

    def _skip(self, step: Step, why: dict[str, Any]) -> None:
        self.step_started = self.now
        self._write(step, "skipped", evidence=why)

    def refuse(self, failure: Failure) -> None:
        """Fail the step whose turn it is: there is nothing to run it in."""
        self.step_started = self.now
        self._fail(self.steps[self.position], failure)

    def _write(self, step: Step, status: Status, **what: Any) -> None:
        """Write down what became of a step, tell of it, and go on to the next."""
        duration = self.now - self.step_started
        self.note(step, Ran(step.hook, status, duration, round=self.round, enforced=step.enforced, **what))
        if status != "skipped":
            self.tell("hook_response", step.hook, outcome="success" if status == "ok" else "error")
        self._next()

    def _next(self) -> None:
        self.position += 1
        self.phase, self.allowance = 1, 0.0

    # What the lanes use.

    def take_lane(self, *, loop: bool = True) -> str:
        """Return the lane of the next step; without a loop, what must be awaited belongs in a task."""
        step = self.steps[self.position]
        self.lane = "task" if self.awaitable is not None else step.lane
        if self.lane == "inline" and not loop and step.hook.options.get("awaits"):
            self.lane = "task"
        return self.lane

    def late(self, now: float) -> None:
        """End a hook that is past its deadline: by cancellation, and if that does not help by going on without it."""
        if self.lane == "thread":
            self.abandon_thread()
        elif self.stage == 0:
            self.timed_out, self.stage, self.due = True, 1, self.step_deadline
            self.step_deadline = now + GRACE if self.lane == "task" else float("inf")
            self.task.cancel()
        else:
            self.lanes.keep(self.task)  # type: ignore[union-attr]
            self.task = None
            self._give_up()

    def abandon_thread(self) -> bool:
        """Go on without a hook that hangs in its thread; false if it has just ended."""
        if not _won(self.claim):
            return False
        kept.take()
        self._give_up()
        return True

    def _give_up(self) -> None:
        self.token += 1
        self.now = monotonic()
        self._time_out(self.steps[self.position])
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def let_go(self) -> None:
        """Give the chain up and touch nothing more: the host itself is being interrupted."""
        self.token += 1
        self.over = True
        if self.lane == "thread" and _won(self.claim):
            kept.take()

    def sub(self, step: Step) -> Firing:
        """Return a firing of one step on the current input, to run beside this one."""
        firing = Firing(self.engine, self.template, self.fields, (step,), 0.0)
        firing.total_deadline = self.total_deadline
        firing.round = self.round
        firing.depth = self.depth
        return firing

    def join(self, parts: list[Firing]) -> None:
        """Go on after a parallel group."""
        self.now = monotonic()
        self.absorb(parts)
        self._next()

    def _detach(self, step: Step) -> None:
        """Start a hook in the background; what it says reaches the session's next firing."""
        part = self.sub(Step(self.engine, replace(step.hook, background=False, judge=None, once=False, parallel=True)))
        part.total_deadline = self.now + step.timeout + 1
        self.step_started = self.now
        self._write(step, "ok", evidence={"background": True})
        if self.lanes is not None:
            self.lanes.detach(part)

    def hook_id(self) -> str:
        """Return what names the run of the current step in messages."""
        return f"{id(self):x}-{self.round}-{self.position}"

    def tell(self, subtype: str, hook: Hook, **more: Any) -> None:
        """Send a lifecycle message, if anybody listens."""
        if self.engine.tell is not None:
            self.engine.tell(subtype, hook, self, more)


def _won(claim: list[None]) -> bool:
    """Take a claim that only one of several threads can have."""
    try:
        claim.pop()
    except IndexError:
        return False
    return True


def _judged(hook: Hook, fields: dict[str, Any]) -> bool:
    """Judge a hook's ``if``; what cannot be judged counts as true."""
    if hook.judge is None:
        return True
    try:
        return bool(hook.judge(fields))
    except Exception as error:
        log("warning", "if %s of hook %s cannot be judged: %s", hook.condition, hook.label, type(error).__name__)
        return True
