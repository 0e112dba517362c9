"""A tool, and what it may use. Each tool is a module of this package."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from interpose import tool_environment

__all__ = ["Kind", "Tool", "ToolFailed", "Workplace", "make_tool"]

_MAX_ERROR = 300

Kind: TypeAlias = Literal["read", "edit", "run"]
"""What a tool does: read, edit files in the working directory, or run anything."""


class ToolFailed(Exception):
    """A call failed; the text is for the model, which may correct the call."""


@dataclass
class Workplace:
    """What tools use: the files that one agent works on."""

    cwd: Path
    """The working directory; files outside of it are refused."""
    write: Callable[[Path, str], Awaitable[str]]
    """Writes a file and returns what was written, after hooks changed it; raises ToolFailed if they deny it."""
    is_protected: Callable[[Path], bool] = lambda _: False
    """Says whether tools must not change a file, such as one of the hooks."""
    environment: Callable[[], Mapping[str, str]] = tool_environment
    """Returns the environment of the processes that tools start."""
    seen: dict[Path, str] = field(default_factory=dict)
    """The digest of each file when it was last read or written; a file that has changed since is not overwritten."""
    locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    """One lock per file, for one write at a time; all agents of a run share them."""
    left_out: Callable[[str], bool] = lambda _: False
    """Says whether permission rules keep a file, by its real path, from this call of a tool."""

    def __post_init__(self) -> None:
        self.cwd = self.cwd.resolve()


@dataclass(frozen=True)
class Tool:
    """A tool as the model sees it, and the function that runs it."""

    name: str
    description: str
    schema: dict[str, Any]
    """The JSON Schema of its input."""
    kind: Kind
    run: Callable[[dict[str, Any], Workplace], Awaitable[str]]
    """Returns the result for the model; raises ToolFailed with the error for the model."""
    leaves_out: bool = False
    """Whether its result has no file that ``Workplace.left_out`` says to leave out."""


def make_tool(
    name: str,
    kind: Kind,
    description: str,
    properties: dict[str, Any],
    required: Sequence[str],
    run: Callable[[dict[str, Any], Workplace], Awaitable[str]],
    *,
    leaves_out: bool = False,
) -> Tool:
    """Return a tool that takes these properties and no others; its input is validated before it runs."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }

    async def checked(given: dict[str, Any], workplace: Workplace) -> str:
        _check(name, schema, given)
        return await run(given, workplace)

    return Tool(name, description, schema, kind, checked, leaves_out)


def _check(name: str, schema: dict[str, Any], given: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    wrong = best_match(Draft202012Validator(schema).iter_errors(given))
    if wrong is None:
        return
    where = "".join(f"{step}: " for step in wrong.absolute_path)
    said = f"{where}{wrong.message}"
    raise ToolFailed(f"input of {name}: {said if len(said) <= _MAX_ERROR else said[:_MAX_ERROR] + ' …'}")
