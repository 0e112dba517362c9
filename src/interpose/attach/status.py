"""Whether hooks were asked about what coding agents did: attachments, transcripts and the record, agent by agent.

Only reads. Stores are those that trusted configurations name, as they were trusted, so that a changed configuration
cannot point to a record that an agent has written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..audit.protocol import Selection, StoredFiring, StoreReader
from ..audit.reader import open_store
from ..config.audit import default_path
from ..config.reload import ConfigFiles
from ..dialects.agents import AGENTS as DIALECTS
from ..dialects.agents import agent_dialect
from ..errors import InterposeError, UsageError
from ..events import TABLE
from ..redaction import Redactor
from ..replay.coverage import Coverage, Unseen, cover
from ..replay.transcripts import READERS, FoundTranscript, find_transcripts, first_directory
from .agents import AGENTS, find_agent
from .attachment import FileState, states_of
from .elsewhere import switched_off_elsewhere
from .record import Attached, attachments

__all__ = ["AgentStatus", "shown_call", "statuses"]

_MOST_SESSIONS = 200
"""How many of the latest recorded sessions are looked at."""
_NEVER = float("inf")
_MARGIN = 60.0
"""Seconds between a call and its first record."""


@dataclass(slots=True)
class AgentStatus:
    """What is known of one coding agent."""

    agent: str
    title: str
    attached: list[tuple[Attached, list[FileState]]] = field(default_factory=list)
    sessions: list[Coverage] = field(default_factory=list)
    elsewhere: int = 0
    """Calls that were made where the agent is not attached."""
    versions: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    """Versions that no contract covers."""
    last: dict[str, float | None] = field(default_factory=dict)
    """When each event was last recorded; None if it never was."""
    missing: list[str] = field(default_factory=list)
    """Transcripts that records name and that are gone."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    has_store: bool = False
    """Whether there is an audit log to compare with."""
    switched_off: list[str] = field(default_factory=list)
    """What other settings of the agent have that switches hooks off."""
    damaged: list[str] = field(default_factory=list)
    """Entries in the record of attachments that cannot be read."""

    @property
    def calls(self) -> int:
        """How many calls a hook should have seen."""
        return sum(one.calls for one in self.sessions)

    @property
    def seen(self) -> int:
        """How many of them one has seen."""
        return sum(one.seen for one in self.sessions)

    @property
    def gaps(self) -> list[str]:
        """What is wrong, a sentence each."""
        found = [f"{state.path}: {state.state}" + (f": {'; '.join(state.what)}" if state.what else "")
                 for _, states in self.attached for state in states if not state.holds]  # fmt: skip
        found += self.switched_off
        if self.seen < self.calls:
            found.append(f"{self.calls - self.seen:,} of {self.calls:,} calls were seen by no hook")
        if lost := sum(one.not_in_transcript for one in self.sessions):
            found.append(f"{lost:,} recorded call{' is' if lost == 1 else 's are'} not in the transcript")
        found += [f"the transcript {path} is gone" for path in self.missing]
        found += [f"the record of attachments is damaged: {key}" for key in self.damaged]
        found += [f"{path}: {why}" for path, why in self.unreadable]
        found += [f"{one.path}: {one.problem}" for one in self.sessions if one.problem]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "agent": self.agent, "audit_log": self.has_store, "title": self.title, "versions": self.versions,
            "versions_without_contract": self.uncovered, "calls": self.calls, "seen": self.seen,
            "calls_where_not_attached": self.elsewhere, "gaps": self.gaps,
            "attached": [
                {"scope": one["scope"], "project": one["project"], "at": one["at"],
                 "files": [{"path": state.path, "state": state.state, "what": state.what} for state in states]}
                for one, states in self.attached
            ],
            "events": self.last, "never_fired": [name for name, at in self.last.items() if at is None],
            "sessions": [
                {"session": one.session, "name": one.name, "transcript": one.path, "cwd": one.cwd,
                 "version": one.version, "calls": one.calls, "seen": one.seen, "without_hook": one.without_hook,
                 "not_in_transcript": one.not_in_transcript, "broken_lines": one.broken_lines, "problem": one.problem,
                 "unseen": [{"id": call.id, "tool": call.tool, "call": shown_call(call), "time": call.time,
                             "why": call.why} for call in one.unseen]}
                for one in self.sessions
            ],
        }  # fmt: skip


