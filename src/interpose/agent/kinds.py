"""Kinds of subagents from a file: ``reviewer: {description: …, system: …, tools: [Read, Grep]}``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interpose import ConfigError, UsageError

from .world import Kind

__all__ = ["read_kinds"]

_KEYS = {"description", "system", "tools"}


def read_kinds(path: str) -> dict[str, Kind]:
    """Return the kinds of subagents that a YAML or JSON file describes, or raise with everything that is wrong."""
    import yaml

    try:
        given = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=path) from None
    except yaml.YAMLError as error:
        raise UsageError(f"is not YAML: {error}", where=path) from None
    if not isinstance(given, dict):
        raise UsageError("holds no kinds of agents", where=path, hint="name: {description: …, system: …}")
    kinds: dict[str, Kind] = {}
    problems: list[UsageError] = []
    for name, told in given.items():
        try:
            kinds[str(name)] = _kind(path, str(name), told)
        except UsageError as error:
            problems.append(error)
    if problems:
        raise ConfigError([error.problem for error in problems])
    return kinds


def _kind(path: str, name: str, told: Any) -> Kind:
    where = f"{path}: {name}"
    if not isinstance(told, dict) or not isinstance(told.get("description"), str) or not told["description"]:
        raise UsageError("has no description", where=where, hint="the model chooses by it")
    if unknown := set(told) - _KEYS:
        raise UsageError(
            f"{', '.join(sorted(map(str, unknown)))}: not known", where=where, hint=", ".join(sorted(_KEYS))
        )
    tools = told.get("tools")
    if tools is not None and not (isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)):
        raise UsageError("tools is not a list of names", where=where, hint="tools: [Read, Grep]")
    return Kind(told["description"], str(told.get("system", "")), None if tools is None else tuple(tools))
