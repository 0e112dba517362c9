"""The messages between agent and model: which of them are new, and replacing those. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from interpose.models import Message, ToolResults, User, first_new, message_text

__all__ = ["newest", "with_newest", "without_newest"]

_WITHHELD = "[a hook has withheld this]"
_MAX_LINES = 2_000
"""The length of a text above which its lines are not compared."""
_SEE_ABOVE = "[a hook has put what belongs here into the first result]"


def newest(messages: Sequence[Message]) -> str:
    """Return the messages that the model has not seen yet, as text."""
    return "\n".join(message_text(message) for message in messages[first_new(messages) :])


def with_newest(messages: Sequence[Message], text: str) -> list[Message]:
    """Return the messages with this text in place of those that the model has not seen yet.

    Each result and each message keeps its place, if the text still shows where it begins. Otherwise the first result
    has the whole text, and every other call keeps a result without content, because the model's API requires one.
    """
    begin = first_new(messages)
    new = messages[begin:]
    texts = [one for message in new for one in _texts(message)]
    if (changed := _split_like(texts, text)) is not None:
        rest = iter(changed)
        return [*messages[:begin], *(_with_texts(message, rest) for message in new)]
    results = [message for message in new if isinstance(message, ToolResults)]
    if not results:
        return [*messages[:begin], User(text)]
    left = [replace(result, content=_SEE_ABOVE) for message in results for result in message.results]
    left[0] = replace(left[0], content=text)
    return [*messages[:begin], ToolResults(tuple(left))]


def _texts(message: Message) -> list[str]:
    return [result.content for result in message.results] if isinstance(message, ToolResults) else [message.content]


def _with_texts(message: Message, texts: Iterator[str]) -> Message:
    if isinstance(message, ToolResults):
        return ToolResults(tuple(replace(result, content=next(texts)) for result in message.results))
    return replace(message, content=next(texts))


def _split_like(texts: Sequence[str], changed: str) -> list[str] | None:
    """Return the parts of a text that was made of these by changing some lines; None if a beginning is not found."""
    old, new = "\n".join(texts).split("\n"), changed.split("\n")
    begins = list(accumulate((text.count("\n") + 1 for text in texts), initial=0))[1:-1]
    if len(old) == len(new):
        found: list[int] = begins
    elif not begins or max(len(old), len(new)) > _MAX_LINES:
        return [changed] if len(texts) == 1 else None
    else:
        found = []
        codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for begin in begins:
            # The block in which the line is, or which ends before it.
            tag, first, last, to_first, to_last = next(code for code in codes if code[1] <= begin <= code[2])
            if begin == last:
                found.append(to_last)
            elif begin == first or tag == "equal" or last - first == to_last - to_first:
                found.append(to_first + begin - first)
            else:
                return None
    places = [0, *found, len(new)]
    return ["\n".join(new[first:last]) for first, last in pairwise(places)]


def without_newest(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without those that the model has not seen; tool results stay without their content."""
    begin = first_new(messages)
    if any(isinstance(message, ToolResults) for message in messages[begin:]):
        return with_newest(messages, _WITHHELD)
    return list(messages[:begin])
