"""Scan: what policies would have decided about the calls in a person's transcripts. Runs no tool and no program.

Only policies are asked; other hooks could do anything. The state of policies with a memory stays in this process, git
is not started, and nothing is recorded.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..errors import InterposeError
from ..hooks import Hooks
from ..model import Hook, Outcome
from ..policies import PolicyHook
from ..policies.hook import SharedCalls, shared_calls
from ..policies.repository import GitNotAsked, without_git
from ..records import replace as replaced
from ..redaction import Redactor
from .environment import variable_set
from .recording import Recorded
from .runner import MARK, deciders_of
from .transcripts import NOT_TOLD, READERS, Damage, Fate, FoundTranscript, Search, stream

__all__ = ["ScanReport", "Scanner", "StoppedCall", "StoppedCalls", "policies_only", "scan"]

_TELLING = ("command", "file_path", "notebook_path", "path", "url", "pattern", "query", "description", "prompt")
"""The fields of a tool's input of which the first one stands for the call."""
_LONGEST_READ, _LONGEST_KEPT = 20_000, 1_000
"""How much of a call is searched for secrets, and how much is kept to be shown."""
_LARGEST = 1_000_000
"""Characters of a call's input; a larger one is not asked about, since one such call could take minutes."""
_MOST_KEPT = 10_000
"""How many findings of a group are kept; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedCall:
    """One call that a policy would have stopped or asked about."""

    decision: str
    policy: str
    reason: str
    event: str
    tool: str
    call: str
    """What the call is about, such as its command, with secrets redacted."""
    call_id: str
    agent: str
    session: str
    name: str
    """What the agent calls the session."""
    project: str
    time: str
    path: str
    then: str = NOT_TOLD
    """What happened to the call."""
    depends: bool = False
    """Whether it depends on what git would have said then."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "decision": self.decision, "policy": self.policy, "reason": self.reason, "event": self.event,
            "tool": self.tool, "call": self.call, "call_id": self.call_id, "agent": self.agent,
            "session": self.session, "session_name": self.name, "project": self.project, "time": self.time,
            "transcript": self.path, "then": self.then, "depends_on_git": self.depends,
        }  # fmt: skip


@dataclass(slots=True)
class StoppedCalls:
    """The findings of one policy with one decision."""

    decision: str
    policy: str
    count: int = 0
    findings: list[StoppedCall] = field(default_factory=list)

    def examples(self, most: int | None = None) -> list[tuple[StoppedCall, int]]:
        """Return the latest finding about each call and how often it was made; first one for each reason."""
        counts = Counter((one.reason, one.call) for one in self.findings)
        latest = {(one.reason, one.call): one for one in self.findings}
        ordered = [key for key, _ in counts.most_common()]
        first = {reason: (reason, call) for reason, call in reversed(ordered)}.values()
        keys = [*reversed(first), *(key for key in ordered if key not in set(first))]
        return [(latest[key], counts[key]) for key in keys[:most]]


@dataclass(slots=True)
class ScanReport:
    """What was read, and what would have been decided."""

    sessions: int = 0
    calls: int = 0
    agents: dict[str, int] = field(default_factory=dict)
    """How many sessions each agent has."""
    groups: dict[tuple[str, str], StoppedCalls] = field(default_factory=dict)
    denied: int = 0
    asked: int = 0
    failed: int = 0
    """Calls about which a policy could not decide."""
    too_large: int = 0
    """Calls whose input is too large to be asked about."""
    unfired: int = 0
    """Calls that no event can be made of."""
    broken_lines: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    stopped: bool = False
    """Whether Ctrl-C ended it before all was read."""

    def sorted_groups(self) -> list[StoppedCalls]:
        """Return the groups: denied before asked, the largest first."""
        return sorted(self.groups.values(), key=lambda one: (one.decision != "deny", -one.count, one.policy))


def policies_only(hooks: Hooks) -> list[Hook]:
    """Leave only the policies in hooks, and return what was left out; nothing is recorded by them any more."""
    everything = list(hooks)
    # In this thread: they are our own, and a deadline would decide by the speed of the machine.
    kept = [replaced(hook, inline=True) for hook in everything if isinstance(hook.handler, PolicyHook)]
    hooks.record(None)
    hooks.engine.off = ""
    hooks.engine.registry.exchange(everything, kept, {}, {}, hooks.settings.max_hooks_per_point)
    return [hook for hook in everything if not isinstance(hook.handler, PolicyHook)]


def scan(
    hooks: Hooks,
    search: Search,
    *,
    since: float | None = None,
    project: str = "",
    told: Callable[[FoundTranscript, ScanReport], None] | None = None,
) -> ScanReport:
    """Ask policies about every call of the transcripts that were found, the oldest first."""
    scanner = Scanner(hooks, since=since, project=project)
    scanner.report.unreadable.extend(search.unreadable)
    with variable_set(MARK), without_git() as git, shared_calls() as calls:
        scanner.git, scanner.calls = git, calls
        try:
            for found in sorted(search.found, key=lambda one: one.changed):
                if told is not None:
                    told(found, scanner.report)
                scanner.read(found)
        except KeyboardInterrupt:
            scanner.report.stopped = True
    return scanner.report


