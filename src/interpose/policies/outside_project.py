"""Ask about writing outside the project and the directories for temporary files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..matching.paths import PathPattern
from .call import Call
from .changes import Change, changes_of
from .effects import Effect, say
from .file_table import FileTable
from .parameters import action, paths
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_NOTES = FileTable({
    "agents": """
        ~/.claude/plans/ ~/.claude/projects/ ~/.claude/todos/ ~/.claude/tasks/ ~/.codex/memories/ ~/.gemini/tmp/
        ~/.qwen/tmp/ ~/.cursor/plans/ ~/.cursor/projects/ ~/.copilot/session-state/ ~/.claude/jobs/
        ~/.claude/scratchpad/
    """
})  # fmt: skip
"""Folders in which agents keep their own plans and notes."""
_KINDS = (
    "write-files", "empty-files", "make-folder", "change-files", "delete-files", "delete-files-for-good", "move-files",
)  # fmt: skip
_GIT = ("commit-here", "amend", "lose-untracked", "lose-stash", "lose-commits", "rewrite-history")
_INSTEAD = "write inside the project, or add the folder to folders"


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    allowed = options["folders"]
    for change in changes_of(call, *_KINDS):
        parameter = "tools" if change.effect.command == call.tool else "commands"
        if options[parameter] != "allow" and _is_outside(change, call, allowed):
            yield Objection(options[parameter], say(change.effect, _INSTEAD), change.effect.grade)
    if options["commands"] != "allow":
        for effect in call.of(*_GIT):
            if effect.directory and _is_outside(_repository(effect, call), call, allowed):
                reason = f"`{effect.command}` changes the repository in {effect.directory} ({_INSTEAD})"
                yield Objection(options["commands"], reason, effect.grade)
    if options["reads"] != "allow":
        for change in changes_of(call, "read-files"):
            if _is_outside(change, call, allowed):
                yield Objection(options["reads"], say(change.effect), change.effect.grade)


def _repository(effect: Effect, call: Call) -> Change:
    path = os.path.join(effect.directory or call.cwd, "x")
    return Change(effect, path, (path,), False)


def _is_outside(change: Change, call: Call, allowed: tuple[PathPattern, ...]) -> bool:
    places = {call.place_of(path) for path in change.names}
    if "root" in places:
        projects = (call.project, os.path.realpath(call.project))
        places = (places - {"root"}) | {"inside" if set(change.names) & set(projects) else "outside"}
    if "outside" not in places or _is_in_repository(change, call):
        return False
    if any(_NOTES.label_of(name, call.home) for name in change.names[-1:]):
        return False
    return not any(pattern.covers(change.path, call.cwd) for pattern in allowed)


def _is_in_repository(change: Change, call: Call) -> bool:
    """Return whether a file is in the repository that the project is a part of."""
    folder = os.path.realpath(call.project)
    while folder not in (os.sep, os.path.realpath(call.home), os.path.dirname(folder)):
        if os.path.lexists(os.path.join(folder, ".git")):
            return all(name.startswith(f"{folder}{os.sep}") for name in change.names[-1:])
        folder = os.path.dirname(folder)
    return False


POLICY = Policy(
    name="outside-project",
    prevents="Writing outside the project and the directories for temporary files.",
    judge=_judge,
    parameters=(
        action("tools", "ask", "writing with tools for files, such as Write and Edit"),
        action("commands", "ask", "writing with command lines"),
        action("reads", "allow", "reading outside the project"),
        paths("folders", "further folders to write to"),
    ),
    recommended={"commands": "allow"},
    notes="""
The project is the folder that the agent works in, with the git repository around it. A file whose path is only known
while the command runs counts as inside. Agents' own folders for plans and notes below the home are free.
""",
)
