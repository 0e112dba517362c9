"""``interpose fire --reply``: one event as the hook of another host, answered in the host's own words.

It fails closed: what goes wrong here is a deny that the host honours at this event, and never a reason to keep an
agent going. Only the dialect that is asked for is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any

from ...dialects.agents import AgentDialect, agent_dialect
from ...dialects.agents.exchange import AgentEvent, HookOutput
from ...dialects.reply import write_reply
from ...dialects.wording import worded_for_agent
from ...errors import ConfigError, InterposeError, Problem
from ...events import TABLE
from ...executors.base import Executor
from ...hooks import Hooks
from ...ids import new_id
from ...model import Outcome
from ...person.agents import register_callers
from ...person.caller import set_client
from ...person.environment import drop_variables_of_settings
from ...routes import Route
from ...runtime.named_tuples import NamedTuple
from ...strict_json import encode
from .. import say_failure
from ..loading import HooksSource, load_hooks, load_hooks_of_event, report_files, trace_from_environment
from ..render import flat, print_error, print_problem
from ..render.streams import report_lost_output, stdout_error
from . import decision_of
from .attached import canary_hooks, is_canary, put_back_settings, telling
from .event import EventOptions, as_host_gave, complete_event, read_event, read_payload, unknown_fields

__all__ = ["FiringProcess", "answer_as_hook"]

_MARGIN = (0.1, 0.5)
"""What is left of the deadline for the answer: a part of it, and at least some seconds."""


class FiringProcess(NamedTuple):
    """What an event is fired with: that of a process of its own, or that of the resident engine."""

    source: HooksSource | type[Hooks]
    executor: Executor
    redirected: Callable[[], AbstractContextManager[None]]
    """Within it, what is written to standard output goes to standard error."""


async def answer_as_hook(
    options: EventOptions, reply: str, process: FiringProcess, began: float
) -> tuple[int, Hooks | None]:
    """Fire one event and answer it in a dialect; return the exit status, and the hooks if an event was fired."""
    register_callers()  # what the agent starts is known from now on not to be a person's
    _drop_variables()
    if reply == "native":
        return await _answer_natively(options, process, began)
    hooks: Hooks | None = None
    event, dialect = options.event or "", None
    try:
        payload = read_payload(options)
        event, dialect = _named(event, payload), agent_dialect(reply)
        noticed = put_back_settings(reply)
        dialect = _of_caller(dialect, event, payload)
        with _once(options, reply, dialect, event, payload) as known:
            if known.answer is None:
                known.answer, hooks = await _decide(options, dialect, payload, process, began, noticed)
            return _print(dialect, event, known.answer), hooks
    except InterposeError as error:
        print_error(error, "fire")
        return say_failure((), error, event, dialect.NAME if dialect is not None else reply), hooks


async def _decide(
    options: EventOptions, dialect: AgentDialect, payload: Mapping[str, Any], process: FiringProcess, began: float,
    noticed: Sequence[str],
) -> tuple[HookOutput, Hooks | None]:  # fmt: skip
    """Return the answer to an event in the agent's words, and the hooks that were fired."""
    set_client(dialect.NAME)
    event = dialect.read_event(options.event or "", payload)
    if not event.event:
        return dialect.write_answer(event), None
    row = TABLE[event.event]
    for problem in unknown_fields(options, row):
        print_problem(problem, "fire")
    calls = [complete_event(options, row, dict(fields)) for fields in (event.fields, *event.more)]
    hooks = _load(options, calls[0], process.source)
    calls = [_completed(hooks, fields, process.source) for fields in calls]
    event = event._replace(fields=dict(calls[0]), more=tuple(dict(fields) for fields in calls[1:]))
    report_files(hooks, "fire")
    if row.name == "PreToolUse" and is_canary(calls[0]):
        hooks = canary_hooks(calls[0])
    end_tracing = trace_from_environment(hooks, closing=0.5)
    outcomes: list[Outcome] = []
    # Output of a hook would spoil the reply, and a spoilt reply decides nothing.
    with telling(hooks, row.name, noticed), process.redirected():
        for fields in calls:
            outcomes.append(await _fire(hooks, process, row.name, fields, dialect.NAME, began, options.deadline))
            if outcomes[-1].denied:
                break
    end_tracing()
    if process.source is Hooks:
        _report_lost(hooks, outcomes)
    answer = _with_worktree(event, dialect.write_answer(event, *map(worded_for_agent, outcomes)), outcomes[-1])
    wishes = [f"{one.hook}: {one.wish} has no effect" for outcome in outcomes for one in outcome.ignored]
    parts = [f"{part}: {dialect.TITLE} has no word for it" for part in answer.unsaid]
    for line in dict.fromkeys((*wishes, *parts)):
        print(f"interpose fire: {flat(line)} at {event.name}", file=sys.stderr)
    return answer._replace(unsaid=()), hooks


