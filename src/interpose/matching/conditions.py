"""``if`` rules such as ``Write(src/**)`` and ``Bash(git push *)``.

What cannot be judged by a rule counts as true: a guard that is not sure looks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BadHook
from .names import Predicate, compile_matcher, is_glob, linear

if TYPE_CHECKING:
    from .shell import CommandPattern

__all__ = ["Condition", "compile_condition"]

_MOST_COMPILED = 64

# What an if rule's pattern is compared with, by the key that the tool's input has.
_PATH_KEYS = ("file_path", "notebook_path", "path")
_TEXT_KEYS = ("url", "query", "pattern", "prompt", "skill", "agent_type", "subagent_type")


class Condition:
    """An ``if`` rule: a tool's name, and in parentheses what its input must look like."""

    __slots__ = ("_command", "_compiled", "pattern", "text", "tool")

    def __init__(self, text: str, tool: str, pattern: str | None) -> None:
        self.text = text
        self.tool = tool
        self.pattern = pattern
        self._compiled: dict[str, Predicate] = {}
        self._command: CommandPattern | None = None
        if any(mark in (pattern or "") for mark in "[{\\"):
            self._predicate(pattern or "")  # a pattern that cannot be compiled is found out here

    def __call__(self, fields: Mapping[str, Any]) -> bool:
        """Judge the current input; what cannot be judged counts as true."""
        if not _same_tool(self.tool, fields.get("tool_name")):
            return False
        if self.pattern is None or self.pattern == "*":
            return True
        given = fields.get("tool_input")
        if not isinstance(given, Mapping):
            return True
        # A model may add a path to a command, to have it judged by that: whichever matches counts.
        is_command = "command" in given
        if is_command and self._command_matches(given["command"]):
            return True
        for key in _PATH_KEYS:
            if key in given:
                path = given[key]
                return self._path_matches(path, fields.get("cwd")) if isinstance(path, str) else True
        for key in _TEXT_KEYS:
            if key in given:
                value = given[key]
                return self._text_matches(value) if isinstance(value, str) else True
        return not is_command

    def covers(self, fields: Mapping[str, Any]) -> bool:
        """Say whether the whole call is certainly what the rule means: what cannot be judged counts as false.

        This is the question of a rule that lets calls through; ``__call__`` is that of one that looks at them.
        """
        given, name = fields.get("tool_input"), fields.get("tool_name")
        if not name or not _same_tool(self.tool, name):
            return False
        if self.pattern is None or self.pattern == "*":
            return True
        if not isinstance(given, Mapping):
            return False
        if "command" in given:
            command = given["command"]
            return isinstance(command, str) and self._command_pattern().covers_line(command)
        key = next((key for key in (*_PATH_KEYS, *_TEXT_KEYS) if key in given), "")
        value = given.get(key)
        if not isinstance(value, str):
            return False
        if key not in _PATH_KEYS:
            return self._text_matches(value)
        # A link may lead elsewhere: both what is named and what it is must match.
        base = os.fspath(fields.get("cwd") or os.sep)
        real = os.path.realpath(os.path.join(base, value))
        return self._path_matches(value, base) and self._path_matches(real, os.path.realpath(base))

    def _command_matches(self, command: object) -> bool:
        """Judge a shell's command line by the commands in it."""
        return self._command_pattern().matches_line(command) if isinstance(command, str) else True

    def _command_pattern(self) -> CommandPattern:
        if self._command is None:
            from .shell import CommandPattern

            self._command = CommandPattern(self.pattern or "")
        return self._command

    def _path_matches(self, path: str, cwd: object) -> bool:
        """Compare like ``Edit(src/**)``: relative patterns are below the event's directory."""
        base = cwd if isinstance(cwd, str) and cwd else os.sep
        pattern = self.pattern or ""
        if pattern.startswith("//"):
            pattern = pattern[1:]
        elif pattern.startswith("~/"):
            pattern = os.path.expanduser("~") + pattern[1:]
        elif pattern.startswith("**/"):
            pattern = "/" + pattern
        elif "/" not in pattern:  # a bare name or *.py: at any depth
            pattern = "/**/" + pattern
        else:
            pattern = os.path.join(_literal(base), pattern.removeprefix("./").lstrip("/"))
        whole = os.path.normpath(os.path.join(base, path))
        return self._predicate(pattern)(whole)

    def _text_matches(self, value: str) -> bool:
        pattern = self.pattern or ""
        if pattern.startswith("domain:"):
            return _host_of(value) == pattern.removeprefix("domain:").lower()
        return self._predicate(pattern, across="/")(value)

    def _predicate(self, pattern: str, across: str = "") -> Predicate:
        """Compile a glob, once for each directory that relative patterns were found below."""
        key = f"{across}:{pattern}"
        found = self._compiled.get(key)
        if found is None:
            try:
                found = linear(_glob_to_regex(pattern, across))
            except ValueError as error:
                raise BadHook(f"if: {self.text!a} cannot be compiled: {error}") from None
            if len(self._compiled) >= _MOST_COMPILED:
                self._compiled.clear()
            self._compiled[key] = found
        return found


def _glob_to_regex(glob: str, across: str = "") -> str:
    """Translate ``*``, ``?``, ``[a-z]``, ``{a,b}`` and ``**`` for RE2; with ``across`` a star goes over slashes."""
    one = "." if across else "[^/]"
    parts, at, depth = ["(?s)"], 0, 0
    while at < len(glob):
        mark = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            parts.append("(?:[^/]*/)*")
            at += 2
        elif glob.startswith("**", at):
            parts.append(".*")
            at += 1
        elif mark == "*":
            parts.append(f"{one}*")
        elif mark == "?":
            parts.append(one)
        elif mark == "[" and "]" in glob[at + 2 :]:
            end = glob.index("]", at + 2)
            inside = glob[at + 1 : end].replace("\\", r"\\").replace("[", r"\[")
            parts.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            at = end
        elif mark == "{" and "}" in glob[at:]:
            parts.append("(?:")
            depth += 1
        elif mark == "}" and depth:
            parts.append(")")
            depth -= 1
        elif mark == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(mark))
        at += 1
    return "".join(parts) + ")" * depth


def _same_tool(wanted: str, name: object) -> bool:
    if not isinstance(name, str) or not name:
        return True
    if wanted == name:
        return True
    predicate = compile_matcher(wanted) if is_glob(wanted) else None
    return predicate is not None and predicate(name)


def _literal(path: str) -> str:
    """Return a directory in which no character means anything to a glob."""
    return "".join(f"[{mark}]" if mark in "*?[{" else mark for mark in path)


def _host_of(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        return (urlsplit(url if "//" in url else f"//{url}").hostname or "").lower()
    except ValueError:
        return ""


def compile_condition(text: str | None) -> Condition | None:
    """Read ``Tool`` or ``Tool(pattern)``."""
    if text is None or not text.strip():
        return None
    rule = text.strip()
    tool, parenthesis, rest = rule.partition("(")
    if parenthesis and not rest.endswith(")"):
        raise BadHook(f"if: {text!r} has no closing parenthesis", hint="write it like Bash(git push *)")
    if not tool.strip() or "&&" in tool or "||" in tool or ")" in tool:
        raise BadHook(f"if: {text!r} is not one rule", hint="write it like Bash(git push *) or Write(src/**)")
    return Condition(rule, tool.strip(), rest[:-1].strip() if parenthesis else None)
