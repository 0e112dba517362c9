"""Files of cases, YAML or JSON: events and the expected outcomes. Every mistake is reported with its place.

config: [hooks.yaml]                 # relative to this file; without it the file may be the list of cases
cases:
  - name: rm is denied
    given: {event: PreToolUse, tool_name: Bash, tool_input: {command: rm -rf /}}
    expect: {decision: deny, reason: Destructive}
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, get_args

from ..config.files import read
from ..config.positions import kind
from ..config.text import Parsed, parse
from ..errors import ConfigError, InterposeError, Problem, nearest
from ..events import TABLE, EventSpec, Table
from ..model import Decision

__all__ = ["ABSENT", "SUFFIXES", "Case", "load_cases"]

SUFFIXES = (".yaml", ".yml", ".json")
"""The suffixes of files of cases."""

ABSENT = "absent"
"""The expected status of a hook that must not run."""

_DECISIONS = get_args(Decision)
_STATUSES = ("ok", "failed", "timeout", "skipped", ABSENT)
_TOP_KEYS = ("config", "cases")
_CASE_KEYS = ("name", "given", "expect")
_SNAKE = {"keepGoing": "keep_going"}

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One event, and its expected outcome."""

    name: str
    event: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    expect: Mapping[str, Any]
    """The expected values of decision, allowed, reason, input, context, messages, keep_going and hooks."""
    source: str = ""
    """Its place: file:line:column."""
    config: tuple[str, ...] = ()
    """The configuration files that its file names, as absolute paths."""


def load_cases(path: str | os.PathLike[str], *, events: Table = TABLE) -> list[Case]:
    """Read a file of cases; raise ConfigError with every mistake in it, each as file:line:column."""
    taken = read(path, found=False)
    source = os.fspath(path)
    if not source.endswith(SUFFIXES):
        raise ConfigError([Problem("neither YAML nor JSON", where=source, hint="name it .yaml or .json")])
    parsed = parse(taken.data, source, format="json" if source.endswith(".json") else "yaml")
    reader = _CaseFileReader(parsed, source, os.path.dirname(taken.path), events)
    cases = reader.whole(parsed.value)
    if reader.problems:
        raise ConfigError(sorted(reader.problems, key=_position))
    return cases


def _position(problem: Problem) -> tuple[int, int]:
    line, column = problem.where.rsplit(":", 2)[1:]
    return int(line), int(column)


