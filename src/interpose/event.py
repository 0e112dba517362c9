"""The event object that a hook is given: completed, the hook's own copy, read as attributes and as a mapping.

Events are made on every firing, so they are built without a Python ``__init__``: an event is a dict with attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, ClassVar

from .events import EventSpec

__all__ = ["FILLED_WHEN_READ", "Event", "event_of", "event_type"]


class Event(dict[str, Any]):
    """What a hook is told: reads as a mapping and as attributes; the hook's own copy.

    Fields that the row knows and this event lacks read as ``None``; the point words ``tool``, ``args`` and
    ``result`` read as ``tool_name``, ``tool_input`` and ``tool_response``. What costs a system call, such as ``cwd``,
    is filled in when it is read, or when the event is read as a whole. ``match`` is the grade of the hook's ``if``.
    """

    __slots__ = ("completed_by", "encodings")
    row: ClassVar[EventSpec]
    encodings: dict[str, bytes]  # the event on the wire, by dialect; made by the handler that needs it first
    completed_by: Any  # its firing, whose ``rest()`` finds out the fields that are filled in when read; then None

    __init__ = object.__init__  # it is made empty and then filled, and dict's own looks for arguments each time

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
        taken = {*dir(Event), "row", *FILLED_WHEN_READ}
        always = {name: name for name, field in row.fields.items() if field.always and name not in taken}
        read = {word: property(itemgetter(name)) for word, name in {**always, **row.words}.items()}
        body = {"__slots__": (), "row": row, "__module__": __name__}
        found = _event_types[row] = type("Event", (Event,), body | read)
    return found


def event_of(row: EventSpec, fields: Mapping[str, Any]) -> Event:
    """Return an event with exactly these fields."""
    event: Event = event_type(row)()
    event |= fields
    event.completed_by = None
    return event
