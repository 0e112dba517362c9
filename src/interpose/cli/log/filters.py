"""The options that select records, for every command that prints some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from ...audit.protocol import DECISIONS, Selection
from ...errors import UnknownEvent, UsageError, nearest
from ...events import TABLE
from ..audit_store import Since, parse_since
from ..options import group

__all__ = ["FILTERS", "PANEL", "selects_records"]

_STRICTEST_FIRST = DECISIONS[::-1]

PANEL = "Which records"
"""The heading of these options in the help of a command."""


def _filter(name: str, metavar: str, help: str) -> Any:
    option = typer.Option(f"--{name}", metavar=metavar, rich_help_panel=PANEL, help=f"{help} May be repeated.")
    return Annotated[list[str] | None, option]


FILTERS: dict[str, Any] = {
    "event": _filter("event", "NAME", "Of this event."),
    "tool": _filter("tool", "NAME", "About a call of this tool."),
    "agent": _filter("agent", "NAME", "Of this coding agent, such as codex, or of this agent id."),
    "hook": _filter("hook", "NAME", "In which this hook ran."),
    "decision": _filter("decision", "WHAT", "With this decision: deny, ask, allow or none."),
    "session": _filter("session", "ID", "Of this session; the beginning of its id is enough."),
    "grep": _filter("grep", "TEXT", "With this text anywhere in the record; upper and lower case are the same."),
    "node": _filter("node", "NAME", "Of this node of a fleet; with --store postgresql://…."),
    "since": Since,
}
"""The names of the options, and their types for typer."""


def selects_records(*without: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options of ``FILTERS``, except ``without``, in the place of its parameter ``selection``."""
    return group("selection", {name: one for name, one in FILTERS.items() if name not in without}, _selection)


def _selection(
    *,
    event: list[str] | None,
    tool: list[str] | None,
    agent: list[str] | None,
    hook: list[str] | None,
    decision: list[str] | None,
    session: list[str] | None,
    grep: list[str] | None,
    node: list[str] | None,
    since: str | None = None,
) -> Selection:
    for one in decision or ():
        if one not in DECISIONS:
            raise UsageError(f"--decision: {one} is not a decision", hint=nearest(one, _STRICTEST_FIRST)
                             or f"one of {', '.join(_STRICTEST_FIRST)}")  # fmt: skip
    return Selection(
        events=tuple(map(_as_recorded, event or ())), tools=tuple(tool or ()), agents=tuple(agent or ()),
        hooks=tuple(hook or ()), decisions=tuple(decision or ()), sessions=tuple(session or ()),
        texts=tuple(grep or ()), since=parse_since(since), nodes=tuple(node or ()),
    )  # fmt: skip


def _as_recorded(event: str) -> str:
    """Return the name under which an event is recorded; an unknown event may be a host's own."""
    try:
        return TABLE.find(event)[0].name
    except UnknownEvent:
        return event
