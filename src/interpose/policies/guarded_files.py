"""Which changed files guard the agent: Interpose's own, the settings of agents, and what agents are told."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence

from ..matching.paths import is_hard_link
from ..matching.shell.words import MANY, ONE
from ..matching.tool_inputs import TooMuch, kind_of_key, limited_values, plain_key
from ..runtime.regex import regex
from .agent_files import AGENT_FILES, INSTRUCTIONS, MOVED_HOMES, OWN_FILES, own_folders
from .call import Call
from .changes import Change, label_of
from .effects import Effect
from .effects.rows import written
from .effects.tools import files_of_patch, kind_of_tool

__all__ = ["guard_of", "hidden_changes", "is_own"]

_PARENTS = AGENT_FILES.parents
_UNPACKS = frozenset({"tar", "bsdtar", "gtar", "unzip", "7z", "7za", "cpio", "rsync", "unrar", "ditto"})
_COPIES = frozenset({"cp", "gcp", "ditto", "ln", "gln", "link"})
_FINDERS = frozenset({"find", "gfind", "bfs"})
_PLACES = frozenset({"cwd", "workdir", "workingdirectory"})
"""Keys whose value says where a command runs."""
_LONGEST_VALUE = 4_096
_LONGEST_PATCH = 1_000_000
_MOST_ENTRIES = 200


def guard_of(change: Change, call: Call, agents: Sequence[str]) -> str:
    """Return what a changed file is: ``own``, ``settings`` or ``instructions``; an empty text if it guards nothing."""
    if is_own(change, call) or _runs_interpose(change):
        return "own"
    agent = label_of(change, AGENT_FILES, call) or _in_moved_home(change)
    if agent and _is_meant(agent, agents):
        return "settings"
    if change.names and (found := _by_disk(change, call, agents)):
        return found
    return "instructions" if label_of(change, INSTRUCTIONS, call) else ""


_MARKS = regex(f"[{ONE}{MANY}]")
_BELOW_UNKNOWN = regex(rf"[{ONE}{MANY}]/interpose/(?:hooks\.|trust|state|sessions)")
"""A file of Interpose in a directory that a variable names."""
_DEPENDENCIES = frozenset({"re2", "yaml", "_yaml", "google_re2"})
"""Packages without which Interpose does not run."""


def _runs_interpose(change: Change) -> bool:
    """Return whether a changed file runs Interpose: its interpreter, its environment, or a package that it needs."""
    if not change.names:  # a pattern for files of a directory
        folder, _, begin = _MARKS.split(change.path)[0].rpartition("/")
        return _has_program(folder) and any(
            one.startswith(begin) for one in ("bin", "interpose", "pyvenv.cfg", "python")
        )
    for name in change.names:
        folder, base = os.path.split(name)
        if os.path.basename(folder) == "bin" and base.startswith("python") and _has_program(folder):
            return True
        if change.whole and _has_program(name):
            return True
        if base == "pyvenv.cfg" and _has_program(folder):
            return True
        before, site, after = name.rpartition("/site-packages/")
        if site and after.split("/")[0] in _DEPENDENCIES and _has_program(os.path.dirname(os.path.dirname(before))):
            return True
    return False


def _has_program(folder: str) -> bool:
    """Return whether a folder for programs, or one that has such a folder, has Interpose's program."""
    is_for_programs = os.path.basename(folder) in ("bin", "Scripts")
    return os.path.lexists(os.path.join(folder, "interpose" if is_for_programs else "bin/interpose"))


def _by_disk(change: Change, call: Call, agents: Sequence[str]) -> str:
    """Return what a changed file is that has another name, or holds files of the guards."""
    effect, last = change.effect, change.names[-1]
    if (change.whole or effect.kind == "change-mode") and (found := _held(change, call, agents)):
        return found
    if os.path.basename(last).lower() in _PARENTS and _is_filled(change, call):
        return "settings"
    if effect.program in _FINDERS and (found := _found_by_name(change, call)):
        return found
    return "settings" if _has_other_names(last) and is_hard_link(last, _existing(call)) else ""


def _is_filled(change: Change, call: Call) -> bool:
    """Return whether a command puts files whose names it does not say into an agent's folder."""
    program = change.effect.program
    if program in _UNPACKS or (program in _COPIES and change.path.endswith("/.")):
        return True
    words = _words_of(change, call)
    if program == "git":
        return "clone" in words
    if program not in _COPIES or change.path.endswith("/"):
        return False
    name = os.path.basename(change.path)
    is_tree = any(word.startswith("-") and set("rRa") & set(word) for word in words)
    return any(os.path.basename(word.rstrip("/")) == name for word in words[:-1]) or (
        is_tree and not os.path.lexists(change.names[0])
    )


def _words_of(change: Change, call: Call) -> list[str]:
    """Return the words of the command that changes a file."""
    found = call.commands_of(change.effect)
    return [written(word) for word in found[0][1].parts[1:]] if found else []


