"""``interpose check``: all problems of a configuration, and what is doubtful in it. Runs no hook."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from ..config.load import Origin, Source, find_sources, load_sources
from ..config.mapping import settings_from
from ..errors import ConfigError, UsageError
from ..events import TABLE
from ..records import replace
from ..replies import clean
from . import options
from .columns import wide
from .doubts import Doubt, doubts_about
from .loading import enter, here
from .words import nearby, paint

__all__ = ["Findings", "examine", "run"]

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}


@dataclass(slots=True)
class Findings:
    """What is wrong with files, and what is doubtful in them."""

    origins: list[Origin] = field(default_factory=list)
    errors: list[Doubt] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    hooks: int = 0

    def count(self, severity: str) -> int:
        """Return how many there are of a kind."""
        return sum(found.severity == severity for found in (*self.errors, *self.doubts))


def run(
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILES]", help="Files to check.")] = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as problems.")] = False,
    as_json: options.AsJson = False,
) -> int:
    """Exit status: 0 if there is no problem, 1 otherwise. Without files: those that are found for this directory.

    Example: interpose check .interpose/hooks.yaml --strict
    """
    named = [os.path.abspath(path) for path in (*(files or ()), *(config or ()))]
    enter(cwd)
    sources = [Source(path, "code", dialect) for path in named] or find_sources(here(), dialect)
    if not sources:
        raise UsageError("no configuration is found here", hint="`interpose init` writes one, or name a file")
    findings = examine(sources)
    failed = bool(findings.errors) or (strict and findings.count("warning") > 0)
    if as_json:
        print(json.dumps(_as_json(findings, ok=not failed)))
    else:
        _show(findings, [source.path for source in sources])
    return 1 if failed else 0


def examine(sources: list[Source]) -> Findings:
    """Read files as a host would, then look at every hook in them, trusted or not."""
    findings = Findings()
    try:
        loaded = load_sources(TABLE, sources)
        # Once more as if a person had named them, for a hook is looked at before it is trusted.
        whole = load_sources(TABLE, [replace(source, found=False) for source in sources])
        settings = settings_from(**whole.settings)
    except ConfigError as error:
        findings.errors = [Doubt("error", "config", problem) for problem in error.problems]
        return findings
    untrusted = {origin.source.path for origin in loaded.origins if not origin.trusted}
    findings.origins = loaded.origins
    findings.hooks = len(whole.hooks)
    findings.doubts = [
        Doubt("warning", "untrusted" if problem.where in untrusted else "config", problem)
        for problem in dict.fromkeys([*loaded.warnings, *whole.warnings])
    ]
    findings.doubts += doubts_about(whole.hooks, settings)
    return findings


def _as_json(findings: Findings, *, ok: bool) -> dict[str, Any]:
    def shown(doubts: Iterable[Doubt]) -> list[dict[str, Any]]:
        return [{**doubt.to_dict(), **_place(doubt.problem.where)} for doubt in doubts]

    return {
        "ok": ok,
        "files": [{"path": origin.source.path, "layer": origin.source.layer, "trusted": origin.trusted}
                  for origin in findings.origins],
        "hooks": findings.hooks,
        "problems": shown(findings.errors),
        "warnings": shown(doubt for doubt in findings.doubts if doubt.severity == "warning"),
        "notes": shown(doubt for doubt in findings.doubts if doubt.severity == "note"),
    }  # fmt: skip


def _place(where: str) -> dict[str, Any]:
    found = _PLACE.fullmatch(where)
    if found is None:
        return {"file": where or None, "line": None, "column": None}
    return {"file": found["file"], "line": int(found["line"]), "column": int(found["column"] or 0) or None}


def _show(findings: Findings, paths: list[str]) -> None:
    """Print problems on standard error, each with its line, and one sentence in the end."""
    for doubt in (*findings.errors, *findings.doubts):
        _show_one(doubt)
    said = [f"{count} {word}{'s' if count != 1 else ''}" for word, count in (
        ("problem", len(findings.errors)), ("warning", findings.count("warning")), ("note", findings.count("note")),
    ) if count]  # fmt: skip
    where = nearby(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
    if findings.errors:
        print(f"{where}: {paint(', '.join(said), 'red')}; nothing would be armed")
    else:
        hooks = f"{findings.hooks} hook{'s' if findings.hooks != 1 else ''}"
        print(f"{where}: {paint('valid', 'green')}, {hooks}{', ' if said else ''}{', '.join(said)}")


def _show_one(doubt: Doubt) -> None:
    problem = doubt.problem
    place = _place(problem.where)
    shown = problem.where.replace(place["file"], nearby(place["file"]), 1) if place["file"] else "interpose check"
    kind = (
        paint(f"{doubt.severity}: ", _COLOURS[doubt.severity], stream=sys.stderr) if doubt.severity != "error" else ""
    )
    advice = f" ({problem.hint})" if problem.hint else ""
    print(f"{paint(clean(shown), 'bold', stream=sys.stderr)}: {kind}{clean(problem.what + advice)}", file=sys.stderr)
    if doubt.severity == "error":
        for line in _excerpt(place):
            print(line, file=sys.stderr)


def _excerpt(place: dict[str, Any]) -> list[str]:
    """Return the line that a problem is in, and a mark below the column."""
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
    return [f"  {number} | {text}", f"  {' ' * len(number)} | {' ' * wide(text[: column - 1])}{mark}"]
