"""Recordings from an audit store and from files: an export of ``interpose log export``, or a transcript."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..audit.protocol import Selection, StoreReader
from ..errors import UsageError, nearest
from .recording import UNKNOWN, Recorded, Recording
from .transcripts import is_transcript_entry, read_transcript

__all__ = ["LATEST", "MOST_EVENTS", "read_file", "read_period", "read_session", "recorded_from"]

LATEST = "latest"
"""The name of the most recently active session."""

MOST_EVENTS = 50_000
"""How many records of a period are read: they are in memory."""

_MAX_NAMED = 5


def read_session(store: StoreReader, wanted: str) -> Recording:
    """Return the recording of a session, named by its id, by a prefix of it, or as ``latest``."""
    session = _session(store, wanted)
    entries = store.entries(Selection(sessions=(session,)), oldest_first=True)
    return _recording(session, "store", (entry.to_dict() for entry in entries if entry.session == session))


def read_period(store: StoreReader, since: float, name: str) -> Recording:
    """Return the events of all sessions since a moment; of very many the latest."""
    found = list(store.entries(Selection(since=since), limit=MOST_EVENTS))
    made = _recording(name, "period", (entry.to_dict() for entry in reversed(found)))
    if len(found) == MOST_EVENTS:
        made.notes.append(f"only the latest {MOST_EVENTS:,} records of this time are compared")
    return made


def _session(store: StoreReader, wanted: str) -> str:
    known = store.session_ids()
    if not known:
        raise UsageError("no session is recorded there yet", where=store.path)
    if wanted == LATEST:
        return known[0]
    found = [wanted] if wanted in known else [one for one in known if wanted and one.startswith(wanted)]
    if not found:
        hint = nearest(wanted, known) or f"the latest are {_named(known)}; or name a file"
        raise UsageError(f"{wanted} is not a session", where=store.path, hint=hint)
    if len(found) > 1:
        raise UsageError(f"{wanted} is the beginning of {len(found)} sessions", where=store.path,
                         hint=f"say which: {_named(found)}")  # fmt: skip
    return found[0]


def _named(sessions: list[str]) -> str:
    more = ", …" if len(sessions) > _MAX_NAMED else ""
    return ", ".join(sessions[:_MAX_NAMED]) + more


def read_file(path: str) -> Recording:
    """Return the recording in a file: an export of a store, or a transcript of a coding agent."""
    try:
        with open(path, "rb") as file:
            for line in file:
                document = _document(line)
                if is_transcript_entry(document):
                    return read_transcript(path)
                if _is_export(document) or _is_permission(document):
                    file.seek(0)
                    return _export(path, file)
    except OSError as error:
        raise UsageError(str(error.strerror), where=path, hint="check the path") from None
    raise UsageError("neither an export nor a transcript", where=path,
                     hint="it takes what `interpose log export` writes, or a coding agent's transcript")  # fmt: skip


def _export(path: str, lines: Iterable[bytes]) -> Recording:
    documents: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        document = _document(line)
        if not _is_export(document) and not _is_permission(document):
            raise UsageError("not a line of an export", where=f"{path}:{number}", hint="export it again")
        documents.append(document)
    return _recording(os.path.basename(path), "export", documents)


def _document(line: bytes) -> Mapping[str, Any]:
    """Return the JSON object on a line; empty if there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _is_export(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("event"), str) and isinstance(document.get("given"), Mapping)


def _is_permission(document: Mapping[str, Any]) -> bool:
    return document.get("kind") == "permission" and isinstance(document.get("call"), str)


def _recording(name: str, kind: str, documents: Iterable[Mapping[str, Any]]) -> Recording:
    recording = Recording(name, kind)
    first: dict[tuple[str, str], int] = {}
    for document in documents:
        if _is_permission(document):
            # It belongs to the first event of its call, which asked whether the call may run.
            place = first.get((str(document.get("session")), document["call"]))
            if place is not None:
                event = recording.events[place]
                recording.events[place] = replace(event, permissions=(*event.permissions, document))
            continue
        call = _mapping(document.get("input")).get("tool_use_id")
        if isinstance(call, str) and call:
            first.setdefault((str(document.get("session")), call), len(recording.events))
        recording.events.append(recorded_from(document))
    unknown = sum(event.decision == UNKNOWN for event in recording.events)
    if unknown:
        recording.notes.append(f"{unknown} event{'s' if unknown > 1 else ''} had an input too large to be kept")
    return recording


def recorded_from(document: Mapping[str, Any]) -> Recorded:
    """Return a recorded event from its document, as ``StoredFiring.to_dict`` makes it."""
    given, final, outcome = document["given"], _mapping(document.get("input")), _mapping(document.get("outcome"))
    decision = str(document.get("decision", "none"))
    off = _mapping(outcome.get("extra")).get("off")
    ran = [run for run in document.get("results") or () if isinstance(run, Mapping) and run.get("enforced", True)]
    kept_going = bool(outcome.get("keep_going"))
    return Recorded(
        id=str(document.get("id", "")),
        event=document["event"],
        fields=given,
        decision=UNKNOWN if "truncated" in outcome or not given else decision,
        reason=str(document.get("reason") or (f"enforcement was off: {off}" if off else "")),
        granted=bool(outcome.get("granted")),
        keep_going=kept_going,
        continues=outcome.get("continue", True) is not False,
        final={name: value for name, value in final.items() if name not in given or given[name] != value},
        deciders=tuple(dict.fromkeys(str(run.get("hook")) for run in ran if _decided(run, decision, kept_going))),
        time=_time(document.get("time")),
        runs=tuple(run for run in document.get("results") or () if isinstance(run, Mapping)),
    )


def _decided(run: Mapping[str, Any], decision: str, kept_going: bool) -> bool:
    """Say whether a hook made the decision; one that makes an agent continue has a reason only."""
    return bool(run.get("reason")) if kept_going else run.get("decision") == decision != "none"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _time(seconds: Any) -> str:
    if not isinstance(seconds, (int, float)):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return ""
