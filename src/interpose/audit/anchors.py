"""Anchors: the heads of chains, appended to a second file.

A store whose end was cut off, or from which a whole process was removed, no longer agrees with that file. A line is one
write, so that several processes can share the file; a last line that a crash cut short is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from time import monotonic
from typing import Any, NamedTuple

from . import files
from .chain import Chain

__all__ = ["AnchorFile", "AnchorLine", "read_anchors"]

EVERY_RECORDS = 1000
EVERY_SECONDS = 5.0


class AnchorLine(NamedTuple):
    """One line of the file: a process had a record with this number and this hash."""

    uuid: str
    process: int
    seq: int
    hash: str
    time: float
    ended: bool


class AnchorFile:
    """Appends the head of one chain to the file, at intervals and at the end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seq = 0
        self._at = 0.0
        self._uuid = ""
        self.problem = ""
        """Why the last line could not be written; empty if it could."""

    def is_due(self, chain: Chain) -> bool:
        """Say whether it is time for another line."""
        if chain.uuid != self._uuid:
            return chain.seq > 0
        new = chain.seq - self._seq
        return new >= EVERY_RECORDS or (new > 0 and monotonic() - self._at >= EVERY_SECONDS)

    def has(self, chain: Chain) -> bool:
        """Say whether the last record of a chain is in the file."""
        return self._uuid == chain.uuid and self._seq == chain.seq

    def write(self, store: str, chain: Chain, time: float, *, ended: bool = False) -> None:
        """Append a line; a failure is kept in ``problem``, and the next call tries again."""
        line = json.dumps({
            "store": store, "process": chain.process, "uuid": chain.uuid, "seq": chain.seq, "hash": chain.hash.hex(),
            "time": time, "ended": ended,
        })  # fmt: skip
        try:
            descriptor = files.appendable(self.path)
            try:
                # A line that a crash cut short must not be joined with this one.
                incomplete = os.fstat(descriptor).st_size and not _ends_a_line(self.path)
                data = f"{chr(10) if incomplete else ''}{line}\n".encode()
                if os.write(descriptor, data) != len(data):
                    raise OSError("only a part of a line could be written")
            finally:
                os.close(descriptor)
        except Exception as error:
            self.problem = f"the anchor cannot be written: {error}"
        else:
            self._uuid, self._seq, self._at, self.problem = chain.uuid, chain.seq, monotonic(), ""


def _ends_a_line(path: str) -> bool:
    with open(path, "rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read(1) == b"\n"


def read_anchors(path: str, store: str) -> Iterator[AnchorLine | str]:
    """Yield the lines for a store; for a line that cannot be read, a text that says which."""
    with open(path, "rb") as opened:
        for number, line in enumerate(opened, 1):
            if not line.strip():
                continue
            try:
                found: dict[str, Any] = json.loads(line)
                if found["store"] == store:
                    yield AnchorLine(
                        str(found["uuid"]), int(found["process"]), int(found["seq"]), str(found["hash"]),
                        float(found["time"]), bool(found["ended"]),
                    )  # fmt: skip
            except (ValueError, KeyError, TypeError, RecursionError):
                yield f"line {number} of the anchor cannot be read"
