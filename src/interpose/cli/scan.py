"""``interpose scan``: what policies would have stopped in the sessions that coding agents have left in a home."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ..errors import UsageError, nearest
from ..hooks import Hooks
from ..policies import POLICIES, RECOMMENDED
from ..replay.scan import ScanReport, StoppedCall, StoppedCalls, policies_only, scan
from ..replay.transcripts import READERS, FoundTranscript, Search, find_transcripts
from . import INTERRUPTED, options
from .audit_store import Since, parse_since
from .render import cut, flat, on_one_line, paint, plural
from .render.streams import silence_log
from .render.table import terminal_width, wrap_text

__all__ = ["run"]

_TITLES = {"claude": "Claude Code", "codex": "Codex", "copilot": "Copilot", "droid": "Droid", "gemini": "Gemini",
           "qwen": "Qwen"}  # fmt: skip
_WORDS = {"deny": ("denied", "red"), "ask": ("asked", "yellow")}
_WHICH = "Which calls"

Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config", "-c", metavar="FILE", show_default=False,
        help="The policies of this configuration, in place of the recommended ones; may be repeated. Its other hooks "
             "are left out: they could do anything.",
    ),
]  # fmt: skip
Policy = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", "-p", metavar="NAME", show_default=False,
        help="This policy, in place of the recommended ones; may be repeated.",
    ),
]  # fmt: skip
Agents = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="NAME", rich_help_panel=_WHICH, show_default=False,
                 help=f"Of this coding agent: {', '.join(sorted(READERS))}. May be repeated."),
]  # fmt: skip
Project = Annotated[
    str | None,
    typer.Option("--project", metavar="DIR", rich_help_panel=_WHICH, help="In this directory and those below it."),
]
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=0, help="Show so many calls of each group; 0 means all.")
]


def run(
    config: Config = None,
    policy: Policy = None,
    agent: Agents = None,
    project: Project = None,
    since: Since = None,
    limit: Limit = 3,
    as_json: options.AsJson = False,
) -> int:
    """Reads the transcripts of Claude Code, Codex, Copilot, Droid, Gemini and Qwen in your home, asks the recommended
    policies about every call in them, and shows what they would have denied or asked about.

    It only reads: no tool and no program runs, nothing is recorded, and nothing leaves this machine. Secrets are
    redacted. Rules that look at files see them as they are now; git is not started.

    Example: interpose scan --since 30d --project .
    """
    hooks = _policies(config or [], policy or [])
    for name in agent or ():
        if name not in READERS:
            raise UsageError(f"--agent: there is no agent {name}", hint=nearest(name, READERS)
                             or f"choose {', '.join(sorted(READERS))}")  # fmt: skip
    if project is not None and not os.path.isabs(project):
        project = os.path.abspath(project)
    moment = parse_since(since)
    silence_log()
    home = os.path.expanduser("~")
    search = find_transcripts(home, agent or (), os.environ, moment)
    progress = _Progress(len(search.found)) if sys.stderr is not None and sys.stderr.isatty() else None
    try:
        report = scan(hooks, search, since=moment, project=project or "", told=progress)
    finally:
        if progress is not None:
            progress.clear()
    if as_json:
        print(json.dumps(_document(report, search, limit or None)))
    else:
        _print(report, search, limit or None, home)
    return INTERRUPTED if report.stopped else 0


def _policies(config: list[str], named: list[str]) -> Hooks:
    """Return hooks that are policies only: of files, or by name, or the recommended ones."""
    if config and named:
        raise UsageError("--config and --policy exclude each other", hint="leave one of them out")
    if config:
        hooks = Hooks.load(*map(os.path.abspath, config), lines=False, audit=False)
        left = policies_only(hooks)
        if left:
            names = dict.fromkeys(flat(hook.label) for hook in left)
            print(f"interpose scan: only policies are asked, so {plural(len(names), 'hook')} of the configuration "
                  f"{'is' if len(names) == 1 else 'are'} left out: {cut(', '.join(names), 200)}",
                  file=sys.stderr)  # fmt: skip
        if not list(hooks):
            raise UsageError("no policy is switched on there", where=config[0], hint="add `policies: recommended`")
        return hooks
    hooks = Hooks()
    for name in named or [RECOMMENDED]:
        if name not in (*POLICIES, RECOMMENDED):
            raise UsageError(f"--policy: there is no policy {name}", hint=nearest(name, [*POLICIES, RECOMMENDED])
                             or "`interpose policies` lists them")  # fmt: skip
        hooks.use(name)
    policies_only(hooks)
    return hooks


class _Progress:
    """Shows on a terminal how far the scan is."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._at = 0

    def __call__(self, found: FoundTranscript, report: ScanReport) -> None:
        self._at += 1
        text = f"reading {self._at:,} of {self._files:,} transcripts, {report.calls:,} calls"
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _summary(report: ScanReport) -> str:
    """Return the result in one sentence: ``48 sessions, 6,214 calls: 4 denied, 11 asked``."""
    said = f"{plural(report.sessions, 'session')}, {plural(report.calls, 'call')}"
    if not report.denied and not report.asked:
        return f"{said}: nothing denied, nothing asked"
    return f"{said}: {report.denied:,} denied, {report.asked:,} asked"


