"""Edit JSON as text: insert and remove members and elements, and keep every other character.

Comments and trailing commas are read too, since editors and some agents accept them. ``JsonText`` knows where each
value is; an edit makes a new text, which is parsed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined] # exists, is fast, has no stub
from typing import Any, NoReturn, cast

from ..runtime.regex import regex
from .errors import BadSettings

__all__ = ["JsonNode", "JsonText"]

_TRIVIA = regex(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*(?s:.*?)\*/)*")
_SPACE_BEFORE = regex(r"[ \t\r\n]*\Z")
_REST_OF_LINE = regex(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
_ATOM = regex(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 200


@dataclass(slots=True)
class JsonNode:
    """A value in the text, from ``begin`` to ``end``."""

    kind: str
    """``object``, ``array`` or ``atom``."""
    begin: int
    end: int
    value: Any = None
    """The value of an atom."""
    members: list[tuple[str, int, JsonNode]] = field(default_factory=list)
    """Of an object: each key, where it begins, and its value. A key can be there twice."""
    elements: list[JsonNode] = field(default_factory=list)
    commas: list[int] = field(default_factory=list)
    """Where each comma is; there may be one after the last part."""

    def parts(self) -> list[tuple[int, int]]:
        """Return where each element, or each member with its key, begins and ends."""
        if self.kind == "object":
            return [(begin, node.end) for _, begin, node in self.members]
        return [(node.begin, node.end) for node in self.elements]

    def get(self, key: str) -> JsonNode | None:
        """Return the value of a key: of two equal keys the last one, as parsers do."""
        return next((node for name, _, node in reversed(self.members) if name == key), None)

    def plain(self) -> Any:
        """Return the value as Python has it."""
        if self.kind == "object":
            return {name: node.plain() for name, _, node in self.members}
        if self.kind == "array":
            return [node.plain() for node in self.elements]
        return self.value


class JsonText:
    """A JSON document as text, with the place of every value."""

    def __init__(self, text: str, where: str = "") -> None:
        self.where = where
        self.notes: list[tuple[int, str]] = []
        """What strict JSON does not allow, each with its offset."""
        self._set(text)

    def _set(self, text: str) -> None:
        self.text = text
        self.notes.clear()
        at = self._trivia(0)
        self.root: JsonNode | None = None
        if at < len(text):
            self.root, at = self._value(at, 0)
            at = self._trivia(at)
            if at < len(text):
                self._fail(at, "there is more text after the JSON document")

    # Reading.

    def _fail(self, at: int, what: str) -> NoReturn:
        raise BadSettings(f"not JSON: {what}", where=f"{self.where}:{self.place(at)}")

    def place(self, at: int) -> str:
        """Return line and column of an offset."""
        before = self.text[:at]
        return f"{before.count(chr(10)) + 1}:{at - before.rfind(chr(10))}"

    def _trivia(self, at: int) -> int:
        found = cast("re.Match[str]", _TRIVIA.match(self.text, at))  # the empty match always exists
        if (slash := found[0].find("/")) >= 0:
            self.notes.append((at + slash, "a comment"))
        if "\ufeff" in found[0][1 if at == 0 else 0 :]:
            self._fail(at, "the character U+FEFF inside the text")
        return found.end()

    def _value(self, at: int, depth: int) -> tuple[JsonNode, int]:
        mark = self.text[at : at + 1]
        if depth > _DEEPEST:
            self._fail(at, "nested too deep")
        if mark == '"':
            text, end = self._string(at)
            return JsonNode("atom", at, end, text), end
        if mark in ("{", "["):
            return self._container(at, depth, "object" if mark == "{" else "array")
        atom = _ATOM.match(self.text, at)
        if atom is None or self.text[atom.end() : atom.end() + 1].isalnum():
            self._fail(at, f"{mark!r} where a value is expected" if mark else "the text ends where a value is expected")
        word = atom[0]
        return JsonNode("atom", at, atom.end(), _WORDS[word] if word in _WORDS else json.loads(word)), atom.end()

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            self._fail(at, error.msg[:1].lower() + error.msg[1:])
        return text, end

    def _container(self, begin: int, depth: int, kind: str) -> tuple[JsonNode, int]:
        node = JsonNode(kind, begin, begin)
        close = "}" if kind == "object" else "]"
        at = self._trivia(begin + 1)
        while self.text[at : at + 1] != close:
            key, key_at = "", at
            if kind == "object":
                if self.text[at : at + 1] != '"':
                    mark = self.text[at : at + 1]
                    self._fail(at, f"{mark!r} where a key is expected" if mark else "an object is never closed")
                key, at = self._string(at)
                at = self._trivia(at)
                if self.text[at : at + 1] != ":":
                    self._fail(at, "a colon is missing")
                at = self._trivia(at + 1)
            value, at = self._value(at, depth + 1)
            if kind == "object":
                node.members.append((key, key_at, value))
            else:
                node.elements.append(value)
            at = self._trivia(at)
            if self.text[at : at + 1] == ",":
                node.commas.append(at)
                at = self._trivia(at + 1)
                if self.text[at : at + 1] == close:
                    self.notes.append((node.commas[-1], "a trailing comma"))
            elif self.text[at : at + 1] != close:
                self._fail(at, "a comma is missing" if at < len(self.text) else f"an {kind} is never closed")
        node.end = at + 1
        return node, node.end

    # Looking.

    def find(self, path: Sequence[str]) -> JsonNode | None:
        """Return the value at a path of keys; None if it is not there."""
        node = self.root
        for key in path:
            if node is None or node.kind != "object":
                return None
            node = node.get(key)
        return node

    def duplicates(self) -> Iterator[tuple[int, str]]:
        """Return the keys that an object has twice, each with its offset."""

        def walk(node: JsonNode) -> Iterator[tuple[int, str]]:
            seen: set[str] = set()
            for name, at, below in node.members:
                if name in seen:
                    yield at, name
                seen.add(name)
                yield from walk(below)
            for below in node.elements:
                yield from walk(below)

        return walk(self.root) if self.root is not None else iter(())

    # Style.

    @property
    def newline(self) -> str:
        """The line end of this file."""
        at = self.text.find("\n")
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def _indent_of(self, at: int) -> str:
        """Return the white space with which the line of an offset begins."""
        begin = self.text.rfind("\n", 0, at) + 1
        found = re.compile(r"\ufeff?([ \t]*)").match(self.text, begin)
        return found[1] if found is not None else ""

    def _unit(self) -> str:
        """Return one step of indentation."""
        root = self.root
        parts = root.parts() if root is not None else []
        if root is not None and parts and "\n" in self.text[root.begin : parts[0][0]]:
            inner, outer = self._indent_of(parts[0][0]), self._indent_of(root.begin)
            if inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
        return "  "

    def _is_on_one_line(self, node: JsonNode) -> bool:
        """Return whether new parts of a container go on its line: it has parts, and all are on one line."""
        if node is self.root and not node.parts():
            return False
        if not node.parts():
            root = self.root
            return root is not None and bool(root.parts()) and "\n" not in self.text[root.begin : root.end]
        return "\n" not in self.text[node.begin : node.end]

    def _written(self, value: Any, indent: str, unit: str, on_one_line: bool) -> str:
        if on_one_line:
            compact = self.root is not None and re.search(r'":\S', self.text) is not None and ": " not in self.text
            return json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else (", ", ": "))
        step: str | int = unit if unit.strip(" ") else len(unit)
        text = json.dumps(value, ensure_ascii=False, indent=step)
        return text.replace("\n", f"{self.newline}{indent}")

    # Edits.

    def append(self, path: Sequence[str], value: Any) -> list[tuple[str, ...]]:
        """Append an element to the array at a path; make what is missing, and return the paths that were made."""
        self._begin()
        depth = next((n for n in range(len(path), 0, -1) if self.find(path[:n]) is not None), 0)
        if depth < len(path):
            nested: Any = [value]
            for key in reversed(path[depth + 1 :]):
                nested = {key: nested}
            self._add_member(path[:depth], path[depth], nested)
            return [tuple(path[:n]) for n in range(depth + 1, len(path) + 1)]
        node = self.find(path)
        if node is None or node.kind != "array":
            raise BadSettings(f"{'.'.join(path)} is not a list", where=self._place_of(node))
        self._insert(node, lambda indent, unit, line: self._written(value, indent, unit, line))
        return []

    def set_member(self, path: Sequence[str], key: str, value: Any) -> list[tuple[str, ...]]:
        """Set a key of the object at a path, which must be there; return its path if it is new."""
        self._begin()
        node = self.find(path)
        present = node.get(key) if node is not None else None
        if present is not None:
            written = self._written(value, self._indent_of(present.begin), self._unit(), "\n" not in self.text)
            self._set(self.text[: present.begin] + written + self.text[present.end :])
            return []
        self._add_member(path, key, value)
        return [(*path, key)]

    def _add_member(self, path: Sequence[str], key: str, value: Any) -> None:
        node = self.find(path)
        if node is None or node.kind != "object":
            raise BadSettings(f"{'.'.join(path) or 'the file'} is not an object", where=self._place_of(node))

        def text(indent: str, unit: str, line: bool) -> str:
            return f"{json.dumps(key, ensure_ascii=False)}: {self._written(value, indent, unit, line)}"

        self._insert(node, text)

    def _begin(self) -> None:
        """Make an object of a text without a document."""
        if self.root is None:
            bom = "\ufeff" if self.text.startswith("\ufeff") else ""
            rest = self.text[len(bom) :]
            self._set(f"{bom}{{}}{rest or chr(10)}" if not rest.strip() else f"{self.text}{self.newline}{{}}")

    def _place_of(self, node: JsonNode | None) -> str:
        return f"{self.where}:{self.place(node.begin)}" if node is not None else self.where

    def _insert(self, node: JsonNode, written: Callable[[str, str, bool], str]) -> None:
        """Insert a part after the last one of a container."""
        parts, text, unit = node.parts(), self.text, self._unit()
        line = self._is_on_one_line(node)
        outer = self._indent_of(node.begin)
        if not parts:
            inner = text[node.begin + 1 : node.end - 1]
            indent = outer + unit
            if line:
                new = written(indent, unit, True)
            else:
                new = f"{self.newline}{indent}{written(indent, unit, False)}"
                new += f"{self.newline}{outer}" if not inner.strip() else ""
            keep = inner.rstrip() if inner.strip() else ""
            tail = inner[len(keep) :] if keep else ""
            self._set(text[: node.begin + 1] + keep + new + tail + text[node.end - 1 :])
            return
        end, trailing = parts[-1][1], len(node.commas) == len(parts)
        at = node.commas[-1] + 1 if trailing else end
        rest = _REST_OF_LINE.match(text, at)
        after = rest.end() if rest is not None and not line else at
        indent = self._indent_of(parts[-1][0]) if "\n" in text[node.begin : parts[-1][0]] else outer + unit
        space = (" " if len(parts) < 2 or text[node.commas[0] + 1 : parts[1][0]] else "") if line else ""
        new = space if line else f"{self.newline}{indent}"
        new += written(indent, unit, line) + ("," if trailing else "")
        self._set(text[:end] + ("" if trailing else ",") + text[end:after] + new + text[after:])

    def remove(self, path: Sequence[str], is_ours: Callable[[Any], bool]) -> int:
        """Remove the elements of the array at a path that are ours; return how many."""
        count = 0
        while True:
            node = self.find(path)
            found = node.elements if node is not None and node.kind == "array" else []
            index = next((i for i, one in enumerate(found) if is_ours(one.plain())), None)
            if index is None or node is None:
                return count
            self._cut(node, index)
            count += 1

    def remove_member(self, path: Sequence[str]) -> bool:
        """Remove the key at the end of a path; return whether it was there."""
        node = self.find(path[:-1])
        if node is None or node.kind != "object":
            return False
        index = next((i for i, one in enumerate(node.members) if one[0] == path[-1]), None)
        if index is not None:
            self._cut(node, index)
        return index is not None

    def _cut(self, node: JsonNode, index: int) -> None:
        """Remove one part of a container, with its comma and the white space before it."""
        parts, text = node.parts(), self.text
        begin, end = parts[index]
        if len(parts) == 1:
            inner = text[node.begin + 1 : begin], text[end : node.end - 1].lstrip(",")
            left = "" if not (inner[0] + inner[1]).strip() else inner[0].rstrip() + inner[1]
            self._set(text[: node.begin + 1] + left + text[node.end - 1 :])
            return
        space = _SPACE_BEFORE.search(text, node.begin + 1, begin)
        start = space.start() if space is not None else begin
        if index < len(node.commas):  # its own comma goes with it
            stop = node.commas[index] + 1
            if index == 0 and text[node.begin + 1 : begin].strip() == "":
                start, stop = begin, _after_space(text, stop, parts[1][0])
            self._set(text[:start] + text[end : node.commas[index]] + text[stop:])
        else:
            comma = node.commas[index - 1]
            self._set(text[:comma] + text[comma + 1 : start] + text[end:])


def _after_space(text: str, at: int, limit: int) -> int:
    """Return the offset after white space; comments stay."""
    while at < limit and text[at] in " \t\r\n":
        at += 1
    return at
