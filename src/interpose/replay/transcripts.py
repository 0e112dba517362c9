"""Transcripts of Claude Code, read as the events that its hooks got: prompts, tool calls and their results.

The format is not documented, so unknown entries are left out. A transcript does not have the decisions of hooks; they
are derived from what happened next: a call ran, a hook or a rule refused it, or a person refused it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from glob import escape, glob
from typing import Any

from .recording import UNKNOWN, Recorded, Recording

__all__ = ["is_transcript_entry", "read_transcript"]

# How texts begin that Claude Code writes in place of a person's prompt.
_NOT_TYPED = ("<command-", "<local-command-", "<bash-", "<task-notification", "<system-reminder", "Caveat: ",
              "[Request interrupted by user")  # fmt: skip
_BLOCKED_PROMPT = re.compile(
    r"UserPromptSubmit operation blocked by hook:\n(?P<reason>.*?)\n+Original prompt: (?P<prompt>.*)", re.DOTALL
)

_BY_PERSON = ("The user doesn't want to ", "User rejected tool use")
_BY_RULE = re.compile(
    r"PreToolUse:\S+ hook |Permission (to use|for this) |Claude requested permissions to |"
    r"\S+ operation blocked by hook|This \w+ command contains multiple operations"
)
_CUT_SHORT = ("interrupted", "cancelled")

RAN = "it ran"
REFUSED = "a hook or a rule refused it"
REFUSED_BY_PERSON = "a person was asked and refused it"
NOT_TOLD = "the transcript does not tell"


def is_transcript_entry(entry: Any) -> bool:
    """Say whether a JSON value looks like an entry of a transcript: a message of the user or the assistant."""
    return isinstance(entry, Mapping) and entry.get("type") in ("user", "assistant") and "message" in entry


def read_transcript(path: str) -> Recording:
    """Return the events of a transcript, with those of its subagents' transcripts."""
    reader = _TranscriptReader(path)
    for entry in _in_time([path, *_of_subagents(path)], reader.recording.notes):
        reader.take(entry)
    reader.finish()
    return reader.recording


def _of_subagents(path: str) -> list[str]:
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    return sorted(glob(os.path.join(escape(folder), "agent-*.jsonl")))


