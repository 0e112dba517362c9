"""The kinds of handlers that ask elsewhere: the options of each, and what they are made into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BadHook
from ..events import EventSpec
from ..model import Binding
from ..records import Record, made_by
from .commands import Trusted

__all__ = ["JUDGES", "KINDS", "ConfigPlace", "kind_of", "make_binding"]

JUDGES = ("prompt", "agent")
"""The kinds that ask a model for its verdict."""

KINDS: dict[str, tuple[str, ...]] = {
    "http": ("url", "headers", "allowed_env_vars"),
    "mcp_tool": ("server", "tool", "input"),
    "nats": ("subject",),
    **dict.fromkeys(JUDGES, ("prompt", "model", "continue_on_block", "cache")),
}
"""The options of each kind, as declare() spells them; the first one says which kind it is."""


class ConfigPlace(Record):
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


def make_binding(
    kind: str, row: EventSpec, handler: Any, options: Mapping[str, Any], place: ConfigPlace
) -> tuple[Binding, str]:
    """Return what a hook of this kind is bound to, and how that is shown; raise BadHook if an option is wrong."""
    if handler is not None:
        raise BadHook(f"handler: a hook of type {kind} has none", hint=f"{KINDS[kind][0]}: says what is asked")
    own = KINDS[kind]
    if stray := sorted(name for name, value in options.items() if value is not None and name not in own):
        raise BadHook(f"{stray[0]}: a hook of type {kind} has no such option", hint="leave it out")
    given = {name: options.get(name) for name in own}
    if kind in JUDGES:
        from .judges import make_judge

        binding = make_judge(kind, row, dialect=place.dialect, project_dir=place.project_dir, **given)
        return binding, binding.target.prompt
    if kind == "http":
        from .http_hooks import make_endpoint

        endpoint, shown = make_endpoint(place, **given)
        return Binding(target=endpoint), shown
    if kind == "nats":
        from .nats_hooks import make_service

        service = make_service(place, **given)
        return Binding(target=service), service.subject
    from .mcp_hooks import make_mcp_tool

    tool, shown = make_mcp_tool(place, **given)
    return Binding(target=tool), shown
