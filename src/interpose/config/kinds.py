"""The kinds of handlers that servers run: which options each has, and how its target is made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BadHook
from ..records import Record, made_by
from .commands import Trusted

__all__ = ["KINDS", "Place", "kind_of", "make_target"]

KINDS: dict[str, tuple[str, ...]] = {
    "http": ("url", "headers", "allowed_env_vars"),
    "mcp_tool": ("server", "tool", "input"),
}
"""The options of each kind, as declare() spells them; the first one says which kind it is."""


class Place(Record):
    """Where a configuration is, what is run from its snapshot, and its MCP servers."""

    dialect: str
    directory: str = ""
    project_dir: str = ""
    hooks_dir: str = ""
    trusted: Trusted | None = None
    guard: bool = False
    servers: Mapping[str, Any] = made_by(factory=dict)
    """MCP servers by their names; a text says why one cannot be used."""


def kind_of(kind: str | None, options: Mapping[str, Any]) -> str | None:
    """Return the kind that a hook's options say: its type, or the kind of the first option that only one has."""
    if kind is not None:
        return kind if kind in KINDS else None
    return next((name for name, own in KINDS.items() if options.get(own[0]) is not None), None)


def make_target(kind: str, handler: Any, options: Mapping[str, Any], place: Place) -> tuple[Any, str]:
    """Return what a hook of this kind runs, and how that is shown; raise BadHook if an option is wrong."""
    if handler is not None:
        raise BadHook(f"handler: a hook of type {kind} has none", hint="leave it out")
    own = KINDS[kind]
    if stray := sorted(name for name, value in options.items() if value is not None and name not in own):
        raise BadHook(f"{stray[0]}: a hook of type {kind} has no such option", hint="leave it out")
    given = {name: options.get(name) for name in own}
    if kind == "http":
        from .http_hooks import make_endpoint

        return make_endpoint(place, **given)
    from .mcp_hooks import make_mcp_tool

    return make_mcp_tool(place, **given)