def _in_time(paths: list[str], notes: list[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of several files ordered by time; the entries of one file keep their order."""
    if len(paths) == 1:
        yield from _entries(paths[0], notes)
        return
    timed: list[tuple[str, Mapping[str, Any]]] = []
    for path in paths:
        last = ""
        for entry in _entries(path, notes):
            last = max(last, _text_of(entry.get("timestamp")))  # some entries have no time of their own
            timed.append((last, entry))
    for _, entry in sorted(timed, key=lambda pair: pair[0]):
        yield entry


def _entries(path: str, notes: list[str]) -> Iterator[Mapping[str, Any]]:
    unread = 0
    with open(path, "rb") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):  # the last line of a running session is often incomplete
                unread += 1
                continue
            if isinstance(entry, Mapping):
                yield entry
    if unread:
        notes.append(f"{os.path.basename(path)}: {unread} line{'s' if unread > 1 else ''} could not be read")


class _TranscriptReader:
    """Makes events from the entries of a transcript."""

    def __init__(self, path: str) -> None:
        self.recording = Recording(os.path.basename(path), "transcript")
        self._path = path
        self._calls: dict[str, int] = {}
        """The index of a tool call's event, by the id of the call."""
        self._answered: set[str] = set()
        self._seen: set[str] = set()

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add the events of an entry. A resumed session repeats entries of the session before."""
        said = entry.get("message")
        content = said.get("content") if isinstance(said, Mapping) else None
        kind = entry.get("type")
        if kind == "assistant":
            for block in _blocks(content, "tool_use"):
                self._call(entry, block)
        elif kind == "user":
            results = _blocks(content, "tool_result")
            for block in results:
                self._result(entry, block, alone=len(results) == 1)
            if not results and _is_typed(entry):
                self._prompt(entry, _plain(content))
        elif kind == "system" and (blocked := _BLOCKED_PROMPT.match(_text_of(entry.get("content")))):
            self._add(entry, "UserPromptSubmit", {"prompt": blocked["prompt"]}, decision="deny",
                      reason=blocked["reason"].strip(), derived=REFUSED)  # fmt: skip

    def finish(self) -> None:
        """Mark the calls without a result: their decision is unknown."""
        open_calls = [at for call, at in self._calls.items() if call not in self._answered]
        for at in open_calls:
            self.recording.events[at] = replace(self.recording.events[at], decision=UNKNOWN, derived=NOT_TOLD)

    def _prompt(self, entry: Mapping[str, Any], prompt: str) -> None:
        if prompt.strip() and not prompt.lstrip().startswith(_NOT_TYPED):
            self._add(entry, "UserPromptSubmit", {"prompt": prompt}, derived="it was answered")

    def _call(self, entry: Mapping[str, Any], block: Mapping[str, Any]) -> None:
        call, tool = _text_of(block.get("id")), _text_of(block.get("name"))
        if tool and call not in self._calls:
            self._calls[call] = len(self.recording.events)
            fields = {"tool_name": tool, "tool_input": block.get("input") or {}, "tool_use_id": call}
            self._add(entry, "PreToolUse", fields, key=call, derived=RAN)

    def _result(self, entry: Mapping[str, Any], block: Mapping[str, Any], *, alone: bool) -> None:
        call = _text_of(block.get("tool_use_id"))
        at = self._calls.get(call)
        if at is None or call in self._answered:
            return
        self._answered.add(call)
        text = _plain(block.get("content"))
        asked = self.recording.events[at]
        fate = _fate(text, block, entry)
        if fate:
            self.recording.events[at] = replace(asked, **fate)
            return
        fields = {name: asked.fields[name] for name in ("tool_name", "tool_input", "tool_use_id")}
        if block.get("is_error"):
            self._add(entry, "PostToolUseFailure", {**fields, "error": text}, key=f"{call}:error", derived=RAN)
            return
        # The tool's own result is in the entry, unless several results share the entry.
        told = entry.get("toolUseResult") if alone else None
        response = block.get("content") if told is None else told
        self._add(entry, "PostToolUse", {**fields, "tool_response": response}, key=f"{call}:result", derived=RAN)

    def _add(
        self, entry: Mapping[str, Any], event: str, fields: Mapping[str, Any], *, key: str = "", **more: Any
    ) -> None:
        key = key or _text_of(entry.get("uuid")) or f"{event} {len(self.recording.events) + 1}"
        if key in self._seen:
            return
        self._seen.add(key)
        base = {"session_id": _text_of(entry.get("sessionId")), "transcript_path": self._path,
                "cwd": _text_of(entry.get("cwd"))}  # fmt: skip
        for name, theirs in (("permission_mode", "permissionMode"), ("agent_id", "agentId")):
            if isinstance(value := entry.get(theirs), str) and value:
                base[name] = value
        self.recording.events.append(Recorded(
            id=key, event=event, fields={**base, **fields}, time=_text_of(entry.get("timestamp")), **more
        ))  # fmt: skip


def _fate(text: str, block: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decision about a call that did not run; empty if it ran."""
    if not block.get("is_error"):
        return {}
    denial = _text_of(entry.get("toolDenialKind"))
    if denial == "user-rejected" or (not denial and text.startswith(_BY_PERSON)):
        return {"decision": "ask", "derived": REFUSED_BY_PERSON}
    if denial in _CUT_SHORT or text.startswith(("<tool_use_error>", "[Request interrupted")):
        # An invalid call is refused before its hooks run; an interrupted call may have been at any point.
        return {"decision": UNKNOWN, "derived": NOT_TOLD}
    if denial or _BY_RULE.match(text):
        return {"decision": "deny", "reason": text, "derived": REFUSED}
    return {}


def _is_typed(entry: Mapping[str, Any]) -> bool:
    """Say whether a person typed an entry, and not a program."""
    origin = entry.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    marks = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly", "agentId")
    return kind in (None, "human") and not any(entry.get(mark) for mark in marks)


def _blocks(content: Any, kind: str) -> list[Mapping[str, Any]]:
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping) and block.get("type") == kind]


def _plain(content: Any) -> str:
    """Return the text of a message, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(_text_of(block.get("text")) for block in _blocks(content, "text"))


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""