def _print(report: ScanReport, search: Search, limit: int | None, home: str) -> None:
    if not search.looked:
        print("no transcripts were found: no coding agent has left any in this home", file=sys.stderr)
    for group in report.sorted_groups():
        print("\n".join(_group_lines(group, limit, home)) + "\n")
    print(paint(_summary(report), "bold"))
    if len(report.agents) > 1 or (report.agents and "claude" not in report.agents):
        print("  " + ", ".join(f"{_TITLES[name]} {count:,}" for name, count in sorted(report.agents.items())))
    for note in _notes(report):
        print(f"{paint('note:', 'yellow')} {note}")
    for path, why in report.unreadable[:5]:
        print(f"  {_short(path, home)}: {flat(why)}")
    if report.groups:
        print("`interpose policies show NAME` explains a policy, and how to allow a call; `interpose init` arms them.")


def _notes(report: ScanReport) -> Iterator[str]:
    if report.stopped:
        yield f"it was stopped after {plural(report.files, 'transcript')}"
    if report.broken_lines:
        yield f"{plural(report.broken_lines, 'line')} could not be read"
    if report.unreadable:
        yield f"{plural(len(report.unreadable), 'file')} could not be read"
    if report.failed:
        yield f"a policy failed on {plural(report.failed, 'call')}, which it would deny"
    if report.too_large:
        yield f"{plural(report.too_large, 'call')} had an input too large to be asked about"
    if report.unfired:
        yield f"{plural(report.unfired, 'entry', 'entries')} could not be made an event"
    if any(one.depends for group in report.groups.values() for one in group.findings):
        yield "* depends on whether there was uncommitted work, which a transcript does not tell"


def _group_lines(group: StoppedCalls, limit: int | None, home: str) -> Iterator[str]:
    word, colour = _WORDS[group.decision]
    yield f"{paint(f'{word} {group.count:,} ×', colour, 'bold')} {paint(flat(group.policy), 'bold')}"
    shown = group.examples(limit)
    for one, times in shown:
        yield from _finding_lines(one, times, home)
    if left := group.count - sum(times for _, times in shown):
        yield paint(f"  and {left:,} more: --limit 0 shows all", "dim")


def _finding_lines(one: StoppedCall, times: int, home: str) -> Iterator[str]:
    width = min(terminal_width() or 100, 120)
    what = on_one_line(one.call) or flat(one.tool)
    tool = "" if one.tool == "Bash" or not one.call else f"{flat(one.tool or one.event)} "
    more = (" *" if one.depends else "") + (f" ({times:,} times, the last:)" if times > 1 else "")
    yield f"  {paint(cut(f'{tool}{what}', width - 2 - len(more)), 'cyan')}{more}"
    reason = flat(one.reason).removeprefix(f"{flat(one.policy)}: ")
    yield from (f"      {line}" for line in wrap_text(reason, width - 6))
    name = f" “{cut(flat(one.name), 40)}”" if one.name else ""
    where = f"{flat(one.time)[:16].replace('T', ' ')} {one.agent} {flat(one.session)[:8]}{name}"
    yield paint(cut(f"      {where}  {_short(one.project, home)}  ({one.then})", width), "dim")


def _short(path: str, home: str) -> str:
    text = flat(path)
    return f"~{text.removeprefix(home)}" if text.startswith(home + os.sep) else text


def _document(report: ScanReport, search: Search, limit: int | None) -> dict[str, Any]:
    return {
        "sessions": report.sessions, "calls": report.calls, "denied": report.denied, "asked": report.asked,
        "failed": report.failed, "too_large": report.too_large, "agents": report.agents,
        "transcripts": report.files, "looked_in": search.looked,
        "complete": not report.stopped, "broken_lines": report.broken_lines,
        "unreadable": [{"path": path, "reason": why} for path, why in report.unreadable],
        "groups": [
            {"decision": group.decision, "policy": group.policy, "count": group.count,
             "findings": [one.to_dict() for one in group.findings[-(limit or 0) :]]}
            for group in report.sorted_groups()
        ],
    }  # fmt: skip
