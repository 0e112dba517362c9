"""``interpose fire``: one event through the hooks. Other programs call it at every event, so every import counts.

With ``--reply`` it is a hook itself, and fails closed: every error, in the command line, in the configuration or in
Interpose, is a deny in the words of the host (``hook.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from time import monotonic
from typing import Any

from ...dialects.agents import AGENTS
from ...errors import InterposeError, UsageError, nearest
from ...executors.base import Executor
from ...executors.blocking import blocking_executor
from ...hooks import Hooks
from ...ids import new_id
from ...model import Outcome
from ...person.caller import set_client
from ...runtime.coroutines import drive
from ...runtime.set_aside import forget_variables
from .. import is_hook, say_failure
from ..loading import HooksSource, load_hooks, report_files, trace_from_environment
from ..render import flat, print_error, print_problem
from ..render.streams import discard_stdout, report_lost_output, stdout_error, stdout_to_stderr
from .event import EventOptions, as_host_gave, read_event, unknown_fields

__all__ = ["EXIT_STATUS", "OPTIONS", "REPLIES", "decision_of", "fire", "run"]

REPLIES = ("native", *AGENTS)
"""The words of ``--reply``."""

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


def run(arguments: Sequence[str]) -> int:
    """Fire one event and return the exit status; print mistakes of the caller."""
    status, hooks = drive(fire(arguments, Hooks, blocking_executor))
    if hooks is not None and any(origin.resident for origin in hooks.origins):
        from ...server.start import start_in_background

        start_in_background()
    return status


async def fire(
    arguments: Sequence[str],
    source: HooksSource | type[Hooks],
    executor: Executor,
    redirected: Callable[[], AbstractContextManager[None]] = stdout_to_stderr,
) -> tuple[int, Hooks | None]:
    """Fire one event through the hooks of a source; return the exit status, and the hooks if an event was fired.

    Within ``redirected()``, what is written to standard output goes to standard error.
    """
    try:
        began = monotonic()
        options, as_json, reply = _parse(tuple(arguments))
    except InterposeError as error:
        print_error(error, "fire")
        return say_failure(arguments, error) if is_hook(arguments) else 1, None
    if reply is not None:
        from .hook import FiringProcess, answer_as_hook

        answering = answer_as_hook(options, reply, FiringProcess(source, executor, redirected), began)
        try:
            if source is not Hooks:
                return await answering  # the resident engine watches the time itself
            from .deadline import within

            with within(options.deadline, began):
                return await answering
        finally:
            set_client(None)  # what this process fires next may be for another
            forget_variables()
    try:
        row, fields = read_event(options)
        for problem in unknown_fields(options, row):
            print_problem(problem, "fire")
        hooks = load_hooks(
            options.config, options.dialect, options.cwd, lines=False, require=options.require, source=source
        )
        engine = hooks.engine
        fields, declared = as_host_gave(engine.tools, fields)
        if source is not Hooks and "session_id" not in fields:
            fields["session_id"] = new_id()  # kept hooks have a session, which is not that of this event
        before = dict(fields)
        report_files(hooks, "fire")
        end_tracing = trace_from_environment(hooks, closing=0.5)
        with redirected():  # output of a hook would spoil the report
            outcome = await engine.fire(engine.route(row.name, fields), fields, executor)
        end_tracing()
    except InterposeError as error:
        print_error(error, "fire")
        return 1, None
    return _report(outcome, before, declared, as_json=as_json), hooks


@lru_cache(maxsize=64)
def _parse(arguments: tuple[str, ...]) -> tuple[EventOptions, bool, str | None]:
    """Parse the command line; of a repeated option the last one counts, lists grow.

    A resident engine gets the same one again and again; nothing changes what is returned.
    """
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
    if reply is not None and reply not in REPLIES:
        hint = nearest(reply, REPLIES) or "native, or an agent that `interpose agents` lists"
        raise UsageError(f"--reply: {reply} is not a dialect", hint=hint)
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
        report_lost_output(error, decision_of(outcome))
        return status or 1
    return status


def decision_of(outcome: Outcome) -> str:
    """Return a deny or an ask in one line; empty if the event goes on."""
    if outcome.allowed:
        return ""
    said = f"{outcome.event} is denied" if outcome.denied else f"{outcome.event} needs a person's yes"
    return flat(f"{said}: {outcome.reason}" if outcome.reason else said)