def _switched_off(attached: list[tuple[Attached, list[FileState]]]) -> list[str]:
    found = (text for one, _ in attached
             for text in switched_off_elsewhere(find_agent(one["agent"]), one["scope"], one["project"]))  # type: ignore[arg-type]  # fmt: skip
    return list(dict.fromkeys(found))


def statuses(wanted: Sequence[str], since: float, stores: Sequence[str] = ()) -> list[AgentStatus]:
    """Return what is known of coding agents since a moment; without names, of those that are attached or were used."""
    return _Statuses(since, list(stores)).of(list(wanted))


class _Statuses:
    """Gathers what is known, and opens each store once."""

    def __init__(self, since: float, stores: list[str]) -> None:
        self._since = since
        self._named = [os.path.abspath(path) for path in stores]
        self._open: dict[str, StoreReader | None] = {}
        self._of_directory: dict[str, list[StoreReader]] = {}

    def of(self, wanted: list[str]) -> list[AgentStatus]:
        known, damaged = _sound(attachments())
        search = find_transcripts(os.path.expanduser("~"), wanted, os.environ, self._since)
        for path in self._named:
            if self._reader(path) is None:
                raise UsageError("there is no audit store that can be read", where=path, hint="check the path")
        names = wanted or [name for name in DIALECTS if any(one["agent"] == name for one in known)
                           or any(key.split()[:1] == [name] for key in damaged)
                           or any(one.agent == name for one in search.found) or name in self._recorded]  # fmt: skip
        titles = {agent.name: agent.title for agent in AGENTS.values()}
        found = [AgentStatus(name, titles.get(name, name)) for name in names]
        for one in found:
            one.attached = [(each, states_of(each)) for each in known if each["agent"] == one.agent]
            one.switched_off = _switched_off(one.attached)
            one.damaged = [key for key in damaged if key.split()[:1] == [one.agent]]
            one.unreadable = [(path, why) for path, why in search.unreadable if f".{one.agent}" in path.split(os.sep)]
            self._compare(one, [each for each in search.found if each.agent == one.agent])
            self._events(one)
            one.versions = list(dict.fromkeys(each.version for each in one.sessions if each.version))
            contracts = agent_dialect(one.agent).CONTRACTS
            one.uncovered = [version for version in one.versions if not any(each.covers(version) for each in contracts)]
        for reader in self._open.values():
            if reader is not None:
                reader.close()
        return found

    def _compare(self, one: AgentStatus, found: list[FoundTranscript]) -> None:
        """Compare the transcripts of an agent, and those that records name elsewhere."""
        found = [*found, *self._elsewhere(one, found)]
        places = [each for each, _ in one.attached]
        guarded = self._guarded(one.agent)
        for each in found:
            if each.is_compressed:
                one.unreadable.append((each.path, "it is compressed"))
                continue
            began, elsewhere = first_directory(each), [0]

            def covered(
                cwd: str, moment: float, session: str, began: str = began, elsewhere: list[int] = elsewhere
            ) -> bool:
                if moment and moment < self._since:
                    return False
                if any(_holds(place, one, moment) for place in places for one in (cwd, began)):
                    return True
                # Without an attachment that is recorded, hooks that were asked before show that there are some.
                first = [at for name, at in guarded.items() if name in (session, cwd, began) or _is_below(cwd, name)]
                if moment >= min(first, default=_NEVER) - _MARGIN:
                    return True
                elsewhere[0] += 1
                return False

            result = cover(each, self._stores(each), covered)
            result.name = Redactor()(result.name)
            one.elsewhere += elsewhere[0]
            one.sessions.append(result)

    def _elsewhere(self, one: AgentStatus, found: list[FoundTranscript]) -> Iterator[FoundTranscript]:
        """Yield the transcripts that records name in other places, such as another home; note those that are gone."""
        here = {os.path.realpath(each.path) for each in found}
        for firing in self._recorded.get(one.agent, ()):
            path = firing.transcript
            if not os.path.isabs(path) or os.path.realpath(path) in here or firing.time < self._since:
                continue
            here.add(os.path.realpath(path))
            try:
                facts = os.stat(path)
            except OSError:
                one.missing.append(path)
                continue
            if one.agent in READERS and facts.st_mtime >= self._since:
                yield FoundTranscript(one.agent, path, facts.st_mtime, facts.st_size)

    def _guarded(self, agent: str) -> dict[str, float]:
        """Return the directories and sessions in which hooks of an agent were asked, each with the first time."""
        found: dict[str, float] = {}
        for firing in self._recorded.get(agent, ()):
            for name in (str(firing.input.get("cwd") or ""), firing.session):
                if name:
                    found[name] = min(firing.time, found.get(name, _NEVER))
        return found

    @cached_property
    def _recorded(self) -> dict[str, list[StoredFiring]]:
        """The first and the last firing of each of the latest sessions, by coding agent."""
        found: dict[str, list[StoredFiring]] = {}
        for reader in self._default_stores():
            for session in reader.session_ids()[:_MOST_SESSIONS]:
                for oldest in (True, False):
                    for firing in reader.firings(Selection(sessions=(session,)), limit=1, oldest_first=oldest):
                        if firing.session == session and firing.client:
                            found.setdefault(firing.client, []).append(firing)
        return found

    def _events(self, one: AgentStatus) -> None:
        """Note when each event that is attached was last recorded."""
        readers = self._default_stores()
        one.has_store = any(reader is not None for reader in self._open.values())
        events = agent_dialect(one.agent).EVENTS
        attached = [str(entry[1]) for each, _ in one.attached for entry in each["entries"]]
        for row in dict.fromkeys(attached or events.values()):
            last = None
            for reader in readers:
                for firing in reader.firings(Selection(agents=(one.agent,), events=(row,)), limit=1):
                    last = max(last or 0.0, firing.time)
            if last is not None or attached:
                one.last[row] = last

    def _stores(self, found: FoundTranscript) -> list[StoreReader]:
        """Return the stores in which the calls of a transcript may be recorded."""
        if self._named:
            return self._default_stores()
        directory = first_directory(found)
        if directory not in self._of_directory:
            own = self._reader(_configured(directory)) if directory else None
            others = [each for each in self._default_stores() if each is not own]
            self._of_directory[directory] = [*([own] if own is not None else []), *others]
        return self._of_directory[directory]

    def _default_stores(self) -> list[StoreReader]:
        paths = self._named or list(dict.fromkeys([_configured(os.getcwd()), default_path()]))
        return [reader for path in paths if path and (reader := self._reader(path)) is not None]

    def _reader(self, path: str) -> StoreReader | None:
        if path and path not in self._open:
            try:
                self._open[path] = open_store(path)
            except InterposeError:
                self._open[path] = None
        return self._open.get(path)


