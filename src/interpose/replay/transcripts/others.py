"""Transcripts of Gemini CLI 0.61, Qwen Code 0.24, Copilot CLI 1.0 and Droid 0.215."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ...dialects.agents import agent_dialect
from ...dialects.agents.tools import ToolMapping, to_ours
from ...errors import BadEvent
from ...runtime.regex import regex
from ..recording import UNKNOWN
from .base import NOT_TOLD, REFUSED, REFUSED_BY_PERSON, Read, TranscriptReader, is_object, mapping_of, text_of

__all__ = ["CopilotReader", "DroidReader", "GeminiReader", "QwenReader"]

_BLOCKED = "Tool execution blocked: "
_OUR_DENY = "denied by rule "
_WORKSPACE = regex(r"Workspace Directories:\*\*\s+- (?P<path>[^\n]{1,4096})")


class _MappedReader(TranscriptReader):
    """Reads calls under the agent's own names, and gives them ours, as its dialect does."""

    def called(
        self, call: str, tool: str, given: Any, time: str, base: Mapping[str, Any] | None = None
    ) -> Iterator[Read]:
        """Yield the event before a call."""
        known = agent_tools(self.AGENT).get(tool)
        if known is not None and is_object(given):
            try:
                tool, given = known.name, to_ours(known, given)
            except BadEvent:  # two of its keys would be one: it keeps its own names
                pass
        yield from super().called(call, tool, given, time, base)


class GeminiReader(_MappedReader):
    """Reads the entries of Gemini CLI: messages, which are written again when they change, and changes of the head."""

    AGENT = "gemini"

    @classmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is the first one of a session, or a message with tool calls."""
        return {"sessionId", "projectHash"} <= entry.keys() or entry.get("type") == "gemini"

    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an entry says."""
        if "projectHash" in entry:
            self.session = self.session or text_of(entry.get("sessionId"))
        self.title = text_of(entry.get("summary")) or self.title
        changed = mapping_of(entry.get("$set"))
        self.title = text_of(changed.get("summary")) or self.title
        messages = changed.get("messages")
        for message in messages if isinstance(messages, list) else [entry]:
            yield from self._message(mapping_of(message))

    def _message(self, message: Mapping[str, Any]) -> Iterator[Read]:
        time, content = text_of(message.get("timestamp")), message.get("content")
        if message.get("type") == "user":
            text = content if isinstance(content, str) else _parts_text(content)
            if text.startswith("<session_context>"):
                if found := _WORKSPACE.search(text):
                    self.cwd = self.cwd or found["path"].strip()
            else:
                yield from self.prompted(text, time, text_of(message.get("id")))
        calls = message.get("toolCalls")
        for call in filter(is_object, calls if isinstance(calls, list) else ()):
            name, number = text_of(call.get("name")), text_of(call.get("id"))
            yield from self.called(number, name, call.get("args"), text_of(call.get("timestamp")) or time)
            yield from self._ended(number, call, time)

    def _ended(self, number: str, call: Mapping[str, Any], time: str) -> Iterator[Read]:
        status, result = call.get("status"), _response(call.get("result"))
        error = text_of(mapping_of(result).get("error"))
        if status == "cancelled":
            yield from self.refused(number, "ask", REFUSED_BY_PERSON)
        elif status == "error" and error.startswith(_BLOCKED):
            yield from self.refused(number, "deny", REFUSED, error.removeprefix(_BLOCKED))
        elif status == "error":  # an invalid call is refused before its hooks run; a command that fails is a success
            yield from self.refused(number, UNKNOWN, NOT_TOLD)
        elif status == "success":
            yield from self.ended(number, result, time)


class QwenReader(_MappedReader):
    """Reads the entries of Qwen Code: Claude's envelope with Gemini's messages."""

    AGENT = "qwen"

    @classmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is a message in parts."""
        return "sessionId" in entry and isinstance(mapping_of(entry.get("message")).get("parts"), list)

    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an entry says."""
        self.session = self.session or text_of(entry.get("sessionId"))
        self.cwd = text_of(entry.get("cwd")) or self.cwd
        self.version = text_of(entry.get("version")) or self.version
        if entry.get("subtype") == "custom_title":
            self.title = text_of(mapping_of(entry.get("systemPayload")).get("customTitle")) or self.title
        parts, time = mapping_of(entry.get("message")).get("parts"), text_of(entry.get("timestamp"))
        if entry.get("type") == "user" and entry.get("provenance", "real_user") == "real_user":
            yield from self.prompted(_parts_text(parts), time, text_of(entry.get("uuid")))
        for part in filter(is_object, parts if isinstance(parts, list) else ()):
            call, answer = mapping_of(part.get("functionCall")), mapping_of(part.get("functionResponse"))
            if call:
                name = text_of(call.get("name"))
                yield from self.called(text_of(call.get("id")), name, call.get("args"), time)
            if answer:
                yield from self._ended(text_of(answer.get("id")), entry, mapping_of(answer.get("response")), time)

    def _ended(self, call: str, entry: Mapping[str, Any], response: Mapping[str, Any], time: str) -> Iterator[Read]:
        told, error = mapping_of(entry.get("toolCallResult")), text_of(response.get("error"))
        if told.get("status") == "cancelled":
            yield from self.refused(call, "ask", REFUSED_BY_PERSON)
        elif told.get("errorType") == "execution_denied":
            yield from self.refused(call, "deny", REFUSED, error)
        elif told.get("executionStatus") == "not_started":
            yield from self.refused(call, UNKNOWN, NOT_TOLD)
        else:
            yield from self.ended(call, response, time, failed=bool(error), error=error)