class Scanner:
    """Asks policies about the calls of one transcript after the other."""

    def __init__(self, hooks: Hooks, *, since: float | None = None, project: str = "") -> None:
        self.report = ScanReport()
        self.git = GitNotAsked()
        self.calls = SharedCalls()
        self._hooks = hooks
        self._since = since
        self._project = os.path.abspath(project) if project else ""
        self._redact = Redactor()
        self._seen: set[tuple[str, str]] = set()
        """Calls that were read: a resumed session repeats those of the session before."""
        self._sessions: set[tuple[str, str]] = set()
        self._waiting: dict[str, tuple[StoppedCalls, int]] = {}
        """Where the finding about a call is, until the transcript tells what happened to the call."""
        self._named: list[tuple[StoppedCalls, int]] = []

    def read(self, found: FoundTranscript) -> None:
        """Ask about the calls of one transcript."""
        report = self.report
        if found.is_compressed:
            report.unreadable.append((found.path, "it is compressed"))
            return
        reader, damage = READERS[found.agent](found.path), Damage()
        self._waiting.clear()
        self._named.clear()
        try:
            for read in stream(found.path, reader, damage):
                if isinstance(read, Fate):
                    self._happened(read)
                elif self._is_wanted(read):
                    self._ask(read, found, reader.session)
        except OSError as error:
            report.unreadable.append((found.path, error.strerror or str(error)))
        report.files += 1
        report.broken_lines += damage.lines
        for group, at in self._named:  # the name may stand at the end
            group.findings[at] = replace(group.findings[at], name=self._redact(reader.name))

    def _is_wanted(self, read: Recorded) -> bool:
        if self._since is not None and _moment(read.time) < self._since:
            return False
        cwd = str(read.fields.get("cwd", ""))
        return not self._project or cwd == self._project or cwd.startswith(self._project.rstrip(os.sep) + os.sep)

    def _ask(self, read: Recorded, found: FoundTranscript, session: str) -> None:
        report, number = self.report, str(read.fields.get("tool_use_id") or read.id)
        key = (read.event, number)
        if key in self._seen:
            return
        self._seen.add(key)
        known = found.agent, str(read.fields.get("session_id") or session or found.path)
        if known not in self._sessions:
            self._sessions.add(known)
            report.sessions += 1
            report.agents[found.agent] = report.agents.get(found.agent, 0) + 1
        report.calls += read.event == "PreToolUse"
        if _is_too_large(read.fields.get("tool_input")):
            report.too_large += 1
            return
        self.git.asked = False
        self.calls.forget()
        try:
            outcome = self._hooks.fire_sync(read.event, **_given(read))
        except InterposeError:
            report.unfired += 1
            return
        if any(result.error is not None for result in outcome.results):
            report.failed += 1
        elif outcome.decision in ("deny", "ask"):
            self._keep(read, outcome, found, known[1])

    def _keep(self, read: Recorded, outcome: Outcome, found: FoundTranscript, session: str) -> None:
        report = self.report
        report.denied += outcome.decision == "deny"
        report.asked += outcome.decision == "ask"
        policy = ", ".join(deciders_of(outcome)) or "?"
        group = report.groups.setdefault((outcome.decision, policy), StoppedCalls(outcome.decision, policy))
        group.count += 1
        if len(group.findings) >= _MOST_KEPT:
            return
        number = str(read.fields.get("tool_use_id") or "")
        group.findings.append(StoppedCall(
            decision=outcome.decision, policy=policy, reason=self._shown(outcome.reason), event=read.event,
            tool=str(read.fields.get("tool_name") or ""), call=self._shown(_call(read.fields)), call_id=number,
            agent=found.agent, session=session, name="", project=str(read.fields.get("cwd") or ""), time=read.time,
            path=found.path, then=read.derived, depends=self.git.asked,
        ))  # fmt: skip
        place = group, len(group.findings) - 1
        self._named.append(place)
        if number and read.event == "PreToolUse":
            self._waiting[number] = place

    def _shown(self, text: str) -> str:
        return self._redact(text[:_LONGEST_READ])[:_LONGEST_KEPT]

    def _happened(self, fate: Fate) -> None:
        if fate.call in self._waiting:
            group, at = self._waiting.pop(fate.call)
            group.findings[at] = replace(group.findings[at], then=fate.derived)


def _given(read: Recorded) -> dict[str, Any]:
    return {name: value for name, value in read.fields.items() if name != "hook_event_name"}


def _is_too_large(value: Any) -> bool:
    """Return whether a value has more text or more parts than a call of a tool has."""
    left, waiting = _LARGEST, [value]
    while waiting and left >= 0:
        one = waiting.pop()
        left -= len(one) if isinstance(one, str) else 10
        if isinstance(one, Mapping):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return left < 0


def _call(fields: Mapping[str, Any]) -> str:
    """Return what a call is about: its command, its file or its address; of a prompt, its text."""
    given = fields.get("tool_input")
    values: Mapping[str, Any] = given if isinstance(given, Mapping) else fields
    for name in _TELLING:
        if isinstance(text := values.get(name), str) and text:
            return text
    return ""


def _moment(time: str) -> float:
    """Return the time of an entry in seconds since 1970; a time that cannot be read is never too old."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return float("inf")