def _sound(record: Mapping[str, Any]) -> tuple[list[Attached], list[str]]:
    """Return the attachments that have all their parts, and the keys of the others: an agent may have changed them."""
    sound: list[Attached] = []
    damaged: list[str] = []
    for key, one in record.items():
        try:
            whole = (
                one["agent"] in AGENTS and isinstance(one["scope"], str) and isinstance(one["project"], str)
                and isinstance(one["at"], (int, float)) and all(len(entry) > 1 for entry in one["entries"])
                and states_of(one) is not None
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError, InterposeError, OSError):
            whole = False
        if whole:
            sound.append(one)
        else:
            damaged.append(key)
    return sound, damaged


def _configured(directory: str) -> str:
    """Return the store that the trusted configuration of a directory names; empty if there is none."""
    if not os.path.isdir(directory):
        return ""
    try:
        audit = ConfigFiles.around(directory, "keep", False, None, None, False).read(TABLE).audit
    except InterposeError:
        return ""
    return str(audit["path"]) if audit is not None else ""


def _holds(one: Attached, cwd: str, moment: float) -> bool:
    """Return whether an attachment held in a directory at a moment."""
    if moment and moment < one["at"]:
        return False
    return one["scope"] in ("user", "managed") or cwd == one["project"] or _is_below(cwd, one["project"])


def _is_below(path: str, folder: str) -> bool:
    return os.path.isabs(folder) and path.startswith(folder.rstrip(os.sep) + os.sep)


def shown_call(call: Unseen) -> str:
    """Return what a call is about, such as its command, with secrets redacted."""
    for name in ("command", "file_path", "path", "url", "pattern", "query"):
        if isinstance(text := call.given.get(name), str) and text:
            return Redactor()(text[:20_000])[:1_000]
    return ""
