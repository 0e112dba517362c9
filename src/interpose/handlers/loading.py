"""Load the handlers that not every host needs, and end what handlers keep between events."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from ..model import Hook
from . import Handler

__all__ = ["close_handlers", "with_handlers"]

_LOADED_WHEN_NEEDED = {
    "command": "CommandHandler", "http": "HttpHandler", "mcp_tool": "McpToolHandler", "nats": "NatsHandler",
}  # fmt: skip
"""Handlers that are loaded when the first hook of their type is on a route, from the module of that name."""


def with_handlers(handlers: dict[str, Handler], hooks: Iterable[Hook]) -> dict[str, Handler]:
    """Return the handlers of an engine, by type, with those that these hooks need and it does not have yet."""
    missing = ({hook.type for hook in hooks} & _LOADED_WHEN_NEEDED.keys()) - handlers.keys()
    made = {kind: getattr(import_module(f"{__package__}.{kind}"), _LOADED_WHEN_NEEDED[kind])() for kind in missing}
    return {**handlers, **made} if made else handlers


def close_handlers(handlers: dict[str, Handler]) -> None:
    """End what handlers keep: connections, servers. A later event opens them again."""
    for handler in handlers.values():
        close = getattr(handler, "close", None)
        if close is not None:
            close()
