"""Attach an agent and take it off: plan the changes of files, write them all or none, and give back what was there.

``plan`` reads and computes; ``write`` changes files and the record. Functions of this module do not ask who calls:
commands do.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from .agents import CodingAgent, Scope, find_agent
from .codex import disarmed, trust_of
from .elsewhere import switched_off_elsewhere
from .entry import SettingsEntry
from .errors import BadSettings
from .files import backup, digest_of, read_backup, read_bytes, remove_made, replace_file, text_of
from .record import Attached, WrittenFile, attachments, changing_attachments, key_of
from .shapes import ExecutableFile, JsonHooks, Made
from .toml_edit import parse_toml, remove_block, set_trust
from .watch import stamp_of

__all__ = ["Detached", "FileState", "Plan", "PlannedFile", "detach", "find_attachments", "plan",
           "states_of", "write"]  # fmt: skip


@dataclass(slots=True)
class PlannedFile:
    """A file that is to be written."""

    path: str
    kind: str
    before: bytes | None
    """What detaching gives back."""
    now: bytes | None
    """What is there at present: not the same if it was attached before."""
    after: bytes
    made: Made = field(default_factory=list)
    mode: int = 0o644

    def diff(self) -> Iterator[str]:
        """Return the lines of a diff."""
        old, new = (
            ("" if one is None else one.decode("utf-8", "replace")).splitlines() for one in (self.now, self.after)
        )
        return difflib.unified_diff(
            old, new, self.path if self.now is not None else "/dev/null", self.path, lineterm=""
        )


@dataclass(slots=True)
class Plan:
    """What attaching an agent changes."""

    agent: CodingAgent
    scope: Scope
    project: str
    entries: list[SettingsEntry]
    files: list[PlannedFile]
    doubts: list[str]
    """Why the agent may not read what is written."""
    others: int = 0
    """How many hooks of others stay there."""
    adopted: str = ""

    @property
    def key(self) -> str:
        """The key of the attachment in the record."""
        return key_of(self.agent.name, self.scope, self.agent.path(self.scope, self.project))

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to write."""
        return all(file.now == file.after for file in self.files)


def plan(
    agent: CodingAgent, scope: Scope, project: str, entries: Sequence[SettingsEntry], *, adopt_into: str = ""
) -> Plan:
    """Return what attaching an agent changes; write nothing. ``adopt_into`` is the file for the hooks of others."""
    place = agent.path(scope, project)
    shape = agent.shape_of(scope)
    known = attachments().get(key_of(agent.name, scope, place))
    made = Plan(agent, scope, project, list(entries), [], [])
    if isinstance(shape, ExecutableFile):
        for entry in entries:
            made.files.append(_planned(shape, _script(place, entry.name), [entry], known, mode=0o755))
    else:
        made.files.append(_planned(shape, place, entries, known))
        if isinstance(shape, JsonHooks):
            file = made.files[0]
            text = text_of(file.after, place)
            others = shape.groups(text, place)
            made.others = sum(map(len, others.values()))
            if adopt_into:
                _adopt(made, shape, others, adopt_into)
            made.doubts += shape.doubts(text, place)
    made.doubts += switched_off_elsewhere(agent, scope, project)
    if agent.name == "codex" and scope != "managed":
        made.files.append(_codex_trust(made.files[0], agent, project, known))
    if scope == "local":
        _keep_uncommitted(made, known)
    return made


def _script(folder: str, name: str) -> str:
    """Return the path of an event's script: a name that no script of others has."""
    for ending in ("", ".sh"):
        path = os.path.join(folder, name + ending)
        data = read_bytes(path)
        if data is None or ExecutableFile().lines(data.decode("utf-8", "replace"), path):
            return path
    raise BadSettings("is there already, and is not ours", where=os.path.join(folder, name), hint="move it away first")


def _planned(
    shape: Any, path: str, entries: Sequence[SettingsEntry], known: Attached | None, *, mode: int = 0o644
) -> PlannedFile:
    now = read_bytes(path)
    before, old = _original(path, now, known), _written(path, known)
    if before is not None and before is now and old is not None and now is not None:  # it was changed since
        before = shape.remove(text_of(now, path), old["made"], path).encode()
    text, made = shape.write(text_of(before or b"", path), entries, path)
    return PlannedFile(path, "entries", before, now, text.encode(), made, mode)


def _written(path: str, known: Attached | None) -> WrittenFile | None:
    return next((file for file in known["files"] if file["path"] == path), None) if known is not None else None


def _original(path: str, now: bytes | None, known: Attached | None) -> bytes | None:
    """Return what a file was before it was attached, if it was not changed since; else what it is now."""
    old = _written(path, known)
    if old is not None and now is not None and digest_of(now) == old["after"]:
        return read_backup(old["before"]) if old["before"] is not None else None
    return now


