"""Coverage: which calls of a transcript were seen by a hook. Compares what an agent wrote with what was recorded.

An agent that runs without its hooks still writes a transcript. An agent with a shell can change its transcript; a call
that it removes there and that a hook has seen is found by comparing the other way round.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..audit.protocol import Selection, StoreReader
from ..redaction import is_redacted
from .recording import UNKNOWN, Recorded
from .transcripts import READERS, Damage, Fate, FoundTranscript, stream

__all__ = ["Coverage", "Unseen", "cover", "recorded_calls"]

_BEFORE = "PreToolUse"
_TOLERANCE = 30.0
"""Seconds that the clock of a transcript may differ from that of the record."""
_MOST_KEPT = 100


@dataclass(frozen=True, slots=True)
class Unseen:
    """A call that no hook has seen."""

    id: str
    tool: str
    given: Mapping[str, Any]
    time: str
    why: str = ""
    """Empty if nothing is recorded; else what is wrong with the record."""


@dataclass(slots=True)
class Coverage:
    """One session of an agent: how many of its calls were seen."""

    agent: str
    path: str
    session: str = ""
    name: str = ""
    version: str = ""
    cwd: str = ""
    last: float = 0.0
    """When it was last written, in seconds since 1970."""
    calls: int = 0
    """Calls for which this agent starts a hook, from the moment on that is asked about."""
    seen: int = 0
    without_hook: int = 0
    """Calls of tools for which this agent starts no hook."""
    unseen: list[Unseen] = field(default_factory=list)
    """The first of them; ``calls - seen`` is how many there are."""
    not_in_transcript: int = 0
    """Recorded calls that the transcript does not have."""
    broken_lines: int = 0
    problem: str = ""
    """Why the transcript cannot be read."""

    @property
    def gap(self) -> bool:
        """Whether something was not seen, or is missing."""
        return self.seen < self.calls or self.not_in_transcript > 0 or bool(self.problem)


@dataclass(slots=True)
class _Calls:
    """Recorded calls of one session: when each was recorded."""

    by_id: dict[str, float] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """What was called, by id."""


def recorded_calls(stores: Iterable[StoreReader], session: str) -> _Calls:
    """Return the calls of a session that hooks were asked about."""
    found = _Calls()
    if not session:
        return found
    for store in stores:
        for firing in store.firings(Selection(sessions=(session,), events=(_BEFORE,))):
            if firing.session == session:
                given = firing.given
                number = firing.call or f"record {firing.id}"
                found.by_id.setdefault(number, firing.time)
                found.keys[number] = _key(str(given.get("tool_name")), given.get("tool_input"))
    return found


@dataclass(slots=True)
class _Call:
    read: Recorded
    ended: float = 0.0
    known: bool = False


def _everything(cwd: str, moment: float, session: str) -> bool:
    return True


def cover(
    found: FoundTranscript, stores: Iterable[StoreReader], covered: Callable[[str, float, str], bool] = _everything
) -> Coverage:
    """Compare a transcript with the record; ``covered`` says whether there should have been hooks: in a directory, at a
    moment, in a session.
    """
    reader = READERS[found.agent](found.path)
    result = Coverage(found.agent, found.path, last=found.changed)
    damage, calls = Damage(), dict[str, _Call]()
    try:
        for read in stream(found.path, reader, damage):
            _note(read, calls)
    except OSError as error:
        result.problem = error.strerror or str(error)
    result.session, result.name, result.cwd = reader.session, reader.name, reader.cwd
    result.version, result.broken_lines = reader.version, damage.lines
    sessions = {str(one.read.fields.get("session_id") or "") for one in calls.values()} | {reader.session}
    known = list(stores)
    record = [recorded_calls(known, session) for session in sessions]
    others = Counter[str]()
    if not reader.SAME_IDS:  # then a record under another id may be that of a call
        others.update(key for one in record for number, key in one.keys.items() if number not in calls)
    for number, call in calls.items():
        fields = call.read.fields
        if not covered(str(fields.get("cwd") or ""), _moment(call.read.time), str(fields.get("session_id") or "")):
            continue
        tool = str(fields["tool_name"])
        if tool in reader.UNSEEN:
            result.without_hook += 1
            continue
        why = _unseen(number, call, record, others)
        if why is not None and not call.known:
            continue  # it was invalid, or the session ended before it: no hook was started
        result.calls += 1
        if why is None:
            result.seen += 1
        elif len(result.unseen) < _MOST_KEPT:
            result.unseen.append(Unseen(number, tool, fields["tool_input"], call.read.time, why))
    if reader.SAME_IDS:
        result.not_in_transcript = sum(number not in calls for one in record for number in one.by_id)
    return result


def _note(read: Recorded | Fate, calls: dict[str, _Call]) -> None:
    if isinstance(read, Fate):
        if read.call in calls:
            calls[read.call].known = read.decision != UNKNOWN
    elif read.event == _BEFORE:
        calls[read.id] = _Call(read)
    elif (number := str(read.fields.get("tool_use_id") or "")) in calls:
        calls[number].ended = _moment(read.time)


def _unseen(number: str, call: _Call, record: list[_Calls], others: Counter[str]) -> str | None:
    """Return None if a call was seen; else what is wrong with its record, or nothing if there is none."""
    for one in record:
        if (at := one.by_id.get(number)) is not None:
            if call.ended and at > call.ended + _TOLERANCE:
                return "it was recorded after the call had ended"
            return None
    tool = str(call.read.fields["tool_name"])
    for key in (_key(tool, call.read.fields["tool_input"]), f"redacted {tool}"):
        if others[key] > 0:
            others[key] -= 1
            return None
    return ""


def _key(tool: str, given: Any) -> str:
    """Return what is equal for the same call in a transcript and in a record, whose ids may differ."""
    command = given.get("command") if isinstance(given, Mapping) else None
    try:
        text = command if isinstance(command, str) else json.dumps(given, sort_keys=True, default=str)
    except (RecursionError, TypeError, ValueError):  # nested too deep
        text = ""
    return f"redacted {tool}" if is_redacted(text) else f"{tool} {text}"


def _moment(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
