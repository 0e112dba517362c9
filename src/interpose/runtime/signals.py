"""Tell an exception that a signal has made from one that a hook has raised."""

from __future__ import annotations

import threading
from types import CodeType
from typing import Any, TypeVar

from .faults import is_one_of

__all__ = ["not_by_signal", "raised_by_signal"]

_E = TypeVar("_E", bound=BaseException)


def not_by_signal(error: _E) -> _E:
    """Return an exception; raise it if a signal has made it: it is the host's."""
    if raised_by_signal(error):
        raise error
    return error


def raised_by_signal(error: BaseException) -> bool:
    """Say whether a signal made this exception, and no code of a hook.

    A hook that raises KeyboardInterrupt has failed; a person who presses Ctrl-C interrupts the host. The exceptions
    are equal. What a signal handler raises has a frame of the handler in its traceback, except for that of Python
    itself, which is not written in Python. But its signal arrives between two instructions, and a ``raise`` is an
    instruction of its own. So this looks at the instruction that the innermost frame has come to: it depends on the
    interpreter's bytecode.
    """
    if threading.current_thread() is not threading.main_thread():  # which no signal arrives in
        return False
    innermost = trace = BaseException.__dict__["__traceback__"].__get__(error)
    handlers, plain = _signal_handlers()
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        innermost, trace = trace, trace.tb_next
    if not (plain and is_one_of(error, KeyboardInterrupt)) or innermost is None or innermost.tb_lasti < 0:
        return False
    from opcode import opname

    code, at = innermost.tb_frame.f_code.co_code, innermost.tb_lasti
    operation = opname[code[at]] if at < len(code) else ""
    # What comes out of an await was raised elsewhere; a signal arrives at another instruction.
    after_await = operation in ("SEND", "YIELD_VALUE") or (operation == "RESUME" and code[at + 1] & 3 >= 2)
    return operation != "RAISE_VARARGS" and not after_await


def _signal_handlers() -> tuple[set[CodeType], bool]:
    """Return the code of the host's signal handlers, and whether the one of Ctrl-C is not written in Python."""
    import signal

    found = {number: _code_of(signal.getsignal(number)) for number in signal.valid_signals()}
    return {code for code in found.values() if code is not None}, found[signal.SIGINT] is None


def _code_of(handler: Any) -> CodeType | None:
    from functools import partial

    while isinstance(handler, partial):
        handler = handler.func
    for function in (handler, type(handler).__call__):  # a function or a method, or an object that can be called
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None
