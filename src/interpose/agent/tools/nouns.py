"""What a tool is, and what it may use. Each tool is a file beside this one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

__all__ = ["Kind", "Tool", "ToolFailed", "Workplace"]

Kind: TypeAlias = Literal["read", "edit", "run"]
"""What a tool does to the world: looks, changes files of the work, or may do anything."""


class ToolFailed(Exception):
    """A call that did not work; the text is for the model, which may do better the next time."""


@dataclass
class Workplace:
    """What tools may use: one agent's view of the files that it works on."""

    cwd: Path
    """The root of the work; files outside are refused."""
    write: Callable[[Path, str], Awaitable[str]]
    """Writes a file and returns what was really written; raises ToolFailed if that is refused."""
    is_kept: Callable[[Path], bool] = lambda _: False
    """Says whether a file is one that tools must leave as it is, such as those of the hooks that watch them."""
    env_file: Path | None = None
    """Shell lines that hooks wrote for the session; Bash runs them first."""
    seen: dict[Path, str] = field(default_factory=dict)
    """The digest of each file when it was last shown or written; what has changed since is not overwritten."""
    locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    """One writer of a file at a time; agents that work at the same place share these."""

    def __post_init__(self) -> None:
        self.cwd = self.cwd.resolve()


@dataclass(frozen=True)
class Tool:
    """A tool as the model sees it, and what runs when it is called."""

    name: str
    description: str
    schema: dict[str, Any]
    """JSON Schema of its input."""
    kind: Kind
    run: Callable[[dict[str, Any], Workplace], Awaitable[str]]
    """Returns what the model is told; raises ToolFailed with what it is told of a failure."""
