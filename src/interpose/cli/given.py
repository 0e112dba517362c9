"""An event as it is given on a command line: its name and its fields. Standard library only.

``--input`` is the whole input, exactly what a hook gets on standard input, so that a recorded event can be fired again;
the other options fill in single fields of it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ..errors import BadEvent, Problem, UnknownEvent, nearest
from ..events import BASE_FIELDS, TABLE, Row, Table
from ..strict_json import BadJson, decode

__all__ = ["Given", "doubts_of", "read_event"]

# What the engine adds for commands on the wire; it is made anew for whoever is told next.
_MADE_ANEW = ("hook_type", "timestamp", "protocol", "tool_output", "async_phase")


class Given:
    """What the options say about the event, and where its hooks are. A plain class: making a dataclass costs 1 ms."""

    def __init__(
        self,
        event: str | None = None,
        input: str | None = None,
        tool: str | None = None,
        tool_input: str | None = None,
        agent: str | None = None,
        fields: list[str] | None = None,
        config: list[str] | None = None,
        dialect: str | None = None,
        cwd: str | None = None,
    ) -> None:
        self.event = event
        self.input = input
        self.tool = tool
        self.tool_input = tool_input
        self.agent = agent
        self.fields = fields or []
        self.config = config or []
        self.dialect = dialect
        self.cwd = cwd


def read_event(given: Given, table: Table = TABLE) -> tuple[Row, dict[str, Any]]:
    """Return the event's row and its fields, or say what is wrong with the way they were given."""
    fields = _input(given.input) if given.input is not None else {}
    named = fields.pop("hook_event_name", None)
    if named is None:
        named = fields.get("hook_type")
    name = given.event or named
    if not name:
        raise UnknownEvent("which event?", hint="name one, such as PreToolUse, or give --input with hook_event_name")
    row, suffix = table.find(name)
    for added in _MADE_ANEW:
        if added not in row.known:
            fields.pop(added, None)
    if suffix is not None and row.subject:
        fields.setdefault(row.subject, suffix)
    if given.tool is not None:
        _only_with_a_tool(row, "--tool")
        fields["tool_name"] = given.tool
    if given.tool_input is not None:
        _only_with_a_tool(row, "--tool-input")
        fields["tool_input"] = _json(given.tool_input, "--tool-input")
    for pair in given.fields:
        key, value = _pair(row, pair)
        fields[key] = value
    if given.agent is not None:
        fields["agent_id"] = given.agent
    if fields.get("agent_id", "") is None:
        del fields["agent_id"]  # on the wire it is null where there is none
    if given.cwd is not None:
        fields.setdefault("cwd", os.path.abspath(given.cwd))
    return row, fields


def doubts_of(given: Given, row: Row) -> list[Problem]:
    """Return which fields may be misspelt. A host may add some of its own, so this is no mistake."""
    names = [pair.partition("=")[0] for pair in given.fields]
    strange = [(name, nearest(name, row.known)) for name in names if name not in row.known]
    return [Problem(f"--field {name} is passed on; {row.name} has no such field", hint=near)
            for name, near in strange if near]  # fmt: skip


def _input(text: str) -> dict[str, Any]:
    if text == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise BadEvent("--input -: nothing is piped in", hint="echo '{…}' | interpose fire …")
        said = _decoded(sys.stdin.buffer.read(), "standard input")
    elif text.startswith("@"):
        try:
            with open(text[1:], "rb") as file:
                said = _decoded(file.read(), text[1:])
        except OSError as error:
            raise BadEvent(f"--input {text}: {error.strerror}", hint="check the path") from None
    else:
        said = _json(text, "--input")
    if not isinstance(said, dict):
        raise BadEvent(f"--input: {_kind(said)} where an object with the event's fields is expected")
    return said


def _json(text: str, option: str) -> Any:
    return _decoded(text.encode("utf-8", "surrogateescape"), option)


def _decoded(data: bytes, what: str) -> Any:
    try:
        return decode(data)
    except BadJson as error:
        if not data.strip():
            raise BadEvent(f"{what}: it is empty", hint="one JSON object is expected") from None
        hint = 'quote it for the shell: \'{"key": "value"}\'' if what.startswith("--") else ""
        if data.startswith(b"@"):
            hint = "only --input reads a file; it holds the whole event"
        raise BadEvent(f"{what}: not JSON: {error}", hint=hint) from None


def _only_with_a_tool(row: Row, option: str) -> None:
    if "tool_name" not in row.fields:
        shared = {field.name for field in BASE_FIELDS}
        fields = ", ".join(name for name in row.fields if name not in shared) or "none of its own"
        raise BadEvent(f"{option}: {row.name} is not about a tool", hint=f"its fields: {fields}; use --field")


def _pair(row: Row, pair: str) -> tuple[str, Any]:
    """Read ``key=value``: a field that holds text gets the text, any other the JSON."""
    key, equals, text = pair.partition("=")
    if not equals or not key:
        raise BadEvent(f"--field {pair}: not a field and its value", hint="write it like --field prompt='good morning'")
    key = row.words.get(key, key)

    kind = row.fields[key].kind if key in row.fields else "any"
    if kind == "text":
        return key, text
    try:
        value = decode(text.encode("utf-8", "surrogateescape"))
    except BadJson:
        value = text
    if key in row.fields and not row.fields[key].fits(value):
        raise BadEvent(f"--field {key}: {text!r} where {_words(kind)} is expected")
    return key, value


def _words(kind: str) -> str:
    return {"flag": "true or false", "number": "a number", "list": "a JSON list", "object": "a JSON object",
            "text|null": "text or null"}.get(kind, kind)  # fmt: skip


def _kind(value: object) -> str:
    return {list: "a list", str: "text", bool: "true or false", type(None): "nothing"}.get(type(value), "a number")
