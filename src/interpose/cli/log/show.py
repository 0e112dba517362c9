"""Records for a person: a table with a line for each firing and permission, or everything about one of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ...audit.protocol import StoredFiring, StoredPermission
from ...replay.session_client import transcript_of
from ..render import clock_time, flat, format_duration, on_one_line, paint, short_path
from ..render.outcome import STATUS_COLOURS, change_lines, labelled_lines
from ..render.table import Column, PrintedTable, display_width, pad_text, terminal_width

__all__ = ["LogTable", "firing_lines", "permission_lines"]

_COLOURS = {"deny": "red", "ask": "yellow", "keep": "yellow", "allow": "green", "none": "green"}
_PAGE = 200
_MOST_HOOKS = 3
_LONGEST_CALL = 50
_MOST_CHARACTERS = 1000
_TELLING = ("command", "file_path", "notebook_path", "path", "url", "pattern", "query", "description", "prompt")
"""The fields of a tool's input of which the first one stands for the call."""

_SHOWN_ELSEWHERE = {"event", "subject", "decision", "reason", "input", "given", "runs", "config", "us", "shadow",
                    "context", "messages", "inject", "ignored", "client"}  # fmt: skip


class LogTable:
    """Prints firings and permissions page by page in one table, whose columns grow with their cells."""

    def __init__(self, *, heading: bool, nodes: bool = False) -> None:
        fifth = max(7, (terminal_width() or 1000) // 5)
        self._heading, self._nodes = heading, nodes
        self._table = PrintedTable((
            *((Column("NODE", most=20),) if nodes else ()),
            Column("TIME", most=14, drop=2),
            Column("ID", right=True, most=9),
            Column("SESSION", most=8, drop=5),
            Column("EVENT", most=min(32, fifth)),
            Column("DECIDED", lambda cell: _COLOURS[cell] if cell in ("deny", "ask", "keep", "allow") else "dim",
                   most=7),
            Column("TOOK", right=True, most=8, drop=4),
            Column("HOOKS", most=min(30, fifth), drop=3),
            Column("CALL", most=min(_LONGEST_CALL, fifth), drop=1),
            Column("REASON", fills=True),
        ), keep_empty=True)  # fmt: skip

    def print(self, entries: Iterable[StoredFiring | StoredPermission]) -> int:
        """Print records and return how many there were."""
        count = 0
        entries = iter(entries)
        while page := [self._row(entry) for entry in islice(entries, _PAGE)]:
            self._table.fit(page)
            if self._heading and not count:
                self._table.print_heading()
            self._table.print_rows(page)
            sys.stdout.flush()
            count += len(page)
        return count

    def _row(self, entry: StoredFiring | StoredPermission) -> tuple[str, ...]:
        cells = _cells(entry)
        return (flat(entry.node), *cells) if self._nodes else cells


def _cells(entry: StoredFiring | StoredPermission) -> tuple[str, ...]:
    begin = clock_time(entry.time), str(entry.id), flat(entry.session)[:8]
    if isinstance(entry, StoredPermission):
        asked, answered = _moments(entry)
        waited = format_duration(answered - asked) if asked is not None and answered is not None else ""
        return (*begin, flat(f"permission {entry.tool}"), entry.decision, waited, _decider(entry), "", _why(entry))
    subject = f" {entry.subject}" if entry.subject else ""
    return (
        *begin, flat(f"{entry.event}{subject}"), _verdict(entry), format_duration(entry.duration),
        _hook_names(entry), _call(entry), flat(entry.reason),
    )  # fmt: skip


def _call(firing: StoredFiring) -> str:
    """Return what the call of a tool is about, such as its command, on one line; empty if it is about none."""
    found = firing.input.get("tool_input")
    given: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    for name in _TELLING:
        if isinstance(text := given.get(name), str) and text:
            return on_one_line(text[:_MOST_CHARACTERS])
    return ""


def _moments(permission: StoredPermission) -> tuple[float | None, float | None]:
    """Return when the question was asked and when it was answered."""
    found = (permission.body.get("asked_at"), permission.body.get("answered_at"))
    asked, answered = (float(one) if isinstance(one, int | float) else None for one in found)
    return asked, answered


def _decider(permission: StoredPermission) -> str:
    """Return who or what decided: the kind, and the name of a hook, a mode or a person."""
    by = permission.text("by")
    name = permission.text(by) if by in ("hook", "mode", "person") else ""
    return flat(f"{by} {name}" if name else by)


def _why(permission: StoredPermission) -> str:
    """Return the rule with its place, the reason, and how long the answer holds."""
    rule, place, remembered = (permission.text(name) for name in ("rule", "place", "remembered"))
    written = f"{rule} ({short_path(place)})" if rule and place else rule or short_path(place)
    held = f"remembered for {remembered}" if remembered else ""
    return flat("; ".join(part for part in (written, permission.text("reason"), held) if part))


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


def permission_lines(permission: StoredPermission) -> Iterator[str]:
    """Return everything about a permission as lines."""
    said = permission.text("verdict") or permission.decision
    tool = f" {paint(flat(permission.tool), 'cyan')}" if permission.tool else ""
    yield f"{paint(flat(said).upper(), _COLOURS.get(permission.decision, 'dim'), 'bold')}  permission{tool}"
    yield from labelled_lines("id: ", f"{permission.id} (process {permission.process})")
    if permission.node:
        yield from labelled_lines("node: ", permission.node)
    yield from labelled_lines("time: ", clock_time(permission.time, full=True))
    agent = f", agent {permission.text('agent_id')}" if permission.text("agent_id") else ""
    yield from labelled_lines("session: ", f"{permission.session or 'none'}{agent}")
    yield from labelled_lines("call: ", permission.call)
    for name in ("by", "person", "question", "rule", "place", "hook", "mode", "reason"):
        if permission.text(name):
            yield from labelled_lines(f"{name}: ", permission.text(name))
    for label, at in zip(("asked: ", "answered: "), _moments(permission), strict=True):
        if at is not None:
            yield from labelled_lines(label, clock_time(at, full=True))
    if permission.text("remembered"):
        yield from labelled_lines("remembered for: ", permission.text("remembered"))


def firing_lines(
    firing: StoredFiring, configuration: Mapping[str, Any] | None, permissions: Iterable[StoredPermission] = ()
) -> Iterator[str]:
    """Return everything about a firing as lines: decision, permission, input, hooks and configuration."""
    said = _verdict(firing)
    subject = f" {paint(flat(firing.subject), 'cyan')}" if firing.subject else ""
    yield f"{paint(said.upper(), _COLOURS.get(said.strip('()'), 'dim'), 'bold')}  {flat(firing.event)}{subject}"
    if firing.reason:
        yield from labelled_lines("", firing.reason)
    yield from _facts(firing)
    for one in permissions:
        why = _why(one)
        said = f"{one.text('verdict')} by {_decider(one)}{f': {why}' if why else ''} (record {one.id})"
        yield from labelled_lines("permission: ", said)
    yield from _input(firing)
    yield from _said(firing.body)
    yield from _hooks(firing)
    yield from _configuration(firing.configuration, configuration)


def _facts(firing: StoredFiring) -> Iterator[str]:
    agent = f", agent {firing.agent}" if firing.agent else ""
    yield from labelled_lines("id: ", f"{firing.id} (process {firing.process})")
    if firing.node:
        yield from labelled_lines("node: ", firing.node)
    yield from labelled_lines(
        "time: ", f"{clock_time(firing.time, full=True)}, took {format_duration(firing.duration)}"
    )
    yield from labelled_lines("session: ", f"{firing.session or 'none'}{agent}")
    if firing.client:
        yield from labelled_lines("client: ", f"{firing.client} {firing.client_version}".strip())
    if transcript := transcript_of(firing):
        yield from labelled_lines("transcript: ", transcript)


def _input(firing: StoredFiring) -> Iterator[str]:
    """Return the final fields, and the changes that hooks made."""
    given = firing.given
    changed = [name for name, value in firing.input.items() if given.get(name) != value]
    yield paint("  input", "bold")
    for name, value in firing.input.items():
        if name not in ("session_id", "hook_event_name", "transcript_path", *changed) and value not in ("", None):
            yield from (f"  {line}" for line in labelled_lines(f"{flat(name)}: ", _text(value)))
    for name in changed:
        yield from (f"  {line}" for line in change_lines(flat(name), given.get(name), firing.input[name]))


def _said(body: Mapping[str, Any]) -> Iterator[str]:
    for label in ("context", "messages"):
        for text in body.get(label) or ():
            yield from labelled_lines(f"{label.removesuffix('s')}: ", str(text))
    for item in _mappings(body.get("inject")):
        yield from labelled_lines(f"inject ({flat(str(item.get('strategy', '')))}): ", str(item.get("content", "")))
    if isinstance(shadow := body.get("shadow"), Mapping):
        yield from labelled_lines("not enforced: ", f"{shadow.get('decision', '')} {shadow.get('reason', '')}".strip())
    for item in _mappings(body.get("ignored")):
        yield from labelled_lines(f"without effect, {flat(str(item.get('hook', '')))}: ", str(item.get("wish", "")))
    for name, value in body.items():
        if name not in _SHOWN_ELSEWHERE:
            yield from labelled_lines(f"{flat(name)}: ", _text(value))


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
            yield from (f"    {line}" for line in labelled_lines(f"{flat(str(what))}: ", _text(value)))


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
