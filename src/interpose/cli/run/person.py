"""The person at the terminal: types prompts, and answers whether a call may run. Waiting for input can be cancelled.

A question shows the whole call, with every character that a terminal would hide.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import AsyncIterator

from ...session import Question
from ..render import paint
from ..render.question import question_lines
from .view import PlainView

__all__ = ["Person"]

_YES = ("y", "yes")


class Person:
    """Reads standard input without blocking the event loop, and asks questions on standard output."""

    def __init__(self, view: PlainView) -> None:
        self._view = view
        self._lock = asyncio.Lock()
        self._read = b""

    async def may(self, question: Question) -> bool:
        """Ask whether a call may run; anything but yes is no."""
        async with self._lock:  # one question at a time
            self._view.hold()
            ahead = self._typed_ahead()
            try:
                sign, *more = question_lines(question)
                print("\n".join([f"  {paint('?', 'yellow', 'bold')} {sign}", *(f"    {line}" for line in more)]))
                print(f"    {paint('run it? [y/N]', 'bold')} ", end="", flush=True)
                return (await self._line() or "").strip().lower() in _YES
            finally:
                self._read = ahead + self._read
                self._view.release()

    def _typed_ahead(self) -> bytes:
        """Return, and remove, the input from before the question: it is a prompt, and not the answer."""
        descriptor = sys.stdin.fileno()
        ahead, self._read = self._read, b""
        while select.select([descriptor], [], [], 0)[0] and (got := os.read(descriptor, 65536)):
            ahead += got
        if os.isatty(descriptor):
            import termios

            termios.tcflush(descriptor, termios.TCIFLUSH)  # an unfinished line
        return ahead

    async def prompts(self) -> AsyncIterator[str]:
        """Return the lines that are typed, until the end of the input or /exit."""
        while True:
            self._view.pause()
            print(paint("> ", "bold"), end="", flush=True)
            line = await self._line()
            if line is None or line.strip() in ("/exit", "/quit"):
                print()
                return
            self._view.resume()
            if line.strip():
                yield line.strip()

    async def _line(self) -> str | None:
        """Return the next line, or None at the end of the input."""
        descriptor = sys.stdin.fileno()
        loop = asyncio.get_running_loop()
        while b"\n" not in self._read:
            readable = loop.create_future()
            loop.add_reader(descriptor, _wake, readable)
            try:
                await readable
            finally:
                loop.remove_reader(descriptor)
            got = os.read(descriptor, 65536)
            if not got:
                rest, self._read = self._read, b""
                return rest.decode("utf-8", "replace") if rest else None
            self._read += got
        line, _, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace")


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
