"""What hooks see of the contents and tools of Google ADK, and what becomes of a prompt when they change it. Pure."""

from __future__ import annotations

from typing import Any

from google.genai.types import Content, Part

__all__ = ["is_text", "rewritten", "schema_of", "text_of"]


def schema_of(tool: Any) -> Any:
    """Return the JSON Schema of a tool's input; None if it has none."""
    declared = tool._get_declaration()  # private, yet what every tool overrides: no public name has the schema
    if declared is None or declared.parameters_json_schema or declared.parameters is None:
        return declared and declared.parameters_json_schema
    return declared.parameters.json_schema.model_dump(mode="json", exclude_none=True)


def is_text(part: Any) -> bool:
    """Say whether a part is a text that is meant for the reader, not a thought."""
    return bool(part.text) and not part.thought


def text_of(*contents: Any) -> str:
    """Return the texts of contents."""
    return "\n".join(part.text for one in contents for part in one.parts or () if is_text(part))


def rewritten(contents: list[Any], prompt: str) -> list[Content]:
    """Return contents with another prompt in the place of the first text; results of tools stay where they are."""
    new = iter([Part(text=prompt)])
    return [
        Content(role=one.role, parts=[next(new, Part(text="")) if is_text(part) else part for part in one.parts or ()])
        for one in contents
    ]
