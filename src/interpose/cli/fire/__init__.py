"""``interpose fire``: one event through the hooks. Other programs call it at every event, so every import counts.

With ``--reply`` it is a hook itself, and fails closed: every error, in the command line, in the configuration or in
Interpose, is exit status 2 with the reason on standard error, which hosts read as a deny.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from ...dialects import NAMES as DIALECTS
from ...errors import ConfigError, InterposeError, Problem, UsageError, nearest
from ...hooks import Hooks
from ...ids import new_id
from ...model import Outcome
from ...person.agents import register_callers
from .. import is_hook
from ..loading import HooksSource, load_hooks, load_hooks_of_event, report_files, trace_from_environment
from ..render import flat, print_error, print_problem
from ..render.streams import discard_stdout, report_lost_output, stdout_error, stdout_to_stderr
from .event import EventOptions, as_host_gave, read_event, unknown_fields

__all__ = ["EXIT_STATUS", "OPTIONS", "run"]

EXIT_STATUS = {"deny": 2, "ask": 3, "allow": 0, "none": 0}

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
    "--deadline": "deadline",
}
"""Options that have a value, and the attribute that holds it; ``app.fire_help`` declares the same options."""


def run(arguments: Sequence[str], source: HooksSource | type[Hooks] = Hooks) -> int:
    """Fire one event through the hooks of a source and return the exit status; print mistakes of the caller."""
    try:
        began = monotonic()
        options, as_json, reply = _parse(arguments)
        if reply is not None:
            register_callers()  # what the agent starts is known from now on not to be a person's
        row, fields = read_event(options)
        for problem in unknown_fields(options, row):
            print_problem(problem, "fire")
        hooks = _load(options, fields, source, as_hook=reply is not None)
        fields, declared = as_host_gave(hooks.engine.tools, fields)
        if source is not Hooks:
            fields.setdefault("session_id", new_id())  # kept hooks have a session, which is not that of this event
        before = dict(fields)
        if reply is not None:
            _refuse_untrusted(hooks)
        report_files(hooks, "fire")
        end_tracing = trace_from_environment(hooks, closing=0.5)
        with stdout_to_stderr():  # output of a hook would spoil the reply, and a spoilt reply decides nothing
            outcome = hooks.fire_sync(row.name, **fields)
            if reply is not None and outcome.decision == "ask" and hooks.questions is not None:
                from .question import answered

                outcome = answered(hooks.questions, outcome, reply, began, options.deadline)
        end_tracing()
    except InterposeError as error:
        print_error(error, "fire")
        return 2 if is_hook(arguments) else 1
    if reply is not None:
        status = _reply(outcome, before, reply)
    else:
        status = _report(outcome, before, declared, as_json=as_json)
    if source is Hooks and any(origin.resident for origin in hooks.origins):
        from ...server.start import start_in_background

        start_in_background()
    return status


def _load(
    options: EventOptions, fields: Mapping[str, Any], source: HooksSource | type[Hooks], *, as_hook: bool
) -> Hooks:
    dialect, require = options.dialect, options.require
    if as_hook and not options.config and options.cwd is None:
        return load_hooks_of_event(dialect, fields, require=require, source=source)
    return load_hooks(options.config, dialect, options.cwd, lines=False, require=require, source=source)


def _refuse_untrusted(hooks: Hooks) -> None:
    """Raise ConfigError if files were found and none is trusted; say so if nothing was found.

    Otherwise an agent could disable its guards by changing to a directory without any.
    """
    if any(origin.trusted for origin in hooks.origins):
        return
    if hooks.origins:
        raise ConfigError(hooks.warnings)
    print_problem(Problem("no configuration was found: nothing is checked", hint="--require refuses this"), "fire")


def _parse(arguments: Sequence[str]) -> tuple[EventOptions, bool, str | None]:
    """Parse the command line; of a repeated option the last one counts, lists grow."""
    options, as_json, reply = EventOptions(), False, None
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name == "--json" and not equals:
            as_json = True
        elif name == "--require" and not equals:
            options.require = True
        elif name in OPTIONS:
            if not equals:
                if not rest:
                    raise UsageError(f"{name} needs a value", hint="`interpose fire --help`")
                value = rest.pop(0)
            if name == "--reply":
                reply = value
            else:
                _set(options, OPTIONS[name], value)
        elif word.startswith("-") and word != "-":
            hint = nearest(name, [*OPTIONS, "--json", "--require"]) or "`interpose fire --help` lists them"
            raise UsageError(f"{name} is not an option", hint=hint)
        elif options.event is not None:
            raise UsageError(f"{word}: one event at a time", hint=f"{options.event} was named already")
        else:
            options.event = word
    _check(options, as_json, reply)
    if reply is not None and options.input is None:
        options.input = "-"  # a hook reads its event from standard input
    return options, as_json, reply


def _set(options: EventOptions, attribute: str, value: str) -> None:
    if attribute == "deadline":
        options.deadline = _seconds(value)
    elif attribute in ("fields", "config"):
        getattr(options, attribute).append(value)
    else:
        setattr(options, attribute, value)


def _check(options: EventOptions, as_json: bool, reply: str | None) -> None:
    """Raise UsageError for options that exclude each other."""
    if reply is not None and reply not in DIALECTS:
        raise UsageError(f"--reply: {reply} is not a dialect", hint=" or ".join(DIALECTS))
    if reply is not None and as_json:
        raise UsageError("--reply and --json exclude each other", hint="leave one of them out")
    if options.deadline is not None and reply is None:
        raise UsageError("--deadline is for --reply", hint="leave it out")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--deadline: {text} is not a number of seconds", hint="such as 60")
    return seconds


def _report(outcome: Outcome, before: Mapping[str, Any], declared: str, *, as_json: bool) -> int:
    """Print the outcome for a program or for a person; a denied or asked event keeps its status if that fails."""
    status = EXIT_STATUS[outcome.decision]
    error = stdout_error()
    try:
        if as_json:
            import json

            print(json.dumps(outcome.to_dict(), default=repr))
        else:
            from ..render.outcome import print_outcome

            print_outcome(outcome, before, declared)
        print(end="", flush=True)
    except OSError as failure:
        error = failure
    if isinstance(error, BrokenPipeError):
        discard_stdout()  # the reader needed no more
    elif error is not None:
        report_lost_output(error, _decision(outcome))
        return status or 1
    return status


def _decision(outcome: Outcome) -> str:
    """Return a deny or an ask in one line; empty if the event goes on."""
    if outcome.allowed:
        return ""
    said = f"{outcome.event} is denied" if outcome.denied else f"{outcome.event} needs a person's yes"
    return flat(f"{said}: {outcome.reason}" if outcome.reason else said)


def _reply(outcome: Outcome, before: Mapping[str, Any], dialect: str) -> int:
    """Answer as a hook: JSON on standard output; a deny is also exit status 2 with the reason on standard error."""
    from ...dialects.reply import write_reply
    from ...strict_json import encode

    reply = write_reply(dialect, outcome, before)
    error = stdout_error()
    try:
        if error is None and reply.body:
            sys.stdout.write(encode(reply.body).decode("ascii"))
            sys.stdout.flush()
    except OSError as failure:
        error = failure
    if error is not None:
        report_lost_output(error, _decision(outcome))
        return 2  # the host cannot read the reply
    for part in reply.unsaid:
        print(f"interpose fire: {part}: the reply has no field for it at {outcome.event}", file=sys.stderr)
    if outcome.denied:
        print(outcome.reason or "denied", file=sys.stderr)
        return 2
    return 0
