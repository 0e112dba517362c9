"""What a session returns to its host, and what it asks a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Outcome
from ..person.permission import Permission
from ..records import Record

__all__ = ["Answer", "Question"]


class Question(Record):
    """A tool call that a person has to allow or deny."""

    tool_name: str
    tool_input: Any
    reason: str = ""
    """Why the question is asked, if a hook or a rule gave a reason."""
    tool_use_id: str = ""
    session_id: str = ""
    agent_id: str = ""
    rule: str = ""
    """The rule that asks, or in ``hook`` the hook that does; and in ``place`` where it is written."""
    hook: str = ""
    place: str = ""

    @property
    def call(self) -> str:
        """The call as text on one line. Names that are not plain identifiers are quoted."""
        shown = self.tool_input
        if isinstance(shown, Mapping):
            shown = ", ".join(f"{_name(name)}={value!r}" for name, value in shown.items())
        elif not isinstance(shown, str) or not shown.isprintable():
            shown = repr(shown)
        return f"{_name(self.tool_name)}({shown})"

    def __str__(self) -> str:
        return self.call + (f": {self.reason}" if self.reason else "")


class Answer(Record):
    """The result of one action of the host."""

    ok: bool
    """Whether the action was done, or may be done."""
    content: Any = ""
    """What the model is told, or the caller: a result, an answer, or the reason why there is none."""
    outcome: Outcome
    """The outcome that decided about the action."""
    outcomes: tuple[Outcome, ...] = ()
    """The outcomes of all events that were fired for the action, in their order."""
    denied: bool = False
    """Whether the action was not allowed; an action that was tried and failed is not denied."""
    reason: str = ""
    keep_going: bool = False
    """Whether the agent must continue; ``content`` is what it is told."""
    input: Any = None
    """The input of the action after all changes."""
    raw: Any = None
    """What the host's function returned, before hooks changed or withheld it."""
    changed: bool = False
    """Whether ``content`` is something else than what the host's function returned, because a hook changed it."""
    error: BaseException | None = None
    permission: Permission | None = None
    """What was decided about a tool call, and by whom or what; None for a call that was simply allowed."""
    question: Question | None = None
    """The question that a person has to answer first, in a session with ``approver=later``."""
    user_messages: tuple[str, ...] = ()
    """Texts to add to the conversation as messages of the user, after this result."""


def _name(text: object) -> str:
    """Return a plain identifier as it is and anything else quoted, so that it cannot look like a part of the call."""
    plain = isinstance(text, str) and text.isascii() and text.replace("-", "_").lstrip("_").isidentifier()
    return str(text) if plain else repr(text)
