"""Matcher text to predicate, compiled once; ``if`` rules such as ``Write(src/**)``.

A matcher is names and globs separated by ``|``, case-sensitive, or ``re:`` and a regular expression for the whole
name. What cannot be judged by an ``if`` rule counts as true: a guard that is not sure looks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fnmatch import translate
from typing import Any

from .errors import BadHook

__all__ = ["Condition", "compile_condition", "compile_matcher"]

Predicate = Callable[[str], bool]

_LONGEST = 10_000
_MOST_COMPILED = 64


def compile_matcher(text: str | None) -> Predicate | None:
    """Return a predicate on names, or None where every name matches."""
    if text is None or text in ("", "*"):
        return None
    if len(text) > _LONGEST:
        raise BadHook(f"a matcher of {len(text)} characters", hint=f"at most {_LONGEST}")
    if text.startswith("re:"):
        return _compile_regex(text[3:])
    parts = [part.strip() for part in text.split("|")]
    parts = [part for part in parts if part]
    if not parts:
        raise BadHook(f"matcher {text!r} names nothing", hint='use "*" for everything')
    if "*" in parts:
        return None
    names = frozenset(part for part in parts if not _is_glob(part))
    globs = [part for part in parts if _is_glob(part)]
    if not globs:
        return names.__contains__
    # The patterns are ours, made from globs: none of them backtracks.
    fullmatch = re.compile("|".join(translate(part) for part in globs)).match
    return lambda name: name in names or fullmatch(name) is not None


def _is_glob(part: str) -> bool:
    return any(mark in part for mark in "*?[")


def _compile_regex(pattern: str) -> Predicate:
    """Compile what a person wrote, for the whole of a name."""
    try:
        return _linear(pattern)
    except ValueError as error:
        raise BadHook(
            f"matcher re:{pattern!a} is not a regular expression: {error}",
            hint="RE2 syntax: no look-around, no back-references",
        ) from None


def _linear(pattern: str) -> Predicate:
    """Compile with RE2, whose time is linear in the text whatever the pattern; raise ValueError if it cannot."""
    try:
        import re2
    except ImportError:
        raise BadHook("this matcher needs google-re2", hint="pip install google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        pattern.encode()
        fullmatch = re2.compile(pattern, options).fullmatch
    except UnicodeEncodeError:
        raise ValueError("it has a lone surrogate in it") from None
    except re2.error as error:
        raise ValueError(_words(error)) from None
    return lambda text: fullmatch(_encodable(text)) is not None


def _words(error: Exception) -> str:
    said = error.args[0] if error.args else error
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _encodable(name: str) -> str:
    # RE2 works on UTF-8, which has no place for a lone surrogate.
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


# What an if rule's pattern is compared with, by the key that the tool's input has.
_PATH_KEYS = ("file_path", "notebook_path", "path")
_TEXT_KEYS = ("url", "query", "pattern", "prompt", "skill", "agent_type", "subagent_type")


class Condition:
    """An ``if`` rule: a tool's name, and in parentheses what its input must look like."""

    __slots__ = ("_compiled", "pattern", "text", "tool")

    def __init__(self, text: str, tool: str, pattern: str | None) -> None:
        self.text = text
        self.tool = tool
        self.pattern = pattern
        self._compiled: dict[str, Predicate] = {}
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
        for key in _PATH_KEYS:
            if key in given:
                path = given[key]
                return self._path_matches(path, fields.get("cwd")) if isinstance(path, str) else True
        for key in _TEXT_KEYS:
            if key in given:
                value = given[key]
                return self._text_matches(value) if isinstance(value, str) else True
        return True

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
                found = _linear(_glob_to_regex(pattern, across))
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
    predicate = compile_matcher(wanted) if _is_glob(wanted) else None
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
