"""The parameters of a function: what hooks see of a call, and the call that is made of what hooks return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from interpose import UsageError, json_view

from .base import Refused, is_json

__all__ = ["Parameters"]

_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    NoneType: {"type": "null"}, list: {"type": "array"}, dict: {"type": "object"}, Mapping: {"type": "object"},
    Sequence: {"type": "array"}, Any: {}, object: {}, inspect.Parameter.empty: {},
}  # fmt: skip
"""Types whose values are JSON values."""


class Parameters:
    """The parameters of a function. Hooks see those that are not in ``unseen``, with the defaults that are JSON."""

    def __init__(self, function: Callable[..., Any], unseen: Collection[str] = ()) -> None:
        self.signature = _signature(function)
        self._all = self.signature.parameters
        self._unseen = frozenset(unseen) & self._all.keys()
        self._rest = next((one.name for one in self._all.values() if one.kind is one.VAR_KEYWORD), None)
        self._schemas = {name: _parameter_schema(one) for name, one in self._all.items() if name != self._rest}
        self._defaults = {name: one.default for name, one in self._all.items() if _has_shown_default(one)}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of an input that hooks changed."""
        needed = [
            name for name, one in self._all.items() if one.default is one.empty and one.kind not in _VARIABLE
            and name not in self._unseen
        ]  # fmt: skip
        shown = {name: {} if schema is None else schema for name, schema in self._schemas.items()}
        properties: dict[str, Any] = {**shown, **dict.fromkeys(self._unseen, False)}
        return {
            "type": "object", "properties": properties, "required": needed,
            "additionalProperties": self._rest is not None,
        }  # fmt: skip

    def read(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments of a call by name: those that hooks see, and the others.

        TypeError is raised if the function cannot be called so.
        """
        bound = dict(self.signature.bind(*arguments, **keywords).arguments)
        more = bound.pop(self._rest, {}) if self._rest is not None else {}
        given = {**self._defaults, **bound}
        if twice := sorted(more.keys() & self._all.keys()):
            raise Refused(f"two arguments are called {twice[0]}: hooks cannot tell them apart")
        given |= more
        return ({name: value for name, value in given.items() if name not in self._unseen},
                {name: value for name, value in given.items() if name in self._unseen})  # fmt: skip

    def write(self, given: Mapping[str, Any], changed: Any, unseen: Mapping[str, Any]) -> inspect.BoundArguments:
        """Return the arguments of the call after hooks changed the input.

        What hooks left alone is the object that was given. A new value is taken where a JSON value is expected.
        """
        if changed is not given:
            shown = json_view(given)
            changed = {
                name: given[name] if name in given and shown[name] == value else self._new_value(name, value, given)
                for name, value in changed.items()
            }
        arguments = {**changed, **unseen}
        known = {name: arguments[name] for name in self._all if name in arguments}
        if self._rest is not None:
            known[self._rest] = {name: value for name, value in arguments.items() if name not in known}
        return inspect.BoundArguments(self.signature, known)

    def _new_value(self, name: str, value: Any, given: Mapping[str, Any]) -> Any:
        if self._schemas.get(name, {}) is None or (name in given and not is_json(given[name])):
            raise Refused(f"a hook changed {name}, and only arguments that are JSON values can be changed")
        return value


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function with the types that its annotations name."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{function!r} has no signature", hint="write a function around it") from error
    try:
        hints = get_type_hints(getattr(function, "func", function), include_extras=True)
    except Exception:  # a name that does not exist at run time: the annotation stays as it is
        return signature
    typed = [one.replace(annotation=hints.get(one.name, one.annotation)) for one in signature.parameters.values()]
    return signature.replace(parameters=typed, return_annotation=hints.get("return", signature.return_annotation))


def _has_shown_default(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty and is_json(parameter.default)


def _parameter_schema(parameter: inspect.Parameter) -> dict[str, Any] | None:
    found = _schema(parameter.annotation)
    if parameter.kind is not parameter.VAR_POSITIONAL:
        return found
    return None if found is None else {"type": "array", "items": found}


def _schema(annotation: Any) -> dict[str, Any] | None:
    """Return the JSON Schema of a type; None if its values are not JSON values."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _schema(parts[0])
    if origin is Literal:
        return {"enum": list(parts)} if all(map(is_json, parts)) else None
    if origin in (Union, UnionType):
        schemas = [_schema(part) for part in parts]
        return None if None in schemas else {"anyOf": schemas}
    known = _TYPES.get(NoneType if annotation is None else origin or annotation) if _hashable(annotation) else None
    inner = _schema(parts[-1]) if parts and known else {}
    if known is None or inner is None:
        return None
    items = "items" if known.get("type") == "array" else "additionalProperties"
    return {**known, items: inner} if inner else known


def _hashable(annotation: Any) -> bool:
    try:
        hash(annotation)
    except TypeError:
        return False
    return True
