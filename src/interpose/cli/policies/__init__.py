"""``interpose policies``: the policies, whether each is on, and what it has stopped. Runs no hook."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from ...audit.protocol import HookStats, Selection
from ...errors import InterposeError, UsageError, nearest
from ...hooks import Hooks
from ...policies import POLICIES, RECOMMENDED
from .. import options
from ..audit_store import NamedStore, Since, Store, parse_since
from ..loading import load_hooks
from ..render import paint, print_error, print_problem
from ..render.table import Column, PrintedTable
from .accept import accept
from .facts import PolicyCounts, PolicyFacts, facts_of, would_stop
from .show import as_dict, print_policy, print_set

__all__ = ["app"]

app = typer.Typer(invoke_without_command=True, no_args_is_help=False, add_help_option=True)

_MOST_CALLS = 1_000
_OPTIONS = ("since", "store", "config", "dialect", "cwd", "try_", "as_json")
_COLOURS = {"on": "green", "observed": "yellow", "off": "dim"}

Try = Annotated[
    bool,
    typer.Option(
        "--try", help=f"Judge the recorded tool calls, at most the last {_MOST_CALLS:,}, with every policy, also with "
                      "those that are off, and count what each would have stopped.",
    ),
]  # fmt: skip
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a policy, or `recommended`.")]

app.command("accept", short_help="Accept MCP tools and servers that have changed.")(accept)


@app.callback()
def run(
    context: typer.Context,
    since: Since = None,
    store: Store = None,
    try_: Try = False,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """A policy is a hook that comes with Interpose. It is on, off, or observed: then its decisions are recorded and not
    enforced. `policies:` in a configuration switches policies on.

    If firings are recorded, STOPPED is how often a policy denied or asked; a number in brackets was only observed.

    Example: interpose policies --try --since 7d
    """
    if context.invoked_subcommand is not None:
        _refuse_early_options(context)
        return 0
    named = os.path.abspath(store) if store is not None else None
    begin = parse_since(since)
    hooks = load_hooks(config or [], dialect, cwd)
    stats, tried, would = _recorded(hooks, named, begin, try_=try_)
    facts = facts_of(hooks, stats, would)
    if as_json:
        print(json.dumps({"policies": [one.to_dict() for one in facts], "calls_tried": tried}))
        return 0
    for warning in hooks.warnings:
        print_problem(warning, "policies")
    _print_facts(facts)
    _print_summary(facts, tried)
    return 0


@app.command("show", short_help="Explain a policy: parameters, examples, and how to switch it on.")
def show(
    context: typer.Context,
    name: Name,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Explain a policy: what it prevents, its parameters with their defaults, how to switch it on, and examples of what
    it denies, asks about and lets pass. `recommended` is the set of policies that is recommended.

    Example: interpose policies show destructive-commands
    """
    if name not in (*POLICIES, RECOMMENDED):
        hint = nearest(name.replace("_", "-"), [*POLICIES, RECOMMENDED]) or "`interpose policies` lists them"
        raise UsageError(f"there is no policy {name}", hint=hint)
    facts = facts_of(_hooks_if_possible(config, dialect, cwd), None)
    if name == RECOMMENDED:
        chosen = [one for one in facts if one.policy.recommended is not None]
        if as_json:
            print(json.dumps({"name": RECOMMENDED, "policies": [one.to_dict() for one in chosen]}))
        else:
            print_set(facts)
        return 0
    found = next(one for one in facts if one.policy.name == name)
    if as_json:
        print(json.dumps(as_dict(found)))
    else:
        print_policy(found)
    return 0


def _refuse_early_options(context: typer.Context) -> None:
    """Raise UsageError for an option before the subcommand: it would have no effect there."""
    for name in _OPTIONS:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = {"as_json": "--json", "try_": "--try"}.get(name, f"--{name}")
            raise UsageError(f"{option} stands before {context.invoked_subcommand}", hint="write it after that")


def _hooks_if_possible(config: list[str] | None, dialect: str | None, cwd: str | None) -> Hooks:
    """Return the configured hooks; none if the configuration is wrong, which is printed: a policy can be shown."""
    try:
        return load_hooks(config or [], dialect, cwd)
    except InterposeError as error:
        print_error(error, "policies")
        return Hooks()


def _recorded(
    hooks: Hooks, store: str | None, since: float | None, *, try_: bool
) -> tuple[list[HookStats] | None, int | None, dict[str, PolicyCounts] | None]:
    """Return what the store says about hooks, and what the policies say about its calls; None without a store."""
    path = store or (hooks.audit.path if hooks.audit is not None else None)
    if path is None or (store is None and not os.path.exists(path)):
        if try_:
            raise UsageError("nothing is recorded that a policy could be tried on",
                             hint="add `audit: {path: audit.db}` to the configuration, or use --store")  # fmt: skip
        return None, None, None
    try:
        with NamedStore(path).open_reader() as reader:
            stats = reader.hook_stats(since)
            if not try_:
                return stats, None, None
            calls = reader.firings(Selection(events=("PreToolUse",), since=since), limit=_MOST_CALLS)
            return stats, *would_stop(hooks, calls)
    except InterposeError as error:
        if store is not None or try_:
            raise
        print_error(error, "policies")  # the policies can still be listed
        return None, None, None


def _print_facts(facts: list[PolicyFacts]) -> None:
    """Print a row per policy, group by group; columns without content are left out."""
    table = PrintedTable((
        Column("  POLICY", "bold"),
        Column("STATE", lambda text: _COLOURS[text.partition(",")[0]]),
        Column("SET", drop=1),
        Column("STOPPED", right=True),
        Column("WOULD STOP", right=True),
        Column("WHAT IT PREVENTS"),
    ))  # fmt: skip
    table.fit([_cells(one) for one in facts])
    table.print_heading()
    for group in dict.fromkeys(one.group for one in facts):
        print(paint(group, "cyan"))
        table.print_rows([_cells(one) for one in facts if one.group == group])


def _cells(one: PolicyFacts) -> tuple[str, ...]:
    locked = ", locked" if any(hook.locked for hook in one.hooks) else ""
    return (
        f"  {one.policy.name}", one.state + locked, "recommended" if one.policy.recommended is not None else "",
        _stopped(one.counts), _stopped(one.would), one.policy.prevents,
    )  # fmt: skip


def _stopped(counts: PolicyCounts | None) -> str:
    """Return the number of stopped events; in brackets if they were only observed."""
    if counts is None:
        return ""
    total = counts.denied + counts.asked
    enforced = total - counts.observed
    if not counts.observed:
        return str(total or "-")
    return f"({counts.observed})" if not enforced else f"{enforced} ({counts.observed})"


def _print_summary(facts: list[PolicyFacts], tried: int | None) -> None:
    on = sum(one.state == "on" for one in facts)
    observed = sum(one.state == "observed" for one in facts)
    said = f"\n{on} of {len(facts)} are on" + (f", {observed} observed" if observed else "")
    if tried is not None:
        said += f"; tried on {tried} recorded calls"
    print(said)
    if not on + observed:
        print("`policies: recommended` in a configuration switches on the recommended ones; "
              "`interpose policies show NAME` explains one", file=sys.stderr)  # fmt: skip
