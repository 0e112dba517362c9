"""The keys of a configuration as tables, from the schema that editors use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from interpose.config.mapping import SPELLED
from interpose.config.schema import SETTING_SCHEMAS, schema

from .markdown import code, listed, plain, table

__all__ = ["keys"]

_KINDS = {"string": "text", "boolean": "true or false", "integer": "a whole number", "number": "a number",
          "object": "names and values", "array": "a list"}  # fmt: skip
_FEW = 4
_WHAT_MUST_BE_THERE = (
    "`handler`, `command`, `url`, `server` or `prompt` must be there. The last column is its name in "
    "`hooks.register`.\n"
)
_REFERRED = {
    "hooks": "see below",
    "policies": "see [Policies](policies.md)",
    "agent": "a list of agents",
    "hook": "a list of hooks",
    "agentHooks": "as `hooks:`",
    "mcpServer": "an MCP server",
}


def keys() -> str:
    """Return a table for every place in a configuration that has keys."""
    whole = schema()
    defs = whole["$defs"]
    settings = {name: about for name, about in defs["hooks"]["properties"].items() if name in SETTING_SCHEMAS}
    agent = next(one for one in defs["agentHooks"]["properties"]["Stop"]["anyOf"] if "properties" in one)
    return "\n".join(
        [
            "### At the top of a file\n",
            _table(whole["properties"]),
            *_inner_tables(whole["properties"]),
            "### Settings, directly under `hooks:`\n",
            "Beside them stand [events](events.md), each with a list of hooks and groups.\n",
            _table(settings),
            "### A hook\n",
            _WHAT_MUST_BE_THERE,
            _table(defs["hook"]["properties"], python=True),
            "### A group\n",
            _table(defs["group"]["properties"]),
            "### An event under `agents[].backend.hooks`\n",
            "A list as above, or a mapping:\n",
            _table({**agent["properties"], "hooks": {**agent["properties"]["hooks"], "description": "The list."}}),
        ]
    )


def _inner_tables(properties: dict[str, Any]) -> Iterator[str]:
    """Make a table for every key that has keys of its own."""
    for name, about in properties.items():
        for one in about.get("anyOf", [about]):
            if "properties" in one:
                yield f"### Under `{name}:`\n"
                yield _table(one["properties"])
            of_each = one.get("additionalProperties") or {}
            for inner in of_each.get("anyOf", ()):
                if "properties" in inner:
                    yield f"### Under each name in `{name}:`\n"
                    yield _table(inner["properties"])


def _table(properties: dict[str, Any], *, python: bool = False) -> str:
    return table(
        ("key", "value", "default", "meaning", "in Python"),
        [
            (
                code(name),
                _kind(about),
                _default(about),
                _meaning(name, about),
                code(SPELLED.get(name, name)) if python else "",
            )
            for name, about in properties.items()
            if not about.get("deprecated")  # the other spelling of a key that is there
        ],
    )


def _kind(about: dict[str, Any]) -> str:
    """Say what may stand there."""
    if "enum" in about:
        return listed([code(value) for value in about["enum"]])
    if "$ref" in about:
        name = about["$ref"].rpartition("/")[2]
        return _REFERRED.get(name, f"a {name}")
    if "anyOf" in about:
        return listed(list(dict.fromkeys(_kind(one) for one in about["anyOf"])))
    if "const" in about:
        return code(about["const"])
    if about.get("pattern"):
        said = about.get("description", "such as `5s`").rstrip(".")
        return f"text {said[:1].lower()}{said[1:]}"
    if "properties" in about:
        keys_of_it = about["properties"]
        return f"a mapping with {listed(list(map(code, keys_of_it)), 'and')}" if len(keys_of_it) < _FEW else "a mapping"
    if about.get("type") == "array" and "$ref" in about.get("items", {}):
        return _kind(about["items"])
    if about.get("type") == "array":
        return "a list of texts" if about["items"].get("type") == "string" else "a list of hooks and shell lines"
    return _KINDS.get(str(about.get("type")), "anything")


def _default(about: dict[str, Any]) -> str:
    return code(json.dumps(about["default"]).strip('"')) if "default" in about else ""


def _meaning(name: str, about: dict[str, Any]) -> str:
    return plain(about.get("description") or ("Settings and events." if name == "hooks" else ""))
