"""What one firing has heard so far: every hook's fate, the input as it stands, and which guard has seen which input."""

from __future__ import annotations

from typing import Any

from .decide import Ran, Rest, Silent, add_late, merge, on_failure, only_stricter, quiet, weigh
from .event import Copiers, Template, copiers
from .events import Row
from .faults import log, type_name
from .ids import new_id
from .model import Hook, Outcome, Status
from .plan import under_ceiling
from .replies import Ended, Failure, Reply
from .step import Engine, Route, Step

__all__ = ["BREAKER_FAILURES", "Ledger"]

BREAKER_FAILURES = 10
BREAKER_SECONDS = 30.0
"""A hook that fails so often in a row is not waited for again for so long."""


class Ledger:
    """Written by the chain, one step after another; read once, for the outcome.

    What every firing uses has a slot, what hardly any does stands in the class. Nothing does both: the interpreter
    takes several times as long for an attribute of an object that its class has too.
    """

    __slots__ = ("__dict__", "__weakref__", "_copiers", "_rest", "allowance", "changed", "ended", "engine", "fields",
                 "now", "over", "phase", "position", "ran", "round", "silent", "step_started", "steps",
                 "template")  # fmt: skip
    engine: Engine
    template: Template
    steps: tuple[Step, ...]
    position: int
    round: int
    phase: int
    allowance: float
    """How long a second phase has, instead of the step's own timeout."""
    now: float
    step_started: float
    over: bool
    fields: dict[str, Any]
    changed: int
    """The input's version: how often it was changed."""
    ran: list[Ran | Silent]
    silent: bool
    """Whether no hook had anything to say so far, and none failed."""
    ended: Ended | None
    """How the command of the current step ended, if it is one."""
    _copiers: Copiers
    _rest: Rest | dict[str, str] | None
    """The fields that are found out when they are read, or who has found them out."""

    given: dict[str, Any] | None = None
    """The input as it was before the first change; nothing if there was none."""
    run_id = ""
    """Names the run of the current step in messages."""
    _grants: list[tuple[Ran, int]] = []  # noqa: RUF012 - as the next
    _guards: list[tuple[Step, int]] = []  # noqa: RUF012 - never written to; the first guard makes a list of its own

    def open(self, route: Route, fields: dict[str, Any], how: Copiers, now: float) -> None:
        """Begin with an input of which nobody has said anything."""
        self.engine, self.template, self.steps = route.engine, route.template, route.steps
        self.fields, self._copiers = fields, how
        self.now = self.step_started = now
        self.position = self.changed = 0
        self.round = self.phase = 1
        self.allowance = 0.0
        self.over, self.silent = False, True
        self.ended = self._rest = None
        self.ran = []

    @property
    def row(self) -> Row:
        """The row of the event that was fired."""
        return self.template.row

    def __call__(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: made once, when read."""
        rest = self._rest
        if not isinstance(rest, dict):
            rest = self._rest = self.template.rest(self.fields) if rest is None else rest()
        return rest

    # What becomes of a step.

    def conclude_silence(self, step: Step) -> None:
        """Go on after a hook that had nothing to say."""
        step.health.failures = 0
        self.note_silence(step, self.now - self.step_started)
        if self.engine.tell is not None:
            self.tell("hook_response", step.hook, outcome="success")
        self.next()

    def settle(self, step: Step, value: Any) -> None:
        """Read an answer and let it take effect; an answer that asks for a second call leaves the step as it is."""
        self.ended = value if type(value) is Ended else None
        reply = value if type(value) is Failure else self._read(step, value)
        if isinstance(reply, Failure):
            self.fail(step, reply)
        elif reply.again is not None and self.phase == 2:
            self.fail(step, Failure("bad_output", "answered async a second time"))
        elif reply.again is not None:
            self.phase, self.allowance = 2, under_ceiling(reply.again, self.engine.settings)
        else:
            try:
                effect = weigh(self.row, reply, may_change=self._may_change(step.hook))
            except BaseException as error:  # a reply with rubbish in it
                self.fail(step, Failure("bad_reply", f"the answer cannot be used: {type_name(error)}"))
                return
            step.health.failures = 0
            problem = reply.problem
            self.write(
                step,
                "ok" if problem is None else "timeout" if problem.kind == "late" else "failed",
                effect=effect if self.round == 1 else only_stricter(effect),
                error=None if problem is None else problem.error,
                reply=reply,
                evidence=reply.evidence,
            )

    def _may_change(self, hook: Hook) -> bool:
        return self.round == 1 and (hook.rewrites_in_group or not hook.parallel)

    def _read(self, step: Step, value: Any) -> Reply | Failure:
        try:
            return step.read(self.row, value)
        except BaseException as error:  # an answer whose own methods break
            return Failure("bad_reply", f"the answer cannot be read: {type_name(error)}")

    def fail(self, step: Step, failure: Failure, status: Status = "failed") -> None:
        """Do what the failure of a hook means: deny, or go on."""
        hook, health = step.hook, step.hook.health
        health.failures += 1
        health.open_until = self.now + BREAKER_SECONDS
        if hook.once and not health.once:
            health.once.append(None)
        effect = on_failure(self.row, hook, failure, step.policy)
        health.denied_last = effect is not None
        error = failure.error
        if failure.kind == "late":
            status = "timeout"
        level = "debug" if step.policy == "skip" else "error"
        log(level, "hook %s at %s failed (%s): %s", hook.label, self.row.name, error.code, error, trace=error.trace)
        self.write(step, status, effect=effect, error=error, evidence=failure.evidence)

    def break_off(self, step: Step) -> None:
        """Do at once what this hook's failures have meant so far: deny, or go on without it."""
        hook = step.hook
        failure = Failure("breaker_open", f"failed {hook.health.failures} times in a row; not waited for")
        denies = hook.health.denied_last or step.policy == "abort"
        effect = on_failure(self.row, hook, failure, "abort") if denies else None
        self.step_started = self.now
        self.write(step, "failed" if effect else "skipped", effect=effect, error=failure.error)

    def skip(self, step: Step, why: dict[str, Any]) -> None:
        """Pass over a hook, and say why."""
        self.step_started = self.now
        self.write(step, "skipped", evidence=why)

    def refuse(self, failure: Failure) -> None:
        """Fail the step whose turn it is: there is nothing to run it in."""
        self.step_started = self.now
        self.fail(self.steps[self.position], failure)

    def refuse_all(self, failure: Failure) -> None:
        """Run nothing, through no fault of the hooks; a deny where the event can be denied."""
        while not self.over and self.position < len(self.steps):
            step = self.steps[self.position]
            effect = on_failure(self.row, step.hook, failure, "abort")
            self.write(step, "failed", effect=effect, error=failure.error)

    def write(self, step: Step, status: Status, **what: Any) -> None:
        """Write down what became of a step, tell of it, and go on to the next."""
        duration = self.now - self.step_started
        self.note(step, Ran(step.hook, status, duration, round=self.round, enforced=step.enforced, **what))
        if status != "skipped":
            self.tell("hook_response", step.hook, **self._wrote(), outcome="success" if status == "ok" else "error")
        self.next()

    def _wrote(self) -> dict[str, Any]:
        """Return what a command wrote and how it ended, for those who are told of it."""
        ended = self.ended
        if ended is None or self.engine.tell is None:
            return {}
        stdout = ended.stdout.decode("utf-8", "replace")
        status = None if ended.failure is not None else ended.status
        return {"stdout": stdout, "stderr": ended.stderr, "output": stdout + ended.stderr, "exit_code": status}

    def next(self) -> None:
        """Turn to the next step."""
        self.position += 1
        self.phase, self.allowance, self.ended = 1, 0.0, None

    def tell(self, subtype: str, hook: Hook, **more: Any) -> None:
        """Send a lifecycle message, if anybody listens; every run that ends has begun."""
        if self.engine.tell is None:
            return
        if not self.run_id:
            self.run_id = new_id()
            if subtype != "hook_started":
                self.engine.tell("hook_started", hook, self, {})
        self.engine.tell(subtype, hook, self, more)
        if subtype == "hook_response":
            self.run_id = ""

    # How it is written down.

    def note_silence(self, step: Step, duration: float) -> None:
        """Write down that a hook had nothing to say."""
        if self.round == 1:
            self.ran.append((step, duration))
        else:
            self.ran.append(Ran(step.hook, "ok", duration, round=self.round, enforced=step.enforced))
        if step.guard:
            self._guards = [*self._guards, (step, self.changed)]

    def note(self, step: Step, ran: Ran) -> None:
        """Write down what became of a step, and let it take effect."""
        self.ran.append(ran)
        self.silent = False
        if ran.effect is not None and ran.enforced:
            if ran.effect.changes:
                self.given = self.given or self.fields
                self.fields = {**self.fields, **ran.effect.changes}
                self._copiers = copiers(self.fields)
                self.changed += 1
            self.over = self.over or ran.effect.ends
            if ran.effect.granted:
                self._grants = [*self._grants, (ran, self.changed)]
        if step.guard:
            # After its own change: who wrote the final input has seen it.
            self._guards = [*self._guards, (step, self.changed)]

    def absorb(self, parts: list[Any]) -> None:
        """Take over what the hooks of a parallel group said, in their order."""
        changed_by: dict[str, Ran] = {}
        for part in parts:
            for ran in part.ran:
                if isinstance(ran, Ran):
                    self._note_overwritten(ran, changed_by)
                    self.note(part.steps[0], ran)
                else:
                    self.note_silence(part.steps[0], ran[1])

    @staticmethod
    def _note_overwritten(ran: Ran, changed_by: dict[str, Ran]) -> None:
        """Report to earlier hooks of a group that a later one has changed the same field."""
        for name in ran.effect.changes if ran.effect is not None and ran.enforced else ():
            before = changed_by.get(name)
            if before is not None and before.effect is not None:
                before.effect.ignored.append(f"modify {name}: overwritten by {ran.hook.label}")
            changed_by[name] = ran

    def note_lost_record(self, failure: Failure, *, required: bool) -> None:
        """Write down that the record of this firing was lost."""
        recorder = Hook(row=self.row, handler=None, type="recorder", label="recorder")
        effect = on_failure(self.row, recorder, failure, "abort") if required else None
        self.ran.append(Ran(recorder, "failed", 0.0, effect, failure.error))
        self.silent = False

    def skip_the_rest(self) -> None:
        """Write down the hooks whose turn never came."""
        for step in self.steps[self.position :]:
            for one in step.members or (step,):
                self.ran.append(Ran(one.hook, "skipped", 0.0, round=self.round, enforced=one.enforced))
                self.silent = False
        self.position = len(self.steps)

    def second_round(self) -> bool:
        """Prepare the one extra round, in which guards judge an input that changed after their turn."""
        if self.round == 2 or self.over or not self.changed or not self.row.can & {"deny", "ask"}:
            return False
        subject = str(self.fields.get(self.row.subject or "", ""))
        again = tuple(
            step
            for step, seen in self._guards
            if seen < self.changed and (step.hook.matches is None or not subject or step.hook.matches(subject))
        )
        self.round, self.steps, self.position = 2, again, 0
        return bool(again)

    def keep_for_later(self) -> None:
        """Keep what a background hook said for the session's next firing."""
        said = [ran for ran in self.ran if isinstance(ran, Ran) and ran.effect is not None]
        if said:
            self.engine.keep_late(self.session_id, said)
        see = getattr(self.engine.recorder, "see_background", None)
        if see is not None:
            see(self)

    def outcome(self) -> Outcome:
        """Merge what was said."""
        engine = self.engine
        # Where nothing can be said to the model, what was said for it waits for the next firing.
        late = engine.late.pop(self.session_id, None) if engine.late and "context" in self.row.can else None
        if self.silent and not (engine.off or engine.notes or late):
            return quiet(self.template, self.fields, self.ran, self)
        for ran, seen in self._grants:
            if seen < self.changed and ran.effect is not None:
                # It was granted for an input that is no longer the one that would run.
                ran.effect.granted = False
                ran.effect.ignored.append("allow: the input changed afterwards")
        extra = {"off": engine.off, **engine.notes} if engine.off else engine.notes
        outcome = merge(self.template, self.fields, self.ran, rest=self, extra=extra)
        return add_late(outcome, self.row, late) if late else outcome

    @property
    def session_id(self) -> str:
        """The session that this firing belongs to."""
        return str(self.fields["session_id"])
