"""Read the effects of tools for files and the web from their input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ...matching.paths import readings_of
from ...matching.shell.words import ONE
from ...matching.tool_inputs import COMMANDS, PATHS, TooMuch, kind_of_key, limited_values, plain_key
from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex
from .effect import Effect

__all__ = [
    "Edit",
    "edits_of_input",
    "edits_of_patch",
    "effects_of_input",
    "files_of_patch",
    "is_patch_tool",
    "kind_of_tool",
]

_PATCH_TOOLS = frozenset({"apply_patch", "applypatch", "functions.apply_patch"})
_PATCHES = frozenset({"patch", "diff", "patchtext", "input", "unifieddiff"})
"""Keys under which any tool may be given a patch."""
_READS = frozenset({
    "read", "get", "list", "search", "find", "view", "show", "stat", "describe", "glob", "grep", "ls", "cat", "head",
    "tail", "tree", "info", "check", "count", "query", "lookup", "exists", "diff", "status", "codebase", "file",
    "directory", "semantic", "inspect", "analyze", "hover", "references", "diagnostics", "lsp",
})  # fmt: skip
"""First words of the names of tools that only look: ``read_file``, ``list_directory``, ``get_file_info``."""
_DELETES = frozenset({"delete", "remove", "rm", "unlink", "rmdir", "trash", "erase"})
_MOVES = frozenset({"move", "rename", "mv"})
_COPIES = frozenset({"copy", "cp", "duplicate"})
_WRITES = frozenset(
    {"write", "edit", "create", "append", "replace", "insert", "update", "modify", "save", "put", "set"}
)
_TARGETS = frozenset({"destination", "dest", "target", "targetpath", "targetfile", "newpath", "to", "newname"})
_SOURCES = frozenset({"source", "sourcepath", "oldpath", "from", "src"})
_FOLDERS = frozenset({"directory", "dir", "folder", "cwd", "workdir", "workingdirectory"})
_EDITOR_COMMANDS = {"view": "read-files", "create": "write-files", "strreplace": "write-files", "insert": "write-files"}

_LONGEST = 4_096
"""A longer path is refused by the system unless a tool shortens it."""

_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


class Edit(NamedTuple):
    """What a tool writes to a file."""

    path: str
    """As it is written in the input."""
    new: str
    old: str = ""
    """The text that is replaced, if the input has it."""
    whole: bool = False
    """Whether the new text is the whole content of the file."""


def effects_of_input(tool: str, given: Mapping[str, Any], cwd: str) -> tuple[Effect, ...]:
    """Return what a tool does with the paths and URLs in its input."""
    return tuple(dict.fromkeys(_effects(tool, given, cwd)))


def edits_of_input(tool: str, given: Mapping[str, Any]) -> tuple[Edit, ...]:
    """Return what a tool writes to which files, as far as its input says."""
    if is_patch_tool(tool):
        return tuple(edit for text in _texts(given) for edit in edits_of_patch(text))
    return tuple(_edits(given, "", 0))


def is_patch_tool(tool: str) -> bool:
    """Return whether the input of a tool is a patch, also where its key says that it is a command."""
    return tool.lower() in _PATCH_TOOLS


def _effects(tool: str, given: Mapping[str, Any], cwd: str) -> Iterator[Effect]:
    if is_patch_tool(tool):
        for text in _texts(given):
            for kind, path in files_of_patch(text):
                yield from _of_path(kind, path, tool, cwd)
        return
    for key, value in given.items():
        if plain_key(key) in _PATCHES and isinstance(value, str):
            for what, path in files_of_patch(value):
                yield from (one._replace(program="patch") for one in _of_path(what, path, tool, cwd))
    kind = kind_of_tool(tool, given)
    has_command = any(plain_key(key) in COMMANDS for key in given)
    try:
        for key, value, _ in limited_values(given):
            what = plain_key(key)
            if not isinstance(value, str) or not value or (has_command and what in _FOLDERS):
                continue
            if kind_of_key(key) == "url":
                yield Effect("request", value, tool, tool)
            elif kind_of_key(key) == "path" or what in _TARGETS or what in _SOURCES:
                yield from _of_path(_kind_of_path(kind, what), value, tool, cwd)
    except TooMuch:
        return


def _of_path(kind: str, path: str, tool: str, cwd: str) -> Iterator[Effect]:
    """Yield an effect for each reading of a path: a tool may resolve ``~``, ``$HOME`` and ``file:`` or not."""
    if len(path) > _LONGEST:
        path = os.path.normpath(path)
        if len(path) > _LONGEST:
            yield Effect(kind, ONE, tool, tool)
            return
    first, *others = readings_of(path)
    expanded = os.path.expanduser(first)
    yield Effect(kind, os.path.join(cwd, expanded), tool, tool)
    for other in others:
        if other != expanded:
            yield Effect(kind, os.path.join(cwd, other), tool, tool, "possible")


def kind_of_tool(tool: str, given: Mapping[str, Any]) -> str:
    """Return what a tool does with files, by its name; one whose name says nothing may write."""
    for key in given:
        if plain_key(key) in COMMANDS and isinstance(given[key], str) and plain_key(given[key]) in _EDITOR_COMMANDS:
            return _EDITOR_COMMANDS[plain_key(given[key])]
    name = tool.rpartition("__")[2] if tool.startswith("mcp__") else tool.rpartition(".")[2]
    words = [word.lower() for word in _WORD.findall(name)]
    for kind, verbs in (("delete-files", _DELETES), ("move-files", _MOVES), ("copy-files", _COPIES)):
        if verbs & set(words):
            return kind
    if words and not _WRITES & set(words) and (words[0] in _READS or set(words[:2]) & {"read", "search", "list"}):
        return "read-files"
    return "write-files"


def _kind_of_path(kind: str, key: str) -> str:
    if kind == "move-files":
        return "write-files" if key in _TARGETS else "move-files"
    if kind == "copy-files":
        return "write-files" if key in _TARGETS or key not in _SOURCES else "read-files"
    return kind


# Patches.

_HEADERS = {
    "*** Add File: ": "write-files", "*** Update File: ": "write-files", "*** Delete File: ": "delete-files",
    "*** Move to: ": "write-files",
}  # fmt: skip


def files_of_patch(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of effect and the path of each file that a patch changes, deletes or creates."""
    before = binary = ""
    for line in text.splitlines():
        header = next((one for one in _HEADERS if line.strip().startswith(one.strip())), None)
        if header is not None:
            yield _HEADERS[header], line.strip().removeprefix(header.strip()).strip()
        elif line.startswith("diff --git "):
            binary = line.rpartition(" ")[2]
        elif line.startswith(("GIT binary patch", "Binary files ")) and binary:
            yield "write-files", _name_in_diff(binary)
        elif line.startswith("--- "):
            before = _name_in_diff(line[4:])
        elif line.startswith("+++ "):
            after = _name_in_diff(line[4:])
            if after == "/dev/null":
                yield "delete-files", before
            else:
                yield "write-files", after
                if before not in ("/dev/null", after, ""):
                    yield "write-files", before
        elif line.startswith(("rename from ", "rename to ")):
            yield "write-files", line.partition(" ")[2].partition(" ")[2]