def _codex_trust(hooks: PlannedFile, agent: CodingAgent, project: str, known: Attached | None) -> PlannedFile:
    """Return the change of Codex's config that makes it run our hooks: a person who attaches trusts them."""
    path = os.path.join(os.path.dirname(agent.path("user", project)), "config.toml")
    now = read_bytes(path)
    before = _original(path, now, known)
    base = text_of(before or b"", path)
    text, _ = set_trust(remove_block(base), trust_of(text_of(hooks.after, hooks.path), hooks.path), path)
    return PlannedFile(path, "trust", before, now, text.encode(), mode=0o600)


def _adopt(made: Plan, shape: JsonHooks, others: Mapping[str, Any], path: str) -> None:
    """Plan to move the hooks of others into a file of ours, in Claude Code's dialect."""
    if not made.agent.adopts:
        raise UsageError(f"hooks of {made.agent.title} do not speak Claude Code's dialect, and cannot be adopted",
                         hint="leave --adopt out: they stay and still run")  # fmt: skip
    if not others:
        raise UsageError("there are no hooks of others to adopt", where=made.files[0].path, hint="leave --adopt out")
    if read_bytes(path) is not None:
        raise BadSettings("is there already", where=path, hint="move its hooks to another file of .interpose first")
    import json

    file = made.files[0]
    file.after = shape.without_others(text_of(file.after, file.path), file.path).encode()
    text = json.dumps({"dialect": "claude", "hooks": others}, indent=2, ensure_ascii=False) + "\n"
    made.files.append(PlannedFile(path, "adopted", None, None, text.encode()))
    made.adopted, made.others = path, 0


def _keep_uncommitted(made: Plan, known: Attached | None) -> None:
    """Plan that git does not commit local files; raise UsageError if git has one already."""
    own = [file for file in made.files if file.kind in ("entries", "adopted") and _is_below(file.path, made.project)]
    names = [os.path.relpath(file.path, made.project) for file in own]
    inside = _git(made.project, "rev-parse", "--git-path", "info/exclude")
    if not own or not inside:
        return
    tracked = _git(made.project, "ls-files", "--", *names)
    if tracked:
        first = tracked.splitlines()[0]
        more = " or ".join(f"--{one}" for one in made.agent.places if one in ("shared", "user"))
        raise UsageError(f"{first} is committed in this repository, so it is not local", hint=f"choose {more}")
    path = os.path.join(made.project, inside.strip())
    top = _git(made.project, "rev-parse", "--show-prefix").strip()
    ignored = _git(made.project, "check-ignore", "--", *names).splitlines()
    now = read_bytes(path)
    before = _original(path, now, known)
    present = text_of(before or b"", path)
    lines = [f"/{top}{name}".replace(os.sep, "/") for name in names
             if name not in ignored or _excludes(text_of(now or b"", path), f"/{top}{name}")]  # fmt: skip
    lines = [line for line in dict.fromkeys(lines) if line not in present.splitlines()]
    if lines:
        joint = "" if not present or present.endswith("\n") else "\n"
        text = present + joint + "".join(f"{line}\n" for line in lines)
        made.files.append(PlannedFile(path, "exclude", before, now, text.encode(), [[line] for line in lines]))


def _excludes(text: str, line: str) -> bool:
    return line in text.splitlines()


def _is_below(path: str, folder: str) -> bool:
    return os.path.abspath(path).startswith(os.path.join(os.path.abspath(folder), ""))


def _git(project: str, *arguments: str) -> str:
    """Return what git prints; nothing if there is no git, or no repository."""
    try:
        done = subprocess.run(["git", "-C", project, *arguments], capture_output=True, check=False, timeout=30,
                              stdin=subprocess.DEVNULL)  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else ""


def write(made: Plan) -> None:
    """Write a plan: all files or none. The record is written first, so that nothing is ever left without a way back."""
    key = made.key
    known = attachments().get(key)
    files: list[WrittenFile] = [
        {"path": file.path, "kind": file.kind, "before": backup(file.before) if file.before is not None else None,
         "after": backup(file.after), "made": file.made, "stamp": []}
        for file in made.files
    ]  # fmt: skip
    attached: Attached = {
        "agent": made.agent.name, "scope": made.scope, "project": made.project, "at": time.time(), "files": files,
        "directories": list(known["directories"]) if known is not None else [],
        "entries": [list(entry) for entry in made.entries], "leaving": False, "adopted": made.adopted,
    }  # fmt: skip
    with changing_attachments() as record:
        record[key] = attached
    done: list[tuple[PlannedFile, list[str]]] = []
    try:
        for file in made.files:
            folders = replace_file(file.path, file.after, expected=file.now, mode=file.mode)
            done.append((file, folders))
            attached["directories"] = folders + attached["directories"]
    except BaseException:
        for file, folders in reversed(done):
            replace_file(file.path, file.now, expected=file.after, mode=file.mode)
            remove_made(folders)
        with changing_attachments() as record:
            if known is not None:
                record[key] = known
            else:
                record.pop(key, None)
        raise
    for written in files:
        written["stamp"] = stamp_of(written["path"])
    with changing_attachments() as record:
        record[key] = attached


