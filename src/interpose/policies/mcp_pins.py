"""What was seen of MCP tools and servers in a project: pinned at first sight, compared later, accepted by a person."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..state.locked import locked_json
from .session_calls import fingerprint

__all__ = [
    "accept_tool",
    "accept_tools",
    "definition_of",
    "difference",
    "is_same",
    "pending_changes",
    "server_definition",
    "server_difference",
]

_KIND = "mcp-tools"
_KEPT_TEXT = 600
_SHOWN = 60
_LARGEST = 32 * 1024**2
_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters", "schema")


def definition_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is pinned of a tool: its description, the fields of its input, and a hash of both."""
    description = " ".join(str(tool.get("description") or "").split())
    schema: Mapping[str, Any] = next((tool[key] for key in _SCHEMA_KEYS if isinstance(tool.get(key), Mapping)), {})
    properties = schema.get("properties")
    fields = sorted(map(str, properties)) if isinstance(properties, Mapping) else []
    return {
        "description": description[:_KEPT_TEXT], "fields": fields[:200],
        "hash": fingerprint([description, schema]), "words": fingerprint(description),
    }  # fmt: skip


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two definitions are equal; spaces and the order of keys do not count."""
    return bool(one.get("hash") == other.get("hash"))


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return how a definition has changed."""
    said = []
    if before.get("words") != now.get("words"):
        was, now_is = _around(before, now)
        shown = was != now_is
        said.append(f"its description was {was!r} and is {now_is!r}" if shown else "its description, near the end")
    added = sorted(set(now.get("fields", [])) - set(before.get("fields", [])))
    gone = sorted(set(before.get("fields", [])) - set(now.get("fields", [])))
    said += [f"its input has the new fields {', '.join(added)}"] if added else []
    said += [f"its input has no longer {', '.join(gone)}"] if gone else []
    return "; ".join(said) or "the schema of its input"


def _around(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, str]:
    """Return the two descriptions from a little before the place where they begin to differ."""
    one, other = str(before.get("description", "")), str(now.get("description", ""))
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    start = max(0, same - 15)
    cut = [("…" if start else "") + text[start : start + _SHOWN] for text in (one, other)]
    return cut[0], cut[1]


def accept_tool(state: dict[str, Any], name: str, server: str) -> None:
    """Pin a tool and its server as they are now."""
    tools, servers = state.setdefault("tools", {}), state.setdefault("servers", {})
    tools[name] = state.get("changed", {}).pop(name, None) or tools.get(name) or {}
    tools[name].pop("new", None)
    if state.get("suspicious", {}).pop(name, None):
        state.setdefault("accepted", {})[name] = tools[name].get("hash", "")
    entry = state.get("entries", {}).pop(server, None)
    pinned = servers.setdefault(server, {})
    if entry is not None:
        pinned["entry"] = entry


def accept_tools(project: str, names: tuple[str, ...] = ()) -> list[str]:
    """Accept tools and servers of a project as they are now, all or those of these names; return what was accepted."""
    with locked_json(_KIND, project) as state:
        accepted = [name for name in _pending(state) if not names or name in names]
        for name in accepted:
            server = name.removeprefix("mcp__").partition("__")[0] if name.startswith("mcp__") else name
            if name in state.get("entries", {}):
                state.setdefault("servers", {}).setdefault(name, {})["entry"] = state["entries"].pop(name)
            else:
                accept_tool(state, name, server)
        return accepted


def pending_changes(project: str) -> dict[str, str]:
    """Return the tools and servers of a project that wait for a person, with what is different about each."""
    with locked_json(_KIND, project) as state:
        return _pending(state)


def _pending(state: Mapping[str, Any]) -> dict[str, str]:
    tools, found = state.get("tools", {}), {}
    for name, now in state.get("changed", {}).items():
        found[name] = difference(tools.get(name, {}), now)
    for name, why in state.get("suspicious", {}).items():
        found[name] = f"{found[name]}; its description {why}" if name in found else f"its description {why}"
    for name, entry in state.get("entries", {}).items():
        pinned = state.get("servers", {}).get(name, {}).get("entry")
        if pinned is not None and (what := server_difference(pinned, entry)):
            found[name] = what
    return found


# Servers, as the files of coding agents declare them.


def server_definition(server: str, project: str, home: str) -> dict[str, Any] | None:
    """Return how the settings of a coding agent declare a server, without possible secrets; None if none do."""
    for servers in _declared(project, home):
        for name, entry in servers.items():
            if isinstance(entry, Mapping) and re.sub(r"[^A-Za-z0-9_-]", "_", str(name)) == server:
                return _entry(entry)
    return None


def _declared(project: str, home: str) -> Iterator[Mapping[str, Any]]:
    for path in (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json"):
        found = _json(os.path.join(project, path))
        for key in ("mcpServers", "servers"):
            if isinstance(found.get(key), Mapping):
                yield found[key]
    for folder in (project, home):
        declared = _toml(os.path.join(folder, ".codex", "config.toml")).get("mcp_servers")
        if isinstance(declared, Mapping):
            yield declared
    found = _json(os.path.join(home, ".claude.json"))
    projects = found.get("projects")
    own = projects.get(project) if isinstance(projects, Mapping) else None
    for place in (own, found):
        if isinstance(place, Mapping) and isinstance(place.get("mcpServers"), Mapping):
            yield place["mcpServers"]


def _json(path: str) -> dict[str, Any]:
    return _parsed(path, json.loads)


def _toml(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    import tomllib

    return _parsed(path, tomllib.loads)


def _parsed(path: str, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the content of a file; an empty one if it cannot be read."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return {}
        with open(path, encoding="utf-8") as opened:
            found = parse(opened.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is pinned of a server: its program and its host as they are, the rest as hashes and names."""
    url = str(entry.get("url") or entry.get("httpUrl") or "")
    return {
        "command": str(entry.get("command") or ""), "arguments": fingerprint(entry.get("args") or []),
        "address": _address(url), "url": fingerprint(url),
        "variables": _keys(entry.get("env")), "headers": _keys(entry.get("headers")),
    }  # fmt: skip


def _address(url: str) -> str:
    try:
        shown = urlsplit(url)
        return f"{shown.scheme}://{shown.hostname or ''}" if url else ""
    except ValueError:
        return "an address that cannot be read"


def _keys(value: Any) -> list[str]:
    return sorted(map(str, value)) if isinstance(value, Mapping) else []


def server_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return how the declaration of a server has changed; empty if it has not."""
    said = [
        f"its {key} was {before.get(key) or 'none'} and is {now.get(key) or 'none'}"
        for key in ("command", "address")
        if before.get(key) != now.get(key)
    ]
    if not said and before.get("url") != now.get("url"):
        said.append("its address has another path")
    if before.get("arguments") != now.get("arguments"):
        said.append("its arguments are others")
    if before.get("variables") != now.get("variables") or before.get("headers") != now.get("headers"):
        said.append("it gets other variables or headers")
    return "; ".join(said)
