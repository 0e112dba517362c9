"""What policies remember of the calls of a session: which are the same, which only look, and what they change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from ..handlers.projects import project_directory
from ..matching.shell import ShellCommand, read_line
from ..matching.shell.words import is_known
from ..matching.tool_inputs import kind_of_key
from ..runtime.digests import sha256
from ..runtime.regex import regex
from .call import Call
from .policy import Options

__all__ = [
    "CHANGES_FILES",
    "agent_of",
    "failure_of",
    "fingerprint",
    "looks_only",
    "project_of",
    "same_call",
    "session_of",
    "written",
]

CHANGES_FILES = frozenset({
    "write-files", "delete-files", "delete-files-for-good", "empty-files", "move-files", "lose-changes",
    "lose-untracked",
})  # fmt: skip

_LOOKING_TOOLS = frozenset({
    "Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "BashOutput", "TaskOutput", "TodoRead",
    "ToolSearch", "ListMcpResourcesTool", "ReadMcpResourceTool", "read_file", "list_directory", "view",
})  # fmt: skip
_LOOKING_VERBS = frozenset({
    "read", "get", "list", "search", "find", "view", "show", "describe", "query", "fetch", "stat", "lookup", "browse",
    "inspect", "count", "check", "resolve",
})  # fmt: skip
_LOOKING_PROGRAMS = frozenset({
    "ls", "cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "find", "fd", "tree", "wc",
    "pwd", "echo", "printf", "which", "type", "command", "whereis", "file", "stat", "du", "df", "sort", "uniq",
    "cut", "tr", "diff", "cmp", "jq", "yq", "ps", "top", "env", "printenv", "date", "uname", "whoami", "id",
    "hostname", "cd", "true", "false", "test", "[", "[[", "basename", "dirname", "realpath", "readlink", "nl", "od",
    "xxd", "column", "set", "export", "sleep", "wait", "history", "man", "sed", "awk",
})  # fmt: skip
_LOOKING_GIT = frozenset({
    "status", "log", "diff", "show", "branch", "remote", "rev-parse", "ls-files", "blame", "describe", "grep",
    "shortlog", "cat-file", "ls-tree", "reflog", "config", "tag",
})  # fmt: skip
_NEVER_THE_SAME = ("description", "timeout")
"""Keys of a tool that runs commands which do not change what it does."""
_FAILURES = {"is_error": True, "isError": True, "success": False, "ok": False, "interrupted": True}
_STATUSES = ("exit_code", "exitCode", "returncode", "return_code")
_ENDS = 50_000
"""How much of the beginning and the end of a long result is compared."""
_DIGITS = regex(r"\d+(?![\d.]{0,8}%)")


def session_of(event: Mapping[str, Any]) -> str:
    """Return the id of an event's session; empty if the host names none."""
    found = event.get("session_id")
    return found if isinstance(found, str) else ""


def agent_of(event: Mapping[str, Any]) -> str:
    """Return the id of the agent in its session; empty for the main agent of a host that names only the others."""
    found = event.get("agent_id")
    return found if isinstance(found, str) else ""


def project_of(event: Mapping[str, Any], options: Options) -> str:
    """Return the directory of the project in which an event happens."""
    return project_directory(options["project"], event.get("cwd"))


def same_call(call: Call) -> str:
    """Return a text that is equal for calls that do the same.

    Spaces and comments in commands and the order of keys do not count.
    """
    runs = any(kind_of_key(str(key)) == "command" for key in call.input)
    given = {
        str(key): _same_line(value) if kind_of_key(str(key)) == "command" and isinstance(value, str) else value
        for key, value in call.input.items()
        if not (runs and key in _NEVER_THE_SAME)
    }
    return fingerprint([call.tool, given, call.cwd if runs else ""])


def _same_line(text: str) -> Any:
    """Return what is equal for lines that do the same: the words, or if there may be a comment, the commands."""
    line = read_line(text) if "#" in text else None
    if line is None or not line.is_whole or line.opaque:
        return " ".join(text.split())
    return [[one.parts, one.redirections, one.assigned, one.variables, one.directories] for one in line.commands]


def fingerprint(value: Any, *, without_digits: bool = False) -> str:
    """Return a short hash of a JSON value; ``without_digits``, numbers other than percentages do not count."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    if without_digits:
        text = _DIGITS.sub("", text if len(text) <= 2 * _ENDS else text[:_ENDS] + text[-_ENDS:])
    return sha256(text.encode("utf-8", "replace")).hex()[:16]


def failure_of(response: Any) -> bool:
    """Return whether the result of a tool says that it failed."""
    if not isinstance(response, Mapping):
        return False
    if any(response.get(key) is value for key, value in _FAILURES.items()):
        return True
    return any(type(response.get(key)) is int and response[key] != 0 for key in _STATUSES)


def looks_only(call: Call) -> bool:
    """Return whether a call certainly changes nothing: a tool that reads, or commands that only show something."""
    if call.lines:
        return all(
            not line.opaque and line.is_whole and not line.suspects and all(map(_shows_only, line.commands))
            for line in call.lines
        ) and not list(_changed_files(call))
    if call.tool in _LOOKING_TOOLS:
        return True
    verb = call.tool.rpartition("__")[2].replace("-", "_").partition("_")[0].lower()
    return call.tool.startswith("mcp__") and verb in _LOOKING_VERBS


def _shows_only(command: ShellCommand) -> bool:
    if command.name == "git":
        words = [part for part in command.parts[1:] if not part.startswith("-")]
        return bool(words) and words[0] in _LOOKING_GIT
    if command.name in ("sed", "find", "fd") and any(
        part.startswith(("-i", "--in-place", "-delete", "-exec", "-x", "-X", "-ok")) for part in command.parts[1:]
    ):
        return False
    return not command.parts or command.name in _LOOKING_PROGRAMS


def written(call: Call) -> list[str]:
    """Return the files that a call changes, as far as it tells; those of devices and unknown ones are left out."""
    if not call.lines and looks_only(call):
        return []
    found = (os.path.normpath(path) for path in _changed_files(call) if is_known(path))
    return [path for path in dict.fromkeys(found) if os.path.isabs(path)]


def _changed_files(call: Call) -> Iterator[str]:
    return (effect.target for effect in call.of(*CHANGES_FILES) if not effect.target.startswith("/dev/"))
