"""What a person sees: the agent provides data, hooks may change it, a view draws it.

Views: ``prompt`` (text), ``assistant`` (text), ``call`` (tool, input, given, ok, content, denied, reason, decided),
``notice`` (text), ``agent`` (name, state, task); those of a subagent also have ``agent``, its name.
"""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["NoView", "View"]


class View(Protocol):
    """Draws what the agent does."""

    def draw(self, view: str, data: Any) -> None:
        """Draw one frame."""

    def stream(self, agent: str, text: str) -> None:
        """Show a piece of the model's text; a frame with the whole text follows."""

    def busy(self, agent: str, what: str) -> None:
        """Show what an agent is doing; an empty text means that it has finished."""


class NoView:
    """Shows nothing."""

    def draw(self, view: str, data: Any) -> None:
        """Draw nothing."""

    def stream(self, agent: str, text: str) -> None:
        """Show nothing."""

    def busy(self, agent: str, what: str) -> None:
        """Show nothing."""
