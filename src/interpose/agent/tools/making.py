"""Make a tool whose input is looked at before it runs: models make mistakes, and are told which."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .nouns import Kind, Tool, ToolFailed, Workplace

__all__ = ["make_tool"]

_LONGEST = 300


def make_tool(
    name: str,
    kind: Kind,
    description: str,
    properties: dict[str, Any],
    required: Sequence[str],
    run: Callable[[dict[str, Any], Workplace], Awaitable[str]],
) -> Tool:
    """Return a tool that takes these properties, and no others."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }

    async def checked(given: dict[str, Any], place: Workplace) -> str:
        _check(name, schema, given)
        return await run(given, place)

    return Tool(name, description, schema, kind, checked)


def _check(name: str, schema: dict[str, Any], given: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    wrong = best_match(Draft202012Validator(schema).iter_errors(given))
    if wrong is None:
        return
    where = "".join(f"{step}: " for step in wrong.absolute_path)
    said = f"{where}{wrong.message}"
    raise ToolFailed(f"input of {name}: {said if len(said) <= _LONGEST else said[:_LONGEST] + ' …'}")
