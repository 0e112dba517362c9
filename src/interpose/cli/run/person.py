"""The person at the terminal: types prompts, and answers whether a call may run. Waiting for input can be cancelled.

A question shows the whole call, with every character that a terminal would hide.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import sys
import unicodedata
from collections.abc import AsyncIterator, Iterator

from ...replies import clean
from ...session import Question
from ..render import flat, paint
from .view import PlainView

__all__ = ["Person", "question_lines"]

_YES = ("y", "yes")
_LONG = 1_000
"""The length of a question above which its beginning may have scrolled off the screen."""

# Characters that show nothing although Python counts them as printable: variation selectors, Hangul fillers and the
# Braille blank.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BLANKS = re.compile(" {20,}")
_WORD = re.compile(r"[^\W\d_]+")


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


def question_lines(question: Question) -> Iterator[str]:
    """Return the call on one line, the reason for the question, and warnings about hidden parts of the call."""
    call = _INVISIBLE.sub(_escaped, clean(question.call)).replace("\n", "\\n")
    yield _BLANKS.sub(lambda found: f" [{len(found[0])} blanks] ", call)
    if question.reason:
        yield f"because: {flat(question.reason)}"
    if strange := next((word for word in _WORD.findall(call) if _is_mixed(word)), ""):
        yield f"careful: a word in it mixes letters that look alike: {strange} is {strange!a}"
    if len(call) > _LONG:
        yield f"careful: it is long, {len(call):,} characters, and its beginning may have scrolled away"


def _escaped(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _is_mixed(word: str) -> bool:
    """Return whether a word mixes Latin letters with similar ones of another script, or has only disguised letters."""
    others = [letter for letter in word if not letter.isascii()]
    if not others or len(others) == len(word):
        return any(unicodedata.normalize("NFKC", letter).isascii() for letter in others)
    return any(not unicodedata.name(letter, "").startswith("LATIN ") for letter in others)
