"""The event object that a hook is given: completed, the hook's own copy, read as attributes and as a mapping.

Events are made on every firing, so they are built without a Python ``__init__``: an event is a dict with attributes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from copy import deepcopy
from operator import itemgetter
from typing import Any, ClassVar

from .events import EventSpec
from .forks import after_fork

__all__ = ["Event", "Template", "Uncopyable", "copied_if_possible", "event_of", "own_copy",
           "plain_copy"]  # fmt: skip

_ATOMS = frozenset({str, int, float, bool, type(None), bytes})


class Uncopyable(Exception):
    """An input that cannot be copied for a hook."""


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


def copied_if_possible(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original, or the original if it cannot be copied."""
    try:
        return copied(value)
    except Exception:  # the host's own object, which no hook was given either
        return value


def own_copy(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original, or raise Uncopyable."""
    try:
        return copied(value)
    except Exception as error:
        raise Uncopyable(type(error).__name__) from None


def plain_copy(value: Any) -> Any:
    """Return a copy whose containers and texts are plain ones, without the methods that a subclass may have."""
    if type(value) in _ATOMS:
        return value
    if isinstance(value, dict):
        return {plain_copy(key): plain_copy(item) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [plain_copy(item) for item in list.__iter__(value)]
    if isinstance(value, str):
        return str.__str__(value)
    return deepcopy(value)


class Event(dict[str, Any]):
    """What a hook is told: reads as a mapping and as attributes; the hook's own copy.

    Fields that the row knows and this event lacks read as ``None``; the point words ``tool``, ``args`` and
    ``result`` read as ``tool_name``, ``tool_input`` and ``tool_response``. What costs a system call, such as ``cwd``,
    is filled in when it is read, or when the event is read as a whole. ``match`` is the grade of the hook's ``if``.
    """

    __slots__ = ("completed_by", "encodings")
    row: ClassVar[EventSpec]
    encodings: dict[str, bytes]  # the event on the wire, by dialect; made by the handler that needs it first
    completed_by: (
        Any  # its firing, whose ``rest()`` returns the fields that are found out when read; None once they are
    )

    match = property(lambda self: dict.get(self, "match", ""))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            if name in self.row.optional:
                return None
        raise AttributeError(f"{self.row.name} has no field {name!r}; it has {', '.join(self)}")

    def __missing__(self, key: str) -> Any:
        word = self.row.words.get(key)
        if word is not None and word in self:
            return self[word]
        self._fill()
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field, by its name or its point word, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def _fill(self) -> None:
        source, self.completed_by = self.completed_by, None
        if source is not None:
            self.update(source.rest())

    def __repr__(self) -> str:
        return f"{self.row.name}({', '.join(f'{name}={value!r}' for name, value in self.items())})"

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _filled(name: str) -> Callable[..., Any]:
    """Return a method of dict that fills the event first."""
    plain = getattr(dict, name)

    def method(self: Event, *arguments: Any) -> Any:
        self._fill()
        return plain(self, *arguments)

    method.__name__ = name
    return method


for _name in ("__iter__", "__len__", "__contains__", "__eq__", "__ne__", "__or__", "__ror__", "__reversed__",
              "keys", "items", "values", "copy", "pop", "popitem", "setdefault", "clear"):  # fmt: skip
    setattr(Event, _name, _filled(_name))

FILLED_WHEN_READ = ("cwd", "tool_use_id")
_event_types: dict[EventSpec, type[Event]] = {}


def event_type(row: EventSpec) -> type[Event]:
    """Return the class of a row's events: every field that is always there is an attribute of it."""
    found = _event_types.get(row)
    if found is None:
        taken = {*dir(dict), *FILLED_WHEN_READ}
        always = {name: name for name, field in row.fields.items() if field.always and name not in taken}
        read = {word: property(itemgetter(name)) for word, name in {**always, **row.words}.items()}
        body = {"__slots__": (), "row": row, "__module__": __name__}
        found = _event_types[row] = type("Event", (Event,), body | read)
    return found


def event_of(row: EventSpec, fields: Mapping[str, Any]) -> Event:
    """Return an event with exactly these fields."""
    event = event_type(row)(fields)
    event.completed_by = None
    return event


class Template:
    """A row as one engine fires it: fills in what the host did not give."""

    __slots__ = ("_base", "_changeable", "_name", "_rest", "event_type", "row")

    def __init__(self, row: EventSpec, session_id: str) -> None:
        defaults = {**row.defaults(), "session_id": session_id, "hook_event_name": row.name}
        self.row = row
        self.event_type = event_type(row)
        self._name = row.name
        self._rest = [name for name in FILLED_WHEN_READ if defaults.pop(name, None) is not None]
        self._changeable = [(name, type(value)) for name, value in defaults.items() if type(value) in (dict, list)]
        self._base = {**defaults}  # without gaps, which would make every copy slower

    def begin(self, given: dict[str, Any]) -> tuple[dict[str, Any], str, tuple[str, ...]]:
        """Return the input without what is filled in when it is read; and the fields that a hook gets a copy of.

        First the one whose value is a mapping with nothing changeable in it, as in most firings, then the others.
        """
        fields, flat = self._base | given, ""
        deep: tuple[str, ...] = ()
        fields["hook_event_name"] = self._name  # whatever was given
        for name, kind in self._changeable:
            if name not in given:
                fields[name] = kind()
                given = fields  # a hook must not get this one either
        for name in given:
            value = given[name]
            if type(value) is str:
                continue
            if type(value) is dict and not flat:
                for key in value:
                    if type(value[key]) not in _ATOMS:
                        deep = (*deep, name)
                        break
                else:
                    flat = name
            elif type(value) not in _ATOMS:
                deep = (*deep, name)
        return fields, flat, deep

    def rest(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Return the always-present fields that an input still lacks."""
        return {name: _found_out(name) for name in self._rest if not fields.get(name)}

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        fields = self.begin(dict(given))[0]
        return {**fields, **self.rest(fields)}


_numbers = itertools.count(1)
_process = f"{os.getpid():x}"


def _found_out(name: str) -> str:
    if name == "tool_use_id":
        return f"toolu_{_process}_{next(_numbers)}"
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


@after_fork
def _rename_process() -> None:
    global _process  # noqa: PLW0603 - the one thing here that tells two processes apart
    _process = f"{os.getpid():x}"
