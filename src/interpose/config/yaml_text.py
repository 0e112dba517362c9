"""Parse strict YAML with positions, from the events of PyYAML: of libyaml if it is there, else of the parser in Python.

Plain scalars mean what YAML 1.2 says, not 1.1: ``no``, ``on``, ``010``, ``12:30`` and ``2026-01-01`` are text. Values
are built here from events, since PyYAML's constructor takes the last of two equal keys and makes objects of any kind,
and its composer loses the positions of aliases, stops at the first problem, and crashes on deep nesting.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from ..runtime.regex import regex
from .positions import Position, SourceText, Stopped, kind, offset_of, shown

__all__ = ["read_yaml"]

_CORE: Final = "tag:yaml.org,2002:"
_OPEN: Final[tuple[Any, Position]] = (None, -1)
"""The value of an anchor that is still being read."""

_WORDS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NUMBER = regex(r"[-+]?(?:(0|[1-9][0-9]*)|(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
                     r"|(?:0|[1-9][0-9]*)[eE][-+]?[0-9]+)", re.ASCII)  # fmt: skip
_NOT_FINITE = regex(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|NaN|[-+]?Infinity")
_TAGGED = {"int": int, "float": float, "bool": bool, "null": type(None)}

# Characters that the two parsers treat differently, line breaks of YAML that editors do not show, invisible ones.
_FORBIDDEN = regex("[^\t\n\r -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|\r(?!\n)")
_BREAKS = "\r\x85\u2028\u2029"
_TAG_DIRECTIVE = regex(r"^%TAG\b", re.MULTILINE)

# Messages of the two parsers (patterns), what to report instead, and a hint.
_SAID = (
    ("scanning an alias", "* begins an alias, and no name follows", 'quote text that begins with *: "*"'),
    ("scanning an anchor", "& begins an anchor, and no name follows", "quote text that begins with &"),
    ("unknown escape", "there is no such escape", r"use single quotes, or write \\ for a backslash"),
    ("(?:quoted|double).*(?:hexadecimal|escape code)|OverflowError|ValueError", "no character has this code",
     "use single quotes for text with backslashes"),
    ("scanning a quoted scalar.*(?:end of stream|document separator)", "this text is never closed",
     "the closing quote is missing"),
    ("values are not allowed", "a colon where no key can be",
     "quote text that has a colon in it, or check the indentation"),
    ("expected ':'", "a line that is neither key: value nor - item", "is a colon missing?"),
    ("entries are not allowed", "a list item where none can be", "put it on a line of its own, below its key"),
    ("flow sequence", "this list in brackets is never closed, or a comma is missing", "[one, two]"),
    ("flow mapping", "this mapping in braces is never closed, or a comma is missing", "{key: value}"),
    ("cannot start any token", "text cannot begin with this character", "quote it"),
    ("block collection|block sequence|block mapping|block end", "text that does not belong here",
     "keys of one mapping, and items of one list, begin in the same column"),
    ("node content", "a value is missing before this", "quote text that begins with a bracket or a comma"),
    ("scanning a block scalar", "nothing may follow | or > on its line", "text begins on the next line, further in"),
    ("<document start>", "text after the end of the document", "check the indentation"),
    ("directive|incompatible", "lines that begin with % are for YAML itself", "quote it, or leave it out"),
    ("tag", "a ! begins a tag, and tags are not supported", "quote text that begins with !"),
)  # fmt: skip


def read_yaml(source: SourceText) -> tuple[Any, Position]:
    """Parse one YAML document; a file with only comments is an empty mapping."""
    for found in _FORBIDDEN.finditer(source.text):
        code = ord(found[0])
        what = "is a line break for some programs only" if found[0] in _BREAKS else "cannot be seen"
        source.wrong(found.start(), f"the character U+{code:04X} {what}",
                   f"remove it, or write \\u{code:04x} in double quotes")  # fmt: skip
    if directive := _TAG_DIRECTIVE.search(source.text):
        source.wrong(directive.start(), "%TAG is not supported", "leave it out")
    source.refuse_if_wrong()
    parser = _parser()(source.text)
    reader = _YamlReader(source, parser)
    try:
        return reader.document()
    except Stopped:
        raise
    except Exception as error:  # the parser in Python also raises errors that are not YAMLError
        _explain(source, error, getattr(parser, "index", reader.at))
    finally:
        parser.dispose()


class _PythonParser(yaml.SafeLoader):
    """The parser in Python, with tabs between a key and its value allowed, as in libyaml."""

    def scan_to_next_token(self) -> None:
        super().scan_to_next_token()
        while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
            self.forward()
            super().scan_to_next_token()


def _parser() -> Any:
    return getattr(yaml, "CSafeLoader", _PythonParser)


def _explain(source: SourceText, error: Exception, last: int) -> NoReturn:
    """Report a parser's error: at a tab in the indentation, at the opening quote or bracket, or where it stopped."""
    said = f"{getattr(error, 'context', None) or ''}: {getattr(error, 'problem', None) or type(error).__name__}"
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    at = min(mark.index, len(source.text)) if mark else last
    begin = source.text.rfind("\n", 0, at) + 1
    indent = re.match(r"[ \t]*", source.text[begin:])
    if indent and "\t" in indent[0]:
        source.stop(begin + indent[0].index("\t"), "a tab in the indentation", "indent with spaces")
    for pattern, what, hint in _SAID:
        if re.search(pattern, said):
            opened = getattr(error, "context_mark", None)
            if opened and what.startswith("this "):
                at = opened.index
            elif "escape" in what or "code" in what:
                at = max(source.text.rfind("\\", 0, at + 1), 0)  # one parser stops before it, the other after it
            source.stop(at, what, hint)
    source.stop(at, f"cannot be read as YAML: {said.removeprefix(': ')}")


