"""What hooks see of a result of MCP, what becomes of it when they change it, and the form that asks a person. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ReadResourceResult,
    TextContent,
)
from pydantic import BaseModel, ValidationError

from interpose import BegunTool, Reply, deny

from .base import read_answer, text_of_blocks

__all__ = ["add_texts", "change_result", "error_of", "error_result", "make_form", "read_form", "read_result",
           "show_result"]  # fmt: skip

_SHOWN = ("content", "structuredContent", "contents", "_meta")
_UNFIT = "[a hook changed this result into one that MCP cannot carry]"


def show_result(result: Any) -> dict[str, Any]:
    """Return what hooks see of the result of a call or of a resource: everything that can carry data."""
    shown = _dump(result)
    return {name: shown[name] for name in _SHOWN if name in shown}


def read_result(result: Any) -> Any:
    """Return a result that was made ready for the wire as an object, if it is of a kind that is known here."""
    wire = _dump(result) if isinstance(result, BaseModel) else result
    if isinstance(wire, dict):
        if wire.get("resultType") == "input_required":
            return InputRequiredResult.model_validate(wire, by_name=False)
        for name, kind in (("content", CallToolResult), ("contents", ReadResourceResult)):
            if name in wire:
                return kind.model_validate(wire, by_name=False)
    return result


def error_of(result: Any) -> str:
    """Return the error that a result tells of; an empty text if it tells of none."""
    return (text_of_blocks(result.content) or "the tool failed") if getattr(result, "is_error", False) else ""


def error_result(text: str) -> CallToolResult:
    """Return a result that tells of an error."""
    return CallToolResult(content=[_block(text)], is_error=True)


def change_result(result: Any, content: Any) -> Any:
    """Return a result as hooks made it, in the shape that they were shown, or as a text.

    A structured result has a schema, which the client checks unless the result is an error. So a result that has lost
    its structure becomes an error, if the structure is anything else than one text.
    """
    rest = {name: value for name, value in _dump(result).items() if name not in _SHOWN}
    is_call = isinstance(result, CallToolResult)
    if not (isinstance(content, dict) and ("content" if is_call else "contents") in content):
        content = _as_text(result, content if isinstance(content, str) else json.dumps(content, default=str))
    if is_call and result.structured_content is not None and "structuredContent" not in content:
        rest["isError"] = True
    try:
        made = type(result).model_validate({**rest, **{name: content[name] for name in _SHOWN if name in content}})
    except ValidationError:
        made = change_result(result, _UNFIT)
    return made


def _as_text(result: Any, text: str) -> dict[str, Any]:
    if not isinstance(result, CallToolResult):
        return {"contents": [{"uri": result.contents[0].uri if result.contents else "", "text": text}]}
    before = result.structured_content
    is_one_text = isinstance(before, dict) and before.keys() == {"result"} and isinstance(before["result"], str)
    structured = {"structuredContent": {"result": text}} if is_one_text else {}
    return {"content": [{"type": "text", "text": text}], **structured}


def add_texts(result: Any, texts: Iterable[str]) -> Any:
    """Return the result of a call with texts for the model after its content."""
    added = [_block(text) for text in texts]
    return result.model_copy(update={"content": [*result.content, *added]}) if added else result


def make_form(begun: BegunTool) -> ElicitRequest:
    """Return the question of a call as a form for the person at the client."""
    fields = {
        "allow": {"type": "boolean", "title": "Allow this call"},
        "input": {"type": "string", "title": "The input as JSON, which you may edit", "default": _asked_input(begun)},
    }
    schema = {"type": "object", "properties": fields, "required": ["allow"]}
    return ElicitRequest(params=ElicitRequestFormParams(message=str(begun.question), requested_schema=schema))


def read_form(begun: BegunTool, reply: Any) -> bool | Reply:
    """Return what the person said; raise ValueError if the edited input is not JSON."""
    if not isinstance(reply, ElicitResult):
        return deny(f"the client did not ask: {getattr(reply, 'message', reply)}")
    form = reply.content or {}
    if reply.action != "accept" or form.get("allow") is not True:
        return deny("the person at the client did not allow it")
    edited = form.get("input")
    if not isinstance(edited, str) or edited == _asked_input(begun):
        return True
    return read_answer({"tool_input": json.loads(edited)})


def _asked_input(begun: BegunTool) -> str:
    return json.dumps(begun.question.tool_input if begun.question else None, ensure_ascii=False)


def _block(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _dump(result: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped
