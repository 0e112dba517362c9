"""What can be said about code that broke: bounded, safe to show, and never by running more of that code."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from types import CoroutineType
from typing import Any

__all__ = ["LONGEST", "is_awaitable", "is_one_of", "log", "said", "trace_of", "type_name"]

LONGEST = 2000


def is_one_of(error: BaseException, *kinds: type[BaseException]) -> bool:
    """Say what an exception really is; ``isinstance`` would ask the exception."""
    return issubclass(type(error), kinds)


def is_awaitable(value: object) -> bool:
    """Say whether a value can be awaited, without asking the value."""
    kind = type(value)
    return issubclass(kind, CoroutineType) or any("__await__" in vars(one) for one in type.mro(kind))


def type_name(value: object) -> str:
    """Return the name of a value's type, whatever its metaclass says."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name


def said(error: BaseException, longest: int = LONGEST) -> str:
    """Return the kind of an exception and what it says, whatever it does when it is asked."""
    name = type_name(error)
    try:
        text = str.__str__(str(error))[:longest]
    except BaseException:  # an exception whose own text breaks
        return name
    return f"{name}: {text}" if text else name


def trace_of(error: BaseException) -> str:
    """Return the tracebacks of an exception and its causes, as the interpreter keeps them, for a few links."""
    from traceback import format_tb

    names = ("traceback", "cause", "context", "suppress_context")
    read = {name: BaseException.__dict__[f"__{name}__"].__get__ for name in names}
    parts: list[str] = []
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(seen) < 5 and all(current is not one for one in seen):
        seen.append(current)
        parts.append("".join(format_tb(read["traceback"](current), limit=-8)) + said(current, 300))
        link = read["cause"](current)
        current = link if link is not None else None if read["suppress_context"](current) else read["context"](current)
    return "\n".join(reversed(parts))[-8000:]


_logging: ContextVar[bool] = ContextVar("interpose_logging", default=False)


def log(level: str, text: str, *arguments: Any, trace: str = "") -> None:
    """Write to the ``interpose`` logger; a log handler that breaks, or fires hooks itself, breaks no firing."""
    if _logging.get():
        return  # a handler of the log fires hooks: what they do must not wait for that handler
    before = _logging.set(True)
    try:
        import logging

        logger = logging.getLogger("interpose")
        getattr(logger, level)(text, *arguments)
        if trace:
            logger.debug("%s", trace)
    except Exception as error:
        from .signals import not_by_signal

        not_by_signal(error)
        try:
            sys.stderr.write(f"interpose: logging failed: {type_name(error)}\n")
        except Exception:
            return
    finally:
        _logging.reset(before)
