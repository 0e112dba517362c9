"""The person at the terminal: asked for prompts, and whether a call may be made. Waiting for them can be cancelled."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator

from ..replies import clean
from ..session import Question
from .frames import Lines, Live
from .words import paint

__all__ = ["Person"]

_YES = ("y", "yes")


class Person:
    """Whoever sits at standard input."""

    def __init__(self, view: Lines) -> None:
        self._view = view
        self._lock = asyncio.Lock()
        self._read = b""

    async def may(self, question: Question) -> bool:
        """Ask whether a call may be made; anything but a yes is a no."""
        async with self._lock:  # one question at a time, whoever asks
            if isinstance(self._view, Live):
                self._view.pause()
            try:
                print(f"  {paint('?', 'yellow', 'bold')} {clean(str(question))}")
                print(f"    {paint('run it? [y/N]', 'bold')} ", end="", flush=True)
                return (await self._line() or "").strip().lower() in _YES
            finally:
                if isinstance(self._view, Live):
                    self._view.resume()

    async def prompts(self) -> AsyncIterator[str]:
        """Return what the person types, line by line, until they are done."""
        while True:
            if isinstance(self._view, Live):
                self._view.pause()
            print(paint("> ", "bold"), end="", flush=True)
            line = await self._line()
            if line is None or line.strip() in ("/exit", "/quit"):
                print()
                return
            if isinstance(self._view, Live):
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