def find_attachments(agent: str = "", scope: str = "", project: str = "") -> dict[str, Attached]:
    """Return the attachments of an agent, in a scope, that hold in a project: also those of a person and a machine."""
    return {
        key: one for key, one in attachments().items()
        if (not agent or one["agent"] == agent) and (not scope or one["scope"] == scope)
        and (not project or one["scope"] in ("user", "managed") or one["project"] == project)
    }  # fmt: skip


@dataclass(slots=True)
class Detached:
    """What detaching did to one file."""

    path: str
    what: str
    """``restored`` byte for byte, ``removed``, ``cleaned`` (it was changed since, and our entries were taken out),
    or ``gone`` (it was not there any more)."""


def detach(key: str) -> list[Detached]:
    """Give back the files of an attachment; what others changed since stays."""
    one = attachments()[key]
    agent, scope = find_agent(one["agent"]), one["scope"]
    shape = agent.shape_of(scope)  # type: ignore[arg-type]
    changes = [_given_back(file, shape) for file in reversed(one["files"])]
    with changing_attachments() as record:
        record[key] = {**one, "leaving": True}  # nothing is put back from here on
    done = []
    for file, now, after, what in changes:
        if what != "gone" and now != after:
            replace_file(file["path"], after, expected=now, mode=0o644)
        done.append(Detached(file["path"], what))
    remove_made_all(one["directories"])
    with changing_attachments() as record:
        record.pop(key, None)
    return done[::-1]


def remove_made_all(folders: Sequence[str]) -> None:
    """Remove the directories of several files that are empty by now."""
    for folder in folders:
        remove_made([folder])


def _given_back(file: WrittenFile, shape: Any) -> tuple[WrittenFile, bytes | None, bytes | None, str]:
    """Return a file's content now, what it becomes, and a word for that."""
    path = file["path"]
    now = read_bytes(path)
    before = read_backup(file["before"])
    if now is None:
        return file, None, None, "gone"
    if digest_of(now) == file["after"] and (before is not None or file["before"] is None):
        return file, now, before, "restored" if before is not None else "removed"
    text = text_of(now, path)
    if file["kind"] == "trust":
        left = _without_trust(text, path)
    elif file["kind"] == "exclude":
        lines = {line for (line,) in file["made"]}
        left = "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in lines)
    elif file["kind"] == "adopted":
        left = text  # a person has changed it: it stays
    else:
        left = shape.remove(text, file["made"], path)
    is_nothing = file["before"] is None and left.strip("\ufeff \t\r\n") in ("", "{}")
    return file, now, None if is_nothing else left.encode(), "removed" if is_nothing else "cleaned"


def _without_trust(text: str, path: str) -> str:
    left = remove_block(text)
    parse_toml(left, path)
    return left


@dataclass(slots=True)
class FileState:
    """How a file of an attachment is now."""

    path: str
    state: str
    """``intact``, ``edited`` (elsewhere in the file), ``stripped``, ``missing``, ``unreadable`` or ``disabled``."""
    what: list[str]

    @property
    def holds(self) -> bool:
        """Whether our entries are there and nothing switches them off."""
        return self.state in ("intact", "edited")


def states_of(one: Attached) -> list[FileState]:
    """Return how the files of an attachment are now."""
    agent = find_agent(one["agent"])
    shape = agent.shape_of(one["scope"])  # type: ignore[arg-type]
    return [_state(one, file, shape) for file in one["files"] if file["kind"] != "exclude"]


def _state(one: Attached, file: WrittenFile, shape: Any) -> FileState:
    path = file["path"]
    try:
        now = read_bytes(path)
        if now is None:
            return FileState(path, "missing", ["the file is gone"])
        if file["kind"] == "trust":
            return _trust_state(one, path, text_of(now, path))
        if digest_of(now) == file["after"]:
            return FileState(path, "intact", [])
        if file["kind"] == "adopted":
            return FileState(path, "edited", [])
        text = text_of(now, path)
        own = os.path.basename(path).partition(".")[0]
        entries = [
            SettingsEntry(*given)
            for given in one["entries"]
            if not isinstance(shape, ExecutableFile) or given[0] == own
        ]
        lost = shape.lost(text, entries, path)
        if lost:
            what = f"the hook of {lost[0]} is" if len(lost) == 1 else f"{len(lost)} of our hooks are"
            return FileState(path, "stripped", [f"{what} not as attached"])
        if shape.is_own:
            return FileState(path, "stripped", ["the file is not as attached"])
        off = [
            what for what in shape.doubts(text, path) if what.endswith("switches hooks off") or "strict JSON" in what
        ]
        return FileState(path, "disabled" if off else "edited", off)
    except BadSettings as error:
        return FileState(path, "unreadable", [str(error)])


def _trust_state(one: Attached, path: str, text: str) -> FileState:
    hooks = next(file["path"] for file in one["files"] if file["kind"] == "entries")
    data = read_bytes(hooks)
    wrong = disarmed(text_of(data, hooks), hooks, text, path) if data is not None else []
    return FileState(path, "disabled" if wrong else "intact", wrong)
