"""OpenAI Agents SDK: the items of a conversation, and those that stand for an answer that no model gave. Pure."""

from __future__ import annotations

from time import time
from typing import Any

from openai.types.responses import Response, ResponseCompletedEvent, ResponseOutputMessage, ResponseOutputText

__all__ = ["completed", "continued", "is_of_model", "message"]

_MADE_BY_MODEL = {"function_call", "reasoning", "computer_call", "custom_tool_call", "shell_call", "apply_patch_call"}


def continued(given: Any, output: list[Any], told: str, response_id: Any, more: Any) -> tuple[Any, dict[str, Any]]:
    """Return the input of the call that follows an answer which may not be the last one."""
    added = {"role": "user", "content": told}
    if more.get("conversation_id"):  # the provider has the rest
        return [added], more
    if more.get("previous_response_id"):
        return [added], {**more, "previous_response_id": response_id}
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    return [*items, *(one.model_dump(exclude_unset=True) for one in output), added], more


def is_of_model(item: Any) -> bool:
    """Say whether the model has made an item."""
    return item.get("role") == "assistant" or item.get("type") in _MADE_BY_MODEL


def message(text: str) -> ResponseOutputMessage:
    """Return a text as a message of the model."""
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="msg_interpose", type="message", role="assistant", status="completed", content=[content]
    )


def completed(output: list[Any]) -> ResponseCompletedEvent:
    """Return the event that ends a stream with an output."""
    response = Response(id="resp_interpose", created_at=time(), model="interpose", object="response", output=output,
                        parallel_tool_calls=False, tool_choice="auto", tools=[])  # fmt: skip
    return ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)
