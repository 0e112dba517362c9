"""The messages of commits, and which writes are done and undone according to them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .git import Blob

__all__ = ["Journal", "Write", "message"]

_NAME = re.compile(r"[0-9a-f]{40}")
_MODES = ("100644", "100755")


@dataclass(frozen=True)
class Write:
    """One write of an agent."""

    commit: str
    path: str
    """Relative to the root of the work tree."""
    time: int
    """Seconds since 1970."""
    session: str
    note: str
    before: Blob | None
    """The file before; None if it did not exist."""
    after: Blob
    made: int = 0
    """How many directories were created for it."""
    undone: bool = False


def message(kind: str, path: str, **facts: Any) -> str:
    """Return a commit's message: a line for people, and a line of JSON."""
    return f"{kind} {json.dumps(path)[1:-1]}\n\n{json.dumps({'kind': kind, 'path': path, **facts})}\n"


class Journal:
    """The writes that are done, and those that were undone and can be redone; the last one is last."""

    def __init__(self, commits: Iterable[tuple[str, int, str]]) -> None:
        self.writes: dict[str, Write] = {}
        self.done: list[str] = []
        self.undone: list[str] = []
        for commit, when, text in commits:
            facts = _facts(text)
            kind, of = facts.get("kind"), facts.get("of")
            if kind == "write" and (write := _write(commit, when, facts)):
                self.writes[commit] = write
                self.done.append(commit)
                self.undone.clear()  # as in an editor: after a new write nothing can be redone
            elif kind == "undo" and of in self.done:
                self.done.remove(of)
                self.undone.append(of)
            elif kind == "redo" and of in self.undone:
                self.undone.remove(of)
                self.done.append(of)


def _facts(text: str) -> dict[str, Any]:
    """Return the JSON of a message; empty for a commit that is not ours."""
    try:
        facts = json.loads(text.strip().rpartition("\n")[2])
    except (ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _write(commit: str, when: int, facts: dict[str, Any]) -> Write | None:
    before, after = (_blob(facts.get(key)) for key in ("before", "after"))
    words = [facts.get(key) for key in ("path", "session", "note")]
    made = facts.get("made")
    if after is None or not isinstance(made, int) or (before is None and facts.get("before") is not None):
        return None
    path, session, note = (word if isinstance(word, str) else "" for word in words)
    return Write(commit, path, when, session, note, before, after, made) if path else None


def _blob(value: Any) -> Blob | None:
    match value:
        case [str(mode), str(name)] if mode in _MODES and _NAME.fullmatch(name):
            return mode, name
        case _:
            return None
