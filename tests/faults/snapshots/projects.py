"""A project that an agent works in, and what its hooks say."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome
from interpose.cli import main
from interpose.config import snapshots, trust

GUARD = "import json, sys\njson.load(sys.stdin)\nsys.exit(2)\n"
LOCKED = (
    "hooks:\n  PreToolUse:\n    - {name: guard, locked: true, onError: abort, type: command, handler: ./guard.py}\n"
)


class Project:
    """A directory that an agent works in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True)
        self.dialect: str | None = None

    @property
    def file(self) -> Path:
        return self.folder / (".claude/settings.json" if self.dialect else ".interpose/hooks.yaml")

    def write(self, name: str, text: str) -> Path:
        """Write a file; one with a first line for an interpreter is executable."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
        return path

    def configure(self, *hooks: dict[str, Any], **settings: Any) -> None:
        self.write(".interpose/hooks.yaml", json.dumps({"hooks": {**settings, "PreToolUse": list(hooks)}}))

    def settings(self, command: str, **more: Any) -> None:
        """Write settings of Claude Code."""
        handler = {"type": "command", "command": command, **more}
        self.dialect = "claude"
        self.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))

    def trust(self) -> snapshots.Snapshot:
        return trust.trust(self.file, dialect=self.dialect)

    def fire(self, cwd: Path | None = None, **options: Any) -> Outcome:
        hooks = Hooks.discover(self.folder, dialect=self.dialect, changed="keep", **options)
        return hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(cwd or self.folder))


def said_no(outcome: Outcome) -> bool:
    """Return whether hooks themselves denied: one that fails, or is missing, denies for another reason."""
    return outcome.denied and all(result.error is None for result in outcome.results)


def reply(monkeypatch: pytest.MonkeyPatch, event: dict[str, Any], *words: str) -> int:
    """Fire an event as a client does; return the exit status."""
    given = json.dumps({"tool_name": "Bash", "tool_input": {}, **event})
    return main(["fire", "PreToolUse", "--reply", "claude", "--input", given, *words])
