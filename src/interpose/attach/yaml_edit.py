"""Edit YAML as text: add items to the lists below ``hooks:`` and take them out; the rest stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .errors import BadSettings

__all__ = ["add_item", "parse_yaml", "remove_items"]


def parse_yaml(text: str, where: str) -> Any:
    """Return the document; raise BadSettings with the place of a mistake."""
    _compose(text, where)
    return yaml.safe_load(text.removeprefix("\ufeff"))


def _compose(text: str, where: str) -> Node | None:
    try:
        node: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark is not None else where
        what = getattr(error, "problem", None) or "it cannot be read"
        raise BadSettings(f"not YAML: {what}", where=place) from None
    return node


def _child(node: Node | None, key: str) -> tuple[Node, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    return next((pair for pair in reversed(node.value) if isinstance(pair[0], ScalarNode) and pair[0].value == key),
                None)  # fmt: skip


def _end_of(text: str, node: Node) -> int:
    """Return the offset after the last line of a node, without the comments that follow."""
    last = node
    while isinstance(last, MappingNode | SequenceNode) and last.value and not last.flow_style:
        last = last.value[-1][1] if isinstance(last, MappingNode) else last.value[-1]
    at = int(last.end_mark.index)
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def add_item(text: str, path: tuple[str, str], item: dict[str, Any], where: str) -> tuple[str, list[tuple[str, ...]]]:
    """Return the text with an item at the end of the list at a path of two keys, and the paths that were made."""
    root = _compose(text, where)
    end = "\r\n" if "\r\n" in text else "\n"
    if root is not None and not isinstance(root, MappingNode):
        raise BadSettings("the file is not a mapping", where=where)
    outer = _child(root, path[0])
    if outer is None or _is_empty(outer[1]):
        block = [f"{path[0]}:", f"  {path[1]}:", *_item(item, "    ")]
        if outer is None:
            joint = "" if not text or text.endswith("\n") else end
            return text + joint + end.join(block) + end, [path[:1], path]
        begin, stop = outer[0].start_mark.index, _end_of(text, outer[1]) if outer[1].value else _line_end(text, outer)
        return text[:begin] + end.join(block) + end + text[stop:], [path]
    if not isinstance(outer[1], MappingNode) or outer[1].flow_style:
        raise BadSettings(f"{path[0]} is written in braces, or is no mapping", where=_place(where, outer[1]),
                          hint="write one event per line")  # fmt: skip
    inner = _child(outer[1], path[1])
    column = outer[1].start_mark.column
    indent = " " * column
    if inner is None:
        at = _end_of(text, outer[1])
        joint = "" if text[:at].endswith("\n") else end
        block = [f"{indent}{path[1]}:", *_item(item, f"{indent}  ")]
        return text[:at] + joint + end.join(block) + end + text[at:], [path]
    listed = inner[1]
    if not isinstance(listed, SequenceNode) or listed.flow_style or not listed.value:
        raise BadSettings(f"{path[1]} is written in brackets, or is no list", where=_place(where, listed),
                          hint="write one hook per line")  # fmt: skip
    at = _end_of(text, listed)
    joint = "" if text[:at].endswith("\n") else end
    return text[:at] + joint + end.join(_item(item, " " * listed.start_mark.column)) + end + text[at:], []


def _is_empty(node: Node) -> bool:
    return (isinstance(node, ScalarNode) and node.value in ("", "~", "null")) or (
        isinstance(node, MappingNode) and not node.value
    )


def _line_end(text: str, pair: tuple[Node, Node]) -> int:
    at = text.find("\n", int(pair[0].end_mark.index))
    return len(text) if at < 0 else at + 1


def _place(where: str, node: Node) -> str:
    return f"{where}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _item(item: dict[str, Any], indent: str) -> list[str]:
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in item.items()]
    return [f"{indent}- {lines[0]}", *(f"{indent}  {line}" for line in lines[1:])]


def remove_items(text: str, key: str, is_ours: Callable[[Any], bool], made: list[tuple[str, ...]], where: str) -> str:
    """Return the text without our items below a key; what was made for them goes too if it is empty then."""
    while True:
        outer = _child(_compose(text, where), key)
        if outer is None or not isinstance(outer[1], MappingNode):
            return text
        cut = None
        for name, listed in outer[1].value:
            if not isinstance(listed, SequenceNode) or listed.flow_style:
                continue
            ours = [node for node in listed.value if is_ours(_plain(node))]
            if not ours:
                continue
            path = (key, str(name.value))
            if len(ours) == len(listed.value) and path in made:
                whole = len(outer[1].value) == 1 and path[:1] in made
                cut = (outer[0] if whole else name, listed)
            else:
                cut = (ours[0], ours[0])
            break
        if cut is None:
            return text
        begin = text.rfind("\n", 0, int(cut[0].start_mark.index)) + 1
        text = text[:begin] + text[_end_of(text, cut[1]) :]


def _plain(node: Node) -> Any:
    """Return the scalars of a mapping."""
    if not isinstance(node, MappingNode):
        return None
    return {str(key.value): value.value for key, value in node.value if isinstance(value, ScalarNode)}