class _CaseFileReader:
    """Reads a parsed file and collects its problems."""

    def __init__(self, parsed: Parsed, source: str, directory: str, events: Table) -> None:
        self.parsed = parsed
        self.source = source
        self.directory = directory
        self.events = events
        self.problems: list[Problem] = []

    def wrong(self, path: Path, what: str, hint: str = "", *, value: bool = False) -> None:
        self.problems.append(Problem(what, where=self.where(path, value=value), hint=hint))

    def where(self, path: Path, *, value: bool = False) -> str:
        line, column = self.parsed.place_of(path, value=value)
        return f"{self.source}:{line}:{column}"

    def whole(self, given: Any) -> list[Case]:
        path: Path = ()
        config: tuple[str, ...] = ()
        if isinstance(given, Mapping):
            self.only_known(given, _TOP_KEYS, (), "a file of cases")
            config = self.config(given.get("config"))
            path, given = ("cases",), given.get("cases")
        if not isinstance(given, list):
            self.wrong(path, f"{kind(given)} where a list of cases is expected", "each with given: and expect:")
            return []
        if not given:
            self.wrong(path, "a list without cases", "each has given: and expect:")
        cases = [self.case(one, (*path, at), config) for at, one in enumerate(given)]
        self.check_names([(case, (*path, at)) for at, case in enumerate(cases) if case is not None])
        return [case for case in cases if case is not None]

    def config(self, given: Any) -> tuple[str, ...]:
        named = [given] if isinstance(given, str) else given if given is not None else []
        if not isinstance(named, list) or not all(isinstance(one, str) and one for one in named):
            self.wrong(("config",), f"config: {kind(given)} where a list of files is expected", value=True)
            return ()
        return tuple(os.path.join(self.directory, os.path.expanduser(one)) for one in named)

    def check_names(self, cases: Sequence[tuple[Case, Path]]) -> None:
        seen: set[str] = set()
        for case, path in cases:
            if case.name in seen:
                self.wrong((*path, "name"), f"there are two cases named {case.name!r}", "give each its own name")
            seen.add(case.name)

    def case(self, given: Any, path: Path, config: tuple[str, ...]) -> Case | None:
        if not isinstance(given, Mapping):
            self.wrong(path, f"{kind(given)} where a case is expected", "a mapping with given: and expect:")
            return None
        before = len(self.problems)
        self.only_known(given, _CASE_KEYS, path, "a case")
        event, fields = self.given(given, path)
        expect = self.expect(given, path)
        name = given.get("name")
        if name is not None and (not isinstance(name, str) or not name):
            self.wrong((*path, "name"), f"{kind(name)} where a name is expected", "quote it", value=True)
        if len(self.problems) > before or not isinstance(event, str):
            return None
        where = self.where(path)
        line = where.rsplit(":", 2)[1]
        return Case(name=name or f"{event} in line {line}", event=event, fields=fields, expect=expect,
                    source=where, config=config)  # fmt: skip

    def given(self, case: Mapping[str, Any], path: Path) -> tuple[str | None, dict[str, Any]]:
        given = case.get("given")
        at = (*path, "given")
        if not isinstance(given, Mapping):
            what = f"given: is {kind(given)}" if "given" in case else "a case without given:"
            self.wrong(at, what, "say which event is fired: {event: …, and its fields}", value=True)
            return None, {}
        event = given.get("event")
        if event is None:
            self.wrong(at, "given: names no event", "event: is the name of one; `interpose events` lists them")
            return None, {}
        try:
            row, suffix = self.events.find(event)
        except InterposeError as error:
            self.wrong((*at, "event"), error.problem.what, error.problem.hint, value=True)
            return None, {}
        if suffix is not None:
            self.wrong((*at, "event"), f"{event} cannot be fired", f"say {row.name} with {row.subject}: {suffix}")
        fields = {str(name): value for name, value in given.items() if name != "event"}
        self.check_fields(row, fields, at)
        return str(event), fields

    def check_fields(self, row: EventSpec, fields: Mapping[str, Any], at: Path) -> None:
        """Report fields that are probably misspelt; a host may have fields of its own."""
        for name, value in fields.items():
            if name not in row.known and (close := get_close_matches(name, row.known, n=1, cutoff=0.8)):
                self.wrong((*at, name), f"{name} is not a field of {row.name}", f"did you mean {close[0]}?")
            elif row.words.get(name, name) in (row.subject, "agent_id") and not isinstance(value, str):
                self.wrong((*at, name), f"{name} is {kind(value)} where text is expected", "quote it", value=True)

    def expect(self, case: Mapping[str, Any], path: Path) -> dict[str, Any]:
        expect = case.get("expect")
        at = (*path, "expect")
        if not isinstance(expect, Mapping) or not expect:
            what = "expect: says nothing" if "expect" in case else "a case without expect:"
            self.wrong(at, what, f"say what should come of it: {', '.join(_CHECKS)}", value=True)
            return {}
        self.only_known(expect, (*_CHECKS, *_SNAKE), at, "expect")
        checked = {_SNAKE.get(str(name), str(name)): (str(name), value) for name, value in expect.items()}
        for name, (spelled, value) in checked.items():
            if name in _CHECKS and (complaint := _CHECKS[name](value)):
                self.wrong((*at, spelled), f"{spelled}: {complaint[0]}", complaint[1], value=True)
        return {name: _as_list(name, value) for name, (_, value) in checked.items() if name in _CHECKS}

    def only_known(self, given: Mapping[str, Any], known: Sequence[str], path: Path, what: str) -> None:
        for key in given:
            if key not in known and not str(key).startswith("x-"):
                self.wrong((*path, str(key)), f"{key} is not a key of {what}",
                           nearest(str(key), known) or f"keys are {', '.join(known)}")  # fmt: skip


Complaint = tuple[str, str] | None


def _as_list(name: str, value: Any) -> Any:
    return [value] if name in ("context", "messages") and isinstance(value, str) else value


def _check_decision(value: Any) -> Complaint:
    if value in _DECISIONS:
        return None
    return f"{value!r} is not a decision", nearest(str(value), _DECISIONS) or f"one of {', '.join(_DECISIONS)}"


def _check_flag(value: Any) -> Complaint:
    return None if isinstance(value, bool) else (f"{kind(value)} where true or false is expected", "")


def _check_text(value: Any) -> Complaint:
    if not isinstance(value, str):
        return f"{kind(value)} where text is expected", "a part of the text, or re:…"
    if value.startswith("re:"):
        try:
            re.compile(value[3:])
        except re.error as error:
            return f"{value!r} is not a regular expression: {error}", ""
    return None


def _check_texts(value: Any) -> Complaint:
    if isinstance(value, str):
        return _check_text(value)
    if not isinstance(value, list):
        return f"{kind(value)} where a list of texts is expected", "an empty list: there must be none"
    return next((found for found in map(_check_text, value) if found), None)


def _check_input(value: Any) -> Complaint:
    if isinstance(value, Mapping) and value:
        return None
    return f"{kind(value)} where fields are expected", "such as {tool_input: {command: ls}}"


def _check_hooks(value: Any) -> Complaint:
    if not isinstance(value, Mapping):
        return f"{kind(value)} where names of hooks are expected", f"each with one of {', '.join(_STATUSES)}"
    for name, status in value.items():
        if status not in _STATUSES:
            return f"{name}: {status!r} is not how a hook ends", f"one of {', '.join(_STATUSES)}"
    return None


_CHECKS = {
    "decision": _check_decision,
    "allowed": _check_flag,
    "reason": _check_text,
    "input": _check_input,
    "context": _check_texts,
    "messages": _check_texts,
    "keep_going": _check_flag,
    "hooks": _check_hooks,
}
