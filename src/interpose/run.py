"""One firing: the loop over its steps, and the only object that changes during it.

``Run.advance`` is the loop. It runs hooks one after another, each on its own copy of what the one before it left. It is
a coroutine that needs no event loop; an executor decides where it runs. Most hooks return None most of the time, and
every action waits for them: for a plain hook that does so in time, the loop writes down how long it took, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from time import monotonic
from types import CoroutineType
from typing import Any, Protocol, Self

from .decide import HookRun, merge, on_failure, only_stricter, own_reply, weigh
from .dialects.reply import reply_body
from .event import Event
from .executors.base import MOST_KEPT, Chain, Executor, kept
from .handlers import depth, progress
from .matching.declared_tools import DeclaredCall
from .model import Firing, Hook, Outcome, Result, Status, make_outcome
from .records import replace
from .replies import Ended, Failure, Reply, describe, is_plain
from .routes import Place, Route, Step
from .runtime.copies import own_copy
from .runtime.coroutines import TASKS_BEGIN_AT_ONCE
from .runtime.faults import is_awaitable, log, type_name

__all__ = ["BREAKER_FAILURES", "BREAKER_SECONDS", "Entry", "Fate", "Listener", "Run", "RunListener"]

BREAKER_FAILURES = 10
BREAKER_SECONDS = 30.0
"""A hook that fails so often in a row is not waited for again for so long."""

Fate = tuple[Any, HookRun | float]
"""A step, and what became of it: all, or only how long it took if it said nothing. A lost record has no step."""

Entry = HookRun | float | tuple[Fate, ...]
"""What a run writes down about a step: of one that said nothing, when it ended; of a group, what became of each."""

_NO_MATCH: dict[str, str] = {}
_NOT_CALLED: Any = object()


class Listener(Protocol):
    """Is told of every run, and changes nothing. It must not raise.

    A method ``permission_decided(permission)`` is told what sessions decide about calls.
    """

    def run_begins(self, run: Run) -> RunListener: ...


class RunListener(Protocol):
    """Is told of one run."""

    def part_begins(self, part: Run) -> RunListener: ...  # a hook runs beside others, or in the background
    def hook_begins(self, step: Step) -> None: ...  # in the hook's context; again if it goes on in another place
    def hook_writes(self, step: Step, stream: str, text: str) -> None: ...  # a running command
    def hook_ends(self, step: Step | None, run: HookRun, ended: Ended | None) -> None: ...  # no step: a lost record
    def run_ends(self, outcome: Outcome | None) -> None: ...  # None: the host was interrupted, hooks may still run


class Run(Firing):
    """The state of one firing. One chain at a time changes it."""

    __slots__ = ("_careful", "_deep", "_first_began", "_flat", "_spoken", "_step_began", "began", "depth", "executor",
                 "fields", "now", "over", "ran", "route", "silent", "steps")  # fmt: skip

    # What few runs change: a default of the class costs the others nothing.
    call: DeclaredCall | None = None  # of a declared tool: ``fields`` has the declared names
    writer = staticmethod(reply_body)
    round = 1  # 2 while the guards look again at an input that changed after their turn
    _first_round: Sequence[Fate] = ()  # what became of the hooks in it; set when the second begins
    _later_began: dict[int, float] | None = None  # when silent steps began that did not when the one before ended
    _allowance = 0.0  # seconds for a second call, or for what is left of a call in another place
    _listeners: tuple[RunListener, ...] = ()
    _match = _NO_MATCH  # the grade of the current hook's ``if``
    _phase = 1  # 2 during the second call of a hook that answered async
    _parts: Sequence[Run] = ()  # the runs of the current group, once they have begun
    _pending: Any = None  # what a hook returned in a place that cannot await it
    _rest: dict[str, str] | None = None
    _shared: tuple[dict[str, Any], Event] | None = None  # the event of handlers that only read; and of which fields

    def begin(self, route: Route, given: dict[str, Any], executor: Executor) -> Self:
        """Prepare to run the steps of a route. Python calls ``__init__`` more slowly than a method."""
        self.route = route
        self.steps = route.steps
        self.executor = executor
        self.fields, self._flat, self._deep = route.template.begin(given)  # the input as it stands; what is copied
        self.depth = depth.get() + 1
        self.ran: list[Entry] = []  # one for each step that is done
        self.began = self.now = self._step_began = self._first_began = 0.0  # set at the first step
        self.over = self._spoken = False  # whether a hook has ended the firing; whether one said anything
        self.silent = False  # whether all steps have run and none said anything
        self._careful = False  # whether no hook is plain: a listener is told, or the current one has begun already
        if route.round == 2:
            self.round, self._careful = 2, True
        return self

    def listen(self, listeners: Sequence[Listener]) -> None:
        self._listeners, self._careful = tuple(listener.run_begins(self) for listener in listeners), True

    async def advance(self, chain: Chain, place: Place, awaits: bool) -> None:  # noqa: C901, PLR0912, PLR0915 - one
        """Run steps one after another, as long as they belong in this place; in some what they return is awaited."""
        route, steps, ran = self.route, self.steps, self.ran
        make, sure = route.template.event_type, self.began + route.sure
        step: Step  # the loop below always sets it
        depth.set(self.depth)
        # A thread may begin later than its run, and so may a task of Python 3.11.
        now = self.now = self.now if awaits and TASKS_BEGIN_AT_ONCE else monotonic()
        try:
            while not self.over:
                # A plain hook need only be called, as long as no listener is told of it and none can be late.
                plain = "" if self._careful or kept.crowded or now >= sure else place
                fields, flat, deep = self.fields, self._flat, self._deep
                mapping = fields[flat] if flat else None
                if not ran:
                    self._first_began = now
                else:
                    self._later_began = self._later_began or {}
                    self._later_began[len(ran)] = now
                try:
                    for step in steps[len(ran) :] if ran else steps:
                        if step.quick != plain or step.health.failures:
                            value = _NOT_CALLED
                            break
                        self._step_began = now
                        if not awaits:
                            chain.hook_begins()
                        event = make()
                        event |= fields
                        event.completed_by = self
                        if mapping is not None:
                            event[flat] = mapping.copy()
                        if deep:
                            for name in deep:
                                event[name] = own_copy(fields[name])
                        value = await step.call(event) if awaits and step.is_coroutine else step.call(event)
                        now = monotonic()
                        if value is not None or now >= sure or self.over:
                            break  # it has to be looked at; or the run has gone on without this chain
                        if not awaits and not chain.hook_answered(None):
                            return
                        ran.append(now)
                    else:
                        self.now = now
                        break
                except BaseException as error:
                    value = _failure_of(error, chain)
                if value is _NOT_CALLED:
                    self.now = now
                    if self._pending is None and (step.place if awaits else step.place_without_loop) != place:
                        return
                    if not self._may_begin(step):
                        now = self.now
                        continue
                    self._step_began = self.now
                    chain.hook_begins()
                try:
                    if value is _NOT_CALLED:
                        value = self._call(step, awaits)
                    if value is not None and awaits and type(value) is not Reply and is_awaitable(value):
                        value = await value
                        if type(value) is CoroutineType:
                            value = await value  # a hook that forgot an await
                except BaseException as error:
                    value = _failure_of(error, chain)
                if chain.abandoned if awaits else not chain.hook_answered(value):
                    return  # the run has gone on without this chain
                now = self.now = monotonic()
                if not awaits and value is not None and is_awaitable(value):
                    self._hand_over(value, step)
                    return
                self._conclude(step, value, chain)
                now = monotonic()  # to write it down may take long: the log is the host's
            self.silent = not self._spoken
        finally:
            if awaits and chain.waiter is not None:
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
        elif hook.once and health.once.setdefault("claim", self.rest()) is not self.rest():
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
        fields = {**self.fields, **self.rest()}
        grade = judge(self.call.for_rules(fields) if self.call else fields)
        self._match = {"match": grade} if grade else _NO_MATCH
        return bool(grade)

    def _call(self, step: Step, has_loop: bool) -> Any:
        """Call a hook with its own copy of the input, or go on with what it has returned elsewhere."""
        for listener in self._listeners:
            listener.hook_begins(step)
        if self._pending is not None:
            value, self._pending = self._pending, None
            return value
        handler = step.handler
        if handler is None:
            return step.call(self._event(step))
        progress.set(partial(self._report, step) if self._listeners else None)
        shares = getattr(handler, "only_reads", False) and self._phase == 1 and not (self._match or step.host_names)
        event = self._shared_event(step) if shares else self._event(step)
        run = handler if has_loop or step.blocking is None else step.blocking
        return run(step.hook, event, self.deadline() - step.ending)

    def _event(self, step: Step) -> Event:
        event: Event = self.route.template.event_type()
        event.update(self.fields, **self._match)
        event.completed_by = self
        for name in (self._flat, *self._deep):
            if name:
                event[name] = own_copy(self.fields[name])
        if self.call and step.host_names:
            self.call.restore(event)
        if self._phase == 2:
            event["async_phase"] = 2
        return event

    def _shared_event(self, step: Step) -> Event:
        """Return the event for handlers that only read it: those of a firing share it, so it is encoded once."""
        if self._shared is None or self._shared[0] is not self.fields:
            self._shared = (self.fields, self._event(step))
        return self._shared[1]

    def _report(self, step: Step, stream: str, text: str) -> None:
        for listener in self._listeners:
            listener.hook_writes(step, stream, text)

    def _hand_over(self, value: Any, step: Step) -> None:
        """Keep the awaitable of a hook that looked synchronous: a place with an event loop can await it."""
        self._pending, self._careful = value, True
        self._allowance = max(0.001, self.deadline() - self.now)
        if getattr(step.call, "awaits", False):
            step.must_be_awaited()  # now that it is imported

    # What becomes of a step.

    def _conclude(self, step: Step, value: Any, chain: Chain) -> None:
        """Read a hook's answer and let it take effect."""
        if chain.due is not None or self.now > self.deadline():
            chain.settle()
            self.time_out()
            return
        if value is None:
            step.health.failures = 0
            self._write(step, "ok")
            return
        hook, row, effect, ended = step.hook, self.route.row, None, value if type(value) is Ended else None
        known = type(value) is Failure or (type(value) is Reply and is_plain(value))
        try:
            reply = value if known else step.read(row, value)
            if isinstance(reply, Reply) and reply.again is None:
                reply = own_reply(reply)
                may_change = self.round == 1 and (hook.rewrites_in_group or not hook.parallel)
                effect = weigh(row, reply, may_change=may_change)
                if self.call:
                    self.call.accept(effect.changes)
        except BaseException as error:  # an answer whose own methods break, or with rubbish in it
            reply = _failure_of(error, chain, Failure("bad_reply", f"the answer cannot be used: {type_name(error)}"))
        if isinstance(reply, Failure):
            self.fail(reply, ended, begun=True)
        elif effect is not None:
            step.health.failures, problem = 0, reply.problem and self._with_limit(reply.problem)
            status: Status = "ok" if problem is None else "timeout" if problem.kind == "late" else "failed"
            why, effect = problem and problem.error, effect if self.round == 1 else only_stricter(effect)
            self._write(step, status, ended, effect=effect, error=why, reply=reply, evidence=reply.evidence)
        elif self._phase == 2:
            self.fail(Failure("bad_output", "answered async a second time"), ended, begun=True)
        elif reply.again is not None:
            self._phase, self._allowance, self._careful = 2, min(reply.again, step.ceiling or reply.again), True

    def fail(self, failure: Failure, ended: Ended | None = None, *, begun: bool = False, at: Any = None) -> None:
        """Do what the failure of the current hook means: deny, or go on to the next. Do nothing if that is not ``at``.

        A failure that is not the hook's own does not count: what a model writes must not switch a hook off.
        """
        if self._is_done() or at not in (None, self.step()):
            return
        step = self.step()
        if step.members:  # each fails that has not ended, in a run that no chain has any more
            parts = [part if part._is_done() else self._part(part.steps[0]) for part in self._parts or self.parts()]
            for part in parts:
                part.fail(failure)
            self.join(parts)
            return
        failure = self._with_limit(failure) if begun else failure
        hook, health, error, row = step.hook, step.health, failure.error, self.route.row
        effect = on_failure(row, hook, failure, step.policy)
        if not begun:
            self._step_began = self.now
        if failure.kind != "unasked" and (begun or failure.code == "hook_crash"):
            health.denied_last = effect is not None
            health.failures += 1
            health.open_until = self.now + BREAKER_SECONDS
        if self._rest is not None and health.once.get("claim") is self._rest:  # this firing has claimed it
            health.once.clear()
        level = "debug" if step.policy == "skip" else "error"
        log(level, "hook %s at %s failed (%s): %s", hook.label, row.name, error.code, error, trace=error.trace)
        status: Status = "timeout" if failure.kind == "late" else "failed"
        self._write(step, status, ended, effect=effect, error=error, evidence=failure.evidence)

    def time_out(self) -> None:
        self.now = monotonic()
        self.fail(Failure("timeout", ""), begun=True)

    def _with_limit(self, failure: Failure) -> Failure:
        """Add to a failure how long the current hook had: a handler only knows when it must end."""
        if failure.code != "timeout":
            return failure
        limit = f"no answer within {self.deadline() - self.step().ending - self._step_began:.3g} s"
        return replace(failure, text=f"{limit}; {failure.text}" if failure.text else limit)

    def _break_off(self, step: Step) -> None:
        """Do at once what this hook's earlier failures did: deny, or go on without it."""
        failure = Failure("breaker_open", f"failed {step.health.failures} times in a row; not waited for")
        denies = step.health.denied_last or step.policy == "abort"
        effect = on_failure(self.route.row, step.hook, failure, "abort") if denies else None
        self._write(step, "failed" if effect else "skipped", effect=effect, error=failure.error)

    def refuse(self, failure: Failure) -> None:
        """Run no hook, for a reason outside of the hooks; deny if the event can be denied."""
        while not (self.over or self._is_done()):
            effect = on_failure(self.route.row, self.step().hook, failure, "abort")
            self._write(self.step(), "failed", effect=effect, error=failure.error)

    def _write(self, step: Step, status: Status, ended: Ended | None = None, **what: Any) -> None:
        """Write down what became of a step, tell of it, and go on to the next."""
        duration = self.now - self._step_began
        if self._match:
            what["evidence"] = {**(what.get("evidence") or {}), **self._match}
        run = HookRun(step.hook, status, duration, round=self.round, enforced=step.enforced, **what)
        self.ran.append(run)
        self._take_effect(run)
        self._forget_step()
        for listener in self._listeners:
            listener.hook_ends(step, run, ended)

    def _take_effect(self, run: HookRun) -> None:
        effect = run.effect
        if effect is None:
            return
        self._spoken = True
        if effect.changes and run.enforced:
            self.given = self.given or self.fields
            begun = self.route.template.begin({**self.fields, **effect.changes})
            self.fields, self._flat, self._deep = begun
        self.over = self.over or (effect.ends and run.enforced)

    def _forget_step(self) -> None:
        if self._allowance or self._match:
            self._phase, self._allowance, self._match = 1, 0.0, _NO_MATCH

    # What an executor asks and says.

    def next_place(self, has_loop: bool) -> Place | None:
        """Return where the next step runs, and begin its time; None if no step is left."""
        done, steps = len(self.ran), self.steps
        if done >= len(steps) or self.over:
            for step in steps[done:]:  # their turn never came
                skip, members = partial(HookRun, status="skipped", duration=0.0, round=self.round), step.members
                self.ran.append(tuple((one, skip(one.hook, enforced=one.enforced)) for one in members or (step,)))
            if self.given is None or self.over or not self._begin_second_round():
                if self.background:
                    self.route.inputs.finish_background(self)
                return None
            done, steps = 0, self.steps
        self.now = self._step_began = monotonic()
        self.began = self.began or self.now
        if self._careful and self._pending is not None:
            return "task"
        return steps[done].place if has_loop else steps[done].place_without_loop

    def step(self) -> Step:
        return self.steps[len(self.ran)]

    def _is_done(self) -> bool:
        return len(self.ran) >= len(self.steps)

    def deadline(self) -> float:
        total, done = self.began + self.route.total, len(self.ran)
        if done >= len(self.steps):
            return total
        step = self.steps[done]
        return min(self._step_began + (self._allowance or step.timeout), total) + step.ending

    def _begin_second_round(self) -> bool:
        """Prepare the one extra round, in which guards judge an input that changed after their turn."""
        row = self.route.row
        if self.round == 2 or not row.can & {"deny", "ask"}:
            return False
        subject = "" if self.fields.get("tool_readings") else str(self.fields.get(row.subject or "", ""))
        version, seen = 0, dict[Step, int]()
        first_round = self.fates(self.ran)
        for step, run in first_round:
            version += (changes := isinstance(run, HookRun) and bool(run.changes))
            if step is not None and step.guard:
                # After its own change, which it has seen; in a group whose changes count, it has seen no other.
                seen[step] = version if changes or not step.hook.rewrites_in_group else 0
        self.round, self._careful, self._first_round, self.ran = 2, True, first_round, []
        self.steps = tuple(
            step
            for step, last in seen.items()
            if last < version and (self.call or not step.hook.matches or not subject or step.hook.matches(subject))
        )
        return bool(self.steps)

    # Hooks beside others.

    def _part(self, step: Step, *, background: bool = False) -> Run:
        """Return a run of one step on the current input, to run beside this one."""
        part = Run().begin(self.route, self.fields, self.executor)
        part.steps, part.depth, part.round, part.background = (step,), self.depth, self.round, background
        part._careful = self._careful or bool(self._match)  # a plain hook is not told of a match
        part.now = part.began = self.now if background else self.began
        part._match, part.call = self._match, self.call
        part._rest = self.rest()  # the same call id for all of them
        if step.handler is not None and not (self._match or step.host_names):
            part._shared = (part.fields, self._shared_event(step))
        part._listeners = tuple(listener.part_begins(part) for listener in self._listeners)
        return part

    def parts(self) -> Sequence[Run]:
        self._parts = [self._part(step) for step in self.step().members]
        return self._parts

    def join(self, parts: Sequence[Run]) -> None:
        """Take over what these runs wrote down, in their order, and go on to the next step."""
        self.now, self._parts = monotonic(), ()
        changed_by: dict[str, HookRun] = {}
        joined = tuple(fate for part in parts for fate in part.fates(part.ran))
        self.ran.append(joined)
        for run in [run for _, run in joined if isinstance(run, HookRun)]:
            for name in run.changes:
                before = changed_by.get(name)
                if before is not None and before.effect is not None:
                    before.effect.ignored.append(f"modify {name}: overwritten by {run.hook.label}")
                changed_by[name] = run
            self._take_effect(run)
        self._forget_step()

    # The end.

    def rest(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: found out once."""
        if self._rest is None:
            self._rest = self.route.template.rest(self.fields)
        return self._rest

    def spoken(self) -> list[HookRun]:
        """Return the runs in which a hook said something, failed, or did not run."""
        return [run for _, run in self.fates(self.ran) if isinstance(run, HookRun)]

    def outcome(self, extra: Mapping[str, Any], late: Sequence[HookRun] = ()) -> Outcome:
        """Merge what the hooks answered. ``late`` are runs of background hooks of earlier firings."""
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
        run = HookRun(recorder, "failed", 0.0, effect, failure.error)
        self.ran = [*self.ran, run]  # the recorder has the outcome with the list as it was
        for listener in self._listeners:
            listener.hook_ends(None, run, None)

    def results(self, entries: Sequence[Any]) -> tuple[Result, ...]:
        fates = self.fates(entries)
        return tuple(run.result() if isinstance(run, HookRun) else step.result(run) for step, run in fates)

    def fates(self, entries: Sequence[Any]) -> list[Fate]:
        """Return what became of each hook, in the order they ran."""
        found, began, later = [*self._first_round], self._first_began, self._later_began or {}
        for place, (step, entry) in enumerate(zip_longest(self.steps, entries)):
            if type(entry) is float:
                found.append((step, entry - later.get(place, began)))
                began = entry
            else:
                found += entry if type(entry) is tuple else [(step, entry)]
        return found

    def end(self, outcome: Outcome | None) -> None:
        """Tell listeners of the outcome; None if the host was interrupted."""
        for listener in self._listeners:
            listener.run_ends(outcome)


def _failure_of(error: BaseException, chain: Chain, failure: Failure | None = None) -> Failure:
    """Return the failure that an exception out of a hook stands for; raise one that is meant for the host."""
    if not chain.abandoned and chain.passes_on(error):
        raise error
    return failure or describe(error)


def _void_grants(runs: Sequence[HookRun]) -> None:
    """Take back what was granted for an input that is no longer the one that would run."""
    changed = False
    for run in reversed(runs):
        effect = run.effect
        if changed and effect is not None and effect.granted and run.enforced:
            effect.granted = False
            effect.ignored.append("allow: the input changed afterwards")
        changed = changed or bool(run.changes)
