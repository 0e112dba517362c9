"""``interpose agents``: what hooks can do in each coding agent, from the agents' contracts. Runs nothing."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated, Any

import typer

from ..dialects.agents import AGENTS, agent_dialect
from ..dialects.agents.contract import Contract, Effect, EffectRow
from ..lint.agents import AgentReport, HeldHook
from . import options
from .agents_status import status
from .render import paint, plural
from .render.table import Column, PrintedTable, terminal_width

__all__ = ["app", "print_held"]

app = typer.Typer(invoke_without_command=True, no_args_is_help=False, add_help_option=True)

_MATRIX: tuple[tuple[str, str, Effect], ...] = (
    ("deny", "PreToolUse", "deny"), ("why", "PreToolUse", "reason"), ("ask", "PreToolUse", "ask"),
    ("rewrite", "PreToolUse", "rewrite"), ("result", "PostToolUse", "result"), ("context", "PostToolUse", "context"),
    ("prompt", "UserPromptSubmit", "deny"), ("go on", "Stop", "keep_going"),
)  # fmt: skip
"""The columns of the matrix: a heading, our event, and the effect there."""
_MARKS = {"honoured": "✓", "degraded": "~", "impossible": "–"}
_COLOURS = {"✓": "green", "~": "yellow", "–": "dim"}
_EVIDENCE = {"run": "run here", "read": "its program was read", "documented": "its documentation",
             "reported": "reports of others"}  # fmt: skip

app.command("status", short_help="Show calls of coding agents that no hook has seen.")(status)

Name = Annotated[str, typer.Argument(metavar="AGENT", help="An agent, such as codex.")]


@app.callback()
def run(context: typer.Context, as_json: options.AsJson = False) -> int | None:
    """A coding agent honours a part of what a hook can answer. A column is one effect: deny a call, let the model read
    why, ask a person, rewrite the input, replace the result, add context to a result, refuse a prompt, and send the
    agent back to work. ✓ holds, ~ is weakened, – has no effect.

    Example: interpose agents show codex
    """
    if context.invoked_subcommand is not None:
        return None
    if as_json:
        print(json.dumps([_as_dict(name) for name in AGENTS]))
        return 0
    marks = [Column(heading.upper(), colour=lambda cell: _COLOURS.get(cell, "")) for heading, _, _ in _MATRIX]
    columns = [Column("AGENT"), *marks, Column("KNOWN BY")]
    rows = [[name, *_marks(agent_dialect(name).CONTRACTS[0]), agent_dialect(name).CONTRACTS[0].evidence]
            for name in AGENTS]  # fmt: skip
    table = PrintedTable(columns, lead=1, keep_empty=True)
    table.fit(rows)
    table.print_heading()
    table.print_rows(rows)
    _say("\n✓ holds  ~ is weakened  – has no effect; `interpose agents show AGENT` says how and since when, "
         "`interpose check --agent AGENT` what that means for your hooks.")  # fmt: skip
    return 0


@app.command("show", short_help="Show what hooks can do in one agent, event by event.")
def show(agent: Name, as_json: options.AsJson = False) -> int:
    """For each event of the agent: what holds, what is weakened and how, what has no effect there, and what the agent
    does if the program of a hook fails.

    Example: interpose agents show codex
    """
    dialect = agent_dialect(agent)
    if as_json:
        print(json.dumps(_as_dict(agent)))
        return 0
    contract = dialect.CONTRACTS[0]
    versions = contract.versions or "no version was tried"
    print(f"{paint(dialect.TITLE, 'bold')}  {versions}, since {contract.since}, {_EVIDENCE[contract.evidence]}")
    for note in contract.notes:
        _say(f"- {note}", indent="  ")
    for event in contract.events:
        own = [mine for mine, ours in dialect.EVENTS.items() if ours == event]
        named = f" ({', '.join(own)})" if own != [event] else ""
        print()
        _say(f"{paint(event, 'bold')}{named}")
        rows = [row for row in contract.effects if row.event == event]
        _print_rows(rows)
        if event in contract.unseen:
            _say("not fired in a run: this is what is documented", indent="    ")
        through = [one.failure for one in contract.failures if one.event == event and one.goes_on]
        if through:
            _say(f"goes on if a hook's program fails so: {', '.join(through).replace('_', ' ')}", indent="    ")
    return 0


def print_held(report: AgentReport) -> None:
    """Print what of each hook holds in an agent."""
    contract = report.contract
    print()
    print(f"{paint(report.title, 'bold')}  {contract.versions or 'no version was tried'}, since {contract.since}, "
          f"{_EVIDENCE[contract.evidence]}")  # fmt: skip
    groups: dict[HeldHook, list[str]] = {}
    for held in report.hooks:
        groups.setdefault(held._replace(hook=""), []).append(held.hook)
    for held, names in groups.items():
        print(f"  {paint(names[0] if len(names) == 1 else plural(len(names), 'hook'), 'bold')}  {held.event}")
        if len(names) > 1:
            _say(", ".join(names), indent="    ")
        if not held.fires:
            _say(f"{_MARKS['impossible']} never runs: {report.title} has no such event", indent="    ")
            continue
        if held.holds:
            _say(f"{_MARKS['honoured']} holds: {', '.join(held.holds).replace('_', ' ')}", indent="    ")
        _print_rows([*held.weakened, *held.lost])
    through = {one.failure for one in contract.failures if one.event == "PreToolUse" and one.goes_on}
    if through:
        words = ", ".join(failure.replace("_", " ") for failure in ("error", "killed", "missing", "timeout",
                          "silent_block", "garbage") if failure in through)  # fmt: skip
        _say(f"A call goes on if the program of a hook fails so: {words}. The entry that `interpose attach` writes "
             "denies in these cases, within its deadline.", indent="  ")  # fmt: skip
    for note in contract.notes:
        _say(f"- {note}", indent="  ")


def _print_rows(rows: list[EffectRow]) -> None:
    for support in ("honoured", "degraded", "impossible"):
        of_kind = [row for row in rows if row.support == support]
        if support == "honoured" and of_kind:
            _say(
                f"{_MARKS[support]} holds: {', '.join(row.effect.replace('_', ' ') for row in of_kind)}", indent="    "
            )
            continue
        plain = [row for row in of_kind if not row.instead]
        if plain:
            _say(
                f"{_MARKS[support]} no effect: {', '.join(row.effect.replace('_', ' ') for row in plain)}",
                indent="    ",
            )
        for row in of_kind:
            if row.instead:
                _say(f"{_MARKS[support]} {row.effect.replace('_', ' ')}: {row.instead}", indent="    ")


def _marks(contract: Contract) -> list[str]:
    rows = [contract.effect(event, effect) for _, event, effect in _MATRIX]
    return [_MARKS[row.support] if row is not None else _MARKS["impossible"] for row in rows]


def _say(text: str, indent: str = "") -> None:
    """Print a text in lines that fit the terminal."""
    lead = text[: len(text) - len(text.lstrip("\n"))]
    for number, line in enumerate(textwrap.wrap(text.lstrip("\n"), max(40, (terminal_width() or 80) - len(indent)))):
        print(f"{lead if number == 0 else ''}{indent}{'  ' if number and indent else ''}{line}")


def _as_dict(name: str) -> dict[str, Any]:
    dialect = agent_dialect(name)
    return {
        "name": name, "title": dialect.TITLE, "events": dict(dialect.EVENTS),
        "contracts": [{
            "versions": contract.versions, "since": contract.since, "evidence": contract.evidence,
            "unseen": list(contract.unseen), "notes": list(contract.notes),
            "effects": [row._asdict() for row in contract.effects],
            "failures": [row._asdict() for row in contract.failures],
        } for contract in dialect.CONTRACTS],
    }  # fmt: skip