async def _answer_natively(options: EventOptions, process: FiringProcess, began: float) -> tuple[int, Hooks | None]:
    """Answer in the native dialect, which has a word for everything."""
    event = options.event or ""
    try:
        row, fields = read_event(options)
        event = row.name
        for problem in unknown_fields(options, row):
            print_problem(problem, "fire")
        hooks = _load(options, fields, process.source)
        fields = _completed(hooks, fields, process.source)
        before = dict(fields)
        report_files(hooks, "fire")
        end_tracing = trace_from_environment(hooks, closing=0.5)
        with process.redirected():
            outcome = await _fire(hooks, process, row.name, fields, "native", began, options.deadline)
        end_tracing()
    except InterposeError as error:
        print_error(error, "fire")
        return say_failure((), error, event, "native"), None
    if process.source is Hooks:
        _report_lost(hooks, [outcome])
    reply = write_reply("native", outcome, before)
    if lost := _write(encode(reply.body).decode("ascii") if reply.body else ""):
        report_lost_output(lost, decision_of(outcome))
        return 2, hooks  # the host cannot read the reply
    if outcome.denied:
        print(outcome.reason or "denied", file=sys.stderr)
        return 2, hooks
    return 0, hooks


# The parts of it.


def _named(event: str, payload: Mapping[str, Any]) -> str:
    """Return the event that the command line names, else the one that the payload names."""
    named = payload.get("hook_event_name", payload.get("hook_type"))
    return event or (named if isinstance(named, str) else "")


def _drop_variables() -> None:
    """Ignore variables that the settings of a project may have set, and say so."""
    for name in drop_variables_of_settings():
        print(f"interpose fire: {name} is ignored: the agent was not started with it", file=sys.stderr)


def _load(options: EventOptions, fields: Mapping[str, Any], source: HooksSource | type[Hooks]) -> Hooks:
    dialect, require = options.dialect, options.require
    if not options.config and options.cwd is None:
        hooks = load_hooks_of_event(dialect, fields, require=require, source=source)
    else:
        hooks = load_hooks(options.config, dialect, options.cwd, lines=False, require=require, source=source)
    _refuse_untrusted(hooks)
    return hooks


def _refuse_untrusted(hooks: Hooks) -> None:
    """Raise ConfigError if files were found and none is trusted; say so if nothing was found.

    Otherwise an agent could disable its guards by changing to a directory without any.
    """
    if any(origin.trusted for origin in hooks.origins):
        return
    if hooks.origins:
        raise ConfigError(hooks.warnings)
    print_problem(Problem("no configuration was found: nothing is checked", hint="--require refuses this"), "fire")


def _completed(hooks: Hooks, fields: dict[str, Any], source: HooksSource | type[Hooks]) -> dict[str, Any]:
    fields, _ = as_host_gave(hooks.engine.tools, fields)
    if source is not Hooks:
        fields.setdefault("session_id", new_id())  # kept hooks have a session, which is not that of this event
    return fields


