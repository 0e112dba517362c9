"""What can be said about code that broke: bounded, safe to show, and never by running more of that code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .payload import Uncopyable
from .replies import Failure, HookFailed

__all__ = ["describe", "log", "raised_on_purpose"]

_LONGEST = 2000


def describe(error: BaseException) -> Failure:
    """Return the failure that an exception of a hook stands for."""
    if isinstance(error, HookFailed):
        return error.failure
    if isinstance(error, Uncopyable):
        return Failure("payload", f"the input cannot be copied: {error}")
    if isinstance(error, MemoryError):
        return Failure("hook_crash", "MemoryError: out of memory")
    text = f"raised {_said(error)}"
    if isinstance(error, BaseExceptionGroup):
        members = [_said(member, 200) for member in error.exceptions[:10]]
        text = f"{text}: {'; '.join(members)}"
    return Failure("hook_crash", text[:_LONGEST], trace=_trace(error))


def _said(error: BaseException, longest: int = _LONGEST) -> str:
    name = type(error).__name__
    try:
        said = str(error)
    except BaseException:  # an exception whose own text breaks
        return name
    return f"{name}: {said[:longest]}" if said else name


def _trace(error: BaseException) -> str:
    from traceback import format_tb

    parts = []
    for link in _chain(error):
        try:
            parts.append("".join(format_tb(link.__traceback__, limit=-8)) + _said(link, 300))
        except Exception:
            parts.append(type(link).__name__)
    return "\n".join(reversed(parts))[-8000:]


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(seen) < 5:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def raised_on_purpose(error: BaseException) -> bool:
    """Say whether a ``raise`` statement made this exception, rather than a signal or the end of a coroutine."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_lasti < 0:
        return True
    code = trace.tb_frame.f_code.co_code
    return trace.tb_lasti < len(code) and code[trace.tb_lasti] == _raise_opcode()


def _raise_opcode() -> int:
    import opcode

    return opcode.opmap["RAISE_VARARGS"]


def log(level: str, text: str, *arguments: Any, trace: str = "") -> None:
    """Write to the ``interpose`` logger; a handler that breaks cannot break us."""
    import logging

    try:
        logger = logging.getLogger("interpose")
        getattr(logger, level)(text, *arguments)
        if trace:
            logger.debug("%s", trace)
    except Exception as error:
        try:
            sys.stderr.write(f"interpose: logging failed: {type(error).__name__}\n")
        except Exception:
            return
