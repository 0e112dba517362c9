"""The event that a command line describes: its name and its fields. Standard library only.

``--input`` is the whole input, exactly what a hook reads from standard input, so that a recorded event can be fired
again; the other options set single fields of it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ...errors import BadEvent, Problem, UnknownEvent, nearest
from ...events import BASE_FIELDS, TABLE, EventSpec, Table
from ...matching.declared_tools import DeclaredTools
from ...strict_json import BadJson, decode

__all__ = ["EventOptions", "as_host_gave", "complete_event", "read_event", "read_payload", "unknown_fields"]

# Fields that the engine adds for each command; it adds them again when a recorded event is fired.
_ADDED = ("hook_type", "timestamp", "protocol", "tool_output", "async_phase", "match")


class EventOptions:
    """The options that describe an event and its configuration. A plain class: creating a dataclass costs 1 ms."""

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
        require: bool = False,
        deadline: float | None = None,
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
        self.require = require
        self.deadline = deadline


def read_event(options: EventOptions, table: Table = TABLE) -> tuple[EventSpec, dict[str, Any]]:
    """Return the event's row and its fields; raise BadEvent or UnknownEvent if the options are wrong."""
    fields = read_payload(options)
    named = fields.pop("hook_event_name", None)
    if named is None:
        named = fields.get("hook_type")
    name = options.event or named
    if not name:
        raise UnknownEvent("which event?", hint="name one, such as PreToolUse, or give --input with hook_event_name")
    row, suffix = table.find(name)
    if suffix is not None and row.subject:
        fields.setdefault(row.subject, suffix)
    return row, complete_event(options, row, fields)


def read_payload(options: EventOptions) -> dict[str, Any]:
    """Return the input that ``--input`` names; empty without one."""
    return _input(options.input) if options.input is not None else {}


def complete_event(options: EventOptions, row: EventSpec, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an event with those that single options set."""
    for added in _ADDED:
        if added not in row.known:
            fields.pop(added, None)
    if options.tool is not None:
        _require_tool_event(row, "--tool")
        fields["tool_name"] = options.tool
    if options.tool_input is not None:
        _require_tool_event(row, "--tool-input")
        fields["tool_input"] = _json(options.tool_input, "--tool-input")
    for pair in options.fields:
        key, value = _pair(row, pair)
        fields[key] = value
    if options.agent is not None:
        fields["agent_id"] = options.agent
    if fields.get("agent_id", "") is None:
        del fields["agent_id"]  # a recorded event has null where there is no agent
    if options.cwd is not None:
        fields.setdefault("cwd", os.path.abspath(options.cwd))
    return fields


def as_host_gave(tools: DeclaredTools | None, fields: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the fields of an event under the host's names, which a recorded event lacks, and the declared name."""
    if tools is None:
        return fields, ""
    fields = tools.undeclared(fields)
    name = fields.get("tool_name")
    tool = tools.find(name) if isinstance(name, str) else None
    return fields, tool.name if tool is not None else ""


def unknown_fields(options: EventOptions, row: EventSpec) -> list[Problem]:
    """Return a warning for each field that looks misspelt. It is no error: a host may have fields of its own."""
    names = [pair.partition("=")[0] for pair in options.fields]
    strange = [(name, nearest(name, row.known)) for name in names if name not in row.known]
    return [Problem(f"--field {name} is passed on, but {row.name} has no such field", hint=near)
            for name, near in strange if near]  # fmt: skip


def _input(text: str) -> dict[str, Any]:
    if text == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise BadEvent("--input -: nothing is piped in", hint="echo '{…}' | interpose fire …")
        value = _decoded(sys.stdin.buffer.read(), "standard input")
    elif text.startswith("@"):
        try:
            with open(text[1:], "rb") as file:
                value = _decoded(file.read(), text[1:])
        except OSError as error:
            raise BadEvent(f"--input {text}: {error.strerror}", hint="check the path") from None
    else:
        value = _json(text, "--input")
    if not isinstance(value, dict):
        raise BadEvent(f"--input: {_kind(value)} where an object with the event's fields is expected")
    return value


def _json(text: str, option: str) -> Any:
    return _decoded(text.encode("utf-8", "surrogateescape"), option)


def _decoded(data: bytes, what: str) -> Any:
    try:
        return decode(data)
    except BadJson as error:
        if not data.strip():
            raise BadEvent(f"{what} is empty", hint="one JSON object is expected") from None
        hint = 'quote it for the shell: \'{"key": "value"}\'' if what.startswith("--") else ""
        if data.startswith(b"@"):
            hint = "only --input reads a file; it holds the whole event"
        raise BadEvent(f"{what}: not JSON: {error}", hint=hint) from None


def _require_tool_event(row: EventSpec, option: str) -> None:
    if "tool_name" not in row.fields:
        shared = {field.name for field in BASE_FIELDS}
        fields = ", ".join(name for name in row.fields if name not in shared) or "none of its own"
        raise BadEvent(f"{option}: {row.name} is not about a tool", hint=f"its fields: {fields}; use --field")


def _pair(row: EventSpec, pair: str) -> tuple[str, Any]:
    """Parse ``key=value``: a text field takes the text, any other field takes JSON."""
    key, equals, text = pair.partition("=")
    if not equals or not key:
        raise BadEvent(f"--field {pair}: not KEY=VALUE", hint="such as --field prompt='good morning'")
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
