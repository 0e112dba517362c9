"""What adapters read of the values of a framework: inputs, texts, messages and answers of a person. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interpose import CannotShow, Reply, allow, json_view, modify

__all__ = ["Refused", "is_json", "merge_input", "prompt_of", "read_answer", "text_of_blocks", "unanswered"]


class Refused(Exception):
    """A hook, a rule or a person refuses; the text is what the model is told."""


def read_answer(said: Any) -> bool | Reply:
    """Return what a person said in a framework's own way: yes, no, or ``{"tool_input": {...}}`` for another input."""
    if isinstance(said, Mapping) and "tool_input" in said:
        return allow() + modify(tool_input=said["tool_input"])
    return said is True


def merge_input(given: Mapping[str, Any], changed: Any) -> dict[str, Any]:
    """Return the input of a call after hooks changed it: what they left alone keeps the objects of the framework.

    Refused is raised if they changed such an object: the tool would get its JSON view.
    """
    if changed is given:
        return dict(given)
    shown = json_view(given)
    made = {name: given[name] if name in given and shown[name] == value else value for name, value in changed.items()}
    for name, value in made.items():
        if name in given and value is not given[name] and not is_json(given[name]):
            raise Refused(f"a hook changed {name}, and only arguments that are JSON values can be changed")
    return made


def is_json(value: Any) -> bool:
    """Say whether a value is what hooks see of it."""
    try:
        shown = json_view(value)
    except CannotShow:
        return False
    return type(shown) is type(value) and bool(shown == value)


def unanswered(messages: Sequence[Any], is_answer: Callable[[Any], bool]) -> int:
    """Return where the messages begin that the model has not answered yet."""
    return next((at for at in range(len(messages), 0, -1) if is_answer(messages[at - 1])), 0)


def text_of_blocks(content: Any) -> str:
    """Return the text of a message: a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, (list, tuple)) else [content]
    texts = (
        block
        if isinstance(block, str)
        else block.get("text")
        if isinstance(block, Mapping)
        else getattr(block, "text", "")
        for block in blocks
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def prompt_of(given: Any) -> str:
    """Return what an agent is told by the input of the tool that runs it: its only text, or all of it."""
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, Mapping) else []
    return texts[0] if len(texts) == 1 else str(given)
