"""Text of any length, of which the beginning and the end are kept."""

from __future__ import annotations

import codecs

__all__ = ["Excerpt"]


class Excerpt:
    """Takes bytes as they come; gives back at most ``most`` characters, and says how many are missing."""

    def __init__(self, most: int = 30_000) -> None:
        self._half = most // 2
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._missing = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take in what has come; ``final`` says that half a character at the end will not be completed."""
        text = self._decoder.decode(data, final)
        if room := self._half - len(self._head):
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        if len(self._tail) > 2 * self._half:  # not at each feed: cutting costs a copy
            self._cut()

    def _cut(self) -> None:
        self._missing += max(0, len(self._tail) - self._half)
        self._tail = self._tail[-self._half :]

    def text(self) -> str:
        """Return what was kept."""
        self._cut()
        if not self._missing:
            return self._head + self._tail
        return f"{self._head}\n… {self._missing:,} characters left out …\n{self._tail}"
