"""What one firing has heard so far: every hook's fate, the input as it stands, and which guard has seen which input."""

from __future__ import annotations

from typing import Any

from .decide import Ran, Silent, add_late, merge, quiet
from .model import Outcome
from .payload import Template, copiers, event_type
from .replies import HookFailed
from .step import Engine, Step

__all__ = ["Ledger"]


class Ledger:
    """Written by the chain, one step after another; read once, for the outcome."""

    __slots__ = ("_copiers", "_event_type", "_guards", "_spoke", "_version", "engine", "fields", "over", "position",
                 "ran", "round", "row", "steps", "template")  # fmt: skip

    def __init__(self, engine: Engine, template: Template, fields: dict[str, Any], steps: tuple[Step, ...]) -> None:
        self.engine = engine
        self.template = template
        self.row = template.row
        self.fields = fields
        self.steps = steps
        self.position = 0
        self.round = 1
        self.over = False
        self.ran: list[Ran | Silent] = []
        self._spoke = False
        self._event_type = event_type(template.row)
        self._copiers = copiers(fields)
        # The input's version, and which version each guard has seen.
        self._version = 0
        self._guards: list[tuple[Step, int]] = []

    def copy_of_input(self) -> Any:
        """Return a hook's own copy of the current input."""
        try:
            event = self._event_type(self.fields)
            for name, copy in self._copiers:
                event[name] = copy(event[name])
        except Exception as error:
            raise HookFailed("payload", f"the input cannot be copied: {type(error).__name__}") from None
        return event

    def note_silence(self, step: Step, duration: float) -> None:
        """Write down that a hook had nothing to say."""
        self.ran.append((step.hook, duration, self.round, step.enforced))
        if step.guard:
            self._guards.append((step, self._version))

    def note(self, step: Step, ran: Ran) -> None:
        """Write down what became of a step, and let it take effect."""
        self.ran.append(ran)
        self._spoke = True
        if ran.effect is not None and ran.enforced:
            if ran.effect.changes:
                self.fields = {**self.fields, **ran.effect.changes}
                self._copiers = copiers(self.fields)
                self._version += 1
            self.over = self.over or ran.effect.ends
        if step.guard:
            # After its own change: who wrote the final input has seen it.
            self._guards.append((step, self._version))

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
                self._spoke = True
        self.position = len(self.steps)

    def second_round(self) -> bool:
        """Prepare the one extra round, in which guards judge an input that changed after their turn."""
        if self.round == 2 or self.over or not self._version or not self.row.can & {"deny", "ask"}:
            return False
        subject = str(self.fields.get(self.row.subject or "", ""))
        again = tuple(
            step
            for step, seen in self._guards
            if seen < self._version and (step.hook.matches is None or not subject or step.hook.matches(subject))
        )
        self.round, self.steps, self.position = 2, again, 0
        return bool(again)

    def keep_for_later(self) -> None:
        """Keep what a background hook said for the session's next firing."""
        said = [ran for ran in self.ran if isinstance(ran, Ran) and ran.effect is not None]
        if said:
            self.engine.late.setdefault(self._session, []).extend(said)

    def outcome(self) -> Outcome:
        """Merge what was said."""
        engine = self.engine
        late = engine.late.pop(self._session, None) if engine.late else None
        if not self._spoke and not engine.off and not late:
            return quiet(self.template, self.fields, self.ran)
        outcome = merge(self.template, self.fields, self.ran, extra={"off": engine.off} if engine.off else None)
        return add_late(outcome, self.row, late) if late else outcome

    @property
    def _session(self) -> str:
        return str(self.fields.get("session_id", ""))
