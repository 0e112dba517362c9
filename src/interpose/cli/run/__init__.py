"""``interpose run``: a small coding agent whose every action goes through the hooks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ...errors import Problem, UsageError
from ...lint.rules import suggest_rule
from ...session.permission import merge_rules
from ..loading import current_directory, load_hooks
from ..options import AsJson, Config, Cwd, Dialect
from ..render import paint
from ..render.streams import silence_log
from .session import TerminalSession
from .timeline import print_timeline
from .view import LiveView, PlainView, SilentView

__all__ = ["run"]

HARMLESS = ("Read", "Glob", "Grep", "Task", "Team")
"""Tools that run without a question unless a hook asks. Calls of subagents are asked about themselves."""


def run(
    prompt: Annotated[
        str | None, typer.Argument(metavar="[PROMPT]", help="The task. Default: what is typed, or piped in.")
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
            help="`anthropic:NAME`, `openai:NAME` or `scripted:FILE`. Default: a model for the key that is set, "
            "ANTHROPIC_API_KEY or OPENAI_API_KEY; without a key, a script is played.",
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
        list[str] | None, typer.Option("--deny", metavar="RULE", help="Never do these: `Write(//etc/**)`.")
    ] = None,
    mcp: Annotated[
        str | None, typer.Option("--mcp", metavar="FILE", help="MCP servers, as in .mcp.json, whose tools are added.")
    ] = None,
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="FILE", help="Kinds of subagents: description, system, tools.")
    ] = None,
    pass_env: Annotated[
        list[str] | None,
        typer.Option("--pass-env", metavar="NAME", help="Let tools have this variable of the environment too."),
    ] = None,
    max_turns: Annotated[
        int, typer.Option("--max-turns", metavar="N", min=1, help="Model calls for one prompt, at most.")
    ] = 100,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="N", min=1000, help="The size of the model's context in tokens."),
    ] = None,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Print at the end at which events hooks ran, and what they decided.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Print lines only, for logs.")] = False,
    as_json: AsJson = False,
) -> int:
    """Every tool call, file, message and stop is an event, and your hooks decide. If no hook and no rule decides, you
    are asked.

    Files are written to a shadow git first: `interpose undo` restores them. Transcripts are in .interpose/sessions.
    """  # fmt: skip
    hooks = load_hooks(config or [], dialect, cwd)
    silence_log()
    doubts = (*_unknown_tools("--allow", allow), *_unknown_tools("--deny", deny), *_unset_variables(pass_env))
    for warning in (*hooks.warnings, *doubts):
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: {warning}", file=sys.stderr)
    view: PlainView = SilentView() if as_json else PlainView() if plain or not sys.stdout.isatty() else LiveView()
    session = TerminalSession(
        hooks, view, cwd=Path(current_directory()), model=model, window=window, mcp=mcp, agents=agents,
        max_turns=max_turns, pass_env=pass_env or (),
        options={
            "mode": mode, "default": "ask",
            "rules": hooks.rules(
                merge_rules(dict.fromkeys(allow or (), "allow"), dict.fromkeys(deny or (), "deny")), HARMLESS
            ),
        },
    )  # fmt: skip
    status = session.run(prompt)
    if as_json:
        print(json.dumps(session.report(), indent=2))
    elif timeline:
        print()
        print_timeline(session.timeline.rows)
    return status


def _unknown_tools(option: str, rules: list[str] | None) -> Iterator[Problem]:
    """Return a warning for each rule about an unknown tool: a deny rule that never matches denies nothing."""
    for rule in rules or ():
        if hint := suggest_rule(rule):
            yield Problem(f"{option} {rule}: no tool has this name, so the rule never matches", hint=hint)


def _unset_variables(names: list[str] | None) -> Iterator[Problem]:
    """Return a warning for each variable that cannot be passed on because it is not set; raise for what is no name."""
    for name in names or ():
        if not name.isidentifier():
            raise UsageError(f"--pass-env {name}: not the name of a variable", hint="such as --pass-env SSH_AUTH_SOCK")
        if name not in os.environ:
            yield Problem(f"--pass-env {name}: this variable is not set", hint="set it, or check its spelling")
