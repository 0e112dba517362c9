"""Agent types, for subagents: the built-in ones, and those of a file.

reviewer: {description: …, system: …, tools: [Read, Grep]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interpose import ConfigError, UsageError
from interpose.models.data_files import load

__all__ = ["AGENT_TYPES", "AgentType", "read_agent_types"]

_KEYS = {"description", "system", "tools"}


@dataclass(frozen=True)
class AgentType:
    """What a subagent is told to be, and which tools it has; None means all tools."""

    description: str
    system: str
    tools: tuple[str, ...] | None = None


AGENT_TYPES: Mapping[str, AgentType] = {
    "general": AgentType(
        "Works on a task of its own with every tool, and reports.",
        "You are a subagent. Do the task that you are given, then report in a few sentences what you did and found.",
    ),
    "explorer": AgentType(
        "Looks for something in the files and reports where it is; changes nothing.",
        "You are a subagent that explores files. Find what you are asked for and report it with paths and lines.",
        ("Read", "Glob", "Grep"),
    ),
}


def read_agent_types(path: str) -> dict[str, AgentType]:
    """Return the agent types that a YAML or JSON file describes; raise ConfigError with everything that is wrong."""
    given, lines = load(path)
    if not isinstance(given, dict):
        raise UsageError("holds no agent types", where=path, hint="name: {description: …, system: …}")
    agent_types: dict[str, AgentType] = {}
    problems: list[UsageError] = []
    for name, told in given.items():
        try:
            line = f":{lines[str(name)]}" if str(name) in lines else ""
            agent_types[str(name)] = _agent_type(f"{path}{line}: {name}", told)
        except UsageError as error:
            problems.append(error)
    if problems:
        raise ConfigError([error.problem for error in problems])
    return agent_types


def _agent_type(where: str, told: Any) -> AgentType:
    if not isinstance(told, dict) or not isinstance(told.get("description"), str) or not told["description"]:
        raise UsageError("has no description", where=where, hint="the model chooses by it")
    if unknown := set(told) - _KEYS:
        raise UsageError(
            f"{', '.join(sorted(map(str, unknown)))}: not known", where=where, hint=", ".join(sorted(_KEYS))
        )
    tools = told.get("tools")
    if tools is not None and not (isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)):
        raise UsageError("tools is not a list of names", where=where, hint="tools: [Read, Grep]")
    return AgentType(told["description"], str(told.get("system", "")), None if tools is None else tuple(tools))
