"""``interpose explain``: why each hook of an event would run or not. Runs no hook."""

from __future__ import annotations

import json
import sys

from ..errors import UsageError
from ..replies import clean
from . import options
from .engine import Explanation, HookFacts, explain
from .fire.event import EventOptions, as_host_gave, read_event, unknown_fields
from .loading import load_hooks
from .render import paint, print_problem, short_path

__all__ = ["run"]


def run(
    event: options.Event = None,
    input: options.Input = None,
    tool: options.Tool = None,
    tool_input: options.ToolInput = None,
    agent: options.Agent = None,
    field: options.Fields = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    line: options.Line = None,
    policies: options.Policies = False,
    as_json: options.AsJson = False,
) -> int:
    """Takes the options of `interpose fire`. Each condition of each hook is evaluated on the input as given; in a
    firing an earlier hook may change that input, or deny and so end the firing. With --line, shows how a command line
    is read instead, what it does, which rules match it, and what the policies say.

    Example: interpose explain PreToolUse --tool Bash --tool-input '{"command": "git push"}'

    Example: interpose explain --line 'sudo sh -c "git push"'
    """
    if line is not None:
        return _explain_line(line, event, config, dialect, cwd, policies=policies, as_json=as_json)
    if policies:
        raise UsageError("--policies is about a command line", hint="add --line, or leave it out")
    event_options = EventOptions(event, input, tool, tool_input, agent, field, config, dialect, cwd)
    row, fields = read_event(event_options)
    for problem in unknown_fields(event_options, row):
        print_problem(problem, "explain")
    hooks = load_hooks(event_options.config, event_options.dialect, event_options.cwd)
    fields, _ = as_host_gave(hooks.engine.tools, fields)
    explanation = explain(hooks, row, fields)
    if as_json:
        print(json.dumps(explanation.to_dict(), default=repr))
        return 0
    for warning in hooks.warnings:
        print_problem(warning, "explain")
    _print_explanation(explanation)
    return 0


def _explain_line(
    line: str,
    event: str | None,
    config: list[str] | None,
    dialect: str | None,
    cwd: str | None,
    *,
    policies: bool,
    as_json: bool,
) -> int:
    from .explain_line import explain_line

    if event is not None:
        raise UsageError("--line is about a command line, not about an event", hint=f"leave out {event}, or --line")
    hooks = load_hooks(config or [], dialect, cwd)
    if not as_json:
        for warning in hooks.warnings:
            print_problem(warning, "explain")
    explain_line(line, hooks, policies=policies, as_json=as_json)
    return 0


def _print_explanation(explanation: Explanation) -> None:
    subject = f" {paint(clean(explanation.subject), 'cyan')}" if explanation.subject else ""
    subject += f", declared as {clean(explanation.declared)}" if explanation.declared else ""
    agent = f" for agent {clean(explanation.agent)}" if explanation.agent else ""
    running = sum(fact.would_run for fact in explanation.hooks)
    print(f"{paint(explanation.event, 'bold')}{subject}{agent}: {running} of {len(explanation.hooks)} hooks would run, "
          f"all together within {_seconds(explanation.total_deadline)}")  # fmt: skip
    if explanation.off:
        print(paint(f"enforcement is off: INTERPOSE_OFF={clean(explanation.off)}", "yellow"))
    if not explanation.hooks:
        print("no hook is registered for this event (`interpose list` shows those that are)", file=sys.stderr)
    for fact in explanation.hooks:
        print()
        _print_hook(fact)


def _print_hook(fact: HookFacts) -> None:
    mark = paint(f"{fact.order}.", "green", "bold") if fact.would_run else paint("-", "red", "bold")
    place = paint(f"  {short_path(fact.source)}" if fact.source else "", "dim")
    print(f"{mark} {paint(clean(fact.hook), 'bold')}{place}")
    if fact.description:
        print(f"     {clean(fact.description)}")
    for predicate in fact.predicates:
        sign, colour = ("✓", "green") if predicate.holds else ("✗", "red")
        print(f"   {paint(sign, colour)} {predicate.name:<8} {clean(predicate.text)}")
    if fact.would_run:
        print(f"     {'deadline':<8} {_seconds(fact.deadline)} ({fact.deadline_from})")
        print(f"     {'failure':<8} {_failure(fact)}")
        print(f"     {'runs in':<8} {fact.isolation}")
        if fact.answer:
            print(f"     {'answers':<8} {clean(fact.answer)}")
        if not fact.enforced:
            print(f"     {'enforce':<8} {paint('off: its decisions are only recorded', 'yellow')}")


def _failure(fact: HookFacts) -> str:
    says = {"abort": "onError abort: a failure denies", "log": "onError log: a failure is logged, the event goes on",
            "skip": "onError skip: a failure is ignored"}[fact.on_error]  # fmt: skip
    return says + ("; a guard, it sees the input again if that changes" if fact.guard else "")


def _seconds(seconds: float) -> str:
    return f"{seconds:g} s"
