"""Hold signals back while the main thread starts, watches and ends a process, starts a thread, or asks another one.

A signal handler may run, and raise, between any two instructions of the main thread: also between the one that starts
a process and the one that keeps its number. Then nothing would end the process. Or it has just taken the lock of a
future, and has not entered the block that releases it: then the thread that settles the future waits for ever.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any, Self

__all__ = ["HeldSignals"]

_RAISING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
"""Signals whose handlers often raise."""


class HeldSignals:
    """Runs the host's signal handlers while ``heard`` is set, and at the end of the block, but at no other time.

    Only the main thread of the main interpreter runs signal handlers: in another one nothing is held.
    """

    def __init__(self) -> None:
        self.heard = False
        self._process = os.getpid()  # a child that another thread forks meanwhile never comes to the end of the block
        self._before: dict[int, Any] = {}  # the handlers that ours has replaced
        self._waiting: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> Self:
        if _runs_handlers():
            try:
                self._hold()
            except BaseException:  # out of a handler that was not replaced yet
                self.__exit__()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._put_back()
        finally:
            self.hear()

    def hear(self) -> None:
        """Set ``heard``, and run the handlers of the signals that have arrived before."""
        self.heard = True
        if self._waiting:
            number, frame = self._waiting.pop(0)
            try:
                self._arrived(number, frame)  # by its frame it is known that a signal has raised what this raises
            finally:
                self.hear()

    def hear_at_once(self) -> None:
        """Run the handlers of the signals that have arrived, and hold the next ones again."""
        try:
            self.hear()
        finally:
            self.heard = False

    def _hold(self) -> None:
        for number in _RAISING:
            handler = signal.getsignal(number)
            if callable(handler) and not isinstance(handler, signal.Handlers):
                self._before[number] = handler
                signal.signal(number, self._arrived)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if not self.heard and self._process == os.getpid():
            self._waiting.append((number, frame))
            return
        handler = self._before[number]
        while isinstance(outer := getattr(handler, "__self__", None), HeldSignals):
            handler = outer._before[number]  # this event is fired while a hook of another one runs
        handler(number, frame)

    def _put_back(self) -> None:
        try:
            for number, handler in self._before.items():
                if signal.getsignal(number) == self._arrived:  # else the host has set another one meanwhile
                    signal.signal(number, handler)
        except BaseException:  # out of a handler that was put back already
            self._put_back()
            raise


def _runs_handlers() -> bool:
    """Say whether this thread runs signal handlers. Nothing may be asked of the handlers of another interpreter."""
    try:
        signal.signal(signal.SIGINT, None)
    except TypeError:  # None is no handler, which is not looked at in other threads
        return True
    except ValueError as error:
        if "main thread" not in str(error):  # out of a handler
            raise
    return False
