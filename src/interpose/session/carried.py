"""What a session carries from one firing to the next: context for the model, and why the turn must end."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from ..model import Outcome

__all__ = ["Carried"]


class Carried:
    """Shared by calls that run at the same time, in tasks or in threads."""

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
        """Return the context that is pending; it is no longer pending."""
        with self._lock:
            taken, self._context = self._context, []
        return taken

    def put_back(self, texts: list[str]) -> None:
        """Have context pending again that no model has seen."""
        with self._lock:
            self._context[:0] = texts

    @property
    def pending(self) -> tuple[str, ...]:
        """The context for the next model call."""
        with self._lock:
            return tuple(self._context)

    def hear(self, outcome: Outcome) -> None:
        """Keep what an outcome says for later."""
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
        """Begin a new turn; return why the last one had to end, for ``halt_again``."""
        before = self.halted, self.halted_by
        self.halted, self.halted_by = "", None
        return before

    def halt_again(self, before: tuple[str, Outcome | None]) -> None:
        """Take back that a new turn has begun."""
        if not self.halted:
            self.halted, self.halted_by = before


def _halts(outcome: Outcome) -> bool:
    """Whether the turn is over. ``continue: false`` that has become a deny of one action has had its effect."""
    if outcome.interrupt or outcome.continue_:
        return outcome.interrupt
    said = [result.reply for result in outcome.results if result.enforced]
    return not outcome.denied or any(getattr(reply, "halt", False) for reply in said)
