"""Every public name with its signature and one line, from the modules themselves."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from itertools import pairwise
from typing import Any, is_typeddict

from interpose.model import VerdictPart
from interpose.records import Record

from .markdown import code, plain, table

__all__ = ["MODULES", "names"]

MODULES = ("interpose", "interpose.testing", "interpose.compat.armament", "interpose.compat.massgen",
           "interpose.compat.goat")  # fmt: skip
"""Where public names are; what is in no ``__all__`` of these is internal."""

_INTERNAL: dict[str, tuple[str, ...]] = {
    "Hook": ("matches", "judge", "rewrites_in_group", "binding", "sequence", "health"),
    "BegunAgent": ("begin",),
    "BegunMessage": ("begin",),
    "BegunTool": ("begin", "halt", "is_same", "key", "move_to"),
    "Session": ("join", "leave_roles", "touch", "used_at"),
}
"""Parts of a public class that only the engine uses."""
_MADE_FOR_CALLERS = frozenset({"BegunAgent", "BegunMessage", "BegunTool", "BlockingAgent", "BlockingMessage",
                               "BlockingTool", "Outcome", "Session", "Sessions", "SyncSession"})  # fmt: skip
"""Classes that a method of another makes: how is no part of what is public."""
_SHORT = (str, int, float, bool, type(None), tuple)
_MARKS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def names() -> str:
    """Return a section for every module and every public name in it."""
    return "\n".join(_module(name) for name in MODULES)


def _module(name: str) -> str:
    module = import_module(name)
    sections = (_section(public, getattr(module, public)) for public in module.__all__)
    return "\n".join([f"## {name}\n", *sections])


def _section(name: str, value: Any) -> str:
    parts = [f"### {name}\n"]
    if inspect.isclass(value):
        is_protocol = getattr(value, "_is_protocol", False)
        made_by_callers = not (issubclass(value, (Record, Enum)) or is_protocol or name in _MADE_FOR_CALLERS)
        parts += [code(f"class {_signature(name, value)}" if made_by_callers else f"class {name}") + "\n"]
        parts += [_first_paragraph(value), _members(value)]
    elif inspect.isroutine(value):
        parts += [code(_signature(name, value)) + "\n", _first_paragraph(value)]
    elif isinstance(value, tuple):
        parts += [", ".join(map(code, value)) + "\n"]
    else:
        parts += [f"A type: {code(str(value).replace('typing.', '').replace('collections.abc.', ''))}\n"]
    return "\n".join(part for part in parts if part)


def _first_paragraph(value: Any) -> str:
    """Return the first paragraph of a docstring: what the caller gets."""
    text = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0]
    return plain(" ".join(text.replace("``", "`").split())) + "\n" if text else ""


def _members(value: type) -> str:
    """Return a table of what a class offers beyond being made: attributes, then what can be called."""
    said = _attribute_docstrings(value)
    rows = [(code(f"{name}: {kind}"), said.get(name, "")) for name, kind in _attributes(value).items()]
    if issubclass(value, Enum):
        rows += [(code(f"{one.name} = {one.value!r}"), "") for one in value]
    if getattr(value, "_is_protocol", False) and "__call__" in vars(value):
        called = vars(value)["__call__"]
        rows.append((code(_signature("__call__", called)), _first_paragraph(called).strip()))
    hidden = _INTERNAL.get(value.__name__, ())
    for name, member in sorted(_public(value).items()):
        if name in hidden:
            continue
        if isinstance(member, (property, VerdictPart)):
            rows.append((code(name), _first_paragraph(member).strip()))
        elif (isinstance(member, (staticmethod, classmethod)) or inspect.isfunction(member)) and member.__doc__:
            function = getattr(value, name)
            rows.append((code(_signature(name, function)), _first_paragraph(function).strip()))
    return table(("member", ""), rows) if rows else ""


def _attributes(value: type) -> dict[str, str]:
    """Return attributes with their types; those that are arguments of the class are in its signature already."""
    if is_dataclass(value) or (issubclass(value, dict) and not is_typeddict(value)):
        return {}
    found: dict[str, str] = {}
    for base in _own_bases(value):
        found |= {
            name: getattr(kind, "__forward_arg__", None) or str(kind)
            for name, kind in vars(base).get("__annotations__", {}).items()
        }
    hidden = _INTERNAL.get(value.__name__, ())
    return {
        name: kind
        for name, kind in found.items()
        if not name.startswith("_") and name not in hidden and "ClassVar" not in kind
    }


def _attribute_docstrings(value: type) -> dict[str, str]:
    """Return the text below each attribute in a class's source."""
    found: dict[str, str] = {}
    for base in _own_bases(value):
        try:
            body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0].body  # type: ignore[attr-defined]
        except (OSError, TypeError, IndexError):  # a class that was made while the program ran
            continue
        for one, following in pairwise(body):
            match one, following:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = plain(" ".join(text.replace("``", "`").split()))
                case _:
                    pass
    return found


def _public(value: type) -> dict[str, Any]:
    """Return a class's own members and those of its bases; what only the engine's parts call is left out."""
    found: dict[str, Any] = {}
    for base in _own_bases(value):
        found |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    return found


def _own_bases(value: type) -> list[type]:
    return [base for base in reversed(value.__mro__) if base.__module__.startswith("interpose")]


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # made by the engine only
        return name
    parts: list[str] = []
    kind = None
    for one in signature.parameters.values():
        if kind is one.POSITIONAL_ONLY is not one.kind and parts:  # not after self alone, which is not shown
            parts.append("/")
        if one.kind is one.KEYWORD_ONLY and kind not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL):
            parts.append("*")
        kind = one.kind
        if one.name != "self":
            parts.append(_parameter(one))
    returned = "" if inspect.isclass(value) else _annotated(" -> ", signature.return_annotation)
    prefix = "async " if inspect.iscoroutinefunction(value) else ""
    return f"{prefix}{name}({', '.join(parts)}){returned}"


def _parameter(one: inspect.Parameter) -> str:
    text = f"{_MARKS.get(one.kind, '')}{one.name}{_annotated(': ', one.annotation)}"
    if one.default is one.empty:
        return text
    return f"{text} = {one.default!r}" if isinstance(one.default, _SHORT) else f"{text} = ..."


def _annotated(mark: str, annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    return mark + (annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation)))
