"""Output of any length, of which the beginning and the end are kept."""

from __future__ import annotations

import codecs

__all__ = ["TruncatedOutput"]


class TruncatedOutput:
    """Takes bytes in pieces; returns at most ``most`` characters, and says how many are left out."""

    def __init__(self, most: int = 30_000) -> None:
        self._half = most // 2
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._missing = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Add bytes; with ``final``, an incomplete character at the end is replaced."""
        text = self._decoder.decode(data, final)
        if room := self._half - len(self._head):
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        if len(self._tail) > 2 * self._half:  # not at every call: cutting copies the text
            self._cut()

    def _cut(self) -> None:
        self._missing += max(0, len(self._tail) - self._half)
        self._tail = self._tail[-self._half :]

    def text(self) -> str:
        """Return the text, with a note of what is left out."""
        self._cut()
        if not self._missing:
            return self._head + self._tail
        return f"{self._head}\n… {self._missing:,} characters left out …\n{self._tail}"
