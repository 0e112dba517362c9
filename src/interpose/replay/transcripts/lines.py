"""The lines of a transcript as JSON objects, one at a time. Only reads; no line is too damaged to go on after it."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

__all__ = ["Damage", "open_transcript", "read_entries"]

LONGEST_LINE = 64 * 1024**2
"""Bytes of a line that are read; the rest of a longer line is passed over."""


@dataclass(slots=True)
class Damage:
    """What could not be read of a transcript."""

    broken: int = 0
    """Lines that are no JSON."""
    too_long: int = 0

    @property
    def lines(self) -> int:
        """How many lines could not be read."""
        return self.broken + self.too_long


def open_transcript(path: str) -> IO[bytes]:
    """Open a regular file to read it; raise OSError for anything else, such as a pipe, which could block for ever."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", path)
    return os.fdopen(descriptor, "rb", buffering=1024 * 1024)


def read_entries(file: IO[bytes], damage: Damage, most: int | None = None) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of an open file, up to its present end: a session that runs may go on writing.

    ``most`` is after how many bytes no further line is begun.
    """
    size = os.fstat(file.fileno()).st_size
    end = size if most is None else min(size, most)
    while file.tell() < end and (line := file.readline(LONGEST_LINE)):
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            damage.too_long += 1
            _pass_over_rest(file)
            continue
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            # The end of a file that is being written may be half a line.
            damage.broken += 1
            continue
        if isinstance(entry, Mapping):
            yield entry


def _pass_over_rest(file: IO[bytes]) -> None:
    while (more := file.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
        pass
