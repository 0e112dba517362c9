"""The script of a scripted model, read from a file of turns or from Python data, and validated.

    turns:                                  # of the main agent
      - say: I'll look around.
        calls: [{Bash: {command: ls}}]      # or one: call: {Bash: {command: ls}}
      - needs: "house rule: (.*)"           # a regular expression that must match what was sent to the model last
        say: "As told: $1"                  # its groups; $$1 is $1
        stop_reason: end_turn
        tokens: 90000                       # of the context in use afterwards; estimated if not given
        pause: 0.2                          # seconds that it takes
    agents:                                 # of subagents and teammates, by name
      explorer: [{say: Nothing here.}]
    window: 100000                          # tokens that fit into the context

A call's input may also be text, `{Bash: '{"command": '}`: the model then writes exactly that, even if it is not JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from ..errors import UsageError
from ..runtime.regex import regex
from . import ModelError
from .data_files import load

__all__ = ["Script", "ScriptSource", "ScriptedTurn", "read_script"]

ScriptSource: TypeAlias = "str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]"
"""A file, the data of one, or only the turns of the main agent."""

_KEYS = ("say", "call", "calls", "needs", "stop_reason", "tokens", "pause")
_GROUP = regex(r"\$(\$?)([1-9])")


@dataclass(frozen=True)
class ScriptedTurn:
    """One turn of a script. A call is a name and an input, or the text that the model writes as input."""

    place: str = ""
    say: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    needs: re.Pattern[str] | None = None
    stop_reason: str = "end_turn"
    tokens: int | None = None
    pause: float = 0.0

    def after(self, sent: str) -> ScriptedTurn:
        """Return the turn as it is played after ``sent``, with the groups of ``needs`` filled in."""
        if self.needs is None:
            return self
        found = self.needs.search(sent)
        if found is None:
            tail = " ".join(sent.split())[-200:]
            what = f"the turn needs {self.needs.pattern!r}, which the model was not sent; the end of that was: {tail}"
            raise ModelError(what, code="off_script", where=self.place, hint="was a message denied, or context lost?")
        groups = [group or "" for group in found.groups()]
        calls = tuple((name, _filled(made, groups)) for name, made in self.calls)
        return replace(self, say=_filled(self.say, groups), calls=calls)


@dataclass(frozen=True)
class Script:
    """All turns by agent; ``source`` is the file, and ``window`` the context size that the script gives."""

    turns: Mapping[str, tuple[ScriptedTurn, ...]]
    source: str = ""
    window: int | None = None


def read_script(source: ScriptSource) -> Script:
    """Return the script; raise ModelError with the place of a mistake."""
    if isinstance(source, (str, Path)):
        path = str(source)
        try:
            data, lines = load(path)
        except UsageError as error:
            wrong = error.problem
            raise ModelError(wrong.what, code="bad_script", where=wrong.where, hint=wrong.hint) from error
        return _ScriptReader(path, lines).script(data)
    return _ScriptReader("", {}).script(source)


def _filled(value: Any, groups: list[str]) -> Any:
    """Return the value with $1 … replaced in all its texts; the number of a missing group is not replaced."""

    def group(found: re.Match[str]) -> str:
        dollar, number = found[1], int(found[2])
        if dollar or number > len(groups):
            return found[0][len(dollar) :]
        return groups[number - 1]

    match value:
        case str():
            return _GROUP.sub(group, value)
        case dict():
            return {key: _filled(item, groups) for key, item in value.items()}
        case list():
            return [_filled(item, groups) for item in value]
        case _:
            return value


class _ScriptReader:
    """Validates data and makes a script; ``lines`` has the line of each path such as ``turns[3].calls[0]``."""

    def __init__(self, source: str, lines: Mapping[str, int]) -> None:
        self.source = source
        self.lines = lines

    def wrong(self, path: str, what: str, hint: str = "") -> NoReturn:
        raise ModelError(f"{path}: {what}" if path else what, code="bad_script", where=self.place(path), hint=hint)

    def place(self, path: str) -> str:
        """Return ``file:line`` of a path, or of the nearest part that contains it."""
        above = path
        while above and above not in self.lines:
            above = above[: max(above.rfind("."), above.rfind("["), 0)]
        line = self.lines.get(above)
        return f"{self.source}:{line}" if self.source and line else self.source

    def script(self, data: Any) -> Script:
        if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
            data = {"turns": data}
        if not isinstance(data, Mapping) or not ({"turns", "agents"} & set(data)):
            self.wrong("", "a script is a mapping with turns in it", "turns: [{say: Hello.}]")
        self.known("", data, ("turns", "agents", "window"))
        turns = {"main": self.turns("turns", data["turns"])} if "turns" in data else {}
        agents = data.get("agents", {})
        if not isinstance(agents, Mapping):
            self.wrong("agents", "is not a mapping of agents to turns", "agents: {explorer: [{say: Done.}]}")
        for agent, its in agents.items():
            if agent == "main":
                self.wrong("agents.main", "the main agent has its turns under turns", "move them there")
            turns[str(agent)] = self.turns(f"agents.{agent}", its)
        window = data.get("window")
        if window is not None and (type(window) is not int or window < 1):
            self.wrong("window", f"{window!r} is not a number of tokens", "window: 100000")
        return Script(turns, self.source, window)

    def turns(self, path: str, data: Any) -> tuple[ScriptedTurn, ...]:
        if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
            self.wrong(path, "is not a list of turns", f"{path.rpartition('.')[2]}: [{{say: Hello.}}]")
        return tuple(self.turn(f"{path}[{number}]", one) for number, one in enumerate(data))

    def turn(self, path: str, data: Any) -> ScriptedTurn:
        if not isinstance(data, Mapping) or not data:
            self.wrong(path, "is not a turn", "{say: Hello.}")
        self.known(path, data, _KEYS)
        if "call" in data and "calls" in data:
            self.wrong(path, "has both call and calls", "put all of them under calls")
        calls = self.calls(path, data)
        stop_reason = self.text(path, data, "stop_reason") or ("tool_use" if calls else "end_turn")
        place = ": ".join(part for part in (self.place(path), path) if part)
        tokens, pause = data.get("tokens"), data.get("pause", 0.0)
        if tokens is not None and (type(tokens) is not int or tokens < 0):
            self.wrong(f"{path}.tokens", f"{tokens!r} is not a number of tokens", "tokens: 90000")
        if type(pause) not in (int, float) or not math.isfinite(pause) or pause < 0:
            self.wrong(f"{path}.pause", f"{pause!r} is not a number of seconds", "pause: 0.5")
        needs = self.needs(path, data)
        return ScriptedTurn(place, self.text(path, data, "say"), calls, needs, stop_reason, tokens, float(pause))

    def known(self, path: str, data: Mapping[str, Any], keys: Iterable[str]) -> None:
        for key in data:
            if key not in keys:
                inside = f"{path}.{key}" if path else str(key)
                self.wrong(inside, f"{key!r} means nothing here", f"use {', '.join(keys)}")

    def text(self, path: str, data: Mapping[str, Any], key: str) -> str:
        text = data.get(key, "")
        if not isinstance(text, str):
            self.wrong(f"{path}.{key}", f"{text!r} is not text", "quote it")
        return text

    def needs(self, path: str, data: Mapping[str, Any]) -> re.Pattern[str] | None:
        if "needs" not in data:
            return None
        try:
            return re.compile(self.text(path, data, "needs"))
        except re.error as error:
            self.wrong(
                f"{path}.needs", f"is not a regular expression: {error}", r"write \( for a bracket that is meant"
            )

    def calls(self, path: str, data: Mapping[str, Any]) -> tuple[tuple[str, dict[str, Any] | str], ...]:
        if "call" in data:
            return (self.call(f"{path}.call", data["call"]),)
        calls = data.get("calls", ())
        if not isinstance(calls, Sequence) or isinstance(calls, (str, bytes)):
            self.wrong(f"{path}.calls", "is not a list of calls", "calls: [{Bash: {command: ls}}]")
        return tuple(self.call(f"{path}.calls[{number}]", one) for number, one in enumerate(calls))

    def call(self, path: str, data: Any) -> tuple[str, dict[str, Any] | str]:
        if not isinstance(data, Mapping) or len(data) != 1:
            self.wrong(path, "is not one tool and its input", "{Bash: {command: ls}}")
        ((name, made),) = data.items()
        if isinstance(made, str):
            return str(name), made
        if not isinstance(made, Mapping):
            self.wrong(path, f"the input of {name} is not a mapping", f"{{{name}: {{}}}}")
        try:
            text = json.dumps(made, allow_nan=False)
        except (TypeError, ValueError) as error:
            self.wrong(
                path, f"the input of {name} is not JSON data: {error}", "quote dates, and names that are not text"
            )
        copy: dict[str, Any] = json.loads(text)
        if copy != made:  # JSON changed a key to text, or a tuple to a list
            self.wrong(path, f"the input of {name} is not JSON data", "keys are text: quote them")
        return str(name), copy
