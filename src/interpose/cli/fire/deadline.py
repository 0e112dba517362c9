"""The end of the time that a host gives a hook: Interpose answers before, also if it hangs itself.

Most hosts go on without a hook that runs past its deadline. Hooks have a deadline of their own; this one is for all the
rest: a standard input that does not end, a file system that does not answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

__all__ = ["Late", "within"]

_PART = 0.95
"""How much of the deadline may pass before nothing is waited for any more; hooks have less."""


class Late(BaseException):
    """The deadline of the host is near, and there is no answer; no ``except Exception`` may hold it up."""


@contextmanager
def within(seconds: float | None, began: float) -> Iterator[None]:
    """Raise Late in this thread when the deadline is near; without one, or where there are no alarms, never."""
    if seconds is None or os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import signal

    def late(_signal: int, _frame: FrameType | None) -> None:
        raise Late(f"nothing was decided within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(_PART * seconds - (monotonic() - began), 0.01))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
