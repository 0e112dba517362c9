"""The tables of coding agents: what hooks can do in each, from the agents' contracts."""

from __future__ import annotations

from collections.abc import Sequence

from interpose.dialects.agents import AGENTS, agent_dialect
from interpose.dialects.agents.contract import Contract, Effect, EffectRow

from .markdown import code, table

__all__ = ["agent", "agents"]

_COLUMNS: tuple[tuple[str, str, Effect], ...] = (
    ("deny a call", "PreToolUse", "deny"), ("the model reads why", "PreToolUse", "reason"),
    ("ask a person", "PreToolUse", "ask"), ("rewrite the input", "PreToolUse", "rewrite"),
    ("replace the result", "PostToolUse", "result"), ("context beside a result", "PostToolUse", "context"),
    ("refuse a prompt", "UserPromptSubmit", "deny"), ("send back to work", "Stop", "keep_going"),
)  # fmt: skip
_MARKS = {"honoured": "✓", "degraded": "~", "impossible": "–"}
_EVIDENCE = {"run": "run", "read": "its program was read", "documented": "its documentation",
             "reported": "reports of others"}  # fmt: skip
_WORDS = {"keep_going": "keep going"}


def agents() -> str:
    """Return the table of all agents."""
    rows = []
    for name in AGENTS:
        dialect = agent_dialect(name)
        contract = dialect.CONTRACTS[0]
        marks = [_mark(contract.effect(event, effect)) for _, event, effect in _COLUMNS]
        rows.append([dialect.TITLE, *marks, _EVIDENCE[contract.evidence]])
    head = ["agent", *(heading for heading, _, _ in _COLUMNS), "known by"]
    return f"{table(head, rows)}\n\n✓ holds, ~ is weakened, – has no effect."


def agent(name: str) -> str:
    """Return what holds in one agent, event by event, and what it does if the program of a hook fails."""
    dialect = agent_dialect(name)
    contract = dialect.CONTRACTS[0]
    rows = []
    for event in contract.events:
        of_event = [row for row in contract.effects if row.event == event]
        own = [mine for mine, ours in dialect.EVENTS.items() if ours == event]
        rows.append([", ".join(map(code, own)), code(event), _listed(of_event, "honoured"),
                     _listed(of_event, "degraded"), _listed(of_event, "impossible")])  # fmt: skip
    versions = f"Versions {code(contract.versions)}" if contract.versions else "No version was tried"
    head = [f"event of {dialect.TITLE}", "event here", "holds", "is weakened", "has no effect"]
    parts = [f"{versions}; known by: {_EVIDENCE[contract.evidence]}, {contract.since}.", table(head, rows)]
    parts.append(_failures(contract))
    if contract.unseen:
        parts.append(f"Not fired in a run, so taken from the documentation: {', '.join(map(code, contract.unseen))}.")
    parts += ["\n".join(f"- {note}" for note in contract.notes)] if contract.notes else []
    return "\n\n".join(parts)


def _failures(contract: Contract) -> str:
    rows = []
    for event in dict.fromkeys(row.event for row in contract.failures):
        through = [row.failure for row in contract.failures if row.event == event and row.goes_on]
        closed = [row.failure for row in contract.failures if row.event == event and not row.goes_on]
        rows.append([code(event), _words(through), _words(closed)])
    return table(["a hook's program fails at", "goes on", "stops"], rows)


def _words(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names) or "–"


def _mark(row: EffectRow | None) -> str:
    return _MARKS[row.support] if row is not None else _MARKS["impossible"]


def _listed(rows: list[EffectRow], support: str) -> str:
    found = [row for row in rows if row.support == support]
    return "; ".join(_WORDS.get(row.effect, row.effect) + (f" ({row.instead})" if row.instead else "")
                     for row in found) or "–"  # fmt: skip
