"""``interpose fire``: one event through the hooks. What other programs call at every event, so every import counts.

With ``--reply`` it is a hook itself, and one that fails closed: whatever goes wrong, be it in the way it was called, in
the configuration or in here, is exit status 2 with the reason on standard error, which hosts read as a deny.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ConfigError, InterposeError, UsageError, nearest
from ..hooks import Hooks
from ..model import Outcome
from . import is_hook
from .given import Given, doubts_of, read_event
from .loading import hooks_of, refuse_disarmed
from .outputs import on_stderr
from .tracing import traced
from .words import complain, complain_of, hush

__all__ = ["OPTIONS", "REPLIES", "STATUS", "run"]

STATUS = {"deny": 2, "ask": 3, "allow": 0, "none": 0}
"""What the exit status says."""

REPLIES = ("native", "claude")

OPTIONS = {
    "--input": "input",
    "--tool": "tool",
    "--tool-input": "tool_input",
    "--agent": "agent",
    "--field": "fields",
    "-f": "fields",
    "--config": "config",
    "-c": "config",
    "--dialect": "dialect",
    "--cwd": "cwd",
    "--reply": "reply",
}
"""Options that have a value, and where it is kept; ``fire_help`` tells people and shells of the same ones."""


def run(arguments: Sequence[str]) -> int:
    """Fire one event and return the exit status; mistakes in use and configuration are said here."""
    try:
        given, as_json, reply = _parse(arguments)
        row, fields = read_event(given)
        for doubt in doubts_of(given, row):
            complain_of(doubt, "fire")
        before = dict(fields)
        hooks = hooks_of(given.config, given.dialect, given.cwd, lines=False)
        _look_at_trust(hooks, strict=reply is not None)
        if reply is not None and not given.config:
            refuse_disarmed(hooks, given.dialect)
        end_tracing = traced(hooks, closing=0.5)
        with on_stderr():  # what a hook prints would spoil the reply, and a spoilt reply decides nothing
            outcome = hooks.fire_sync(row.name, **fields)
        end_tracing()
    except InterposeError as error:
        complain(error, "fire")
        return 2 if is_hook(arguments) else 1
    if reply is not None:
        return _reply(outcome, before, reply)
    try:
        _report(outcome, before, as_json=as_json)
        print(end="", flush=True)
    except BrokenPipeError:
        hush()  # whoever reads has seen enough; the status still counts
    return STATUS[outcome.decision]


def _look_at_trust(hooks: Hooks, *, strict: bool) -> None:
    """Say which files were found and arm nothing. For a hook that is a mistake, and denies.

    Otherwise an agent that changes the configuration, which ends its trust, would be rid of its guards.
    """
    strange = {origin.source.path for origin in hooks.origins if not origin.trusted}
    problems = [problem for problem in hooks.warnings if problem.where in strange]
    if strict and problems:
        raise ConfigError(problems)
    for problem in problems:
        complain_of(problem, "fire")


def _parse(arguments: Sequence[str]) -> tuple[Given, bool, str | None]:
    """Read the command line; the last of an option that is given twice counts, lists grow."""
    given, as_json, reply = Given(), False, None
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name == "--json" and not equals:
            as_json = True
        elif name in OPTIONS:
            if not equals:
                if not rest:
                    raise UsageError(f"{name} needs a value", hint="`interpose fire --help`")
                value = rest.pop(0)
            kept = OPTIONS[name]
            if kept == "reply":
                reply = value
            elif kept in ("fields", "config"):
                getattr(given, kept).append(value)
            else:
                setattr(given, kept, value)
        elif word.startswith("-") and word != "-":
            hint = nearest(name, [*OPTIONS, "--json"]) or "`interpose fire --help` lists them"
            raise UsageError(f"{name} is not an option", hint=hint)
        elif given.event is not None:
            raise UsageError(f"{word}: one event at a time", hint=f"{given.event} was named already")
        else:
            given.event = word
    if reply is not None and reply not in REPLIES:
        raise UsageError(f"--reply: {reply} is not a dialect", hint="native or claude")
    if reply is not None and as_json:
        raise UsageError("--reply and --json are two kinds of output", hint="leave one of them out")
    if reply is not None and given.input is None:
        given.input = "-"  # a hook is told on standard input
    return given, as_json, reply


def _report(outcome: Outcome, before: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the outcome for a program or for a person."""
    if as_json:
        import json

        print(json.dumps(outcome.to_dict(), default=repr))
    else:
        from .report import report

        report(outcome, before)


def _reply(outcome: Outcome, before: Mapping[str, Any], dialect: str) -> int:
    """Answer as a hook: JSON on standard output, and for a deny also what a host understands that cannot read it."""
    from ..strict_json import encode
    from .reply import WRITERS

    said, unsaid = WRITERS[dialect](outcome, before)
    if said:
        sys.stdout.write(encode(said).decode("ascii"))
        sys.stdout.flush()
    for what in unsaid:
        print(f"interpose fire: {what}: a reply has no place for it at {outcome.event}", file=sys.stderr)
    if outcome.denied:
        print(outcome.reason or "denied", file=sys.stderr)
        return 2
    return 0
