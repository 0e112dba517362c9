"""Anchors: the heads of chains, written to a second file elsewhere, which only ever grows.

Whoever cuts the end off a store, or takes a process out of it as a whole, has to change that file too. A line is one
write, so that several processes can share a file; a last line that was torn by a crash is passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from time import monotonic
from typing import Any, NamedTuple

from . import files
from .base import Chain

__all__ = ["Anchor", "Anchored", "read_anchors"]

EVERY_RECORDS = 1000
EVERY_SECONDS = 5.0


class Anchored(NamedTuple):
    """One line: this process had a record of this number with this hash."""

    uuid: str
    process: int
    seq: int
    hash: str
    time: float
    ended: bool


class Anchor:
    """Writes down the head of one chain, now and then and at the end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seq = 0
        self._at = 0.0
        self._uuid = ""
        self.problem = ""
        """Why the last head could not be written; nothing if it could."""

    def is_due(self, chain: Chain) -> bool:
        """Say whether it is time for another line."""
        if chain.uuid != self._uuid:
            return chain.seq > 0
        new = chain.seq - self._seq
        return new >= EVERY_RECORDS or (new > 0 and monotonic() - self._at >= EVERY_SECONDS)

    def has(self, chain: Chain) -> bool:
        """Say whether the last record of a chain is written down."""
        return self._uuid == chain.uuid and self._seq == chain.seq

    def write(self, store: str, chain: Chain, time: float, *, ended: bool = False) -> None:
        """Add a line; what goes wrong is in ``problem`` and tried again the next time."""
        line = json.dumps({
            "store": store, "process": chain.process, "uuid": chain.uuid, "seq": chain.seq, "hash": chain.hash.hex(),
            "time": time, "ended": ended,
        })  # fmt: skip
        try:
            descriptor = files.appendable(self.path)
            try:
                # A line that a crash has torn must not swallow this one.
                torn = os.fstat(descriptor).st_size and not _ends_a_line(self.path)
                data = f"{chr(10) if torn else ''}{line}\n".encode()
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


def read_anchors(path: str, store: str) -> Iterator[Anchored | str]:
    """Go through the lines for a store; for a line that cannot be read, return what is wrong with it."""
    with open(path, "rb") as opened:
        for number, line in enumerate(opened, 1):
            if not line.strip():
                continue
            try:
                found: dict[str, Any] = json.loads(line)
                if found["store"] == store:
                    yield Anchored(
                        str(found["uuid"]), int(found["process"]), int(found["seq"]), str(found["hash"]),
                        float(found["time"]), bool(found["ended"]),
                    )  # fmt: skip
            except (ValueError, KeyError, TypeError, RecursionError):
                yield f"line {number} of the anchor cannot be read"