async def _fire(
    hooks: Hooks,
    process: FiringProcess,
    event: str,
    fields: dict[str, Any],
    reply: str,
    began: float,
    deadline: float | None,
) -> Outcome:
    """Fire an event, and have a person answer an ask if questions wait.

    Its hooks have what the deadline leaves: the answer must come before the host stops waiting.
    """

    async def fire(fields: dict[str, Any]) -> Outcome:
        route = _route(hooks, event, fields)
        if deadline is not None:
            left = deadline - max(_MARGIN[0] * deadline, min(_MARGIN[1], deadline / 2)) - (monotonic() - began)
            if route.total > left:
                route = Route(route.template, route.steps, max(left, 0.001), route.inputs)
        return await hooks.engine.fire(route, fields, process.executor)

    outcome = await fire(fields)
    if outcome.decision == "ask" and hooks.questions is not None:
        from .question import answered

        def again(tool_input: Any) -> Awaitable[Outcome]:
            return fire({**fields, "tool_input": tool_input})

        outcome = await answered(hooks.questions, outcome, reply, began, deadline, again)
    return outcome


def _route(hooks: Hooks, event: str, fields: dict[str, Any]) -> Route:
    if "tool_readings" not in fields:
        return hooks.engine.route(event, fields)
    from ...session.readings import route_of_call

    return route_of_call(hooks.engine, event, fields)


def _report_lost(hooks: Hooks, outcomes: list[Outcome]) -> None:
    """Say what a process that ends now cannot keep: context of hooks in the background, and that a hook ran once."""
    ran = {result.hook: result for outcome in outcomes for result in outcome.results if result.status != "skipped"}
    for hook in hooks.engine.registry.snapshot if ran else ():
        result = ran.get(hook.label)
        if result is None:
            continue
        what = []
        if hook.background:
            what.append("what it says in the background is lost")
        if hook.once:
            what.append("it runs at every event, and not once")
        for text in what:
            print(f"interpose fire: {flat(hook.label)}: {text}: this process ends now (`resident:` keeps one)",
                  file=sys.stderr)  # fmt: skip


def _print(dialect: AgentDialect, event: str, answer: HookOutput) -> int:
    """Write an answer; if it cannot be written, answer with an exit status that the host does not take for a yes."""
    if problem := _write(answer.stdout):
        said = flat(answer.stderr.strip())
        report_lost_output(problem, f"{event} is denied: {said}" if said and answer.status == 2 else said)
        return dialect.write_failure(event, "the answer cannot be written").status or 2
    sys.stderr.write(answer.stderr)
    return answer.status


def _write(text: str) -> OSError | None:
    """Write to standard output; return why that failed."""
    error = stdout_error()
    if error is None and text:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as failure:
            return failure
    return error


def _with_worktree(event: AgentEvent, answer: HookOutput, outcome: Outcome) -> HookOutput:
    """Make the worktree that an event asks for, if no hook has: a hook at this event replaces what the agent does."""
    if event.event != "WorktreeCreate" or answer.status != 1 or not outcome.allowed:
        return answer
    from .worktree import make_worktree

    return HookOutput(make_worktree(event.fields) + "\n", "", 0)


# Agents that load the settings of others.


class _Known:
    """The answer to an event, if it is known already."""

    answer: HookOutput | None = None


@contextmanager
def _once(
    options: EventOptions, reply: str, dialect: AgentDialect, event: str, payload: Mapping[str, Any]
) -> Iterator[_Known]:
    """Yield the answer that another entry of ours gave to the same event; else keep the one that is given now."""
    known = _Known()
    from ...dialects.agents.callers import can_call_twice

    if not can_call_twice(dialect.NAME):
        yield known
        return
    from .answers import answered_once

    with answered_once(dialect.NAME, f"{reply} {options.event or ''} {event}", event, payload) as entry:
        known.answer = entry.answer
        yield known
        entry.answer = known.answer


def _of_caller(dialect: AgentDialect, event: str, payload: Mapping[str, Any]) -> AgentDialect:
    """Return the dialect of the agent that really calls: some load the settings of another."""
    from ...dialects.agents.callers import caller_of

    name = caller_of(dialect.NAME, payload, os.environ)
    return dialect if name == dialect.NAME else agent_dialect(name)
