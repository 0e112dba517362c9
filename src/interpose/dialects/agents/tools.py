"""The tools of coding agents under our names: ``exec_command`` with ``cmd`` is ``Bash`` with ``command``.

Rules name our tools and keys, so that one rule holds in every agent. What a table does not know keeps its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import BadEvent
from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex

__all__ = [
    "PATCH_TOOL",
    "ToolMapping",
    "files_of_patch",
    "mcp_name",
    "mcp_readings",
    "patch_in",
    "to_ours",
    "to_theirs",
    "tool_table",
]

PATCH_TOOL = "apply_patch"
_WRITES = frozenset({"Write", "Edit", "MultiEdit"})

MOST_READINGS = 32
MOST_FILES = 200
"""A patch of more files is refused: each file is an event."""

# Spaces before a header are let through by the programs that apply patches.
_FILE = regex(r"^\s*\*\*\* (Add|Update|Delete) File: *(.+?)\s*$")
_MOVE = regex(r"^\s*\*\*\* Move to: *(.+?)\s*$")


class ToolMapping(NamedTuple):
    """One tool of an agent: our name of it, and our names of its keys."""

    name: str
    keys: Mapping[str, str] = {}
    """The agent's key, and ours."""


def tool_table(text: str) -> dict[str, ToolMapping]:
    """Parse lines such as ``exec_command Bash cmd=command``: the agent's name, ours, and keys that differ."""
    table = {}
    for line in filter(None, map(str.split, text.strip().splitlines())):
        theirs, ours, *keys = line
        table[theirs] = ToolMapping(ours, dict(key.split("=", 1) for key in keys))
    return table


def to_ours(tool: ToolMapping, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input of a tool under our keys; raise BadEvent if two of its keys would be one and disagree."""
    found = {key: value for key, value in given.items() if key not in tool.keys}
    for theirs, ours in tool.keys.items():
        if theirs not in given:
            continue
        if ours in found and found[ours] != given[theirs]:
            raise BadEvent(f"the input of the tool has {theirs} and {ours}, and they disagree")
        found[ours] = given[theirs]
    return found


def to_theirs(tool: ToolMapping, given: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rewritten input under the agent's keys; ``given`` is the input as the agent gave it."""
    back = {ours: theirs for theirs, ours in tool.keys.items() if theirs in given}
    return {back.get(key, key): value for key, value in new.items()}


def mcp_name(server: object, tool: object) -> str:
    """Return a tool of an MCP server as rules name it."""
    if not isinstance(server, str) or not isinstance(tool, str) or not server or not tool:
        raise BadEvent("a tool of an MCP server without the names of the server and the tool")
    return f"mcp__{server}__{tool}"


def mcp_readings(name: str, separator: str) -> list[str]:
    """Return what a name may mean that joins a server and a tool with a mark that either may contain.

    ``a-b-c`` is the tool ``b-c`` of ``a``, or ``c`` of ``a-b``: a rule about either has to hold.
    """
    parts = name.split(separator)
    ends = [end for end in range(1, len(parts)) if all(parts)][:MOST_READINGS]
    return list(dict.fromkeys(f"mcp__{separator.join(parts[:end])}__{separator.join(parts[end:])}" for end in ends))


def patch_in(name: str, given: Mapping[str, Any]) -> str | None:
    """Return the patch in the input of a tool, by our names; None if the tool takes none.

    A tool that names the file beside is no patch tool, whatever it writes into the file.
    """
    if name != PATCH_TOOL and (name not in _WRITES or "file_path" in given):
        return None
    return "\n".join(value for value in given.values() if isinstance(value, str))


def files_of_patch(patch: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a call of Write or Edit for each file that a patch adds, changes, moves or deletes.

    Raise BadEvent if it names no file, or too many.
    """
    calls: list[tuple[str, dict[str, Any]]] = []
    for line in patch.splitlines():
        if found := _FILE.match(line):
            kind, path = found.groups()
            if kind == "Update":
                calls.append(("Edit", {"file_path": path, "old_string": "", "new_string": ""}))
            else:
                calls.append(("Write", {"file_path": path, "content": ""}))
        elif (moved := _MOVE.match(line)) and calls:
            calls.insert(len(calls) - 1, ("Write", {"file_path": moved[1], "content": ""}))
        elif calls and line[:1] in ("+", "-", " "):
            _add_line(calls[-1][1], line[0], line[1:] + "\n")
        if len(calls) > MOST_FILES:
            raise BadEvent(f"the patch has more than {MOST_FILES} files", hint="make it in several patches")
    if not calls:
        raise BadEvent("the patch names no file")
    return calls


def _add_line(call: dict[str, Any], sign: str, line: str) -> None:
    if "content" in call:
        call["content"] += line if sign == "+" else ""
        return
    if sign in "- ":
        call["old_string"] += line
    if sign in "+ ":
        call["new_string"] += line