def _name_in_diff(text: str) -> str:
    name = text.partition("\t")[0].strip().strip('"')
    return name[2:] if name[:2] in ("a/", "b/") else name


def edits_of_patch(text: str) -> Iterator[Edit]:
    """Yield what a patch writes: per file the lines that it adds and those that it removes."""
    path, added, removed, whole = "", list[str](), list[str](), False
    for line in (*text.splitlines(), "*** End Patch"):
        if line.startswith(("*** ", "+++ ", "diff ")):
            if path:
                yield Edit(path, "\n".join(added), "\n".join(removed), whole)
            found = next(files_of_patch(line), None)
            path, added, removed, whole = found[1] if found else "", [], [], line.startswith("*** Add File")
        elif line.startswith("+"):
            added.append(line[1:])
        elif line.startswith("-") and not line.startswith("--- "):
            removed.append(line[1:])


def _texts(given: Mapping[str, Any]) -> Iterator[str]:
    for value in given.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (one for one in value if isinstance(one, str))


# Contents.

_WHOLE = frozenset({"content", "contents", "filetext", "newsource", "data", "filecontent", "body"})
_NEW = frozenset({"newstring", "newstr", "newtext", "replacement", "inserttext", "codeedit", "newcontent", "text"})
_OLD = frozenset({"oldstring", "oldstr", "oldtext", "search", "oldcontent"})
_DEEPEST = 8


def _edits(given: Mapping[str, Any], path: str, depth: int) -> Iterator[Edit]:
    """Yield the edits of a mapping and of the mappings in it; those inside are about its path unless they have one."""
    by_key = {plain_key(key): value for key, value in given.items()}
    path = next((by_key[key] for key in by_key if key in PATHS and isinstance(by_key[key], str)), path)
    old = "".join(value for key, value in by_key.items() if key in _OLD and isinstance(value, str))
    for key, value in by_key.items():
        if isinstance(value, str) and (key in _WHOLE or key in _NEW):
            yield Edit(path, value, old, key in _WHOLE and not old)
        elif depth < _DEEPEST:
            for inner in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(inner, Mapping):
                    yield from _edits(inner, path, depth + 1)
