"""``interpose check``: all problems of a configuration, with warnings and notes. Runs no hook."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from ..config.load import Source, find_sources
from ..dialects.agents import agent_dialect
from ..errors import UsageError
from ..lint.agents import hooks_in_agent
from ..lint.files import FileReport, check_files
from ..lint.rules import Finding
from ..replies import clean
from ..runtime.regex import regex
from . import options
from .agents import print_held
from .loading import change_directory, current_directory, files_of
from .render import count_armed, paint, short_path
from .render.table import display_width

__all__ = ["run"]

_PLACE = regex(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}


def run(
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILES]", help="The files to check.")] = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as problems.")] = False,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="AGENT",
            show_default=False,
            help="Say what of each hook holds in a coding agent, such as codex.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """It refuses what loading refuses, warns of what loading warns of, and looks further: at hooks that cannot start,
    never match or fail open, and at files that arm nothing. No hook runs.

    Exit status: 0 if there is no problem, 1 otherwise. Without files, it checks those found for this directory.

    With --agent, it says for each hook what that coding agent will do: what holds, what is weakened and how, what has
    no effect there, and which failures of a hook's program the agent lets through.

    Example: interpose check .interpose/hooks.yaml --strict --agent codex
    """
    named = [os.path.abspath(path) for path in (*(files or ()), *(config or ()))]
    change_directory(cwd)
    sources = [Source(path, "code", dialect) for path in named] or find_sources(current_directory(), dialect)
    if not sources:
        raise UsageError("no configuration was found here", hint="`interpose init` writes one, or name a file")
    dialect_of_agent = agent_dialect(agent) if agent is not None else None
    report = check_files(sources)
    failed = bool(report.errors) or (strict and report.count("warning") > 0)
    held = hooks_in_agent(dialect_of_agent, report.declared) if dialect_of_agent is not None else None
    if as_json:
        shown = _as_json(report, ok=not failed)
        print(json.dumps(shown if held is None else {**shown, "agent": held.to_dict()}))
    else:
        _print_report(report, [source.path for source in sources])
        if held is not None and not report.errors:
            print_held(held)
    return 1 if failed else 0


def _as_json(report: FileReport, *, ok: bool) -> dict[str, Any]:
    def shown(findings: Iterable[Finding]) -> list[dict[str, Any]]:
        return [{**finding.to_dict(), **_place(finding.problem.where)} for finding in findings]

    return {
        "ok": ok,
        "files": files_of(report.origins),
        "hooks": report.hooks,
        "policies": report.policies,
        "problems": shown(report.errors),
        "warnings": shown(finding for finding in report.findings if finding.severity == "warning"),
        "notes": shown(finding for finding in report.findings if finding.severity == "note"),
    }  # fmt: skip


def _place(where: str) -> dict[str, Any]:
    found = _PLACE.fullmatch(where)
    if found is None:
        return {"file": where or None, "line": None, "column": None}
    return {"file": found["file"], "line": int(found["line"]), "column": int(found["column"] or 0) or None}


def _print_report(report: FileReport, paths: list[str]) -> None:
    """Print problems on standard error, each with its line, and a summary on standard output."""
    for finding in (*report.errors, *report.findings):
        _print_finding(finding)
    said = [f"{count} {word}{'s' if count != 1 else ''}" for word, count in (
        ("problem", len(report.errors)), ("warning", report.count("warning")), ("note", report.count("note")),
    ) if count]  # fmt: skip
    where = short_path(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
    if report.errors:
        print(f"{where}: {paint(', '.join(said), 'red')}; nothing would be armed")
    else:
        armed = count_armed(report.hooks, report.policies)
        print(f"{where}: {', '.join([paint('valid', 'green'), armed, *said])}")


def _print_finding(finding: Finding) -> None:
    problem = finding.problem
    place = _place(problem.where)
    shown = problem.where.replace(place["file"], short_path(place["file"]), 1) if place["file"] else "interpose check"
    kind = (
        paint(f"{finding.severity}: ", _COLOURS[finding.severity], stream=sys.stderr)
        if finding.severity != "error"
        else ""
    )
    advice = f" ({problem.hint})" if problem.hint else ""
    print(f"{paint(clean(shown), 'bold', stream=sys.stderr)}: {kind}{clean(problem.what + advice)}", file=sys.stderr)
    if finding.severity == "error":
        for line in _excerpt(place):
            print(line, file=sys.stderr)


def _excerpt(place: dict[str, Any]) -> list[str]:
    """Return the line of a problem, and a mark below its column."""
    if place["line"] is None:
        return []
    try:
        with open(place["file"], encoding="utf-8-sig", errors="replace") as file:
            text = next((line for number, line in enumerate(file, 1) if number == place["line"]), "")
    except OSError:
        return []
    text = clean(text.rstrip("\r\n").replace("\t", " "))
    column = place["column"] or len(text) - len(text.lstrip()) + 1
    if not text.strip() or len(text) > 160 or column > len(text) + 1:
        return []
    number = str(place["line"])
    mark = paint("^", "red", stream=sys.stderr)
    return [f"  {number} | {text}", f"  {' ' * len(number)} | {' ' * display_width(text[: column - 1])}{mark}"]
