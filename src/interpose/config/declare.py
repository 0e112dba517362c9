"""A hook as people write it, in code or in a file, to a Hook. Every option is checked here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import BadHook, nearest
from ..events import Row, Table
from ..handlers.python import LazyFunction, is_async, label_of, source_of, unified
from ..matching import compile_condition, compile_matcher
from ..model import Hook
from ..registry import LAYERS
from ..replies import clean

__all__ = ["ERROR_BEHAVIORS", "declare", "seconds"]

_LONGEST = 10 * 365 * 24 * 3600.0

ERROR_BEHAVIORS = ("log", "skip", "abort")


def declare(
    table: Table,
    event: str,
    handler: Any,
    *,
    type: str | None = None,
    name: str | None = None,
    matcher: str | None = None,
    if_: str | None = None,
    priority: int = 100,
    timeout: float | None = None,
    on_error: str | None = None,
    enabled: bool = True,
    enforce: bool = True,
    locked: bool = False,
    parallel: bool = False,
    async_: bool = False,
    once: bool = False,
    inline: bool = False,
    scope: str | None = None,
    layer: str = "code",
    source: str = "",
    description: str = "",
    directory: str = "",
    types: tuple[str, ...] = (),
) -> Hook:
    """Return the hook that these options describe, or say what is wrong with them."""
    row, suffix = table.find(event)
    matcher = _matcher(row, matcher, suffix)
    _check_choice("onError", on_error, (None, *ERROR_BEHAVIORS))
    _check_choice("layer", layer, LAYERS)
    _check_type("name", name, str, optional=True)
    _check_type("description", description, str)
    _check_type("scope", scope, str, optional=True)
    flags = {"enabled": enabled, "enforce": enforce, "locked": locked, "parallel": parallel, "async": async_,
             "once": once, "inline": inline}  # fmt: skip
    for option, value in flags.items():
        _check_type(option, value, bool)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise BadHook(f"priority: {priority!r} is not a whole number", hint="lower runs earlier; the default is 100")
    if inline and (async_ or parallel):
        raise BadHook("inline: such a hook runs in the caller's task", hint="leave out async and parallel")
    condition = compile_condition(_text("if", if_))
    if condition is not None and "tool_name" not in row.fields:
        raise BadHook(f"if: {row.name} has no tool to compare {if_!r} with", hint="use a matcher, or another event")
    kind, call, options = _handler(type, handler, directory, types)
    return Hook(
        row=row,
        handler=handler,
        type=kind,
        name=name or None,
        label=clean(name or (label_of(handler) if callable(handler) else str(handler))),
        matcher=matcher or "",
        matches=compile_matcher(matcher),
        condition=if_,
        judge=condition,
        priority=priority,
        timeout=seconds("timeout", timeout),
        on_error=on_error,
        enabled=enabled,
        enforce=enforce,
        locked=locked,
        parallel=parallel,
        background=async_,
        once=once,
        inline=inline,
        scope=scope,
        layer=layer,
        source=source or (source_of(handler) if callable(handler) else ""),
        description=description,
        options={"call": call, **options},
    )


def _handler(
    kind: str | None, handler: Any, directory: str, types: tuple[str, ...]
) -> tuple[str, Callable[..., Any] | None, dict[str, Any]]:
    if kind in types:
        return str(kind), None, {}  # what it means is for its handler to say
    if kind not in (None, "python"):
        known = ("python", *types)
        raise BadHook(f"type: {kind!r} is not a kind of handler",
                      hint=nearest(str(kind), known) or f"there is {', '.join(known)}")  # fmt: skip
    if isinstance(handler, str):
        if "/" in handler or handler.endswith((".py", ".sh")):
            raise BadHook(f"handler: {handler!r} is a path", hint="name a Python function: module.function")
        return "python", LazyFunction(handler, directory), {}
    if not callable(handler):
        raise BadHook(f"handler: {_kind(handler)} cannot be called", hint="give a function, or its name as text")
    return "python", unified(handler, label_of(handler)), {"awaits": is_async(handler)}


def _matcher(row: Row, matcher: str | None, suffix: str | None) -> str | None:
    matcher = _text("matcher", matcher)
    if suffix is not None:
        if matcher not in (None, "", suffix):
            raise BadHook(f"{row.name}:{suffix} names a matcher already, and so does matcher: {matcher!r}",
                          hint="leave one of them out")  # fmt: skip
        return suffix
    if matcher and matcher != "*" and row.subject is None:
        raise BadHook(f"{row.name} has nothing that a matcher could be compared with", hint="leave matcher out")
    return matcher


def seconds(option: str, value: Any) -> float | None:
    """Return a time in seconds; 0 means not set."""
    if value is None:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value < _LONGEST:
        raise BadHook(f"{option}: {value!r} is not a time in seconds", hint="a number above 0; 0 means not set")
    return float(value) or None


def _check_choice(option: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices or isinstance(value, bool):
        known = [str(choice) for choice in choices if choice is not None]
        raise BadHook(f"{option}: {value!r} is not a choice",
                      hint=nearest(str(value), known) or f"choose {', '.join(known)}")  # fmt: skip


def _check_type(option: str, value: Any, wanted: type, *, optional: bool = False) -> None:
    if not (optional and value is None) and not isinstance(value, wanted):
        words = {str: "text", bool: "true or false"}[wanted]
        raise BadHook(f"{option}: {_kind(value)} where {words} is expected")


def _text(option: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadHook(f"{option}: {_kind(value)} where text is expected")
    return value


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
