"""Transcripts of Claude Code: prompts, tool calls and their results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from glob import escape, glob
from typing import Any

from ...runtime.regex import regex
from ..recording import UNKNOWN
from .base import NOT_TOLD, REFUSED, REFUSED_BY_PERSON, Fate, Read, TranscriptReader, is_object, mapping_of, text_of

__all__ = ["ClaudeReader", "subagent_transcripts"]

# How texts begin that Claude Code writes in place of a person's prompt.
_NOT_TYPED = ("<command-", "<local-command-", "<bash-", "<task-notification", "<system-reminder", "Caveat: ",
              "[Request interrupted by user")  # fmt: skip
_BLOCKED_PROMPT = regex(
    r"UserPromptSubmit operation blocked by hook:\n(?P<reason>.*?)\n+Original prompt: (?P<prompt>.*)", re.DOTALL
)

_BY_PERSON = ("The user doesn't want to ", "User rejected tool use")
_BY_RULE = regex(
    r"PreToolUse:\S+ hook |Permission (to use|for this) |Claude requested permissions to |"
    r"\S+ operation blocked by hook|This \w+ command contains multiple operations"
)
_CUT_SHORT = ("interrupted", "cancelled")
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Entries that name a session, and the field with the name; what a person has chosen comes first."""


def subagent_transcripts(path: str) -> list[str]:
    """Return the transcripts of the subagents of a session."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    return sorted(glob(os.path.join(escape(folder), "agent-*.jsonl")))


class ClaudeReader(TranscriptReader):
    """Reads the entries of Claude Code."""

    AGENT = "claude"
    SAME_IDS = True

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._titles: dict[str, str] = {}

    @classmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is a message of the user or the assistant."""
        return entry.get("type") in ("user", "assistant") and "message" in entry

    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an entry says."""
        self._note(entry)
        content = mapping_of(entry.get("message")).get("content")
        kind, time = entry.get("type"), text_of(entry.get("timestamp"))
        if kind == "assistant":
            for block in _blocks(content, "tool_use"):
                call, tool = text_of(block.get("id")), text_of(block.get("name"))
                yield from self.called(call, tool, block.get("input"), time, self._base(entry))
        elif kind == "user":
            results = _blocks(content, "tool_result")
            for block in results:
                yield from self._result(entry, block, alone=len(results) == 1)
            if not results and _is_typed(entry):
                prompt = _plain(content)
                if not prompt.lstrip().startswith(_NOT_TYPED):
                    yield from self.prompted(prompt, time, text_of(entry.get("uuid")), self._base(entry))
        elif kind == "system" and (blocked := _BLOCKED_PROMPT.match(text_of(entry.get("content")))):
            yield from self.prompted(
                blocked["prompt"], time, text_of(entry.get("uuid")), self._base(entry), decision="deny",
                reason=blocked["reason"].strip(), derived=REFUSED,
            )  # fmt: skip

    def _note(self, entry: Mapping[str, Any]) -> None:
        """Remember what an entry says of the session."""
        if not entry.get("isSidechain"):
            self.session = self.session or text_of(entry.get("sessionId"))
        self.cwd = self.cwd or text_of(entry.get("cwd"))
        if entry.get("cwd"):
            self.version = text_of(entry.get("version")) or self.version
        if (field := _TITLES.get(text_of(entry.get("type")))) and text_of(entry.get(field)):
            self._titles[field] = text_of(entry.get(field))
            self.title = next(self._titles[one] for one in _TITLES.values() if one in self._titles)

    def _result(self, entry: Mapping[str, Any], block: Mapping[str, Any], *, alone: bool) -> Iterator[Read]:
        call, text, time = text_of(block.get("tool_use_id")), _plain(block.get("content")), entry.get("timestamp")
        if (fate := _fate(call, text, block, entry)) is not None:
            yield from self.refused(*fate)
        else:
            # The tool's own result is in the entry, unless several results share the entry.
            told = entry.get("toolUseResult") if alone else None
            response = block.get("content") if told is None else told
            yield from self.ended(call, response, text_of(time), failed=bool(block.get("is_error")), error=text)

    def _base(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        base = {"session_id": text_of(entry.get("sessionId")), "transcript_path": self.path,
                "cwd": text_of(entry.get("cwd"))}  # fmt: skip
        for name, theirs in (("permission_mode", "permissionMode"), ("agent_id", "agentId")):
            if value := text_of(entry.get(theirs)):
                base[name] = value
        return base


def _fate(call: str, text: str, block: Mapping[str, Any], entry: Mapping[str, Any]) -> Fate | None:
    """Return the decision about a call that did not run; None if it ran."""
    if not block.get("is_error"):
        return None
    denial = text_of(entry.get("toolDenialKind"))
    if denial == "user-rejected" or (not denial and text.startswith(_BY_PERSON)):
        return Fate(call, "ask", REFUSED_BY_PERSON)
    if denial in _CUT_SHORT or text.startswith(("<tool_use_error>", "[Request interrupted")):
        # An invalid call is refused before its hooks run; an interrupted call may have been at any point.
        return Fate(call, UNKNOWN, NOT_TOLD)
    if denial or _BY_RULE.match(text):
        return Fate(call, "deny", REFUSED, text)
    return None


def _is_typed(entry: Mapping[str, Any]) -> bool:
    """Say whether a person typed an entry, and not a program."""
    kind = mapping_of(entry.get("origin")).get("kind")
    marks = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly", "agentId")
    return kind in (None, "human") and not any(entry.get(mark) for mark in marks)


def _blocks(content: Any, kind: str) -> list[Mapping[str, Any]]:
    if not isinstance(content, list):
        return []
    return [block for block in content if is_object(block) and block.get("type") == kind]


def _plain(content: Any) -> str:
    """Return the text of a message, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(text_of(block.get("text")) for block in _blocks(content, "text"))
