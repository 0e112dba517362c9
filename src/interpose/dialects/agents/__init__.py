"""The words of each coding agent: its events in our words, our outcome in its words, and what it does with them.

Each agent is a module with a ``DIALECT``, which has the names of ``AgentDialect``; it is loaded when it is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from ...errors import UsageError, nearest
from ...model import Outcome

if TYPE_CHECKING:
    from .contract import Contract, HookExit, Prediction
    from .exchange import AgentEvent, HookOutput

__all__ = ["AGENTS", "AgentDialect", "agent_dialect"]

AGENTS = (
    "claude", "codex", "copilot", "gemini", "qwen", "cline", "droid", "cursor", "opencode", "vscode", "windsurf",
    "kiro", "auggie", "amp", "goose", "kimi", "antigravity", "grok", "hermes", "deepagents", "openhands",
)  # fmt: skip
"""The agents by the words of the command line, those that were run here first."""


class AgentDialect(Protocol):
    """What the dialect of an agent offers."""

    NAME: str
    """The word on the command line, such as ``codex``."""
    TITLE: str
    """The name that people know, such as ``Codex``."""
    EVENTS: Mapping[str, str]
    """The agent's events by its own names, and our names of them; ``attach`` registers each."""

    @property
    def CONTRACTS(self) -> Sequence[Contract]:  # noqa: N802
        """The contracts, the newest first."""

    def read_event(self, name: str, payload: Mapping[str, Any]) -> AgentEvent:
        """Return an event in our words. ``name`` is what the command line says; a payload may lack it."""

    def write_answer(self, event: AgentEvent, *outcomes: Outcome) -> HookOutput:
        """Write outcomes in the words that this agent honours at this event; there are several if ``event.more``."""

    def write_failure(self, name: str, why: str) -> HookOutput:
        """Write that nothing could be decided: a deny where the event has one, and never a reason to keep going."""

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        """Return what the agent does when the program of a hook has ended so."""


def agent_dialect(name: str) -> AgentDialect:
    """Return the dialect of an agent; raise UsageError if there is none of that name."""
    if name not in AGENTS:
        raise UsageError(f"{name} is not an agent that is known here", hint=nearest(name, AGENTS) or ", ".join(AGENTS))
    return cast("AgentDialect", import_module(f".{name}", __name__).DIALECT)
