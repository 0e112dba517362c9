"""What a session keeps between firings: context for the next model call, and why the turn must end."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from ..model import Outcome

__all__ = ["TurnState"]


class TurnState:
    """The state of the current turn, shared by concurrent calls in tasks or threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: list[str] = []
        self.halted = ""
        self.halted_by: Outcome | None = None

    def add(self, texts: Iterable[str]) -> None:
        """Keep context for the next model call."""
        with self._lock:
            self._context.extend(texts)

    def take(self) -> list[str]:
        """Return the pending context and clear it."""
        with self._lock:
            taken, self._context = self._context, []
        return taken

    def put_back(self, texts: list[str]) -> None:
        """Put context back that no model has seen."""
        with self._lock:
            self._context[:0] = texts

    @property
    def pending(self) -> tuple[str, ...]:
        """The context for the next model call."""
        with self._lock:
            return tuple(self._context)

    def update(self, outcome: Outcome) -> None:
        """Keep the context of an outcome, and why it ends the turn."""
        texts = outcome.context
        if outcome.inject:
            texts = [
                *texts,
                *(one.content for one in outcome.inject if one.strategy == "system_context" and one.content),
            ]
        if texts:
            self.add(texts)
        if _halts(outcome) and not self.halted:
            self.halted = outcome.stop_reason or outcome.reason or "a hook ended the turn"
            self.halted_by = outcome

    def resume(self) -> tuple[str, Outcome | None]:
        """Begin a new turn; return why the last one ended, for ``halt_again``."""
        before = self.halted, self.halted_by
        self.halted, self.halted_by = "", None
        return before

    def halt_again(self, before: tuple[str, Outcome | None]) -> None:
        """Restore the state before ``resume``: the new turn did not begin."""
        if not self.halted:
            self.halted, self.halted_by = before


def _halts(outcome: Outcome) -> bool:
    """Say whether an outcome ends the turn; ``continue: false`` that became the deny of one action does not."""
    if outcome.interrupt or outcome.continue_:
        return outcome.interrupt
    said = [result.reply for result in outcome.results if result.enforced]
    return not outcome.denied or any(getattr(reply, "halt", False) for reply in said)
