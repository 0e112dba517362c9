"""``interpose doctor``: run each hook with made-up events; report problems of hooks and machine."""

from __future__ import annotations

import json
import sys
from statistics import median
from typing import Annotated

import typer

from ..config.kinds import JUDGES
from ..errors import InterposeError
from ..fleet.diagnosis import check_fleet
from ..handlers.declared_command import Isolation
from ..hooks import Hooks
from ..lint.declared_tools import describe_tool, tool_as_json
from ..lint.diagnosis import HookReport, add_probe, inspect_hooks
from ..lint.machine import MachineCheck, check_machine, check_models
from ..lint.probe import MARK, SLOW, TIMEOUT, Probe, probe_fields, suspicious_fields
from ..matching.declared_tools import DeclaredTool
from ..model import Hook, Result
from ..replay.environment import variable_set, with_variable
from ..replies import clean
from ..server.diagnosis import check_resident
from .engine import isolate
from .loading import load_hooks
from .options import AsJson, Config, Cwd, Dialect
from .render import cut, flat, paint, print_error, problems_of
from .render.streams import capture_stdout, confirm, is_interactive, silence_log
from .render.table import Column, PrintedTable, print_table

__all__ = ["run", "run_isolated", "run_probe"]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Run the hooks without asking.")]
NoRun = Annotated[bool, typer.Option("--no-run", help="Check the hooks without running them.")]

_COLOURS = {"ok": "green", "warning": "yellow", "wrong": "red", "off": "dim"}
_STATE = Column("", lambda state: _COLOURS[state.strip()])


def run(
    config: Config = None,
    dialect: Dialect = None,
    cwd: Cwd = None,
    yes: Yes = False,
    no_run: NoRun = False,
    as_json: AsJson = False,
) -> int:
    """Finds hooks that are missing, not executable, cannot be imported, fail, answer what cannot be read or is not
    known, are slow (over 100 ms) or fail open; shows the isolation that each hook really has, and what this machine
    supports. Hooks run with `INTERPOSE_DOCTOR=1`, on a harmless event and on one that looks dangerous, for 5 s at most.
    Both events are made up. Hooks may still have side effects, so you are asked first; without a terminal they
    run only with --yes. Hooks that ask a model are not run: their package and their key are looked for.

    Exit status: 1 if something is wrong.
    """
    silence_log()
    hooks, error = _load(config or [], dialect, cwd)
    checks = check_machine(run_isolated, hooks.origins if hooks else (), hooks.audit if hooks else None)
    checks += check_models(hooks or ())
    checks.append(check_resident(hooks.origins if hooks else ()))
    checks += check_fleet()
    reports = inspect_hooks(hooks, hooks.settings) if hooks is not None else []
    armed = [report for report in reports if report.hook.enabled]
    probed = [report for report in armed if report.hook.type not in JUDGES]  # a model would have to be paid
    tools = list(hooks.engine.tools or ()) if hooks is not None else []
    if not as_json:
        _print_machine(checks, tools)
    ran = bool(probed) and not no_run and (yes or (not as_json and _agreed(len(probed))))
    if hooks is not None and ran:
        for report in probed:
            add_probe(report, run_probe(hooks, report.hook), hooks.settings)
    states = [check.state for check in checks] + [report.state for report in armed]
    wrong = error is not None or "wrong" in states
    if as_json:
        problems = [str(problem) for problem in problems_of(error)] if error else []
        print(json.dumps({
            "ok": not wrong, "ran": ran, "problems": problems, "machine": [check.to_dict() for check in checks],
            "tools": [tool_as_json(tool) for tool in tools], "hooks": [report.to_dict() for report in reports],
        }))  # fmt: skip
        return int(wrong)
    if error is not None:
        sys.stdout.flush()
        print_error(error, "doctor")
    elif not reports:
        waiting = any(not origin.trusted for origin in hooks.origins) if hooks is not None else False
        print("no hook is armed" if waiting else "there are no hooks (`interpose init` writes some to begin with)")
    else:
        _print_hooks(reports, ran)
    return int(wrong)