def hidden_changes(call: Call) -> Iterator[Change]:
    """Yield files that a call may change and no effect names: under other keys of an input, and in files of patches."""
    yield from _by_other_keys(call)
    yield from _by_patch_files(call)


def _by_other_keys(call: Call) -> Iterator[Change]:
    """Yield the files that values of an input name whose keys do not say that they are paths."""
    if kind_of_tool(call.tool, call.input) == "read-files":
        return
    try:
        for key, value, _ in limited_values(call.input):
            if kind_of_key(key) is None and plain_key(key) not in _PLACES and _may_be_path(value):
                path = os.path.join(call.cwd, os.path.expanduser(value))
                effect = Effect("write-files", path, call.tool, call.tool, "possible")
                yield Change(effect, path, call.names_of(path), False)
    except TooMuch:
        return


def _may_be_path(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) < _LONGEST_VALUE and "\n" not in value


def _by_patch_files(call: Call) -> Iterator[Change]:
    """Yield the files that a patch changes which stands in a file: ``git apply FILE``, ``patch -p1 < FILE``."""
    for line in call.lines:
        for command in line.commands:
            words = [written(word) for word in command.parts[1:]]
            if command.name != "patch" and not (command.name == "git" and {"apply", "am"} & set(words)):
                continue
            words += [written(one.target) for one in command.redirections if one.is_input and not one.text]
            folder = os.path.join(call.cwd, command.directories[0] if command.directories else "")
            for word in words:
                for kind, name in files_of_patch(_content(os.path.join(folder, os.path.expanduser(word)))):
                    effect = Effect(kind, os.path.join(folder, name), " ".join(words[:3]), command.name)
                    yield Change(effect, effect.target, call.names_of(effect.target), False)


def _content(path: str) -> str:
    """Return the content of a regular file, up to a limit; nothing if it cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, encoding="utf-8", errors="replace") as opened:
            return opened.read(_LONGEST_PATCH)
    except (OSError, ValueError):
        return ""


def is_own(change: Change, call: Call) -> bool:
    """Return whether a changed file is one of Interpose's."""
    if label_of(change, OWN_FILES, call) or (not change.names and _BELOW_UNKNOWN.match(change.path)):
        return True
    folders = own_folders(call.home)
    return any(name == folder or name.startswith(f"{folder}/") for name in change.names for folder in folders)


def _in_moved_home(change: Change) -> str:
    """Return the agent whose settings a file is, where a variable has moved them."""
    for variable, folder in MOVED_HOMES.items():
        base = os.environ.get(variable, "").rstrip("/")
        for name in change.names:
            if os.path.isabs(base) and name.startswith(f"{base}/"):
                return AGENT_FILES.label_of(f"/{folder}{name[len(base) :]}", "/")
    return ""


def _is_meant(agent: str, agents: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(agent, one.lower()) for one in agents)


def _held(change: Change, call: Call, agents: Sequence[str]) -> str:
    """Return the parameter for a folder that is deleted, moved or locked with files of the guards in it."""
    folder = change.names[-1]
    if change.whole and os.path.basename(folder).casefold() in _PARENTS:
        return "settings"
    if os.path.basename(folder) == "bin" and os.path.lexists(os.path.join(folder, "interpose")):
        return "own"
    if not change.whole or not os.path.isdir(folder):
        return ""
    bases = (folder, *(base for base in (call.project, call.cwd, call.home) if _holds(folder, base)))
    if any(_holds(folder, path) and os.path.lexists(path) for path in own_folders(call.home)):
        return "own"
    if any(_holds(folder, path) for _, path in OWN_FILES.below(bases, call.home)):
        return "own"
    found = (label for label, path in AGENT_FILES.below(bases, call.home) if _holds(folder, path))
    return "settings" if any(_is_meant(agent, agents) for agent in found) else ""


def _found_by_name(change: Change, call: Call) -> str:
    """Return the parameter for files that find changes by name: one that exists below the folder has that name."""
    folder, name = os.path.split(change.names[0])
    for parameter, table in (("own", OWN_FILES), ("settings", AGENT_FILES)):
        for _, path in table.below((call.project, call.home), call.home):
            files = [path] if os.path.isfile(path) else [one.path for one in _entries(path)]
            if any(_holds(folder, one) and fnmatch.fnmatchcase(os.path.basename(one), name) for one in files):
                return parameter
    return ""


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except OSError:
        return []


def _has_other_names(path: str) -> bool:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return found.st_nlink > 1 and stat.S_ISREG(found.st_mode)


def _existing(call: Call) -> list[str]:
    """Return the files of the guards that exist in the project and the home."""
    tables = (OWN_FILES, AGENT_FILES)
    return [path for table in tables for _, path in table.below((call.project, call.home), call.home)]


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
