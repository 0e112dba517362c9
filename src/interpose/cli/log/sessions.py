"""``interpose log sessions``: a line per session."""

from __future__ import annotations

from typing import Any

from ...audit.protocol import StoredSession
from ...replay.session_client import SessionClient
from ..render import clock_time, flat
from ..render.table import Column, print_table

__all__ = ["as_document", "print_sessions"]

_COLUMNS = (
    Column("SESSION"),
    Column("NAME", most=40, drop=4),
    Column("BEGIN", drop=1),
    Column("END", drop=2),
    Column("AGENT", "cyan", most=30, drop=3),
    Column("CALLS", right=True),
    Column("DENIED", "red", right=True),
    Column("ASKED", "yellow", right=True),
    Column("FAILED", "red", right=True),
)


def print_sessions(sessions: list[tuple[StoredSession, SessionClient]]) -> None:
    """Print a table of sessions; columns without a number are left out."""
    print_table(_COLUMNS, [_cells(*one) for one in sessions])


def _cells(one: StoredSession, client: SessionClient) -> tuple[str, ...]:
    counts = (str(number or "") for number in (one.denies, one.asks, one.failures))
    agents = ", ".join(flat(name) for name in (client.client, *one.agents) if name)
    name = flat(client.name)
    return flat(one.id), name, clock_time(one.first), clock_time(one.last), agents, str(one.calls), *counts


def as_document(one: StoredSession, client: SessionClient) -> dict[str, Any]:
    """Return a session as JSON data."""
    return {
        "id": one.id,
        "name": client.name,
        "client": client.client,
        "client_version": client.version,
        "transcript": client.transcript,
        "begin": one.first,
        "end": one.last,
        "agents": list(one.agents),
        "firings": one.firings,
        "calls": one.calls,
        "denials": one.denies,
        "asks": one.asks,
        "failures": one.failures,
    }
