"""One firing with everything that was recorded of it, for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..audit.reader import StoredFiring
from ..replies import clean
from .audited import short, when
from .columns import sized, wide
from .log_lines import verdict
from .report import STATUS_COLOURS, block, difference
from .words import flat, paint

__all__ = ["lines_of"]

_VERDICTS = {"deny": "red", "ask": "yellow", "keep": "yellow", "allow": "green", "none": "green"}
_SHOWN_ELSEWHERE = {"event", "subject", "decision", "reason", "input", "given", "runs", "config", "us", "shadow",
                    "context", "messages", "inject", "ignored"}  # fmt: skip


def lines_of(firing: StoredFiring, configuration: Mapping[str, Any] | None) -> Iterator[str]:
    """Return a firing as lines: what was decided, on what, by which hooks, under which configuration."""
    said = verdict(firing)
    subject = f" {paint(clean(firing.subject), 'cyan')}" if firing.subject else ""
    yield f"{paint(said.upper(), _VERDICTS.get(said.strip('()'), 'dim'), 'bold')}  {clean(firing.event)}{subject}"
    if firing.reason:
        yield from block("", firing.reason)
    yield from _facts(firing)
    yield from _input(firing)
    yield from _said(firing.body)
    yield from _hooks(firing)
    yield from _configuration(firing.configuration, configuration)


def _facts(firing: StoredFiring) -> Iterator[str]:
    agent = f", agent {firing.agent}" if firing.agent else ""
    yield from block("id: ", f"{firing.id} (process {firing.process}, its record {firing.sequence})")
    yield from block("time: ", f"{when(firing.time, whole=True)}, took {short(firing.duration)}")
    yield from block("session: ", f"{firing.session or 'none'}{agent}")


def _input(firing: StoredFiring) -> Iterator[str]:
    """Show the fields as they were in the end, and what hooks had changed."""
    given = firing.given
    changed = [name for name, value in firing.input.items() if given.get(name) != value]
    yield paint("  input", "bold")
    for name, value in firing.input.items():
        if name not in ("session_id", "hook_event_name", *changed) and value not in ("", None):
            yield from (f"  {line}" for line in block(f"{clean(name)}: ", _text(value)))
    for name in changed:
        yield from (f"  {line}" for line in difference(clean(name), given.get(name), firing.input[name]))


def _said(body: Mapping[str, Any]) -> Iterator[str]:
    for label in ("context", "messages"):
        for text in body.get(label) or ():
            yield from block(f"{label.removesuffix('s')}: ", str(text))
    for item in _mappings(body.get("inject")):
        yield from block(f"inject ({clean(str(item.get('strategy', '')))}): ", str(item.get("content", "")))
    if isinstance(shadow := body.get("shadow"), Mapping):
        yield from block("not enforced: ", f"{shadow.get('decision', '')} {shadow.get('reason', '')}".strip())
    for item in _mappings(body.get("ignored")):
        yield from block(f"without effect, {clean(str(item.get('hook', '')))}: ", str(item.get("wish", "")))
    for name, value in body.items():
        if name not in _SHOWN_ELSEWHERE:
            yield from block(f"{clean(name)}: ", _text(value))


def _hooks(firing: StoredFiring) -> Iterator[str]:
    if not firing.runs:
        yield paint("  no hook ran", "dim")
        return
    yield paint("  hooks", "bold")
    names = [f"{flat(str(run['hook']))}{' (again)' if run['round'] == 2 else ''}" for run in firing.runs]
    width = min(40, max(map(wide, names)))
    for name, run in zip(names, firing.runs, strict=True):
        said = run["decision"] if run["enforced"] or run["decision"] == "none" else f"({run['decision']})"
        status = paint(f"{run['status']:<7}", STATUS_COLOURS.get(run["status"], ""))
        yield f"    {sized(name, width)}  {status}  {said:<6}  {short(run['duration_ms'] / 1000)}"
        if run["reason"]:
            yield from (f"    {line}" for line in block("reason: ", str(run["reason"])))
        if isinstance(error := run["error"], Mapping):
            told = f"{error.get('code', '')}: {error.get('text', '')}"
            yield from (f"    {line}" for line in block("error: ", told))
        for what, value in (run.get("evidence") or {}).items():
            yield from (f"    {line}" for line in block(f"{clean(str(what))}: ", _text(value)))


def _configuration(digest: str, found: Mapping[str, Any] | None) -> Iterator[str]:
    if not digest:
        return
    yield from block("configuration: ", digest[:16])
    for file in _mappings((found or {}).get("files")):
        yield from block("  ", f"{file.get('path', '')}  {str(file.get('sha256', ''))[:16]}")
        for path, content in (file.get("references") or {}).items():
            yield from block("    ", f"{path}  {str(content)[:16]}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
