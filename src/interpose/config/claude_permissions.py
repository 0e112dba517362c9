"""Read the permission rules of a Claude Code settings file to rules of a session.

The client's rules mean more than they say: ``Edit(src/**)`` is about every tool that edits, ``mcp__github`` about every
tool of that server, ``/src`` begins at the project. Each becomes one or more rules that say all of it. Of a rule that
cannot be judged here, a deny or an ask becomes a question about every call of its tool; an allow is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import BadHook, ConfigError, Problem, nearest
from ..matching import RENAMED_TOOLS, compile_condition
from ..matching.written import as_written
from ..model import strictest
from ..runtime.regex import regex

__all__ = ["ANSWERS", "read_permissions"]

ANSWERS = ("deny", "ask", "allow")

_READING = ("Read", "Grep", "Glob", "LS", "NotebookRead")
_EDITING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_FILES = {**dict.fromkeys(_READING, _READING), **dict.fromkeys(_EDITING, _EDITING)}
_RENAMED = {
    name: (new, *(old for old, now in RENAMED_TOOLS.items() if now == new))
    for pair in RENAMED_TOOLS.items() for new in pair[1:] for name in pair
}  # fmt: skip
"""The names of a tool that has had others, by each of them."""
_TOOLS = (*_READING, *_EDITING, *_RENAMED, "AskUserQuestion", "Bash", "BashOutput", "ExitPlanMode", "KillShell",
          "PowerShell", "Skill", "SlashCommand", "TodoWrite", "WebFetch", "WebSearch")  # fmt: skip
_ASIDE = {
    "defaultMode": "give the session its mode, such as `interpose run --mode plan`",
    "additionalDirectories": "the host decides which directories an agent may use",
    "disableBypassPermissionsMode": "the host decides which modes there are",
    "disableAutoMode": "the host decides which modes there are",
}
_RULE = regex(r"(?P<tool>[^()\s]+)(?:\((?P<inside>.*)\))?", re.DOTALL)
_PARAMETER = regex(r"\s*(?P<name>[A-Za-z_]\w*)\s*:(?P<value>.*)", re.DOTALL)
_PARAMETERS_OF_SHELLS = {"command", "run_in_background", "timeout", "description", "dangerouslyDisableSandbox"}
_MCP_SERVER = regex(r"mcp__(?:(?!__)[^*?\[])+")
_MCP_ALLOW = regex(r"mcp__(?:(?!__)[^*?\[])+__.*")

Warn = Callable[[str, str, str], None]
"""Takes the path of a part, what has no effect or another than it seems, and what to do."""


class _CannotJudge(Exception):
    """A rule that means something in the client which no rule here can say."""


def read_permissions(given: Any, *, anchor: str, project: str, warn: Warn) -> tuple[dict[str, str], dict[str, str]]:
    """Return rules and their answers, of two answers to one rule the stricter; and the path of each rule.

    ``anchor`` is the directory that ``/path`` begins at, ``project`` the one that ``../path`` leads out of, if known.
    """
    if not isinstance(given, Mapping):
        raise ConfigError([_expected("permissions", given, "a mapping")])
    if wrong := [_expected(f"permissions.{answer}", given[answer], "a list of rules")
                 for answer in ANSWERS if not isinstance(given.get(answer, []), list)]:  # fmt: skip
        raise ConfigError(wrong)
    reader = _RuleReader(anchor, project, warn)
    for key in given:
        if key in _ASIDE:
            warn(f"permissions.{key}", f"{key} is not taken over", _ASIDE[key])
        elif key not in ANSWERS:
            warn(f"permissions.{key}", f"{key} is not read", nearest(str(key), (*ANSWERS, *_ASIDE)))
    for answer in ANSWERS:
        for index, rule in enumerate(given.get(answer, ())):
            reader.rule(answer, rule, f"permissions.{answer}[{index}]")
    return reader.found, reader.places


def _expected(where: str, given: object, what: str) -> Problem:
    return Problem(f"{as_written(given)} where {what} is expected", where=where,
                   hint='such as {"deny": ["Read(./.env)"]}')  # fmt: skip


class _RuleReader:
    """Reads one rule after another; collects what they mean."""

    def __init__(self, anchor: str, project: str, warn: Warn) -> None:
        self.anchor = anchor
        self.project = project
        self.warn = warn
        self.found: dict[str, str] = {}
        self.places: dict[str, str] = {}

    def rule(self, answer: str, rule: Any, path: str) -> None:
        """Read one rule, or say why it is not taken over."""
        if not isinstance(rule, str) or not rule.strip():
            self.warn(path, f"{as_written(rule)} is not a rule, and nothing follows from it", "Tool or Tool(what)")
            return
        text = rule.strip()
        tool = re.split(r"[(\s]", text, maxsplit=1)[0]
        if tool == "Cd":
            self.warn(path, f"{text} is about a command of the client, and is not taken over", "")
            return
        try:
            meant = list(self.meaning(answer, text))
            for one in meant:
                compile_condition(one)
        except (_CannotJudge, BadHook) as error:
            said = error.problem.what.removeprefix("if: ") if isinstance(error, BadHook) else str(error)
            self.unjudged(answer, text, tool, path, said)
            return
        if answer != "allow" and tool in _FILES and tool not in ("Read", "Edit") and "(" in text:
            own = "Read" if tool in _READING else "Edit"
            self.warn(path, f"{text}: the client does not use a path for {tool}; here it holds", f"write {own}(…)")
        if ("." in tool or not re.search(r"[_*]", tool)) and tool not in _TOOLS and (hint := nearest(tool, _TOOLS)):
            self.warn(path, f"{text}: no tool has this name, so the rule never matches", hint)
        for one in meant:
            self.add(one, answer, path)

    def unjudged(self, answer: str, text: str, tool: str, path: str, why: str) -> None:
        """Ask about every call of the tool of a rule that cannot be judged; an allow is left out."""
        if answer == "allow":
            self.warn(path, f"{text} is not taken over: {why}", "calls are asked about as without it")
            return
        tool = tool.rstrip(")")
        try:
            rules = [one for one in _tools(tool) if compile_condition(one)] or ["*"]
        except BadHook:  # not the name of a tool either
            rules = ["*"]
        for one in rules:
            self.add(one, "ask", path)
        tool = "every tool" if rules == ["*"] else tool
        self.warn(path, f"{text} cannot be judged here: {why}", f"every call of {tool} is asked about instead")

    def add(self, rule: str, answer: str, path: str) -> None:
        before = self.found.get(rule, "none")
        self.found[rule] = strictest((answer, before))
        if self.found[rule] != before:
            self.places[rule] = path

    def meaning(self, answer: str, text: str) -> Iterator[str]:
        """Return the rules that say what a rule of the client means; raise if there are none."""
        whole = _RULE.fullmatch(text)
        if whole is None:
            raise _CannotJudge("its parentheses do not match")
        tool, inside = whole["tool"], whole["inside"]
        if "|" in tool:
            raise _CannotJudge("a rule names one tool")
        if answer == "allow" and re.search(r"[*?\[]", tool) and not _MCP_ALLOW.fullmatch(tool):
            raise _CannotJudge("a rule that allows names one tool, or tools of one server")
        if inside is None or inside.strip() in ("", "*", ":*"):
            yield from _tools(tool)
            return
        inside = inside.strip().replace(r"\(", "(").replace(r"\)", ")")
        _check_specifier(tool, inside)
        if tool in _FILES:
            if answer == "allow" and tool not in ("Read", "Edit"):
                raise _CannotJudge(f"the client does not use a path for {tool}")
            tools = "|".join(_file_tools(tool, answer))
            yield from (f"{tools}({pattern})" for pattern in self.paths(answer, inside))
        elif tool == "WebFetch":
            yield from _web(answer, inside)
        elif tool == "Skill" and (base := re.sub(r"(?: |:)\*$", "", inside)) != inside:
            yield from (f"Skill({base})", f"Skill({base} *)", f"Skill({base}:*)")
        else:
            yield f"{'|'.join(_RENAMED.get(tool, (tool,)))}({inside})"

    def paths(self, answer: str, pattern: str) -> Iterator[str]:
        """Return the patterns that say what a pattern of the client means, which reads it as git reads .gitignore."""
        if pattern.startswith("!"):
            raise _CannotJudge("it begins with !")
        pattern = re.sub(r"\\(.)", lambda escaped: _literal(escaped[1]), pattern)
        if ".." in pattern.split("/"):
            if not self.project or pattern.startswith(("/", "~")):
                raise _CannotJudge("it leads out of its directory")
            pattern = f"/{os.path.normpath(os.path.join(_literal(self.project), pattern))}"
        elif pattern.startswith("/") and not pattern.startswith("//"):
            pattern = f"/{_literal(self.anchor)}{pattern}"
        pattern = pattern.removesuffix("/") or "/"
        if answer != "allow":
            relative = pattern.removeprefix("./")
            if re.fullmatch(r"[^/~*][^/*]*/\*\*", relative):
                pattern = f"**/{relative}"  # one directory, at any depth
        yield pattern
        if answer != "allow" and not pattern.endswith("**"):
            # It may be a directory; a bare name is found at any depth.
            yield f"{pattern}/**" if "/" in pattern else f"**/{pattern}/**"


def _check_specifier(tool: str, inside: str) -> None:
    """Raise if what is in the parentheses means something that no rule here can say."""
    if tool == "PowerShell":
        raise _CannotJudge("lines of PowerShell are not read")
    parameter = _PARAMETER.fullmatch(inside)
    if parameter is None or (tool == "WebFetch" and parameter["name"] == "domain") or tool in ("Skill", "SlashCommand"):
        return
    if tool == "Bash" and (parameter["name"] not in _PARAMETERS_OF_SHELLS or parameter["value"] == "*"):
        return  # Bash(npm:*)
    raise _CannotJudge(f"it is about the parameter {parameter['name']}")


def _tools(tool: str) -> Iterator[str]:
    """Return the rules about all calls of a tool, or of all tools of a server."""
    if tool in ("Read", "Edit"):
        yield "|".join(_FILES[tool])
    elif _MCP_SERVER.fullmatch(tool):
        yield from (tool, f"{tool}__*")
    else:
        yield "|".join(_RENAMED.get(tool, (tool,)))


def _file_tools(tool: str, answer: str) -> tuple[str, ...]:
    # What may not be read may not be edited either.
    more = ("Edit", "Write", "MultiEdit") if tool in _READING and answer == "deny" else ()
    return (*_FILES[tool], *more)


def _web(answer: str, inside: str) -> Iterator[str]:
    host = re.sub(r"^domain:\s*", "", inside)
    if host == inside or "*" not in host:
        yield f"WebFetch({'domain:' if host != inside else ''}{host})"
    elif host == "*":
        yield "WebFetch"
    elif answer != "allow" and host.startswith("*.") and "*" not in host[2:]:
        yield f"WebFetch(domain:{host[2:]})"  # which covers its subdomains too
    else:
        raise _CannotJudge("a star in the name of a host")


def _literal(path: str) -> str:
    """Return a directory with the wildcards of globs escaped."""
    return "".join(f"[{mark}]" if mark in "*?[{" else mark for mark in path)
