"""``interpose doctor``: run each hook once with a harmless event; say what is amiss with it and the machine."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from ..errors import InterposeError
from ..hooks import Hooks
from ..replies import clean
from .asking import confirm, somebody_is_there
from .checkup import HookReport, Part, examine, look_over, machine
from .loading import hooks_of
from .options import AsJson, Config, Cwd, Dialect
from .outputs import without_log
from .words import complain, mistakes_of, paint

__all__ = ["run"]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Run the hooks without asking.")]
NoRun = Annotated[bool, typer.Option("--no-run", help="Only look; run no hook.")]

_COLOURS = {"ok": "green", "warning": "yellow", "wrong": "red", "off": "dim"}


def run(
    config: Config = None,
    dialect: Dialect = None,
    cwd: Cwd = None,
    yes: Yes = False,
    no_run: NoRun = False,
    as_json: AsJson = False,
) -> int:
    """Finds what is missing, not executable, cannot be imported, fails, prints rubbish, is slow (over 100 ms) or fails
    open; says which isolation each hook really has, and what this machine can do. Hooks are run with
    `INTERPOSE_DOCTOR=1`, on an event that stands for nothing real, for 5 s at most. Since they may have side effects
    all the same, you are asked first; without a terminal they run only with --yes.

    Exit status: 1 if something is wrong.
    """
    without_log()
    hooks, mistake = _load(config or [], dialect, cwd)
    parts = machine(hooks)
    reports = look_over(hooks) if hooks is not None else []
    armed = [report for report in reports if report.hook.enabled]
    if not as_json:
        _show_machine(parts)
    ran = bool(armed) and not no_run and (yes or (not as_json and _agreed(len(armed))))
    if hooks is not None and ran:
        for report in armed:
            examine(hooks, report)
    problems = [str(problem) for problem in mistakes_of(mistake)] if mistake else []
    wrong = mistake is not None or any(part.state == "wrong" for part in parts)
    wrong = wrong or any(report.state == "wrong" for report in armed)
    if as_json:
        said = {"ok": not wrong, "ran": ran, "problems": problems, "machine": [part.to_dict() for part in parts],
                "hooks": [report.to_dict() for report in reports]}  # fmt: skip
        print(json.dumps(said))
        return int(wrong)
    if mistake is not None:
        sys.stdout.flush()
        complain(mistake, "doctor")
    elif not reports:
        waiting = any(not origin.trusted for origin in hooks.origins) if hooks is not None else False
        print("no hook is armed" if waiting else "there are no hooks (`interpose init` writes some to begin with)")
    else:
        _show_hooks(reports, ran)
    return int(wrong)


def _load(config: list[str], dialect: str | None, cwd: str | None) -> tuple[Hooks | None, InterposeError | None]:
    """Return the hooks, or what is wrong with their files: then there is still a machine to look at."""
    try:
        return hooks_of(config, dialect, cwd), None
    except InterposeError as error:
        return None, error


def _agreed(count: int) -> bool:
    if not somebody_is_there():
        return False
    sys.stdout.flush()
    return confirm(f"Run {_hooks(count)} once, with an event that stands for nothing real?")


def _hooks(count: int) -> str:
    return f"{count} hook{'' if count == 1 else 's'}"


def _show_machine(parts: list[Part]) -> None:
    width = max(len(part.name) for part in parts)
    for part in parts:
        print(f"{_state(part.state)}  {part.name:<{width}}  {clean(part.text)}")
    print()


def _state(state: str) -> str:
    return paint(f"{state:<7}", _COLOURS[state])


def _show_hooks(reports: list[HookReport], ran: bool) -> None:
    width = min(40, max(len(report.hook.label) for report in reports))
    wide = max(len(report.hook.event) for report in reports)
    for report in reports:
        hook = report.hook
        took = f"{report.run.seconds * 1000:8.1f} ms" if report.run else f"{'not run':>11}"
        said = _answer(report)
        print(f"{_state(report.state)}  {clean(hook.label)[:40]:<{width}}  {hook.event:<{wide}}  {took}  "
              f"{report.isolation}{said}  {paint(clean(hook.source), 'dim')}")  # fmt: skip
        for finding in report.findings:
            advice = f" ({finding.hint})" if finding.hint else ""
            print(f"         {paint(finding.kind, _COLOURS[finding.severity])}: {clean(finding.text + advice)}")
    _summary(reports, ran)


def _answer(report: HookReport) -> str:
    """Say what it decided about the harmless event, if anything."""
    if report.run is None or report.run.result.status != "ok" or report.run.result.decision == "none":
        return ""
    return f"  answers {report.run.result.decision}"


def _summary(reports: list[HookReport], ran: bool) -> None:
    states = [report.state for report in reports]
    wrong, doubtful = states.count("wrong"), states.count("warning")
    said = f"{_hooks(len(reports))}: "
    said += ", ".join(text for text, count in [(f"{wrong} wrong", wrong), (f"{doubtful} doubtful", doubtful)] if count)
    said += "" if wrong or doubtful else "nothing is amiss"
    print(f"\n{paint(said, 'red' if wrong else 'yellow' if doubtful else 'green', 'bold')}")
    if not ran:
        print("no hook was run: --yes runs each once with a harmless event")
