"""``if`` rules such as ``Write(src/**)`` and ``Bash(git push *)``.

If a rule cannot be decided, it counts as true: then the guard runs.
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

# The keys of a tool's input that a pattern is compared with.
_PATH_KEYS = ("file_path", "notebook_path", "path")
_TEXT_KEYS = ("url", "query", "pattern", "prompt", "skill", "agent_type", "subagent_type")
# Those that name a page, a search or an agent; the others say what is done with it.
_NAMING_KEYS = ("url", "query", "skill", "agent_type", "subagent_type")


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
            self._predicate(pattern or "")  # raises if it cannot be compiled

    def __call__(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the call may match the rule; if that is unknown, True."""
        if not _same_tool(self.tool, fields.get("tool_name")):
            return False
        if self.pattern is None or self.pattern == "*":
            return True
        given = fields.get("tool_input")
        if not isinstance(given, Mapping):
            return True
        # A model may add a path to a command to be judged by the path: both are compared.
        is_command = "command" in given
        if is_command and self._command_matches(given["command"]):
            return True
        if paths := [given[key] for key in _PATH_KEYS if key in given]:
            return any(self._path_may_match(path, fields.get("cwd")) for path in paths)
        if texts := [given[key] for key in _TEXT_KEYS if key in given]:
            return any(self._text_matches(text, unsure=True) if isinstance(text, str) else True for text in texts)
        return not is_command

    def covers(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the whole call certainly matches the rule; if that is unknown, False.

        A rule that allows calls uses this; a rule that selects calls for a guard uses ``__call__``.
        """
        given, name = fields.get("tool_input"), fields.get("tool_name")
        if not isinstance(name, str) or not name or not _same_tool(self.tool, name):
            return False
        if self.pattern is None or self.pattern == "*":
            return True
        if not isinstance(given, Mapping):
            return False
        # A model may add a key that the rule allows: every key that the tool may use has to match.
        paths = [key for key in _PATH_KEYS if key in given]
        texts = [key for key in _NAMING_KEYS if key in given] or [key for key in _TEXT_KEYS if key in given]
        if "command" in given:
            judged = [self._covers_command(given["command"])]
        elif not paths:
            judged = [isinstance(given[key], str) and self._covers_text(key, given[key]) for key in texts]
        else:
            judged = [not _leads_away(given.get("pattern"))]
        judged += [self._covers_path(given[key], fields.get("cwd")) for key in paths]
        return bool(judged) and all(judged)

    def _covers_command(self, command: object) -> bool:
        return isinstance(command, str) and self._command_pattern().covers_line(command)

    def _covers_text(self, key: str, value: str) -> bool:
        if (self.pattern or "").startswith("domain:") and key != "url":
            return False
        return not (key == "pattern" and _leads_up(value)) and self._text_matches(value, unsure=False)

    def _covers_path(self, path: object, cwd: object) -> bool:
        """Compare the path as given and its real path: a link may lead elsewhere."""
        if not isinstance(path, str) or path.startswith("~"):  # which the tool may expand to a home
            return False
        base = cwd if isinstance(cwd, str) and cwd else os.sep
        try:
            real, real_base = os.path.realpath(os.path.join(base, path)), os.path.realpath(base)
        except (OSError, ValueError):  # not a path
            return False
        is_below = os.path.commonpath([real, real_base]) == real_base
        if not is_below and not (self.pattern or "").startswith(("//", "~/")):
            return False
        return self._path_matches(path, base) and self._path_matches(real, real_base)

    def _path_may_match(self, path: object, cwd: object) -> bool:
        """Compare the path as given, and its real path: a link must not bypass a guard."""
        if not isinstance(path, str) or self._path_matches(path, cwd):
            return True
        base = cwd if isinstance(cwd, str) and cwd else os.sep
        try:
            return self._path_matches(os.path.realpath(os.path.join(base, path)), os.path.realpath(base))
        except (OSError, ValueError):  # not a path
            return True

    def _command_matches(self, command: object) -> bool:
        """Compare the commands of a shell's command line."""
        return self._command_pattern().matches_line(command) if isinstance(command, str) else True

    def _command_pattern(self) -> CommandPattern:
        if self._command is None:
            from .shell import CommandPattern

            self._command = CommandPattern(self.pattern or "")
        return self._command

    def _path_matches(self, path: str, cwd: object) -> bool:
        """Compare a path with the pattern; relative patterns are below the event's directory."""
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

    def _text_matches(self, value: str, *, unsure: bool) -> bool:
        pattern = self.pattern or ""
        if pattern.startswith("domain:"):
            host = _host_of(value)
            return unsure if host is None else host == pattern.removeprefix("domain:").lower()
        return self._predicate(pattern, across="/")(value)

    def _predicate(self, pattern: str, across: str = "") -> Predicate:
        """Compile a glob; cached, since a relative pattern is compiled for each directory."""
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
    """Translate ``*``, ``?``, ``[a-z]``, ``{a,b}`` and ``**`` for RE2; with ``across`` a star matches slashes."""
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
    if not is_glob(wanted) and "|" not in wanted:
        return False
    predicate = compile_matcher(wanted)
    return predicate is None or predicate(name)  # None for a star, which is every tool


def _leads_away(pattern: object) -> bool:
    """Return whether a pattern of files may match files outside the directory that is searched."""
    return isinstance(pattern, str) and (pattern.startswith(("/", "~")) or _leads_up(pattern))


def _leads_up(pattern: str) -> bool:
    return ".." in re.split(r"[/{},]", pattern)


def _literal(path: str) -> str:
    """Return a directory with the wildcards of globs escaped."""
    return "".join(f"[{mark}]" if mark in "*?[{" else mark for mark in path)


_ADDRESS = re.compile(r"[!-~]+", re.ASCII)
_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")


def _host_of(url: str) -> str | None:
    """Return the host of a URL; None if programs may read the URL differently."""
    from urllib.parse import urlsplit

    if not _ADDRESS.fullmatch(url) or "\\" in url:
        return None
    try:
        host = urlsplit(url if _SCHEME.match(url) else f"//{url}").hostname or ""
    except ValueError:
        return None
    return host.removesuffix(".").lower() if host and "%" not in host else None


def compile_condition(text: str | None) -> Condition | None:
    """Compile ``Tool`` or ``Tool(pattern)``."""
    if text is None or not text.strip():
        return None
    rule = text.strip()
    tool, parenthesis, rest = rule.partition("(")
    if parenthesis and not rest.endswith(")"):
        raise BadHook(f"if: {text!r} has no closing parenthesis", hint="write it like Bash(git push *)")
    if not tool.strip() or "&&" in tool or "||" in tool or ")" in tool:
        raise BadHook(f"if: {text!r} is not one rule", hint="write it like Bash(git push *) or Write(src/**)")
    return Condition(rule, tool.strip(), rest[:-1].strip() if parenthesis else None)
