"""What a host gets from its session, and what a person is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Outcome
from ..records import Record

__all__ = ["Answer", "Question"]


class Answer(Record):
    """What became of one thing that the host was about to do."""

    ok: bool
    """Whether it was done, or may be done."""
    content: Any = ""
    """What goes on to the model, or to whoever waits for it: a result, an answer, or why there is none."""
    outcome: Outcome
    """The outcome that decided."""
    outcomes: tuple[Outcome, ...] = ()
    """The outcomes of all events that were fired for it, in their order."""
    denied: bool = False
    """Whether it was kept from being done; something that was tried and failed is not denied."""
    reason: str = ""
    keep_going: bool = False
    """Whether the agent must go on; ``content`` says what to tell it."""
    input: Any = None
    """What it was done with, after all changes."""
    raw: Any = None
    """What was returned, before hooks changed or withheld it."""
    error: BaseException | None = None
    user_messages: tuple[str, ...] = ()
    """Texts that belong into the conversation as messages of the user, after this result."""


class Question(Record):
    """A call that somebody has to say yes or no to."""

    tool_name: str
    tool_input: Any
    reason: str = ""
    """Why it is asked, if a hook or a rule said so."""
    tool_use_id: str = ""
    session_id: str = ""
    agent_id: str = ""

    @property
    def call(self) -> str:
        """The call as text on one line: names and values that would look like more than one are in quotes."""
        shown = self.tool_input
        if isinstance(shown, Mapping):
            shown = ", ".join(f"{_name(name)}={value!r}" for name, value in shown.items())
        elif not isinstance(shown, str) or not shown.isprintable():
            shown = repr(shown)
        return f"{_name(self.tool_name)}({shown})"

    def __str__(self) -> str:
        return self.call + (f": {self.reason}" if self.reason else "")


def _name(text: object) -> str:
    """Return a name as it is if it is one; anything else could be written to look like a part of the call."""
    plain = isinstance(text, str) and text.isascii() and text.replace("-", "_").lstrip("_").isidentifier()
    return str(text) if plain else repr(text)
