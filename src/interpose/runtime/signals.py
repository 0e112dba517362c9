"""Tell an exception that a signal has made from one that a hook has raised."""

from __future__ import annotations

import threading
from types import CodeType
from typing import Any

from .faults import is_one_of

__all__ = ["raised_by_signal"]


def raised_by_signal(error: BaseException) -> bool:
    """Say whether a signal made this exception, or the end of a coroutine, and no code of a hook.

    A hook that raises KeyboardInterrupt has failed; a person who presses Ctrl-C interrupts the host. The exceptions
    are equal, but a signal arrives between two instructions, and a ``raise`` is an instruction of its own. So this
    looks at the instruction that the innermost frame has come to: it depends on the interpreter's bytecode.
    """
    innermost = trace = BaseException.__dict__["__traceback__"].__get__(error)
    in_main_thread = threading.current_thread() is threading.main_thread()
    handlers = _signal_handlers() if in_main_thread else set()  # signals arrive in the main thread only
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        innermost, trace = trace, trace.tb_next
    if not is_one_of(error, KeyboardInterrupt, GeneratorExit) or innermost is None or innermost.tb_lasti < 0:
        return False
    from opcode import opname

    code, at = innermost.tb_frame.f_code.co_code, innermost.tb_lasti
    operation = opname[code[at]] if at < len(code) else ""
    if operation == "RAISE_VARARGS":
        return False
    if is_one_of(error, GeneratorExit):
        return True
    # What comes out of an await was raised elsewhere; a signal arrives at another instruction.
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
