"""An event of an agent, and the answer to it: what is exchanged at every event, so that little is loaded for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...runtime.named_tuples import NamedTuple

__all__ = ["AgentEvent", "HookOutput"]


class AgentEvent(NamedTuple):
    """An agent's event in our words."""

    event: str
    """Our name of the event; empty if it has no row here, so that nothing has an opinion on it."""
    fields: dict[str, Any]
    """What hooks are fired with."""
    given: Mapping[str, Any]
    """The agent's own payload, from which an answer in its own words is made."""
    name: str
    """The agent's own name of the event."""
    more: tuple[dict[str, Any], ...] = ()
    """Further events that the same call means: a patch writes several files, and each has rules."""


class HookOutput(NamedTuple):
    """What the program of a hook prints and how it exits."""

    stdout: str
    stderr: str
    status: int
    unsaid: tuple[str, ...] = ()
    """Parts of the outcome that this agent has no words for at this event; ``fire`` prints them on standard error."""
