"""Frozen records with named parts, like dataclasses, whose import takes longer than that of this whole package.

    class Point(Record, kw_only=False):
        x: int
        y: int = 0
        notes: list[str] = made_by(factory=list)

``interpose fire`` starts a process for every event; there, milliseconds of imports count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, Self, TypeVar, dataclass_transform

__all__ = ["Record", "made_by", "replace"]

_REQUIRED: Any = object()


class _MadeBy:
    """A default that is made anew for each record."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def made_by(*, factory: Callable[[], Any]) -> Any:
    """Have a part's default made by a call."""
    return _MadeBy(factory)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(made_by,))
class _RecordType(type):
    """Turns annotations into parts: slots, and an ``__init__`` that is written out, as fast as one by hand."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any],
        *, kw_only: bool = True, eq: bool = True, frozen: bool = True,
    ) -> type:  # fmt: skip
        parts: dict[str, Any] = {}
        for base in bases:
            parts.update(getattr(base, "_parts", {}))
        own = {part: body.pop(part, _REQUIRED) for part in body.get("__annotations__", {}) if not part.startswith("_")}
        parts.update(own)
        body["__slots__"] = tuple(own)
        body["_parts"] = parts
        if parts:
            body["__init__"] = _init(parts, kw_only, frozen)
        if not eq:
            body["__eq__"], body["__hash__"] = object.__eq__, object.__hash__
        if not frozen:
            body["__setattr__"], body["__delattr__"] = object.__setattr__, object.__delattr__
        return super().__new__(cls, name, bases, body)

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **flags: bool) -> None:
        super().__init__(name, bases, body)


def _init(parts: dict[str, Any], kw_only: bool, frozen: bool) -> Callable[..., None]:
    world: dict[str, Any] = {"_set": object.__setattr__}
    signature, lines = ["self", "*"] if kw_only else ["self"], []
    for name, default in parts.items():
        value = name
        if default is not _REQUIRED:
            world[f"_default_{name}"] = default
            if isinstance(default, _MadeBy):
                value = f"_default_{name}.make() if {name} is _default_{name} else {name}"
        signature.append(name if default is _REQUIRED else f"{name}=_default_{name}")
        lines.append(f"    _set(self, {name!r}, {value})" if frozen else f"    self.{name} = {value}")
    exec(f"def __init__({', '.join(signature)}):\n" + "\n".join(lines), world)  # noqa: S102 - our own text
    made: Callable[..., None] = world["__init__"]
    return made


class Record(metaclass=_RecordType):
    """A noun: made once, read, compared by its parts, and never changed unless it is made with ``frozen=False``."""

    _parts: ClassVar[dict[str, Any]]
    _hidden: ClassVar[frozenset[str]] = frozenset()  # parts that are not shown
    _uncompared: ClassVar[frozenset[str]] = frozenset()  # parts in which equal records may differ

    def __setattr__(self, name: str, value: object = None) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    __delattr__ = __setattr__

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._parts if name not in self._uncompared)

    def __eq__(self, other: object) -> bool:
        return self._compared() == other._compared() if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._parts if name not in self._hidden)
        return f"{type(self).__qualname__}({shown})"

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), {name: getattr(self, name) for name in self._parts})

    def __replace__(self, **changes: Any) -> Self:
        return type(self)(**{**{name: getattr(self, name) for name in self._parts}, **changes})


_R = TypeVar("_R", bound=Record)


def replace(record: _R, **changes: Any) -> _R:
    """Return a record like this one, with some parts changed."""
    return record.__replace__(**changes)


def _rebuilt(kind: type[Record], parts: dict[str, Any]) -> Record:
    return kind(**parts)
