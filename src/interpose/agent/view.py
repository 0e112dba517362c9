"""What a person gets to see. The agent hands over data; hooks may change it; a view draws it.

Views: ``prompt`` (text), ``assistant`` (text), ``call`` (tool, input, given, ok, content, denied, reason), ``notice``
(text), ``agent`` (name, state, task); of a subagent each also has ``agent``, its name.
"""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["NoView", "View"]


class View(Protocol):
    """Draws what the agent does, as it does it."""

    def draw(self, view: str, data: Any) -> None:
        """Draw one frame."""

    def stream(self, agent: str, text: str) -> None:
        """Show a piece of what the model is saying; the whole comes as a frame afterwards."""

    def busy(self, agent: str, what: str) -> None:
        """Show what an agent is doing at the moment; nothing means that it has finished."""


class NoView:
    """Shows nothing."""

    def draw(self, view: str, data: Any) -> None:
        """Draw nothing."""

    def stream(self, agent: str, text: str) -> None:
        """Show nothing."""

    def busy(self, agent: str, what: str) -> None:
        """Show nothing."""
