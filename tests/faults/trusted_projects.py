"""Projects with a configuration that a person may trust."""

import os
from pathlib import Path

from interpose import Hooks
from interpose.config.read import Source
from interpose.config.review import Review, review
from interpose.config.trust import trust
from interpose.events import TABLE

DENY = "def check(event):\n    return {'decision': 'deny'}\n"
GUARD = "hooks:\n  PreToolUse:\n    - {name: guard, command: 'echo no >&2; exit 2'}\n"


class Project:
    """A directory with a configuration of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = self.write(".interpose/hooks.yaml", GUARD)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def review(self) -> Review:
        """Read it as it is now."""
        return review(TABLE, Source(str(self.file), "project", None, found=True))

    def changes(self) -> dict[str, str]:
        """Return the originals that are not as they were trusted."""
        (origin,) = Hooks.discover(self.folder, changed="keep").origins
        return {os.path.relpath(path, self.folder): how for path, how in origin.changes}

    def denies(self, cwd: Path | None = None) -> bool:
        """Fire an event and return whether it is denied."""
        hooks = Hooks.discover(self.folder, changed="keep")
        return hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(cwd or self.folder)).denied

    def trust(self) -> None:
        """Do what the person does after a look at it."""
        trust(self.file)

    @property
    def armed(self) -> list[str | None]:
        return [hook.name for hook in Hooks.discover(self.folder, changed="keep")]

    @property
    def warnings(self) -> list[str]:
        return [str(problem) for problem in Hooks.discover(self.folder, changed="keep").warnings]
