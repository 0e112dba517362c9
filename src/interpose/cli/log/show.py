"""Recorded firings for a person: a table with a line each, or everything about one firing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ...audit.reader import StoredFiring
from ...replies import clean
from ..render import clock_time, flat, format_duration, paint
from ..render.outcome import STATUS_COLOURS, change_lines, labelled_lines
from ..render.table import Column, Table, display_width, pad_text, terminal_width

__all__ = ["FiringTable", "firing_lines"]

_COLOURS = {"deny": "red", "ask": "yellow", "keep": "yellow", "allow": "green", "none": "green"}
_PAGE = 200
_MOST_HOOKS = 3
_SHOWN_ELSEWHERE = {"event", "subject", "decision", "reason", "input", "given", "runs", "config", "us", "shadow",
                    "context", "messages", "inject", "ignored"}  # fmt: skip


class FiringTable:
    """Prints firings page by page in one table, whose columns grow with their cells."""

    def __init__(self, *, heading: bool) -> None:
        fifth = max(7, (terminal_width() or 1000) // 5)
        self._heading = heading
        self._table = Table((
            Column("TIME", most=14, drop=1),
            Column("ID", right=True, most=9),
            Column("SESSION", most=8, drop=4),
            Column("EVENT", most=min(32, fifth)),
            Column("DECIDED", lambda cell: _COLOURS[cell] if cell in ("deny", "ask", "keep", "allow") else "dim",
                   most=7),
            Column("TOOK", right=True, most=8, drop=3),
            Column("HOOKS", most=min(30, fifth), drop=2),
            Column("REASON", fills=True),
        ), keep_empty=True)  # fmt: skip

    def print(self, firings: Iterable[StoredFiring]) -> int:
        """Print firings and return how many there were."""
        count = 0
        firings = iter(firings)
        while page := [_cells(firing) for firing in islice(firings, _PAGE)]:
            self._table.fit(page)
            if self._heading and not count:
                self._table.print_heading()
            self._table.print_rows(page)
            sys.stdout.flush()
            count += len(page)
        return count


def _cells(firing: StoredFiring) -> tuple[str, ...]:
    subject = f" {firing.subject}" if firing.subject else ""
    return (
        clock_time(firing.time), str(firing.id), flat(firing.session)[:8], flat(f"{firing.event}{subject}"),
        _verdict(firing), format_duration(firing.duration), _hook_names(firing), flat(firing.reason),
    )  # fmt: skip


def _verdict(firing: StoredFiring) -> str:
    """Return the decision in one word; in brackets if it was recorded and not enforced."""
    if firing.body.get("keep_going"):
        return "keep"
    shadow = firing.body.get("shadow")
    said = shadow.get("decision") if isinstance(shadow, dict) else None
    if firing.decision == "none" and isinstance(said, str) and said != "none":
        return f"({flat(said)})"
    return firing.decision


def _hook_names(firing: StoredFiring) -> str:
    """Return the hooks that ran, those that decided first; ``!`` marks one that failed."""
    ran = [run for run in firing.runs if run["status"] != "skipped"]
    ran.sort(key=lambda run: run["decision"] != firing.decision or run["decision"] == "none")
    names = dict.fromkeys(f"{flat(str(run['hook']))}{'' if run['status'] == 'ok' else '!'}" for run in ran)
    more = len(names) - _MOST_HOOKS
    return ", ".join(islice(names, _MOST_HOOKS)) + (f" +{more}" if more > 0 else "")


def firing_lines(firing: StoredFiring, configuration: Mapping[str, Any] | None) -> Iterator[str]:
    """Return everything about a firing as lines: decision, input, hooks and configuration."""
    said = _verdict(firing)
    subject = f" {paint(clean(firing.subject), 'cyan')}" if firing.subject else ""
    yield f"{paint(said.upper(), _COLOURS.get(said.strip('()'), 'dim'), 'bold')}  {clean(firing.event)}{subject}"
    if firing.reason:
        yield from labelled_lines("", firing.reason)
    yield from _facts(firing)
    yield from _input(firing)
    yield from _said(firing.body)
    yield from _hooks(firing)
    yield from _configuration(firing.configuration, configuration)


def _facts(firing: StoredFiring) -> Iterator[str]:
    agent = f", agent {firing.agent}" if firing.agent else ""
    yield from labelled_lines("id: ", f"{firing.id} (process {firing.process}, its record {firing.sequence})")
    yield from labelled_lines(
        "time: ", f"{clock_time(firing.time, full=True)}, took {format_duration(firing.duration)}"
    )
    yield from labelled_lines("session: ", f"{firing.session or 'none'}{agent}")


def _input(firing: StoredFiring) -> Iterator[str]:
    """Return the final fields, and the changes that hooks made."""
    given = firing.given
    changed = [name for name, value in firing.input.items() if given.get(name) != value]
    yield paint("  input", "bold")
    for name, value in firing.input.items():
        if name not in ("session_id", "hook_event_name", *changed) and value not in ("", None):
            yield from (f"  {line}" for line in labelled_lines(f"{clean(name)}: ", _text(value)))
    for name in changed:
        yield from (f"  {line}" for line in change_lines(clean(name), given.get(name), firing.input[name]))


def _said(body: Mapping[str, Any]) -> Iterator[str]:
    for label in ("context", "messages"):
        for text in body.get(label) or ():
            yield from labelled_lines(f"{label.removesuffix('s')}: ", str(text))
    for item in _mappings(body.get("inject")):
        yield from labelled_lines(f"inject ({clean(str(item.get('strategy', '')))}): ", str(item.get("content", "")))
    if isinstance(shadow := body.get("shadow"), Mapping):
        yield from labelled_lines("not enforced: ", f"{shadow.get('decision', '')} {shadow.get('reason', '')}".strip())
    for item in _mappings(body.get("ignored")):
        yield from labelled_lines(f"without effect, {clean(str(item.get('hook', '')))}: ", str(item.get("wish", "")))
    for name, value in body.items():
        if name not in _SHOWN_ELSEWHERE:
            yield from labelled_lines(f"{clean(name)}: ", _text(value))


def _hooks(firing: StoredFiring) -> Iterator[str]:
    if not firing.runs:
        yield paint("  no hook ran", "dim")
        return
    yield paint("  hooks", "bold")
    names = [f"{flat(str(run['hook']))}{' (again)' if run['round'] == 2 else ''}" for run in firing.runs]
    width = min(40, max(map(display_width, names)))
    for name, run in zip(names, firing.runs, strict=True):
        said = run["decision"] if run["enforced"] or run["decision"] == "none" else f"({run['decision']})"
        status = paint(f"{run['status']:<7}", STATUS_COLOURS.get(run["status"], ""))
        yield f"    {pad_text(name, width)}  {status}  {said:<6}  {format_duration(run['duration_ms'] / 1000)}"
        if run["reason"]:
            yield from (f"    {line}" for line in labelled_lines("reason: ", str(run["reason"])))
        if isinstance(error := run["error"], Mapping):
            told = f"{error.get('code', '')}: {error.get('text', '')}"
            yield from (f"    {line}" for line in labelled_lines("error: ", told))
        for what, value in (run.get("evidence") or {}).items():
            yield from (f"    {line}" for line in labelled_lines(f"{clean(str(what))}: ", _text(value)))


def _configuration(digest: str, found: Mapping[str, Any] | None) -> Iterator[str]:
    if not digest:
        return
    yield from labelled_lines("configuration: ", digest[:16])
    for file in _mappings((found or {}).get("files")):
        yield from labelled_lines("  ", f"{file.get('path', '')}  {str(file.get('sha256', ''))[:16]}")
        for path, content in (file.get("references") or {}).items():
            yield from labelled_lines("    ", f"{path}  {str(content)[:16]}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
