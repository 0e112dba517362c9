"""What all agents of one run share: the model, the files, the screen, the limits, the kinds of agents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interpose import Hooks
from interpose.models import Model

from .kinds import AGENT_KINDS, AgentKind
from .shadow import ShadowGit
from .tools import TOOLS, Tool
from .view import NoView, View

__all__ = ["Limits", "World"]


@dataclass(frozen=True)
class Limits:
    """How far an agent may go by itself."""

    turns: int = 100
    """Model calls for one prompt."""
    compact_at: float = 0.8
    """The part of the model's context that may be in use before the conversation is compacted."""
    depth: int = 2
    """How deep subagents may have subagents."""
    sent_back: int = 8
    """How often in a row hooks may send a teammate back to a task, or to work."""


@dataclass
class World:
    """Made once for a run."""

    hooks: Hooks
    model: Model
    cwd: Path
    directory: Path
    """Where transcripts are kept."""
    shadow: ShadowGit
    view: View = field(default_factory=NoView)
    kinds: Mapping[str, AgentKind] = field(default_factory=lambda: AGENT_KINDS)
    limits: Limits = field(default_factory=Limits)
    tools: Sequence[Tool] = TOOLS
    env_file: Path | None = None
    locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    spawned: int = 0
    """How many subagents there were."""

    def __post_init__(self) -> None:
        self.cwd = self.cwd.resolve()
