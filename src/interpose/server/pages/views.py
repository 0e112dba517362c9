"""What each page shows, as plain data: the same for a template and as JSON."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from ...audit.protocol import (
    HookStats,
    SearchResult,
    Selection,
    SessionOverview,
    StoredFiring,
    StoredPermission,
    StoreReader,
    Totals,
)
from ...audit.questions import StoredQuestion
from ...redaction.redactor import is_redacted
from .text import as_json, brief, call_of

__all__ = ["ACTIVE", "Project", "event_view", "fire_command", "hooks_view", "is_active", "question_view", "row_of",
           "running_sessions", "session_of", "session_view", "since_midnight", "totals_of"]  # fmt: skip

ACTIVE = 600.0
"""Seconds after its last record for which a session counts as running."""
_MOST_RUNNING = 20
_GAP = 1.5
"""Seconds that a pause takes in a waterfall at most."""
_USAGE = ("usage", "cost", "total_cost_usd", "cost_usd", "tokens", "input_tokens", "output_tokens", "num_turns")
_MOST_FIGURES = 8
_OF_ONE_RUN = ("timestamp", "hook_event_name")


class Project(Protocol):
    """What the command line lends to the pages: the configuration of this project, and what is done with it."""

    def hooks(self) -> dict[str, Any]:
        """Return the hooks as rows, the files that they come from, and problems."""

    def explain(self, firing: StoredFiring) -> dict[str, Any] | None:
        """Return why each hook would run or not at this event now; None if it is an unknown event."""

    def case(self, firing: StoredFiring) -> str:
        """Return a firing as a case for ``interpose test``; raise UsageError if it cannot be one."""

    def switch(self, name: str, to: str, who: Mapping[str, str]) -> None:
        """Switch a hook: ``on``, ``off``, ``observe`` or ``enforce``."""

    def replay_command(self, *, since: str, session: str, against: str) -> list[str]:
        """Return the command that compares recorded sessions with another configuration, and prints JSON."""


def since_midnight() -> float:
    """Return the beginning of this day."""
    return datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def totals_of(totals: Totals) -> dict[str, Any]:
    """Return sums as JSON."""
    return {"firings": totals.firings, "denies": totals.denies, "asks": totals.asks, "failures": totals.failures,
            "took": round(totals.took, 6)}  # fmt: skip


def is_active(one: SessionOverview, now: float | None = None) -> bool:
    """Say whether a session runs, as far as its record tells."""
    return not one.ended and (time.time() if now is None else now) - one.last < ACTIVE


def session_of(one: SessionOverview) -> dict[str, Any]:
    """Return a session as JSON."""
    return {
        "id": one.id, "first": one.first, "last": one.last, "last_record": one.last_record,
        "last_event": one.last_event, "active": is_active(one), "firings": one.firings, "denies": one.denies,
        "asks": one.asks, "failures": one.failures, "took": round(one.took, 6), "agents": list(one.agents),
    }  # fmt: skip


def running_sessions(reader: StoreReader) -> list[dict[str, Any]]:
    """Return the sessions that run, the most recently active first."""
    found = reader.recent_sessions(time.time() - ACTIVE, limit=_MOST_RUNNING)
    return [session_of(one) for one in found if is_active(one)]


def row_of(entry: StoredFiring | StoredPermission) -> dict[str, Any]:
    """Return an entry as a line of a list."""
    if isinstance(entry, StoredPermission):
        by = entry.text("by")
        name = entry.text(by) if by in ("hook", "mode", "person") else ""
        why = "; ".join(part for part in (entry.text("rule"), entry.text("reason")) if part)
        return {
            "id": entry.id, "kind": "permission", "time": entry.time, "session": entry.session, "event": "permission",
            "subject": brief(entry.tool, 60), "agent": brief(entry.text("agent_id"), 40), "decision": entry.decision,
            "observed": False, "took": None, "node": brief(entry.node, 64),
            "hooks": [brief(f"{by} {name}".strip(), 60)], "failed": False, "error": "", "call": "",
            "reason": brief(why, 200),
        }  # fmt: skip
    shadow = entry.body.get("shadow")
    said = shadow.get("decision") if isinstance(shadow, Mapping) else None
    observed = entry.decision == "none" and isinstance(said, str) and said not in ("", "none")
    ran = [run for run in entry.runs if run["status"] != "skipped"]
    reason = entry.reason or (str(shadow.get("reason", "")) if isinstance(shadow, Mapping) else "")
    failed = next((run for run in ran if run["status"] in ("failed", "timeout")), None)
    error = "" if failed is None else f"{failed['hook']}: {_error(failed) or failed['status']}"
    return {
        "id": entry.id, "kind": "firing", "time": entry.time, "session": entry.session, "event": entry.event,
        "subject": brief(entry.subject, 60), "agent": brief(entry.agent, 40), "node": brief(entry.node, 64),
        "decision": "keep" if entry.body.get("keep_going") else str(said) if observed else entry.decision,
        "observed": observed, "took": round(entry.duration, 6),
        "hooks": [brief(str(name), 40) for name in dict.fromkeys(run["hook"] for run in ran)][:4],
        "failed": failed is not None, "error": brief(error, 200),
        "call": call if (call := call_of(entry.input)) != entry.subject else "", "reason": brief(reason, 200),
    }  # fmt: skip


def question_view(question: StoredQuestion, *, whole: bool = False) -> dict[str, Any]:
    """Return a question as JSON; without ``whole`` a long input is cut."""
    found = question.to_dict()
    text = json.dumps(question.input, indent=2, ensure_ascii=False)
    cut = not whole and len(text) > 4000
    return {
        **found, "asked_by": question.asked_by, "text": text[:4000] if cut else text,
        "fields": [{"name": "", "text": text[:4000]}] if cut else _fields(question.input),
        "hidden": len(text) - 4000 if cut else 0, "characters": len(text), "redacted": is_redacted(text),
        "person": question.answer.person if question.answer is not None else "", "node": "", "ignored": "",
        "href": f"/questions/{question.id}",
    }  # fmt: skip


def _fields(given: Any) -> list[dict[str, str]]:
    """Return the parts of an input: texts as they are, everything else as JSON."""
    if not isinstance(given, Mapping) or not given:
        return [{"name": "", "text": given if isinstance(given, str) else as_json(given)}]
    return [
        {"name": str(name), "text": value if isinstance(value, str) else as_json(value)}
        for name, value in given.items()
    ]


def session_view(overview: SessionOverview, found: SearchResult, after: int | None) -> dict[str, Any]:
    """Return one session: turns, in each the calls, in each its events and what their hooks said."""
    entries = sorted(found.entries, key=lambda entry: entry.id)
    places = _places(entries)
    turns: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for entry, (begin, end) in zip(entries, places, strict=True):
        prompt = entry.input.get("prompt") if isinstance(entry, StoredFiring) and not entry.call else None
        is_prompt = isinstance(prompt, str) and bool(prompt)
        if not turns or is_prompt:
            turns.append({"prompt": brief(prompt, 300) if is_prompt else "", "items": []})
            calls = {}
        shown = {**row_of(entry), "begin": begin, "end": end, "runs": _runs(entry), "saw": _saw(entry),
                 "passed_over": _passed_over(entry), "usage": _usage(entry)}  # fmt: skip
        if is_prompt:
            shown["call"] = ""  # the turn shows it
        call = entry.call
        if call and call in calls:
            calls[call]["events"].append(shown)
            continue
        item = {"call": call, "title": shown["subject"] or shown["event"], "text": shown["call"], "events": [shown]}
        turns[-1]["items"].append(item)
        if call:
            calls[call] = item
    return {
        "session": session_of(overview), "turns": turns, "after": after,
        "next": found.searched, "first": entries[0].id if entries else None,
    }  # fmt: skip


def _places(entries: list[StoredFiring | StoredPermission]) -> list[tuple[int, int]]:
    """Return where each entry begins and ends in a waterfall of 1,000 units; long pauses are shortened."""
    begun = [entry.time - (entry.duration if isinstance(entry, StoredFiring) else 0.0) for entry in entries]
    at, last, spans = 0.0, begun[0] if begun else 0.0, list[tuple[float, float]]()
    for entry, begin in zip(entries, begun, strict=True):
        at += min(max(0.0, begin - last), _GAP)
        took = max(0.0, entry.time - begin)
        spans.append((at, at + took))
        last = max(last, begin)
    whole = max((end for _, end in spans), default=0.0) or 1.0
    return [(round(begin / whole * 1000), max(round(end / whole * 1000), round(begin / whole * 1000) + 2))
            for begin, end in spans]  # fmt: skip


def _passed_over(entry: StoredFiring | StoredPermission) -> list[str]:
    """Return the hooks that did not run, since their condition does not hold or another hook has denied."""
    if isinstance(entry, StoredPermission):
        return []
    return [brief(str(run["hook"]), 60) for run in entry.runs if run["status"] == "skipped"][:20]


def _runs(entry: StoredFiring | StoredPermission) -> list[dict[str, Any]]:
    if isinstance(entry, StoredPermission):
        return []
    return [
        {"hook": brief(str(run["hook"]), 60), "status": run["status"], "decision": run["decision"],
         "enforced": run["enforced"], "took": run["duration_ms"] / 1000, "reason": brief(run["reason"], 300),
         "error": brief(_error(run), 300), "again": run["round"] == 2}
        for run in entry.runs[:40] if run["status"] != "skipped"
    ]  # fmt: skip


def _error(run: Mapping[str, Any]) -> str:
    error = run.get("error")
    return f"{error.get('code', '')}: {error.get('text', '')}" if isinstance(error, Mapping) else ""


def _saw(entry: StoredFiring | StoredPermission) -> list[dict[str, str]]:
    """Return what hooks added for the model or changed, each cut."""
    if isinstance(entry, StoredPermission):
        return []
    body, said = entry.body, list[dict[str, str]]()
    said += [{"what": "context", "text": brief(text, 400)} for text in _listed(body.get("context"))[:5]]
    injected = [item for item in _listed(body.get("inject"))[:5] if isinstance(item, Mapping)]
    said += [{"what": "injected", "text": brief(item.get("content", ""), 400)} for item in injected]
    given = entry.given
    for name, value in entry.input.items():
        if given.get(name) != value:
            said.append({"what": f"changed {brief(name, 40)}", "text": brief(value, 400)})
    return said[:10]


def _usage(entry: StoredFiring | StoredPermission) -> str:
    """Return tokens and cost, where the host has given them."""
    if isinstance(entry, StoredPermission):
        return ""
    given: dict[str, Any] = {name: entry.input[name] for name in _USAGE if name in entry.input}
    usage = given.pop("usage", None)
    figures = {**usage, **given} if isinstance(usage, Mapping) else given
    said = [_figure(str(name), value) for name, value in figures.items() if type(value) in (int, float)]
    return brief(", ".join(said[:_MOST_FIGURES]), 200)


def _figure(name: str, value: float) -> str:
    """Return a number with its name: ``48,211 input tokens``, ``$0.2143 total cost``."""
    words = name.replace("_", " ")
    if words.endswith(" usd"):
        return f"${value:,.4f} {words.removesuffix(' usd')}"
    return f"{value:,} {words}"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def event_view(
    reader: StoreReader, entry: StoredFiring | StoredPermission, project: Project
) -> dict[str, Any]:  # fmt: skip
    """Return everything about one entry."""
    of_call = reader.permissions_of([entry.call]).get(entry.call, []) if entry.call else []
    permissions = [one for one in of_call if one.session == entry.session]
    if isinstance(entry, StoredPermission):
        return {"entry": entry.to_dict(), "row": row_of(entry), "permissions": [], "explanation": None, "changed": [],
                "files": [], "fire": ""}  # fmt: skip
    configuration = reader.configuration(entry.configuration) if entry.configuration else None
    given = entry.given
    changed = [
        {"field": name, "was": given.get(name), "now": value}
        for name, value in entry.input.items() if given.get(name) != value
    ]  # fmt: skip
    return {
        "entry": entry.to_dict(), "row": row_of(entry), "permissions": [one.to_dict() for one in permissions],
        "explanation": project.explain(entry), "changed": changed, "files": (configuration or {}).get("files", []),
        "fire": fire_command(entry),
    }  # fmt: skip


def fire_command(firing: StoredFiring) -> str:
    """Return a command that fires the recorded event again, for a shell."""
    given = {name: value for name, value in firing.given.items() if name not in _OF_ONE_RUN and value not in ("", None)}
    # JSON in ASCII: a shell and a terminal get no character that hides.
    return f"interpose fire {shlex.quote(firing.event)} --input {shlex.quote(json.dumps(given))}"


def hooks_view(listed: dict[str, Any], stats: Iterable[HookStats]) -> dict[str, Any]:
    """Return the hooks of this project with what each did, and those that are in the record only."""
    by_name = {(one.event, one.hook): one for one in stats}
    rows = []
    for row in listed["hooks"]:
        one = by_name.pop((row["event"], row["label"]), None)
        state = "off" if not row["enabled"] else "enforced" if row["enforced"] else "observing"
        rows.append({**row, "state": state, "stats": _numbers(one)})
    gone = [{"event": one.event, "label": one.hook, "stats": _numbers(one)} for one in by_name.values()]
    return {**listed, "hooks": rows, "gone": gone}


def _numbers(one: HookStats | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "runs": one.runs, "denies": one.denies, "asks": one.asks, "observed": one.observed,
        "failures": one.failures + one.timeouts, "p50": one.p50, "p95": one.p95, "total": one.total,
        "last_fired": one.last_fired,
    }  # fmt: skip


def selection_from(query: Mapping[str, str], since: float | None, before: int | None) -> Selection:
    """Return the filters of a search; empty ones do not count."""

    def one(name: str) -> tuple[str, ...]:
        text = query.get(name, "").strip()
        return (text,) if text else ()

    return Selection(
        events=one("event"), tools=one("tool"), agents=one("agent"), hooks=one("hook"), decisions=one("decision"),
        sessions=one("session"), texts=one("q"), nodes=one("node"), since=since, before=before,
    )  # fmt: skip
