"""The OpenAPI description of the HTTP interface, made from the table of events."""

from __future__ import annotations

import json
from typing import Any

from .. import __version__
from ..dialects import NAMES as DIALECTS
from ..dialects.agents import AGENTS
from ..events import EventSpec, Table

__all__ = ["describe"]

_TYPES: dict[str, Any] = {
    "text": {"type": "string"}, "flag": {"type": "boolean"}, "number": {"type": "number"},
    "list": {"type": "array", "items": {}}, "object": {"type": "object"}, "text|null": {"type": ["string", "null"]},
}  # fmt: skip
_HEADERS = {
    "Interpose-Reply": ("Answer as a hook's reply in this dialect; without it, as `interpose fire --json`.",
                        {"type": "string", "enum": ["native", *AGENTS]}),
    "Interpose-Dialect": ("The dialect of the configuration files.", {"type": "string", "enum": list(DIALECTS)}),
    "Interpose-Project": ("The directory whose hooks are fired. Default: the `cwd` of the event.", {"type": "string"}),
    "Interpose-Require": ("Refuse if nothing that is found is trusted.", {"type": "boolean"}),
    "Interpose-Deadline": ("Seconds that you wait for the answer: before that the event is refused.",
                           {"type": "number", "exclusiveMinimum": 0}),
}  # fmt: skip


def describe(table: Table) -> bytes:
    """Return the description as JSON."""
    rows = list(table.values())
    schemas: dict[str, Any] = {_name(row): _input(row) for row in rows}
    schemas["Outcome"] = _OUTCOME
    schemas["Error"] = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    described = {
        "openapi": "3.1.0",
        "info": {"title": "Interpose", "version": __version__,
                 "description": "Fire an event through the hooks of a project."},
        "paths": {
            **{f"/v1/fire/{row.name}": {"post": _operation(row)} for row in rows},
            "/health": {"get": _read("Whether the server answers.", "application/json")},
            "/metrics": {"get": {**_read("Figures for Prometheus.", "text/plain"), "security": [{"token": []}]}},
        },
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": {
                name: {"name": name, "in": "header", "description": text, "schema": schema}
                for name, (text, schema) in _HEADERS.items()
            },
        },
    }  # fmt: skip
    return json.dumps(described).encode()


def _name(row: EventSpec) -> str:
    return row.name.replace(":", ".")


def _input(row: EventSpec) -> dict[str, Any]:
    fields = {field.name: _TYPES.get(field.kind, {}) for field in row.fields.values()}
    return {"type": "object", "description": row.meaning, "properties": fields, "additionalProperties": True}


def _operation(row: EventSpec) -> dict[str, Any]:
    can = ", ".join(sorted(row.can)) or "nothing"
    error = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    answer = {"oneOf": [{"$ref": "#/components/schemas/Outcome"}, {"type": "object", "description": "A hook's reply."}]}
    return {
        "operationId": f"fire.{_name(row)}",
        "summary": row.meaning,
        "description": f"A hook may: {can}.",
        "security": [{"token": []}],
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{_name(row)}"}}},
        },
        "responses": {
            "200": {"description": "What was decided.", "content": {"application/json": {"schema": answer}}},
            "400": {"description": "A mistake in the request or in the configuration; nothing was decided.", **error},
            "401": {"description": "The token is missing or wrong.", **error},
            "403": {"description": "The request comes from another site.", **error},
            "503": {"description": "The event was refused or lost; nothing was decided.", **error},
        },
    }


def _read(text: str, kind: str) -> dict[str, Any]:
    return {"summary": text, "responses": {"200": {"description": text, "content": {kind: {}}}}}


_OUTCOME = {
    "type": "object",
    "description": "The outcome, as `interpose fire --json` prints it.",
    "properties": {
        "event": {"type": "string"},
        "decision": {"type": "string", "enum": ["deny", "ask", "allow", "none"]},
        "allowed": {"type": "boolean"}, "denied": {"type": "boolean"}, "granted": {"type": "boolean"},
        "reason": {"type": "string"}, "input": {"type": "object"},
        "context": {"type": "array", "items": {"type": "string"}},
        "messages": {"type": "array", "items": {"type": "string"}},
        "inject": {"type": "array", "items": {"type": "object"}},
        "suppress_output": {"type": "boolean"}, "keep_going": {"type": "boolean"}, "continue": {"type": "boolean"},
        "stop_reason": {"type": "string"}, "extra": {"type": "object"},
        "ignored": {"type": "array", "items": {"type": "object"}},
        "results": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["event", "decision", "allowed", "denied"],
}  # fmt: skip