class CopilotReader(_MappedReader):
    """Reads the events of Copilot CLI."""

    AGENT = "copilot"

    @classmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is an event of a session."""
        kind = text_of(entry.get("type"))
        return is_object(entry.get("data")) and kind.startswith(("session.", "assistant.", "user.", "tool."))

    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an event says."""
        kind, data, time = entry.get("type"), mapping_of(entry.get("data")), text_of(entry.get("timestamp"))
        if kind in ("session.start", "session.resume"):
            self.session = self.session or text_of(data.get("sessionId"))
            self.version = text_of(data.get("copilotVersion")) or self.version
            self.cwd = text_of(mapping_of(data.get("context")).get("cwd")) or self.cwd
        elif kind == "user.message":
            yield from self.prompted(text_of(data.get("content")), time, text_of(entry.get("id")))
        elif kind == "assistant.message":
            requests = data.get("toolRequests")
            for one in filter(is_object, requests if isinstance(requests, list) else ()):
                yield from self._call(one.get("toolCallId"), one.get("name"), one.get("arguments"), time)
        elif kind == "tool.execution_start":
            yield from self._call(data.get("toolCallId"), data.get("toolName"), data.get("arguments"), time)
        elif kind == "tool.execution_complete":
            yield from self._ended(text_of(data.get("toolCallId")), data, time)

    def _call(self, call: Any, name: Any, given: Any, time: str) -> Iterator[Read]:
        yield from self.called(text_of(call), text_of(name), given, time)

    def _ended(self, call: str, data: Mapping[str, Any], time: str) -> Iterator[Read]:
        error = mapping_of(data.get("error"))
        code, said = text_of(error.get("code")), text_of(error.get("message"))
        if code == "rejected":
            yield from self.refused(call, "ask", REFUSED_BY_PERSON)
        elif code == "denied":
            yield from self.refused(call, "deny", REFUSED, said)
        else:
            failed = data.get("success") is False
            yield from self.ended(call, data.get("result"), time, failed=failed, error=said)


class DroidReader(_MappedReader):
    """Reads the entries of Droid: a head, and messages in Claude's blocks."""

    AGENT = "droid"

    @classmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is the head of a session, or a message in an envelope of its own."""
        kind = entry.get("type")
        return kind == "session_start" or (kind == "message" and is_object(entry.get("message")))

    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an entry says."""
        if entry.get("type") == "session_start":
            self.session = self.session or text_of(entry.get("id"))
            self.cwd = text_of(entry.get("cwd")) or self.cwd
            self.title = text_of(entry.get("title")) or self.title
        said, time = mapping_of(entry.get("message")), text_of(entry.get("timestamp"))
        blocks = said.get("content")
        for block in filter(is_object, blocks if isinstance(blocks, list) else ()):
            kind, text = block.get("type"), text_of(block.get("text"))
            if kind == "tool_use":
                call, name = text_of(block.get("id")), text_of(block.get("name"))
                yield from self.called(call, name, block.get("input"), time)
            elif kind == "tool_result":
                yield from self._ended(text_of(block.get("tool_use_id")), block, time)
            elif kind == "text" and said.get("role") == "user" and not text.startswith("<system-reminder"):
                yield from self.prompted(text, time, text_of(entry.get("id")))

    def _ended(self, call: str, block: Mapping[str, Any], time: str) -> Iterator[Read]:
        said = text_of(block.get("content"))
        if block.get("is_error") and said.startswith(f"Error: {_OUR_DENY}"):
            yield from self.refused(call, "deny", REFUSED, said.removeprefix("Error: ").strip())
        elif block.get("is_error") and not said.startswith("Error: Command failed"):
            yield from self.refused(call, UNKNOWN, NOT_TOLD)  # a hook's deny looks like any other error
        else:
            yield from self.ended(call, said, time, failed=bool(block.get("is_error")), error=said)


@cache
def agent_tools(agent: str) -> Mapping[str, ToolMapping]:
    """Return the tools of an agent that have another name or other keys here."""
    found: Mapping[str, ToolMapping] = getattr(agent_dialect(agent), "TOOLS", {})
    return found


def _parts_text(parts: Any) -> str:
    found = [text_of(part.get("text")) for part in parts if is_object(part)] if isinstance(parts, list) else []
    return "\n".join(text for text in found if text)


def _response(result: Any) -> Any:
    """Return the response in the result of a call of Gemini's."""
    first = mapping_of(result[0]) if isinstance(result, list) and result else {}
    return mapping_of(first.get("functionResponse")).get("response")
