"""What one firing has heard so far: every hook's fate, the input as it stands, and which guard has seen which input."""

from __future__ import annotations

from typing import Any

from .decide import Ran, Silent, add_late, merge, quiet
from .events import Row
from .model import Outcome
from .payload import Copiers, Template, copiers
from .step import Engine, Step

__all__ = ["Ledger"]


class Ledger:
    """Written by the chain, one step after another; read once, for the outcome.

    Its parts are set by the Firing that it is a part of. What most firings never change stands in the class.
    """

    round = 1
    over = False
    changed = 0
    """The input's version: how often it was changed."""
    silent = True
    """Whether no hook had anything to say so far, and none failed."""
    _rest: dict[str, str] | None = None
    _guards: list[tuple[Step, int]] = []  # noqa: RUF012 - never written to; the first guard makes a list of its own

    engine: Engine
    template: Template
    steps: tuple[Step, ...]
    fields: dict[str, Any]
    ran: list[Ran | Silent]
    position: int
    _copiers: Copiers

    @property
    def row(self) -> Row:
        """The row of the event that was fired."""
        return self.template.row

    def __call__(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: made once, when read."""
        if self._rest is None:
            self._rest = self.template.rest(self.fields)
        return self._rest

    def note_silence(self, step: Step, duration: float) -> None:
        """Write down that a hook had nothing to say."""
        self.ran.append(Ran(step.hook, "ok", duration, round=self.round, enforced=step.enforced))
        if step.guard:
            self._guards = [*self._guards, (step, self.changed)]

    def note(self, step: Step, ran: Ran) -> None:
        """Write down what became of a step, and let it take effect."""
        self.ran.append(ran)
        self.silent = False
        if ran.effect is not None and ran.enforced:
            if ran.effect.changes:
                self.fields = {**self.fields, **ran.effect.changes}
                self._copiers = copiers(self.fields)
                self.changed += 1
            self.over = self.over or ran.effect.ends
        if step.guard:
            # After its own change: who wrote the final input has seen it.
            self._guards = [*self._guards, (step, self.changed)]

    def absorb(self, parts: list[Any]) -> None:
        """Take over what the hooks of a parallel group said, in their order."""
        for part in parts:
            for ran in part.ran:
                if isinstance(ran, Ran):
                    self.note(part.steps[0], ran)
                else:
                    self.note_silence(part.steps[0], ran[1])

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

    def outcome(self) -> Outcome:
        """Merge what was said."""
        engine = self.engine
        late = engine.late.pop(self.session_id, None) if engine.late else None
        if self.silent and not engine.off and not late:
            return quiet(self.template, self.fields, self.ran, self)
        extra = {"off": engine.off} if engine.off else None
        outcome = merge(self.template, self.fields, self.ran, rest=self, extra=extra)
        return add_late(outcome, self.row, late) if late else outcome

    @property
    def session_id(self) -> str:
        """The session that this firing belongs to."""
        return str(self.fields["session_id"])