def run_isolated(level: Isolation) -> Result:
    """Run a command that does nothing in an isolation, and return its result."""
    engine = Hooks()
    engine.register(
        "Notification", ["/bin/sh", "-c", ":"], type="command", name=level, isolation=level, timeout=TIMEOUT
    )
    [result] = engine.fire_sync("Notification", message="", cwd="/").results
    return result


def run_probe(hooks: Hooks, hook: Hook) -> Probe:
    """Run one hook with a harmless event, a slow hook three times; then with one that looks dangerous."""
    engine = isolate(hooks, with_variable(hook, MARK), timeout=TIMEOUT)
    fields = probe_fields(hook)
    with variable_set(MARK), capture_stdout() as printed:
        outcome = engine.fire_sync(hook.event, **fields)
        result = outcome.results[0]
        times = [result.duration]
        if result.status == "ok" and result.duration > SLOW:
            # The first run may be slow because it imports modules or reads a cold disk.
            times += [engine.fire_sync(hook.event, **fields).results[0].duration for _ in range(2)]
        tries_again = result.status == "ok" and "deny" in hook.row.can
        suspicious = engine.fire_sync(hook.event, **suspicious_fields(hook)) if tries_again else None
    engine.close()
    return Probe(result, outcome, median(times), "".join(printed), suspicious)


def _load(config: list[str], dialect: str | None, cwd: str | None) -> tuple[Hooks | None, InterposeError | None]:
    """Return the hooks, or the error in their files; the machine is checked in both cases."""
    try:
        return load_hooks(config, dialect, cwd), None
    except InterposeError as error:
        return None, error


def _agreed(count: int) -> bool:
    if not is_interactive():
        return False
    sys.stdout.flush()
    return confirm(f"Run {_hooks(count)} with made-up events?")


def _hooks(count: int) -> str:
    return f"{count} hook{'' if count == 1 else 's'}"


def _print_machine(checks: list[MachineCheck], tools: list[DeclaredTool]) -> None:
    rows = [(f"{check.state:<7}", check.name, check.text) for check in checks]
    rows += [(f"{'ok':<7}", f"tool: {flat(tool.pattern)}", describe_tool(tool)) for tool in tools]
    print_table((_STATE, Column(""), Column("")), rows, heading=False)
    print()


def _print_hooks(reports: list[HookReport], ran: bool) -> None:
    table = PrintedTable((_STATE, Column(""), Column("event"), Column(""), Column(""), Column("", "dim")))
    rows = [_row(report) for report in reports]
    table.fit(rows)
    for report, row in zip(reports, rows, strict=True):
        table.print_rows([row])
        for finding in report.findings:
            problem = finding.problem
            advice = f" ({problem.hint})" if problem.hint else ""
            print(f"         {paint(finding.code, _COLOURS[finding.severity])}: {clean(problem.what + advice)}")
    _print_summary(reports, ran)


def _row(report: HookReport) -> tuple[str, ...]:
    hook, probe = report.hook, report.probe
    took = f"{probe.seconds * 1000:8.1f} ms" if probe else f"{'not run':>11}"
    decided = probe is not None and probe.result.status == "ok" and probe.result.decision != "none"
    answer = f"  answers {probe.result.decision}" if probe is not None and decided else ""
    return (
        f"{report.state:<7}", cut(flat(hook.label), 40), hook.event, took, f"{report.isolation}{answer}", hook.source,
    )  # fmt: skip


def _print_summary(reports: list[HookReport], ran: bool) -> None:
    states = [report.state for report in reports]
    wrong, warnings = states.count("wrong"), states.count("warning")
    counts = [f"{wrong} wrong"] * bool(wrong) + [f"{warnings} with warnings"] * bool(warnings)
    text = f"{_hooks(len(reports))}: {', '.join(counts) or 'all are fine'}"
    print(f"\n{paint(text, 'red' if wrong else 'yellow' if warnings else 'green', 'bold')}")
    if not ran and any(report.hook.type not in JUDGES for report in reports):
        print("no hook was run: --yes runs each with made-up events")
