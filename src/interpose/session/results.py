"""What the model sees of a tool's result or failure after hooks have seen it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..model import Injection, Outcome, field_of
from ..replies import clean

__all__ = ["error_text", "result_for_model", "text_of", "user_messages"]

WITHHELD = "[a hook withheld the output of this tool]"


def result_for_model(after: Outcome) -> Any:
    """Return the result for the model, after hooks changed it, withheld it or added to it."""
    shown = WITHHELD if after.suppress_output else field_of(after, "tool_response")
    added = [item for item in after.inject if item.strategy == "tool_result" and item.content]
    return _append(shown, added) if added else shown


def user_messages(after: Outcome) -> tuple[str, ...]:
    """Return the texts that hooks add to the conversation as messages of the user."""
    return tuple(item.content for item in after.inject if item.strategy == "user_message" and item.content)


def _append(shown: Any, added: list[Injection]) -> Any:
    if isinstance(shown, Mapping) and _is_blocks(shown.get("content")):  # a result of MCP
        return {**shown, "content": _append(shown["content"], added)}
    if _is_blocks(shown):
        return [*shown, *({"type": "text", "text": item.content} for item in added)]
    texts = [] if shown is None else [text_of(shown)]
    return "\n".join([*texts, *(item.content for item in added)])


def _is_blocks(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(block, Mapping) and "type" in block for block in value)


def text_of(value: Any) -> str:
    """Return a value as text: text as it is, anything else as JSON if that is possible."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # a value that is not JSON
        return str(value)


def error_text(error: BaseException | str) -> str:
    """Return the text of an exception, or its class name if it has none; a text as it is."""
    if isinstance(error, str):
        return clean(error)
    try:
        return clean(str(error)) or type(error).__name__
    except Exception:  # an exception whose __str__ raises
        return type(error).__name__
