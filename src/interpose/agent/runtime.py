"""What all agents of one run share: the hooks, the model, the files, the view, the limits and the agent types."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interpose import Hooks, tool_environment
from interpose.models import Model

from .agent_types import AGENT_TYPES, AgentType
from .env_file import EnvFile
from .shadow import ShadowGit
from .tools import TOOLS, Tool
from .view import NoView, View

__all__ = ["Limits", "Runtime"]


@dataclass(frozen=True)
class Limits:
    """The limits of an agent."""

    turns: int = 100
    """Maximum number of model calls for one prompt."""
    compact_at: float = 0.8
    """The part of the model's context at which the conversation is compacted."""
    depth: int = 2
    """How deep subagents may be nested."""
    continues: int = 8
    """How often in a row hooks may make a teammate continue."""


@dataclass
class Runtime:
    """The shared objects of one run."""

    hooks: Hooks
    model: Model
    cwd: Path
    directory: Path
    """The directory of transcripts."""
    shadow: ShadowGit
    view: View = field(default_factory=NoView)
    agent_types: Mapping[str, AgentType] = field(default_factory=lambda: AGENT_TYPES)
    limits: Limits = field(default_factory=Limits)
    tools: Sequence[Tool] = TOOLS
    pass_env: Sequence[str] = ()
    """Names of variables of the host that tools get beside those that every command may have."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables that hooks have set for the tools of the session."""
    locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    spawned: int = 0
    """How many subagents were spawned."""

    def __post_init__(self) -> None:
        self.cwd = self.cwd.resolve()

    def environment(self) -> dict[str, str]:
        """Return the environment of the processes that tools start."""
        return tool_environment(self.pass_env, self.variables)

    def make_env_file(self) -> EnvFile:
        """Make a file in which the hooks of one event can set variables for tools."""
        return EnvFile(self.variables, self.environment)
