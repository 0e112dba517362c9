"""What can be said about code that broke: bounded, safe to show, and never by running more of that code."""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from opcode import opname
from types import CodeType, CoroutineType
from typing import Any

from .event import Uncopyable
from .replies import Failure, HookFailed

__all__ = ["describe", "is_awaitable", "is_one_of", "log", "raised_by_signal", "said", "type_name"]

_LONGEST = 2000


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


def describe(error: BaseException) -> Failure:
    """Return the failure that an exception of a hook stands for."""
    try:
        if type(error) is HookFailed:
            return error.failure
        if is_one_of(error, MemoryError):
            return Failure("hook_crash", "MemoryError: out of memory")
        if type(error) is Uncopyable:
            return Failure("payload", f"the input cannot be copied: {error}")
        text = f"raised {said(error)}"
        if is_one_of(error, BaseExceptionGroup):
            members = BaseExceptionGroup.__dict__["exceptions"].__get__(error)[:10]
            text = f"{text}: {'; '.join(said(member, 200) for member in members)}"
        return Failure("hook_crash", text[:_LONGEST], trace=_trace(error))
    except BaseException:  # an exception that fights being looked at
        return Failure("hook_crash", f"raised {type_name(error)}")


def said(error: BaseException, longest: int = _LONGEST) -> str:
    """Return the kind of an exception and what it says, whatever it does when it is asked."""
    name = type_name(error)
    try:
        text = str.__str__(str(error))[:longest]
    except BaseException:  # an exception whose own text breaks
        return name
    return f"{name}: {text}" if text else name


def _trace(error: BaseException) -> str:
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


def raised_by_signal(error: BaseException) -> bool:
    """Say whether a signal made this exception, or the end of a coroutine, and no code of a hook.

    A hook that raises KeyboardInterrupt has failed; a person who presses Ctrl-C interrupts the host. The exceptions
    are equal, but a signal strikes between two instructions, and a ``raise`` is an instruction of its own. So this
    looks at the instruction that the innermost frame has come to: it depends on the interpreter's bytecode.
    """
    innermost = trace = BaseException.__dict__["__traceback__"].__get__(error)
    in_main_thread = threading.current_thread() is threading.main_thread()
    handlers = _signal_handlers() if in_main_thread else set()  # signals strike the main thread only
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        innermost, trace = trace, trace.tb_next
    if not is_one_of(error, KeyboardInterrupt, GeneratorExit) or innermost is None or innermost.tb_lasti < 0:
        return False
    code, at = innermost.tb_frame.f_code.co_code, innermost.tb_lasti
    operation = opname[code[at]] if at < len(code) else ""
    if operation == "RAISE_VARARGS":
        return False
    if is_one_of(error, GeneratorExit):
        return True
    # What comes out of an await was raised elsewhere; a signal strikes at another instruction.
    after_await = operation in ("SEND", "YIELD_VALUE") or (operation == "RESUME" and code[at + 1] & 3 >= 2)
    return in_main_thread and not after_await


def _signal_handlers() -> set[CodeType]:
    """Return the code of the signal handlers that the host has written."""
    import signal
    from functools import partial

    found = []
    for handler in map(signal.getsignal, signal.valid_signals()):
        function: Any = handler
        while isinstance(function, partial):
            function = function.func
        found.append(getattr(getattr(function, "__func__", function), "__code__", None))
    return {code for code in found if isinstance(code, CodeType)}


_logging: ContextVar[bool] = ContextVar("interpose_logging", default=False)


def log(level: str, text: str, *arguments: Any, trace: str = "") -> None:
    """Write to the ``interpose`` logger; a log handler that breaks, or fires hooks itself, breaks no firing."""
    if _logging.get():
        return  # a handler of the log fires hooks: what they do must not wait for that handler
    import logging

    before = _logging.set(True)
    try:
        logger = logging.getLogger("interpose")
        getattr(logger, level)(text, *arguments)
        if trace:
            logger.debug("%s", trace)
    except Exception as error:
        try:
            sys.stderr.write(f"interpose: logging failed: {type_name(error)}\n")
        except Exception:
            return
    finally:
        _logging.reset(before)
