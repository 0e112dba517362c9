"""Append one line of JSON for each event to a file that only its owner can read."""

import json
import os
from datetime import UTC, datetime

FIELDS = [
    "session_id", "agent_id", "tool_name", "tool_use_id", "tool_input", "tool_response", "error", "prompt", "source",
    "reason", "cwd",
]  # fmt: skip
"""The fields that are recorded, if an event has them."""

LONGEST = 2_000
"""The maximum length of a value; longer values are cut."""


def write(event):
    """Record an event. Raises if the line cannot be written; `onError` says whether that denies."""
    record = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event.hook_event_name}
    record |= {name: _cut(event[name]) for name in FIELDS if event.get(name)}
    line = json.dumps(record, ensure_ascii=False, default=repr).encode("utf-8", "backslashreplace") + b"\n"
    opened = os.open(_file(), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # One write, so that lines of several processes do not mix. The write is partial only if the disk is full.
        if os.write(opened, line) != len(line):
            raise OSError(f"{_file()}: only a part of the record could be written")
    finally:
        os.close(opened)


def _cut(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    return value if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _file():
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = os.environ.get("INTERPOSE_AUDIT_FILE") or os.path.join(state, "interpose", "audit.jsonl")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return path
