"""The messages between agent and model: which of them are new, and replacing those. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from interpose.models import Message, ToolResults, User, first_new, message_text

__all__ = ["newest", "with_newest", "without_newest"]

_WITHHELD = "[a hook has withheld this]"
_SEE_ABOVE = "[a hook has put what belongs here into the first result]"


def newest(messages: Sequence[Message]) -> str:
    """Return the messages that the model has not seen yet, as text."""
    return "\n".join(message_text(message) for message in messages[first_new(messages) :])


def with_newest(messages: Sequence[Message], text: str) -> list[Message]:
    """Return the messages with this text in place of those that the model has not seen yet.

    Every call keeps a result, because the model's API requires it; the first of them has the whole text.
    """
    begin = first_new(messages)
    results = [message for message in messages[begin:] if isinstance(message, ToolResults)]
    if not results:
        return [*messages[:begin], User(text)]
    left = [replace(result, content=_SEE_ABOVE) for message in results for result in message.results]
    left[0] = replace(left[0], content=text)
    return [*messages[:begin], ToolResults(tuple(left))]


def without_newest(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without those that the model has not seen; tool results stay without their content."""
    begin = first_new(messages)
    if any(isinstance(message, ToolResults) for message in messages[begin:]):
        return with_newest(messages, _WITHHELD)
    return list(messages[:begin])
