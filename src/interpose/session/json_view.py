"""What hooks see of the objects of a framework: JSON values with everything in them that a tool would get.

Fields of an object are read one by one and not with the object's own export, which may leave fields out.
"""

from __future__ import annotations

import math
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from ..errors import UsageError

__all__ = ["CannotShow", "json_view"]

_DEEPEST = 100
_ATOMS = (str, int, bool, type(None))


class CannotShow(UsageError, ValueError, code="cannot_show"):
    """A value that has no JSON view; the message names the field."""


def json_view(value: Any) -> Any:
    """Return a value as JSON values: what hooks see of it.

    It knows mappings, sequences, sets, dataclasses, named tuples, models of Pydantic, attrs and msgspec, enums, dates
    and times, numbers, paths, UUIDs, bytes, exceptions, and objects with ``to_dict()``. Bytes are text if they are
    UTF-8, and otherwise ``{"base64": "…"}``. Any other object raises CannotShow with the path of the field.
    """
    return _view(value, "", 0)


def _view(value: Any, path: str, depth: int) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if depth > _DEEPEST:
        raise CannotShow(f"{_at(path)}nested deeper than {_DEEPEST} levels, or within itself")
    try:
        if kind is dict or isinstance(value, Mapping):
            return _mapping(value.items(), path, depth)
        if isinstance(value, Enum):
            return _view(value.value, path, depth + 1)
        if isinstance(value, (list, tuple, range)) and not hasattr(kind, "_fields"):
            return [_view(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        found = _scalar(value)
        if found is not None:
            return found
        if isinstance(value, (set, frozenset)):
            items = [_view(item, f"{path}{{}}", depth + 1) for item in value]
            return sorted(items, key=repr)
        parts = _parts(value, kind)
        if parts is not None:
            return _mapping(parts, path, depth)
    except (CannotShow, RecursionError):
        raise
    except Exception as error:  # the object's own code
        raise CannotShow(f"{_at(path)}a value of type {kind.__name__} raised {type(error).__name__}") from error
    raise CannotShow(
        f"{_at(path)}a value of type {kind.__name__} has no JSON view", hint="give the session a view of your own"
    )


def _at(path: str) -> str:
    return f"{path.lstrip('.')}: " if path else ""


def _scalar(value: Any) -> Any:
    """Return the view of a value that has no parts; None if it is something else."""
    match value:
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case float():
            return float(value) if math.isfinite(value) else repr(float(value))
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal() | UUID():
            return str(value)
        case bytes() | bytearray() | memoryview():
            return _bytes(bytes(value))
        case BaseException():
            return f"{type(value).__name__}: {value}"
        case os.PathLike():
            path = os.fspath(value)
            return path if isinstance(path, str) else os.fsdecode(path)
        case _ if callable(getattr(value, "get_secret_value", None)):
            return str(value)  # of Pydantic: it hides itself
        case _:
            return None


def _bytes(value: bytes) -> Any:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode("ascii")}


def _parts(value: Any, kind: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return the fields of an object that declares them, with their values; None if it declares none."""
    names: Any = None
    if isinstance(getattr(kind, "model_fields", None), Mapping):  # Pydantic
        names = [*kind.model_fields, *(getattr(value, "model_extra", None) or ())]
    elif isinstance(getattr(kind, "__fields__", None), Mapping):  # its first version
        names = kind.__fields__
    elif is_dataclass(kind):
        names = [field.name for field in fields(value)]
    elif hasattr(kind, "__attrs_attrs__"):
        names = [attribute.name for attribute in kind.__attrs_attrs__]
    elif hasattr(kind, "__struct_fields__"):  # msgspec
        names = kind.__struct_fields__
    elif issubclass(kind, tuple):  # a named tuple
        names = kind._fields
    elif isinstance(value, type):
        return None
    elif callable(getattr(value, "to_dict", None)):
        made = value.to_dict()
        return iter(made.items()) if isinstance(made, Mapping) else None
    return None if names is None else ((name, getattr(value, name)) for name in names)


def _mapping(items: Any, path: str, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in items:
        name = _key(key, path)
        if name in made:
            raise CannotShow(f"{_at(path)}two keys are both written as {name!r}")
        made[name] = item if type(item) in _ATOMS else _view(item, f"{path}.{name}", depth + 1)
    return made


def _key(key: Any, path: str) -> str:
    if type(key) is str:
        return key
    if isinstance(key, Enum):
        return _key(key.value, path)
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float)):
        return repr(key)
    if isinstance(key, (datetime, date, UUID, os.PathLike)):
        return str(_scalar(key))
    raise CannotShow(f"{_at(path)}a value of type {type(key).__name__} cannot be the name of a field")
