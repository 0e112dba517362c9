"""One firing: the loop over its steps, and the only object that changes during it.

``Run.advance`` is the loop. It runs hooks one after another, each on its own copy of what the one before it left. It is
a coroutine that needs no event loop; an executor decides where it runs. Most hooks return None most of the time, and
every action waits for them: for a plain hook that does so in time, the loop writes down how long it took, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from types import CoroutineType
from typing import Any, Protocol

from .decide import Effect, HookRun, merge, on_failure, only_stricter, own_reply, weigh
from .event import Event, copiers
from .executors.base import MOST_KEPT, Chain, Executor, kept
from .executors.threads import claimed
from .faults import describe, is_awaitable, log, type_name
from .handlers import depth, progress
from .model import NOTHING_SAID, Hook, Outcome, Result, Status, make_outcome
from .replies import Ended, Failure, Reply, is_plain
from .routes import Place, Route, Step

__all__ = ["BREAKER_FAILURES", "BREAKER_SECONDS", "Entry", "Listener", "Run", "RunListener"]

BREAKER_FAILURES = 10
BREAKER_SECONDS = 30.0
"""A hook that fails so often in a row is not waited for again for so long."""

_NEXT: Any = object()

Entry = tuple[Step | None, "HookRun | float"]
"""What a run writes down about a step: all of it, or only how long it took if it said nothing. A recorder has none."""


class Listener(Protocol):
    """Is told of every run, and changes nothing. It must not raise."""

    def run_begins(self, run: Run) -> RunListener:
        """Return what is told of the hooks of this run."""


class RunListener(Protocol):
    """Is told of one run."""

    def part_begins(self, part: Run) -> RunListener:
        """Return what is told of a hook that runs beside others, or in the background."""

    def hook_begins(self, step: Step) -> None:
        """Take note that a hook is called; again if it goes on in another place. Runs in the hook's context."""

    def hook_writes(self, step: Step, stream: str, text: str) -> None:
        """Take note of what a running command wrote."""

    def hook_ends(self, step: Step, run: HookRun, ended: Ended | None) -> None:
        """Take note of what became of a hook; ``ended`` is how its command ended, if it is one."""

    def record_lost(self, code: str) -> None:
        """Take note that the record of the run was lost."""

    def run_ends(self, outcome: Outcome) -> None:
        """Take note of the outcome."""

    def run_breaks_off(self) -> None:
        """Take note that the host was interrupted: hooks that still run are left alone."""