class _YamlReader:
    """Builds values from events. The depth is bounded, and so is the recursion."""

    def __init__(self, source: SourceText, parser: Any) -> None:
        self.source = source
        self.next = parser.get_event
        self.at = 0
        self.anchors: dict[str, tuple[Any, Position]] = {}

    def document(self) -> tuple[Any, Position]:
        self.next()  # the stream begins
        if type(self.next()) is StreamEndEvent:
            return {}, (0, {})
        event = self.next()
        made = self.node(event, 1)
        if type(event) is ScalarEvent and event.value == "" and event.implicit[0] and event.tag is None:
            made = {}, (0, {})
        self.next()  # the document ends
        event = self.next()
        if type(event) is not StreamEndEvent:
            self.source.wrong(event.start_mark.index, "a second document", "one file holds one: remove the ---")
        return made

    def node(self, event: Any, depth: int) -> tuple[Any, Position]:
        self.at = at = event.start_mark.index
        self.source.count(at)
        if type(event) is AliasEvent:
            return self.alias(event.anchor or "", at, depth)
        anchor = event.anchor
        if anchor is not None:
            self.open(anchor, at)
        made: tuple[Any, Position]
        if type(event) is ScalarEvent:
            made = self.scalar(event, at), at
        else:
            self.source.check_depth(at, depth)
            sequence = type(event) is SequenceStartEvent
            if event.tag is not None and event.tag not in ("!", _CORE + ("seq" if sequence else "map")):
                self.tag(event.tag, at)
            made = self.sequence(at, depth) if sequence else self.mapping(at, depth)
        if anchor is not None:
            self.anchors[anchor] = made
        return made

    def sequence(self, at: int, depth: int) -> tuple[list[Any], Position]:
        made: list[Any] = []
        places: list[Position] = []
        while type(event := self.next()) is not SequenceEndEvent:
            value, place = self.node(event, depth + 1)
            made.append(value)
            places.append(place)
        return made, (at, places)

    def mapping(self, at: int, depth: int) -> tuple[dict[str, Any], Position]:
        made: dict[str, Any] = {}
        places: dict[str, tuple[int, Position]] = {}
        merged: tuple[Any, Position] | None = None
        while type(event := self.next()) is not MappingEndEvent:
            key_at = event.start_mark.index
            merge = type(event) is ScalarEvent and event.value == "<<" and event.implicit[0]
            key = self.key(event, depth)
            value, place = self.node(self.next(), depth + 1)
            if not isinstance(key, str):
                continue
            if key in places:
                first = self.source.line(places[key][0])
                self.source.wrong(key_at, f"the key {shown(key)} is there twice, first in line {first}",
                                "remove one of them")  # fmt: skip
                continue
            places[key] = (key_at, place)
            if merge:
                merged = value, place
            else:
                made[key] = value
        if merged is not None:
            del places["<<"]
            self.merge(made, places, merged)
        return made, (at, places)

    def key(self, event: Any, depth: int) -> Any:
        """Read a key, which must be text: ``5`` and ``"5"`` would be the same key for some programs."""
        at = event.start_mark.index
        if type(event) is ScalarEvent and event.anchor is None:
            key = self.scalar(event, at)  # the usual case; a key does not count as a value
        else:
            key = self.node(event, depth + 1)[0]
        if not isinstance(key, str):
            written = f"the key {shown(event.value)}" if type(event) is ScalarEvent else "this key"
            self.source.wrong(at, f"{written} is {kind(key)}, not text", "quote it")
        return key

    def merge(
        self, made: dict[str, Any], places: dict[str, tuple[int, Position]], merged: tuple[Any, Position]
    ) -> None:
        """Add the keys of ``<<``: the mapping's own keys win, then the first mapping that has a key."""
        value, place = merged
        parts = [(value, place)]
        if isinstance(place, tuple) and isinstance(place[1], list):
            parts = list(zip(value, place[1], strict=True))
        for part, its_place in parts:
            inside = its_place[1] if isinstance(its_place, tuple) else None
            if not isinstance(inside, dict):
                self.source.wrong(offset_of(its_place), f"{kind(part)} where << needs a mapping",
                                "<<: *name, or quote the key")  # fmt: skip
                continue
            for key in part:
                if key not in made:
                    made[key], places[key] = part[key], inside[key]

    # Anchors and aliases.

    def open(self, anchor: str, at: int) -> None:
        if anchor in self.anchors:
            self.source.wrong(at, f"there are two anchors &{anchor[:60]}", "give each a name of its own")
        self.anchors[anchor] = _OPEN

    def alias(self, name: str, at: int, depth: int) -> tuple[Any, Position]:
        """Return a copy of the value of an anchor; its values are counted."""
        found = self.anchors.get(name)
        if found is None:
            self.source.wrong(at, f"*{name[:60]} is not defined",
                            f"put &{name[:60]} before it, or quote text that begins with *")  # fmt: skip
            return None, at
        if found is _OPEN:
            self.source.wrong(at, f"*{name[:60]} refers to itself", "write it out")
            return None, at
        value, place = found
        return self.copy(value, at, depth), (at, place[1]) if isinstance(place, tuple) else at

    def copy(self, value: Any, at: int, depth: int) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        self.source.check_depth(at, depth)
        for _ in value:
            self.source.count(at)
        if isinstance(value, dict):
            return {key: self.copy(item, at, depth + 1) for key, item in value.items()}
        return [self.copy(item, at, depth + 1) for item in value]

    # Scalars.

    def scalar(self, event: Any, at: int) -> Any:
        text: str = event.value
        if event.tag is None or event.tag == "!":
            return self.plain(text, at) if event.implicit[0] or event.tag else self.source.checked(at, text)
        name = event.tag.removeprefix(_CORE)
        if event.tag == _CORE + "str":
            return self.source.checked(at, text)
        if event.tag != _CORE + name or name not in _TAGGED:
            self.tag(event.tag, at)
            return text
        value = self.plain(text, at)
        if name == "float" and type(value) is int:
            value = float(value)
        if type(value) is not _TAGGED[name]:
            self.source.wrong(at, f"{shown(text)} is not what its tag !!{name} says", "leave out the tag")
        return value

    def plain(self, text: str, at: int) -> Any:
        """Return the value of a scalar without quotes."""
        if text in _WORDS:
            return _WORDS[text]
        if text[0] in "+-.0123456789":
            number = _NUMBER.fullmatch(text)
            if number:
                return self.source.number(at, text, whole=number[1] is not None)
        if text[0] in "+-.NI" and _NOT_FINITE.fullmatch(text):
            self.source.wrong(at, f"{text} is not a finite number", "write a number, or quote it")
        return text

    def tag(self, tag: str, at: int) -> None:
        short = f"!!{tag.removeprefix(_CORE)}" if tag.startswith(_CORE) else tag
        self.source.wrong(at, f"the tag {short[:60]} is not supported", "a configuration is plain data: leave it out")
