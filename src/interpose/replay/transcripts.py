"""Transcripts of Claude Code, read as the events that its hooks were told: prompts, tool calls and their results.

Nobody promises what stands in these files, so whatever is not understood is left out and counted. A transcript does not
say what hooks decided; that is told from what happened next: a call ran, a hook or a rule refused it, or a person did.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from glob import escape, glob
from typing import Any

from .recorded import UNKNOWN, Recorded, Recording

__all__ = ["is_transcript_entry", "read_transcript"]

# What Claude Code puts where a person's words would stand.
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
    """Say whether a line of JSON looks like one of a transcript: a message of one of the two who talk."""
    return isinstance(entry, Mapping) and entry.get("type") in ("user", "assistant") and "message" in entry


def read_transcript(path: str) -> Recording:
    """Return the events of a transcript, with those of the subagents whose transcripts lie beside it."""
    reader = _Reader(path)
    for entry in _in_time([path, *_of_subagents(path)], reader.recording.notes):
        reader.take(entry)
    reader.finish()
    return reader.recording


def _of_subagents(path: str) -> list[str]:
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    return sorted(glob(os.path.join(escape(folder), "agent-*.jsonl")))


def _in_time(paths: list[str], notes: list[str]) -> Iterator[Mapping[str, Any]]:
    """Go through files side by side, by the time of their entries; one file stays in its own order."""
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
            except (ValueError, RecursionError):  # the last line of a session that is still running is often half
                unread += 1
                continue
            if isinstance(entry, Mapping):
                yield entry
    if unread:
        notes.append(f"{os.path.basename(path)}: {unread} line{'s' if unread > 1 else ''} could not be read")


class _Reader:
    """Takes entry after entry and makes events of them."""

    def __init__(self, path: str) -> None:
        self.recording = Recording(os.path.basename(path), "transcript")
        self._path = path
        self._calls: dict[str, int] = {}
        """Where the event of a tool call stands, by the id of the call."""
        self._answered: set[str] = set()
        self._seen: set[str] = set()

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add the events that an entry tells of. A session that was resumed repeats entries of the one before."""
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
        """Say of which calls nobody knows what became of them."""
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
        # What the tool itself returned is beside the message, unless several results share it.
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
    """Return what is known of a call that did not run; nothing if it did."""
    if not block.get("is_error"):
        return {}
    denial = _text_of(entry.get("toolDenialKind"))
    if denial == "user-rejected" or (not denial and text.startswith(_BY_PERSON)):
        return {"decision": "ask", "derived": REFUSED_BY_PERSON}
    if denial in _CUT_SHORT or text.startswith(("<tool_use_error>", "[Request interrupted")):
        # A call with a mistake in it is turned away before hooks are asked; one that was cut short, at any time.
        return {"decision": UNKNOWN, "derived": NOT_TOLD}
    if denial or _BY_RULE.match(text):
        return {"decision": "deny", "reason": text, "derived": REFUSED}
    return {}


def _is_typed(entry: Mapping[str, Any]) -> bool:
    """Say whether an entry has the words of a person, and not of a program that stands in for one."""
    origin = entry.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    marks = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly", "agentId")
    return kind in (None, "human") and not any(entry.get(mark) for mark in marks)


def _blocks(content: Any, kind: str) -> list[Mapping[str, Any]]:
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping) and block.get("type") == kind]


def _plain(content: Any) -> str:
    """Return the text of a message, which stands there as it is or in blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(_text_of(block.get("text")) for block in _blocks(content, "text"))


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""
