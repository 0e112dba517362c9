"""What every reader of a transcript does: events as hooks got them, and what became of each call.

A transcript does not have the decisions of hooks; they are derived from what happened next: a call ran, a hook or a
rule refused it, or a person refused it. The formats are not documented, so unknown entries are left out.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ...runtime.named_tuples import NamedTuple
from ..recording import UNKNOWN, Recorded

__all__ = [
    "NOT_TOLD", "RAN", "REFUSED", "REFUSED_BY_PERSON", "Fate", "Read", "TranscriptReader", "is_object", "mapping_of",
    "object_in", "text_of",
]  # fmt: skip

RAN = "it ran"
REFUSED = "a hook or a rule refused it"
REFUSED_BY_PERSON = "a person was asked and refused it"
NOT_TOLD = "the transcript does not tell"

_LONGEST_NAME = 200


class Fate(NamedTuple):
    """What became of a call, as far as the transcript tells."""

    call: str
    decision: str
    derived: str
    reason: str = ""


Read = Recorded | Fate


class TranscriptReader(ABC):
    """Makes events from the entries of one transcript, in order. ``take`` is what a format brings."""

    AGENT: ClassVar[str] = ""
    """The name of the agent on the command line."""
    UNSEEN: ClassVar[frozenset[str]] = frozenset()
    """Tools for which this agent starts no hook."""
    SAME_IDS: ClassVar[bool] = False
    """Whether hooks get the ids of calls that the transcript has."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.session = ""
        self.cwd = ""
        self.version = ""
        """The version of the agent."""
        self.prompt = ""
        """The beginning of the first prompt."""
        self.title = ""
        """The name that the agent has given to the session."""
        self._seen: set[str] = set()
        self._open: dict[str, Mapping[str, Any]] = {}
        """The fields of calls that have no result yet, by the id of the call."""
        self._count = 0

    @property
    def name(self) -> str:
        """What the agent calls the session: its title, else the first prompt."""
        return " ".join((self.title or self.prompt).split())[:_LONGEST_NAME]

    @abstractmethod
    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an entry says. A resumed session repeats entries of the session before."""

    @classmethod
    @abstractmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is one of this format."""

    # For the formats.

    def event(
        self, event: str, fields: Mapping[str, Any], time: str, key: str = "", base: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Iterator[Recorded]:  # fmt: skip
        """Yield an event, once for each key."""
        self._count += 1
        key = key or f"{event} {self._count}"
        if key in self._seen:
            return
        self._seen.add(key)
        given = base or {"session_id": self.session, "transcript_path": self.path, "cwd": self.cwd}
        yield Recorded(id=key, event=event, fields={**given, **fields}, time=time, **more)

    def called(
        self, call: str, tool: str, given: Any, time: str, base: Mapping[str, Any] | None = None
    ) -> Iterator[Read]:
        """Yield the event before a call."""
        if not tool or call in self._seen:
            return
        fields = {"tool_name": tool, "tool_input": given or {}, "tool_use_id": call}
        for event in self.event("PreToolUse", fields, time, key=call, base=base, decision=UNKNOWN, derived=NOT_TOLD):
            self._open[call] = event.fields
            yield event

    def refused(self, call: str, decision: str, derived: str, reason: str = "") -> Iterator[Read]:
        """Yield that a call did not run, or that it is unknown whether it did."""
        if self._open.pop(call, None) is not None:
            yield Fate(call, decision, derived, reason)

    def ended(self, call: str, response: Any, time: str, *, failed: bool = False, error: str = "") -> Iterator[Read]:
        """Yield that a call ran, and the event after it."""
        asked = self._open.pop(call, None)
        if asked is None:
            return
        yield Fate(call, "none", RAN)
        what = {"error": error} if failed else {"tool_response": response}
        event, key = ("PostToolUseFailure", f"{call}:error") if failed else ("PostToolUse", f"{call}:result")
        yield from self.event(event, {**asked, **what}, time, key=key, derived=RAN, base={})

    def prompted(
        self, prompt: str, time: str, key: str = "", base: Mapping[str, Any] | None = None, **more: Any
    ) -> Iterator[Read]:
        """Yield the event of a prompt."""
        if prompt.strip():
            self.prompt = self.prompt or prompt[:_LONGEST_NAME]
            more.setdefault("derived", "it was answered")
            yield from self.event("UserPromptSubmit", {"prompt": prompt}, time, key=key, base=base, **more)


def text_of(value: Any) -> str:
    """Return a text; empty if it is another type."""
    return value if isinstance(value, str) else ""


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; empty if it is another type."""
    return value if isinstance(value, Mapping) else {}


def is_object(value: Any) -> bool:
    """Say whether a value is a JSON object."""
    return isinstance(value, Mapping)


def object_in(text: Any) -> Mapping[str, Any]:
    """Return the JSON object in a text; empty if there is none."""
    if not isinstance(text, str):
        return mapping_of(text)
    try:
        return mapping_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}
