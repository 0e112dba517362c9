"""``interpose run``: a small coding agent whose every action goes through the hooks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..errors import Problem
from ..session.permission import Rules, merge_rules
from .doubts import misspelt
from .frames import Lines, Live, Silence
from .job import Job
from .loading import here, hooks_of, refuse_disarmed
from .options import AsJson, Config, Cwd, Dialect
from .outputs import without_log
from .timeline import show_timeline
from .words import paint

__all__ = ["run"]

HARMLESS = ("Read", "Glob", "Grep", "Task", "Team")
"""What the agent may do without a question, unless a hook asks; what subagents do is asked about in its turn."""


def run(
    prompt: Annotated[
        str | None, typer.Argument(metavar="[PROMPT]", help="What to do. Without it: what is typed, or piped in.")
    ] = None,
    config: Config = None,
    dialect: Dialect = None,
    cwd: Cwd = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="KIND:NAME",
            help="`anthropic:NAME`, `openai:NAME` or `scripted:FILE`. Otherwise by the key that is set: "
            "ANTHROPIC_API_KEY or OPENAI_API_KEY; without one a script is played.",
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            "--mode", metavar="MODE", help="default, acceptEdits, plan or bypass: which calls are asked about."
        ),
    ] = "default",
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="RULE", help="Do not ask about these: `Bash(git status *)`.")
    ] = None,
    deny: Annotated[
        list[str] | None, typer.Option("--deny", metavar="RULE", help="Never do these: `Write(/etc/**)`.")
    ] = None,
    mcp: Annotated[
        str | None, typer.Option("--mcp", metavar="FILE", help="MCP servers, as in .mcp.json; theirs are tools too.")
    ] = None,
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="FILE", help="Kinds of subagents: description, system, tools.")
    ] = None,
    max_turns: Annotated[
        int, typer.Option("--max-turns", metavar="N", min=1, help="Model calls for one prompt, at most.")
    ] = 100,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="N", min=1000, help="The model's context in tokens, if it is another."),
    ] = None,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Show in the end at which events hooks ran, and what they said.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines only, for logs.")] = False,
    as_json: AsJson = False,
) -> int:
    """Every tool call, file, message and stop is an event, and your hooks decide. What no hook and no rule decides is
    asked.

    Files are written to a shadow git first: `interpose undo` brings them back. Transcripts are in .interpose/sessions.
    """  # fmt: skip
    hooks = hooks_of(config or [], dialect, cwd)
    if not config:
        refuse_disarmed(hooks, dialect)
    without_log()
    for warning in (*hooks.warnings, *_doubtful("--allow", allow), *_doubtful("--deny", deny)):
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: {warning}", file=sys.stderr)
    view: Lines = Silence() if as_json else Lines() if plain or not sys.stdout.isatty() else Live()
    job = Job(
        hooks, view, cwd=Path(here()), model=model, window=window, mcp=mcp, agents=agents, max_turns=max_turns,
        options={
            "mode": mode, "default": "ask",
            "rules": Rules(
                merge_rules(hooks.permissions, dict.fromkeys(allow or (), "allow"), dict.fromkeys(deny or (), "deny")),
                harmless=HARMLESS,
            ),
        },
    )  # fmt: skip
    status = job.run(prompt)
    if as_json:
        print(json.dumps(job.report(), indent=2))
    elif timeline:
        print()
        show_timeline(job.timeline.rows)
    return status


def _doubtful(option: str, rules: list[str] | None) -> Iterator[Problem]:
    """Say which rules will never hold: one that was meant to deny must not go unnoticed."""
    for rule in rules or ():
        if hint := misspelt(rule):
            yield Problem(f"{option} {rule}: no tool has this name, so the rule never holds", hint=hint)
