"""Transcripts: the conversation as JSON lines in the format of Claude Code, which hooks and `interpose replay` read.

Every line is one write, made when the message is sent.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from interpose.models import Assistant, Message, ToolResults, User

__all__ = ["Transcript"]


class Transcript:
    """One agent's conversation on disk."""

    def __init__(self, path: Path, *, session_id: str, cwd: Path, agent: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._about = {"sessionId": session_id, "cwd": str(cwd), "isSidechain": bool(agent)}
        if agent:
            self._about["agentId"] = agent
        self._last: str | None = None
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(path, flags, 0o600)

    def add(self, message: Message) -> None:
        """Append a message."""
        match message:
            case User():
                self._line("user", message={"role": "user", "content": message.content})
            case Assistant():
                said: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
                said += [
                    {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
                    for call in message.calls
                ]
                self._line("assistant", message={"role": "assistant", "content": said})
            case ToolResults():
                results = [
                    {"type": "tool_result", "tool_use_id": result.id, "content": result.content,
                     "is_error": not result.ok}
                    for result in message.results
                ]  # fmt: skip
                self._line("user", message={"role": "user", "content": results})

    def note(self, subtype: str, content: str, **more: Any) -> None:
        """Append a note, such as that of a compaction."""
        self._line("system", subtype=subtype, content=content, **more)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _line(self, kind: str, **more: Any) -> None:
        own = str(uuid4())
        line = {
            "type": kind, "uuid": own, "parentUuid": self._last,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **self._about, **more,
        }  # fmt: skip
        self._last = own
        os.write(self._file, json.dumps(line, default=str).encode() + b"\n")