class Run:
    """The state of one firing. One chain at a time changes it."""

    __slots__ = ("_allowance", "_copiers", "_listeners", "_match", "_pending", "_phase", "_position", "_rest",
                 "_shared", "_spoken", "_step_began", "background", "began", "depth", "executor", "fields", "given",
                 "now", "over", "ran", "round", "route", "steps")  # fmt: skip

    def __init__(self, route: Route, given: Mapping[str, Any], executor: Executor, round: int = 1) -> None:
        self.route = route
        self.steps = route.steps
        self.executor = executor
        self.fields, self._copiers = route.template.begin(given)
        """The input as it stands, and how its fields are copied for a hook."""
        self.round = round
        """2 while the guards look again at an input that changed after their turn."""
        self.depth = depth.get() + 1
        self.ran: list[Entry] = []
        self.began = self.now = self._step_began = monotonic()
        """When the run began, when its last step ended, and when its current one began."""
        self._position = 0
        self._phase, self._match = 1, dict[str, str]()
        """2 during the second call of a hook that answered async; and the grade of the current hook's ``if``."""
        self._allowance = 0.0
        """Seconds that a hook has for its second call, or for what is left of it in another place."""
        self.over = self._spoken = self.background = False
        """Whether a hook has ended the firing; whether a hook said anything or failed; whether no host waits for it."""
        self.given: dict[str, Any] | None = None
        """The input before the first change; None if there was none."""
        self._pending: Any = None
        """What a hook returned in a place that cannot await it."""
        self._rest: dict[str, str] | None = None
        self._shared: tuple[dict[str, Any], Event] | None = None
        """The event that handlers which only read are given, and the fields that it was made of."""
        self._listeners: tuple[RunListener, ...] = ()

    def listen(self, listeners: Sequence[Listener]) -> None:
        """Tell these of everything that happens."""
        self._listeners = tuple(listener.run_begins(self) for listener in listeners)

    # The loop.

    async def advance(self, chain: Chain) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop, with every end of a hook
        """Run steps one after another, as long as they belong in the chain's place."""
        place, awaits, steps, make = chain.place, chain.awaits, self.steps, self.route.template.event_type
        thread: Any = chain if place == "thread" else None
        # Plain hooks need only be called, as long as no listener is told of each and none can be late.
        quick_place = place if awaits and not self._listeners and self.round == 1 and not kept.crowded else ""
        depth.set(self.depth)
        self.now = now = self.now if place == "inline" else monotonic()  # other places may begin later
        sure, not_quick = self.began + self.route.sure, None
        try:
            while self._position < len(steps) and not self.over:
                step, value = steps[self._position], None
                quick = step.quick == quick_place and now < sure and step is not not_quick and not self._allowance
                if not quick:
                    if self._pending is None and step.places[awaits] != place:
                        return None
                    if not self._may_begin(step):
                        continue
                    self._step_began = self.now
                if thread is not None:
                    thread.begin_hook()
                try:
                    if not quick:
                        value = self._call(step, awaits)
                    else:
                        fields, to_copy, ran, position = self.fields, self._copiers, self.ran, self._position
                        flat = to_copy[0] if len(to_copy) == 1 and to_copy[0][1] is dict.copy else None  # as most are
                        for step in steps[position:] if position else steps:
                            if step.quick != quick_place or step.health.failures:
                                value, not_quick = _NEXT, step
                                break
                            self._step_began = now
                            event = make()
                            event |= fields
                            event.completed_by = self
                            if flat is not None:
                                event[flat[0]] = flat[2].copy()
                            else:
                                for name, copy, given in to_copy:
                                    event[name] = copy(given)
                            value = step.call(event)
                            if type(value) is CoroutineType:
                                value = await value
                            began, now = now, monotonic()
                            if value is not None or now >= sure or chain.abandoned:
                                break
                            ran.append((step, now - began))
                            self._position = position = position + 1
                        else:
                            value = _NEXT
                        self.now = now
                        if value is _NEXT:
                            continue
                    if value is not None and awaits and type(value) is not Reply and is_awaitable(value):
                        value = await value
                        if type(value) is CoroutineType:
                            value = await value  # a hook that forgot an await
                except BaseException as error:
                    if chain.abandoned and thread is None:
                        return None
                    if chain.passes_on(error):
                        raise
                    value = describe(error)
                if chain.abandoned if thread is None else not thread.hook_answered(value):
                    return None  # the run has gone on without this chain
                self.now = now = monotonic()
                if not awaits and value is not None and is_awaitable(value):
                    return self._hand_over(value, step)
                self._conclude(step, value, chain)
                now = self.now
        finally:
            if chain.waiter is not None and thread is None and not chain.abandoned:
                chain.wake()

    def _may_begin(self, step: Step) -> bool:
        """Look at everything that can keep a hook from running at its turn; write down why."""
        hook, health = step.hook, step.health
        if self._allowance:
            return True  # it has begun already
        self._step_began = self.now
        if self.now >= self.began + self.route.total:
            self.fail(Failure("timeout", "the firing's total time was used up before its turn"))
        elif hook.judge is not None and not self._matches(hook.judge):
            self._write(step, "skipped", evidence={"if": hook.condition})
        elif health.failures >= BREAKER_FAILURES and self.now < health.open_until:
            self._break_off(step)
        elif hook.once and self.round == 1 and not claimed(health.once):
            self._write(step, "skipped", evidence={"once": "it has run"})
        elif kept.count >= MOST_KEPT:
            self.fail(Failure("kept_limit", f"{MOST_KEPT} tasks and threads are kept by hooks that hang"))
        elif step.detached is not None:
            part = self._part(step.detached, background=True)
            self._write(step, "ok", evidence={"background": True})
            self.executor.detach(part)
        else:
            self.now = monotonic()
            return True
        return False

    def _matches(self, judge: Callable[[Mapping[str, Any]], str | None]) -> bool:
        """Judge a hook's ``if`` on the input as it stands."""
        self._match = {"match": grade} if (grade := judge({**self.fields, **self.rest()})) else {}
        return bool(self._match)

    def _call(self, step: Step, has_loop: bool) -> Any:
        """Call a hook with its own copy of the input, or go on with what it has returned elsewhere."""
        for listener in self._listeners:
            listener.hook_begins(step)
        if self._pending is not None:
            value, self._pending = self._pending, None
            return value
        handler = step.handler
        if handler is None:
            return step.call(self._event())
        progress.set(partial(self._report, step) if self._listeners else None)
        if not getattr(handler, "only_reads", False) or self._phase == 2 or self._match:
            event = self._event()
        elif self._shared is not None and self._shared[0] is self.fields:
            event = self._shared[1]  # so that it is encoded once per firing
        else:
            event = self._event()
            self._shared = (self.fields, event)
        run = handler if has_loop or step.blocking is None else step.blocking
        return run(step.hook, event, self.deadline() - step.ending)

    def _event(self) -> Event:
        """Return a copy of the input as it stands."""
        event = self.route.template.event_type(self.fields, **self._match)
        event.completed_by = self
        for name, copy, value in self._copiers:
            event[name] = copy(value)
        if self._phase == 2:
            event["async_phase"] = 2
        return event

    def _report(self, step: Step, stream: str, text: str) -> None:
        for listener in self._listeners:
            listener.hook_writes(step, stream, text)

    def _hand_over(self, value: Any, step: Step) -> None:
        """Keep what a hook that looked synchronous returned for a place with an event loop, which can await it."""
        self._pending = value
        self._allowance = max(0.001, self.deadline() - self.now)
        if getattr(step.call, "awaits", False):
            step.must_be_awaited()  # now that it is imported

    # What becomes of a step.

    def _conclude(self, step: Step, value: Any, chain: Chain) -> None:
        """Read a hook's answer and let it take effect."""
        if chain.due is not None:
            due = chain.due
            chain.settle()
            self.time_out(due)
            return
        if self.now > self.deadline():
            self.time_out(self.deadline())
            return
        if value is None:
            step.health.failures = 0
            if self._listeners or self.round == 2:
                self._write(step, "ok", silent=True)
            else:
                self.ran.append((step, self.now - self._step_began))
                self._next()
            return
        known = type(value) is Failure or (type(value) is Reply and is_plain(value))
        reply = value if known else self._read(step, value)
        ended = value if type(value) is Ended else None
        if isinstance(reply, Failure):
            self._fail(step, reply, ended)
        elif reply.again is None:
            self._take_effect(step, reply, ended)
        elif self._phase == 2:
            self._fail(step, Failure("bad_output", "answered async a second time"), ended)
        else:
            ceiling = step.ceiling or reply.again
            self._phase, self._allowance = 2, min(reply.again, ceiling)

    def _read(self, step: Step, value: Any) -> Reply | Failure:
        try:
            return step.read(self.route.row, value)
        except BaseException as error:  # an answer whose own methods break
            return Failure("bad_reply", f"the answer cannot be read: {type_name(error)}")

    def _take_effect(self, step: Step, reply: Reply, ended: Ended | None) -> None:
        hook, problem = step.hook, reply.problem
        may_change = self.round == 1 and (hook.rewrites_in_group or not hook.parallel)
        try:
            reply = own_reply(reply)
            effect = weigh(self.route.row, reply, may_change=may_change)
        except BaseException as error:  # a reply with rubbish in it
            self._fail(step, Failure("bad_reply", f"the answer cannot be used: {type_name(error)}"), ended)
            return
        step.health.failures = 0
        self._write(
            step,
            "ok" if problem is None else "timeout" if problem.kind == "late" else "failed",
            effect=effect if self.round == 1 else only_stricter(effect),
            error=None if problem is None else problem.error,
            reply=reply,
            evidence=reply.evidence,
            ended=ended,
        )

    def _fail(self, step: Step, failure: Failure, ended: Ended | None = None, *, counts: bool = True) -> None:
        """Do what the failure of a hook means: deny, or go on. One that is not the hook's own does not count."""
        hook, health, error = step.hook, step.health, failure.error
        effect = on_failure(self.route.row, hook, failure, step.policy)
        if counts and failure.kind != "unasked":  # what a model writes must not switch a hook off
            health.denied_last = effect is not None
            health.failures += 1
            health.open_until = self.now + BREAKER_SECONDS
        if hook.once and not health.once:
            health.once.append(None)
        level = "debug" if step.policy == "skip" else "error"
        event = self.route.row.name
        log(level, "hook %s at %s failed (%s): %s", hook.label, event, error.code, error, trace=error.trace)
        status: Status = "timeout" if failure.kind == "late" else "failed"
        self._write(step, status, effect=effect, error=error, evidence=failure.evidence, ended=ended)

    def _break_off(self, step: Step) -> None:
        """Do at once what this hook's failures have meant so far: deny, or go on without it."""
        hook, health = step.hook, step.health
        failure = Failure("breaker_open", f"failed {health.failures} times in a row; not waited for")
        denies = health.denied_last or step.policy == "abort"
        effect = on_failure(self.route.row, hook, failure, "abort") if denies else None
        self._write(step, "failed" if effect else "skipped", effect=effect, error=failure.error)

    def _write(
        self, step: Step, status: Status, *, silent: bool = False, ended: Ended | None = None, **what: Any
    ) -> None:
        """Write down what became of a step, tell of it, and go on to the next."""
        duration = self.now - self._step_began
        if self._match:
            what["evidence"] = {**(what.get("evidence") or {}), **self._match}
        run = HookRun(step.hook, status, duration, round=self.round, enforced=step.enforced, **what)
        if silent:
            self.ran.append((step, run))
        else:
            self._note(step, run)
        self._next()
        for listener in self._listeners:
            listener.hook_ends(step, run, ended)

    def _note(self, step: Step | None, run: HookRun) -> None:
        """Write down a run in which a hook said something, and let it take effect."""
        self.ran.append((step, run))
        self._spoken = True
        effect: Effect | None = run.effect
        if effect is None or not run.enforced:
            return
        if effect.changes:
            self.given = self.given or self.fields
            self.fields = {**self.fields, **effect.changes}
            self._copiers = copiers(self.fields)
        self.over = self.over or effect.ends

    def _next(self) -> None:
        self._position += 1
        self._phase, self._allowance, self._match = 1, 0.0, {}

    # What an executor asks and says.

    def next_place(self, has_loop: bool) -> Place | None:
        """Return where the next step runs, and begin its time; None if no step is left."""
        if self._position >= len(self.steps) or self.over:
            if self._position < len(self.steps):
                self._skip_the_rest()
            if self.given is None or self.over or not self._begin_second_round():
                return None
        self._step_began = self.now
        return "task" if self._pending is not None else self.steps[self._position].places[has_loop]

    def step(self) -> Step:
        """Return the step that the run is at."""
        return self.steps[self._position]

    def deadline(self) -> float:
        """Return when the step that the run is at is late, on the monotonic clock."""
        total = self.began + self.route.total
        if self._position >= len(self.steps):
            return total
        step = self.steps[self._position]
        return min(self._step_began + (self._allowance or step.timeout), total) + step.ending

    def _skip_the_rest(self) -> None:
        """Write down the hooks whose turn never came."""
        for step in self.steps[self._position :]:
            for one in step.members or (step,):
                self.ran.append((one, HookRun(one.hook, "skipped", 0.0, round=self.round, enforced=one.enforced)))
        self._position = len(self.steps)

    def _begin_second_round(self) -> bool:
        """Prepare the one extra round, in which guards judge an input that changed after their turn."""
        row = self.route.row
        if self.round == 2 or not row.can & {"deny", "ask"}:
            return False
        subject = str(self.fields.get(row.subject or "", ""))
        version, seen = 0, dict[Step, int]()
        for step, run in self.ran:
            if isinstance(run, HookRun) and run.changes:
                version += 1
            if step is not None and step.guard:
                seen[step] = version  # after its own change: the guard that made the final input has seen it
        self.round, self._position = 2, 0
        self.steps = tuple(
            step
            for step, last in seen.items()
            if last < version and (step.hook.matches is None or not subject or step.hook.matches(subject))
        )
        return bool(self.steps)

    def fail(self, failure: Failure) -> None:
        """Fail the step that the run is at and go on to the next. Only one that crashed had begun, and counts."""
        if self._position < len(self.steps):
            self._step_began = self.now
            self._fail(self.steps[self._position], failure, counts=failure.code == "hook_crash")

    def time_out(self, due: float) -> None:
        """Fail the step that the run is at, which was to end at ``due``, and go on to the next."""
        step = self.steps[self._position]
        self.now = monotonic()
        seconds = due - step.ending - self._step_began
        self._fail(step, Failure("timeout", f"no answer within {seconds:.3g} s"))

    def refuse(self, failure: Failure) -> None:
        """Run nothing, through no fault of the hooks: a deny where the event can be denied."""
        while not self.over and self._position < len(self.steps):
            step = self.steps[self._position]
            effect = on_failure(self.route.row, step.hook, failure, "abort")
            self._write(step, "failed", effect=effect, error=failure.error)

    def give_up(self) -> None:
        """Run no further step: the host itself is interrupted."""
        self.over = True

    def resume(self) -> None:
        """Go on although the run was given up: it was not the host that was interrupted."""
        self.over = False

    # Hooks beside others.

    def _part(self, step: Step, *, background: bool = False) -> Run:
        """Return a run of one step on the current input, to run beside this one."""
        part = Run(self.route, self.fields, self.executor, self.round)
        part.steps, part.depth, part.background, part._match = (step,), self.depth, background, self._match
        part.began = self.now if background else self.began
        part._rest = self.rest()  # the same call id for all of them
        if self._shared is None and step.handler is not None:
            self._shared = (self.fields, self._event())
        if self._shared is not None and self._shared[0] is self.fields:
            part._shared = (part.fields, self._shared[1])
        part._listeners = tuple(listener.part_begins(part) for listener in self._listeners)
        return part

    def parts(self) -> list[Run]:
        """Return a run for each hook of the group that the run is at."""
        return [self._part(step) for step in self.steps[self._position].members]

    def join(self, parts: Sequence[Run]) -> None:
        """Take over what these runs wrote down, in their order, and go on to the next step."""
        self.now = monotonic()
        changed_by: dict[str, HookRun] = {}
        for part in parts:
            for step, run in part.ran:
                if not isinstance(run, HookRun):
                    self.ran.append((step, run))
                    continue
                for name in run.changes:
                    before = changed_by.get(name)
                    if before is not None and before.effect is not None:
                        before.effect.ignored.append(f"modify {name}: overwritten by {run.hook.label}")
                    changed_by[name] = run
                self._note(step, run)
        self._next()

    def conclude_background(self) -> None:
        """Keep what a background hook said for the next firing."""
        self.route.finish_background(self)

    # The end.

    def rest(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: found out once."""
        if self._rest is None:
            self._rest = self.route.template.rest(self.fields)
        return self._rest

    def spoken(self) -> list[HookRun]:
        """Return the runs in which a hook said something, failed, or did not run."""
        return [run for _, run in self.ran if isinstance(run, HookRun)]

    def outcome(self, extra: Mapping[str, Any], late: Sequence[HookRun] = ()) -> Outcome:
        """Merge what was said. ``late`` are runs of background hooks of earlier firings."""
        if not (self._spoken or extra or late):
            return make_outcome(self.route.template, self.fields, (self, self.ran, NOTHING_SAID))
        spoken = self.spoken()
        if self.given is not None:
            _void_grants(spoken)
        verdict = merge(self.route.row, spoken, extra=extra, late=late)
        return make_outcome(self.route.template, self.fields, (self, self.ran, verdict))

    def lose_record(self, failure: Failure, *, required: bool) -> None:
        """Write down that the record of this run was lost; a deny if it is required."""
        row = self.route.row
        recorder = Hook(row=row, handler=None, type="recorder", label="recorder")
        effect = on_failure(row, recorder, failure, "abort") if required else None
        self.ran = [*self.ran]  # the recorder has the outcome with the list as it was
        self._note(None, HookRun(recorder, "failed", 0.0, effect, failure.error))
        for listener in self._listeners:
            listener.record_lost(failure.code)

    def results(self, entries: Sequence[Entry]) -> tuple[Result, ...]:
        """Return what was written down as a host reads it."""
        made: list[Result] = []
        for step, run in entries:
            if isinstance(run, HookRun):
                made.append(run.result())
            elif step is not None:
                made.append(step.result(run))
        return tuple(made)

    def end(self, outcome: Outcome) -> None:
        """Tell listeners of the outcome."""
        for listener in self._listeners:
            listener.run_ends(outcome)

    def break_off(self) -> None:
        """Tell listeners that the host was interrupted."""
        for listener in self._listeners:
            listener.run_breaks_off()


def _void_grants(runs: Sequence[HookRun]) -> None:
    """Take back what was granted for an input that is no longer the one that would run."""
    changed = False
    for run in reversed(runs):
        effect = run.effect
        if changed and effect is not None and effect.granted and run.enforced:
            effect.granted = False
            effect.ignored.append("allow: the input changed afterwards")
        changed = changed or bool(run.changes)
