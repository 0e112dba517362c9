"""What a hook is told: the event, as its own copy.

Events are made on every firing, so they are built without a Python ``__init__``: an event is a dict with attributes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from operator import itemgetter
from typing import Any, ClassVar

from .events import Row

__all__ = ["Event", "Template", "copied", "copiers", "event_type"]

_ATOMS = frozenset({str, int, float, bool, type(None), bytes})


def copied(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {key: item if type(item) in _ATOMS else copied(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in _ATOMS else copied(item) for item in value]
    return deepcopy(value)


def copiers(fields: Mapping[str, Any]) -> list[tuple[str, Callable[[Any], Any]]]:
    """Look at the shape of an input once; say how each field that needs a copy is copied."""
    found: list[tuple[str, Callable[[Any], Any]]] = []
    for name, value in fields.items():
        kind = type(value)
        if kind in _ATOMS:
            continue
        if kind is dict and _ATOMS.issuperset(map(type, value.values())):
            found.append((name, dict.copy))
        elif kind is list and _ATOMS.issuperset(map(type, value)):
            found.append((name, list.copy))
        else:
            found.append((name, copied))
    return found


class Event(dict[str, Any]):
    """What a hook is told: reads as a mapping and as attributes; the hook's own copy.

    Fields that the row knows and this event lacks read as ``None``; the point words ``tool``, ``args`` and
    ``result`` read as ``tool_name``, ``tool_input`` and ``tool_response``.
    """

    __slots__ = ()
    row: ClassVar[Row]

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in self.row.optional:
            return None
        raise AttributeError(f"{self.row.name} has no field {name!r}; it has {', '.join(self)}")

    def __missing__(self, key: str) -> Any:
        word = self.row.words.get(key)
        if word is not None and word in self:
            return self[word]
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field, by its name or its point word, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def __repr__(self) -> str:
        return f"{self.row.name}({', '.join(f'{name}={value!r}' for name, value in self.items())})"

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


_event_types: dict[Row, type[Event]] = {}


def event_type(row: Row) -> type[Event]:
    """Return the class of a row's events: every field that is always there is an attribute of it."""
    found = _event_types.get(row)
    if found is None:
        body: dict[str, Any] = {"__slots__": (), "row": row, "__module__": __name__}
        taken = set(dir(dict))
        for name, item in row.fields.items():
            if item.always and name not in taken:
                body[name] = property(itemgetter(name))
        for word, name in row.words.items():
            body[word] = property(itemgetter(name))
        found = _event_types[row] = type("Event", (Event,), body)
    return found


class Template:
    """A row as one engine fires it: fills in what the host did not give."""

    __slots__ = ("_base", "_call_id", "_fresh", "row")

    _numbers: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self, row: Row, session_id: str) -> None:
        defaults = row.defaults()
        defaults["session_id"] = session_id
        defaults["hook_event_name"] = row.name
        self.row = row
        self._fresh = [(name, type(value)) for name, value in defaults.items() if type(value) in (dict, list)]
        self._call_id = "tool_use_id" in defaults
        self._base = {name: value for name, value in defaults.items() if name != "cwd"}

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input with every always-present field."""
        full = {**self._base, **given}
        if "cwd" not in given:
            full["cwd"] = _current_directory()
        if self._call_id and not full["tool_use_id"]:
            full["tool_use_id"] = f"toolu_{os.getpid():x}_{next(self._numbers)}"
        full["hook_event_name"] = self.row.name
        for name, kind in self._fresh:
            if name not in given:
                full[name] = kind()
        return full


def _current_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
