"""Rules such as ``Write(src/**)`` and ``Bash(git push *)``: the ``if`` of hooks, and permissions.

A rule is judged in three grades. What cannot be read is ``opaque``, never no match: then the guard runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from ..errors import BadHook
from ..runtime.regex import regex
from .grades import Grade, surest
from .names import Predicate, compile_matcher, is_glob, linear
from .tool_inputs import (
    ARGUMENTS,
    COMMANDS,
    NAMES,
    PATHS,
    URLS,
    TooMuch,
    kind_of_key,
    limited_values,
    plain_key,
    with_arguments,
)
from .written import as_written

if TYPE_CHECKING:
    from .hosts import HostPattern
    from .paths import PathPattern
    from .shell import CommandPattern

__all__ = ["AnyCondition", "Condition", "compile_condition", "compile_rule"]

_MOST_SEARCHED = 100
_LONGEST_SEARCH = 10_000
_LONGEST = 100_000

_SEARCHES = frozenset({"Grep", "Glob", "LS"})
_FAMILIES = {
    "Read": _SEARCHES | {"Read", "NotebookRead"},
    "Edit": frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"}),
}
"""A rule with a pattern for one of these tools is about all of its family, if it denies, asks or selects."""
_STARTERS = frozenset({"Agent", "Task"})
_AGENTS = frozenset({"agenttype", "subagenttype"})


class Condition:
    """A rule: a tool's name, and in parentheses what its input must look like."""

    __slots__ = ("_command", "_host", "_path", "_text", "family", "pattern", "text", "tool")

    def __init__(self, text: str, tool: str, pattern: str | None, *, family: bool = True) -> None:
        self.text = text
        self.tool = tool
        self.pattern = None if pattern == "*" else pattern
        self.family = family
        """Whether ``Read(…)`` and ``Edit(…)`` are about the tools beside them too."""
        self._command: CommandPattern | None = None
        self._path: PathPattern | None = None
        self._text: Predicate | None = None
        self._host: HostPattern | None = None
        try:
            if self.pattern is not None and self.pattern.startswith("domain:"):
                from .hosts import HostPattern

                self._host = HostPattern(self.pattern.removeprefix("domain:"))
            elif any(mark in (self.pattern or "") for mark in "[{\\"):
                self._path_pattern()
                self._text_matches("")
        except ValueError as error:
            raise BadHook(f"{text!a} cannot be compiled: {error}", hint=_HINT) from None

    @property
    def rules(self) -> tuple[Condition, ...]:
        """The rule itself, as a list of rules has several."""
        return (self,)

    def __call__(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the rule matches a call in any grade."""
        return self.grade(fields) is not None

    def grade(self, fields: Mapping[str, Any]) -> Grade | None:
        """Return how sure it is that the rule matches a call; None if it does not."""
        try:
            return surest(map(self._grade, _all_names(fields)))
        except Exception:  # an input whose own methods raise
            return "opaque"

    def _grade(self, fields: Mapping[str, Any]) -> Grade | None:
        name = fields.get("tool_name")
        if not self._is_about(name):
            return None
        grade = "certain" if self.pattern is None else self._grade_input(name, fields)
        return "opaque" if grade is not None and (not isinstance(name, str) or not name) else grade

    def covers(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the whole call certainly matches the rule; if that is unknown, False.

        A rule that allows calls uses this; a rule that selects calls for a guard uses ``grade``.
        """
        return any(map(self._covers, _both_names(fields)))

    def _covers(self, fields: Mapping[str, Any]) -> bool:
        given, name = fields.get("tool_input"), fields.get("tool_name")
        if not isinstance(name, str) or not name or not _same_tool(self.tool, name):
            return False
        if self.pattern is None:
            return True
        if not isinstance(given, Mapping):
            return False
        # A model may add a key that the rule allows: every key that the tool may use has to match.
        values = list(limited_values(with_arguments(name, given)))
        kinds = {kind_of_key(key) for key, _, _ in values}
        naming = any(plain_key(key) in NAMES | URLS for key, _, _ in values)
        covered = False
        for key, value, listed in values:
            judged = self._covers_value(key, value, listed, _cwd(fields), tool=name, beside=kinds, naming=naming)
            if judged is False:
                return False
            covered = covered or judged is True
        return covered

    def tools(self) -> frozenset[str]:
        """Return the tools that the rule names, with their family."""
        names = frozenset(self.tool.split("|"))
        return names.union(*(_FAMILIES.get(name, ()) for name in names)) if self.pattern and self.family else names

    def files(self, tool_name: str, cwd: str) -> Callable[[str], bool] | None:
        """Return a function that says whether the rule is about a file that a tool may find; None if about none."""
        if self.pattern is None or self._host is not None or not self._is_about(tool_name):
            return None
        return self._path_pattern().files(cwd)

    # A call that is guarded.

    def _is_about(self, name: object) -> bool:
        if not isinstance(name, str) or not name or _same_tool(self.tool, name):
            return True
        return self.pattern is not None and name in self.tools()

    def _grade_input(self, name: object, fields: Mapping[str, Any]) -> Grade | None:
        given, cwd = fields.get("tool_input"), _cwd(fields)
        if not isinstance(given, Mapping):
            return "opaque"
        if name in _SEARCHES and self._host is None:
            grades = [self._grade_search(str(name), given, cwd)]
            if name == self.tool and isinstance(given.get("pattern"), str):
                grades.append("certain" if self._text_matches(given["pattern"]) else None)
            return surest(grades)
        known: list[Grade | None] = []
        others: list[Grade | None] = []
        try:
            for key, value, listed in limited_values(with_arguments(name, given)):
                kind = kind_of_key(key)
                if kind is None:
                    others.append(self._grade_other(value, cwd))
                elif kind != "inert" and (self._host is None or kind == "url"):
                    grade = self._grade_value(kind, value, cwd)
                    known.append(grade if grade or not listed or kind == "name" else "opaque")
        except TooMuch:  # what was judged so far still counts
            known.append("opaque")
        if name in _STARTERS and not any(plain_key(key) in _AGENTS for key in given):
            known.append("opaque")  # the host has an agent for calls that name none
        if name == "Skill" and isinstance(given.get("skill"), str):
            known.append(self._grade_name(given["skill"]))
        known += self._grade_arguments(given) if self._host is None else ()
        if not known and not (others and str(name).startswith("mcp__")):
            known.append("opaque")  # there is nothing that the rule is about; keys of servers are never known
        return surest((*known, *others))

    def _grade_value(self, kind: str, value: object, cwd: str) -> Grade | None:
        """Judge a value by what its key says it is."""
        value = _shortened(value) if kind == "path" else value
        if not isinstance(value, str) or len(value) > _LONGEST:
            return "opaque"
        if kind == "command":
            return self._grade_line(value)
        if kind == "path":
            return self._path_pattern().grade(value, cwd)
        if kind != "url":
            return self._grade_name(value)
        if self._host is not None:
            return self._host.grade(value)
        return self._grade_url(value, cwd)

    def _grade_name(self, value: str) -> Grade | None:
        if self._text_matches(value):
            return "certain"
        # Hosts look names up without blanks, without the slash of a command, and some in any case.
        plain = value.strip().removeprefix("/").casefold()
        return "possible" if plain == (self.pattern or "").casefold() or self._text_matches(plain) else None

    def _grade_url(self, url: str, cwd: str) -> Grade | None:
        from .hosts import plain_urls

        if any(self._text_matches(one) for one in (url, *plain_urls(url))):
            return "certain"
        # A tool for files may be given their URLs.
        return self._path_pattern().grade(url, cwd) if url.lstrip().lower().startswith("file:") else None

    def _grade_other(self, value: object, cwd: str) -> Grade | None:
        """Judge a value whose key says nothing: it may be a path, a URL or a name."""
        if not isinstance(value, str) or len(value) > _LONGEST:
            return None
        if self._host is not None:
            return "possible" if self._host.grade(value) in ("certain", "possible") else None
        is_meant = self._text_matches(value) or self._path_pattern().grade(value, cwd) in ("certain", "possible")
        return "possible" if is_meant else None

    def _grade_arguments(self, given: Mapping[str, Any]) -> Iterator[Grade | None]:
        """Judge a command whose words are in a list, or in two keys."""
        keys = {plain_key(key): value for key, value in given.items()}
        commands = [keys[key] for key in COMMANDS & keys.keys()]
        if all(isinstance(command, str) for command in commands) and not ARGUMENTS & keys.keys():
            return
        import shlex

        for command in commands:
            first = command if isinstance(command, list) else [command]
            more = [keys[key] for key in ARGUMENTS & keys.keys()]
            words = [*first, *(word for one in more for word in (one if isinstance(one, list) else [one]))]
            if (more or first is command) and all(isinstance(word, str) for word in words):
                yield self._grade_line(shlex.join(words))
                yield self._grade_line(" ".join(words))

    def _grade_search(self, tool: str, given: Mapping[str, Any], cwd: str) -> Grade | None:
        """Judge what a search can find: files below a path, or those whose path matches a glob."""
        keys = {plain_key(key): value for key, value in given.items() if value is not None}
        roots = [_shortened(value) for key in PATHS & keys.keys() for value in _listed(keys[key])] or ["."]
        named = _listed(keys.get("pattern", [])) if tool == "Glob" else [
            one for key in ("glob", "include") for one in _listed(keys.get(key, []))
        ]  # fmt: skip
        others = [value for key, value in keys.items() if isinstance(value, str) and kind_of_key(key) in (None, "url")]
        globs = [one for glob in named if _are_few([glob]) for one in _globs(glob, tool)]
        if not _are_few(roots) or not _are_few(named) or len(globs) > _MOST_SEARCHED:
            return "opaque"
        grade = self._path_pattern().grade_search(roots, globs or ["**"], cwd, from_cwd=tool == "Grep")
        # A text under a key that is not known may be another place to search.
        if not _are_few(others):
            return surest((grade, "opaque"))
        other = self._path_pattern().grade_search(others, globs or ["**"], cwd)
        return surest((grade, "possible" if other == "certain" else other))

    # A call that is allowed.

    def _covers_value(
        self, key: str, value: object, listed: bool, cwd: str, *, tool: str, beside: set[str | None], naming: bool
    ) -> bool | None:
        """Return whether a value matches; None if it has no part in it."""
        kind = kind_of_key(key)
        plain = plain_key(key)
        if kind == "inert":
            return None if plain not in ("glob", "include") or not _leads_away(value) else False
        if kind is None:
            return None if not isinstance(value, (str, bytes)) and not isinstance(value, Mapping) else False
        if not isinstance(value, str) or listed:
            return False
        if kind == "command":
            return self._host is None and self._command_pattern().covers_line(value)
        if kind == "path":
            return self._host is None and self._covers_path(value, cwd, tool)
        if kind == "url":
            return self._covers_url(value)
        if plain == "pattern" and "path" not in beside and tool in _SEARCHES:
            return self._host is None and self._covers_search(value, cwd, tool)
        return self._covers_text(plain, value, beside, naming)

    def _covers_path(self, path: str, cwd: str, tool: str) -> bool:
        pattern = self._path_pattern()
        if pattern.covers(path, cwd):
            return True
        # Of a folder that is searched, all that is in it has to match.
        return tool in _SEARCHES and all(pattern.covers(f"{path}/{below}", cwd) for below in ("x", "x/x/x"))

    def _covers_search(self, value: str, cwd: str, tool: str) -> bool:
        """Judge the pattern of a search in the event's directory; only that of Glob says which files it finds."""
        from .paths import leads_elsewhere

        if tool != "Glob":
            return self._covers_path(".", cwd, tool)
        return not _leads_up(value) and not leads_elsewhere(value, cwd) and self._text_matches(value)

    def _covers_url(self, value: str) -> bool:
        from .hosts import plain_urls

        if self._host is not None:
            return self._host.covers(value)
        return all(self._text_matches(one) for one in (value, *plain_urls(value)))

    def _covers_text(self, key: str, value: str, beside: set[str | None], naming: bool) -> bool | None:
        if key == "pattern" and (_leads_up(value) if not beside & {"path"} else _leads_away(value)):
            return False
        if key not in NAMES and (naming or beside & {"path", "command"}):
            return None  # it says what is done with it
        return self._host is None and self._text_matches(value)

    # The pattern, by what it is compared with; each is loaded when it is needed first.

    def _grade_line(self, line: str) -> Grade | None:
        return self._command_pattern().grade_line(line)

    def _command_pattern(self) -> CommandPattern:
        if self._command is None:
            from .shell import CommandPattern

            self._command = CommandPattern(self.pattern or "")
        return self._command

    def _path_pattern(self) -> PathPattern:
        if self._path is None:
            from .paths import PathPattern

            self._path = PathPattern(self.pattern or "")
        return self._path

    def _text_matches(self, value: str) -> bool:
        if self._text is None:
            from .globs import glob_to_regex

            self._text = linear(_lower_host(glob_to_regex(self.pattern or "", across="/")))
        return self._text(value)


class AnyCondition:
    """A list of rules, of which one has to match; the surest grade counts."""

    __slots__ = ("rules", "text")

    def __init__(self, rules: Sequence[Condition]) -> None:
        self.rules = tuple(rules)
        self.text = " or ".join(rule.text for rule in rules)

    def __call__(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a rule matches a call in any grade."""
        return self.grade(fields) is not None

    def grade(self, fields: Mapping[str, Any]) -> Grade | None:
        """Return the surest grade of the rules."""
        return surest(rule.grade(fields) for rule in self.rules)


def _both_names(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a call, and that of a declared tool also under the host's own name, with its own input if that is known."""
    yield fields
    if own := fields.get("host_tool_name"):
        yield {**fields, "tool_name": own, "tool_input": fields.get("host_tool_input", fields.get("tool_input"))}


def _all_names(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a call under each name that it may have: that of an MCP tool can be read in several ways."""
    yield from _both_names(fields)
    readings = fields.get("tool_readings")
    for name in readings if isinstance(readings, list) else ():
        yield {**fields, "tool_name": name}


def _cwd(fields: Mapping[str, Any]) -> str:
    cwd = fields.get("cwd")
    given = os.fsdecode(cwd) if isinstance(cwd, str | bytes | os.PathLike) else ""
    return os.path.abspath(given) if given else ""


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _shortened(path: Any) -> Any:
    """Return a long path without its repeated slashes and dots, without which it may be short."""
    if not isinstance(path, str) or len(path) <= _LONGEST_SEARCH:
        return path
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def _are_few(texts: Sequence[Any]) -> bool:
    """Return whether these are texts, and not so many that a rule would take long."""
    if len(texts) > _MOST_SEARCHED or not all(isinstance(one, str) for one in texts):
        return False
    return sum(map(len, texts)) <= _LONGEST_SEARCH


def _globs(glob: str, tool: str) -> list[str]:
    """Return the globs in the text of a search; one without a slash is about names at any depth."""
    if tool == "Glob":
        return ["**" if glob.startswith("!") else glob]
    # One that begins with ! leaves files out, and all others remain.
    parts = dict.fromkeys((glob, *_split_globs(glob)))
    return ["**" if one.startswith("!") else one if "/" in one else f"**/{one}" for one in parts if one]


def _split_globs(text: str) -> list[str]:
    """Split at blanks and commas that are not in braces."""
    parts, depth = [""], 0
    for piece in re.split(r"([\s,{}])", text):
        depth = max(0, depth + {"{": 1, "}": -1}.get(piece, 0))
        if not depth and (piece == "," or piece.isspace()):
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _same_tool(wanted: str, name: str) -> bool:
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
    from .globs import widened

    if ".." in re.split(r"[/{},()|]", pattern) or len(pattern) > _LONGEST_SEARCH:
        return True
    try:
        return any(".." in one.split("/") for one in widened(pattern))
    except ValueError:  # too many to look at
        return True


_TOOL = regex(r"""(?:\[[^\]\s]*\]|[^\s!&|,;(){}<>"'`\[\]])+""")
_HINT = "write it like Bash(git push *) or Write(src/**)"


@overload
def compile_condition(text: str | None, *, family: bool = True) -> Condition | None: ...
@overload
def compile_condition(text: object, *, family: bool = True) -> Condition | AnyCondition | None: ...
def compile_condition(text: object, *, family: bool = True) -> Condition | AnyCondition | None:
    """Compile an ``if``: a rule, or a list of rules. Without ``family`` a rule is about one tool."""
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    given = text if isinstance(text, (list, tuple)) else [text]
    if not given:
        raise BadHook("if: a list without rules", hint="leave it out, or name a rule")
    try:
        rules = [compile_rule(rule, family=family) for rule in given]
    except BadHook as error:
        hint = f"{error.problem.hint}; several as a list, of which one has to match"
        raise BadHook(f"if: {error.problem.what}", hint=hint) from None
    return rules[0] if len(rules) == 1 else AnyCondition(rules)


def compile_rule(text: object, *, family: bool = True) -> Condition:
    """Compile ``Tool`` or ``Tool(pattern)``."""
    if not isinstance(text, str):
        raise BadHook(f"{as_written(text)} where a rule is expected", hint=_HINT)
    rule = text.strip()
    if not rule:
        raise BadHook("a rule without text", hint=_HINT)
    tool, parenthesis, _ = rule.partition("(")
    names = [name.strip() for name in tool.split("|")]
    end = _end_of_pattern(rule, len(tool)) if parenthesis else len(rule)
    if end is None:
        raise BadHook(f"{text!r} has no closing parenthesis", hint=_HINT)
    if end != len(rule) or not all(_TOOL.fullmatch(name) for name in names):
        hint = _HINT if parenthesis else f"did you mean Bash({rule})? {_HINT}"
        raise BadHook(f"{text!r} is not one rule", hint=hint)
    pattern = re.sub(r"\\([()])", r"\1", rule[len(tool) + 1 : -1]).strip() if parenthesis else None
    if pattern == "":
        raise BadHook(f"{text!r} has no pattern in its parentheses", hint=f"{tool} alone means every call of it")
    return Condition(rule, "|".join(names), pattern, family=family)


def _end_of_pattern(rule: str, at: int) -> int | None:
    """Return where the parenthesis that begins at ``at`` is closed; one after a backslash does not count."""
    depth = 0
    for mark in re.finditer(r"\\.|[()]", rule[at:]):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0 and mark[0] == ")":
            return at + mark.end()
    return None


def _lower_host(regex: str) -> str:
    """Ignore case in the scheme and host that a pattern begins with."""
    found = re.match(r"\(\?s\)([A-Za-z]+:/+)([\w.\\-]+)", regex)
    return regex if found is None else f"(?s)(?i:{found[1]}{found[2]}){regex[found.end() :]}"
