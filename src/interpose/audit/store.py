"""The audit store as a recorder: it is given every outcome before the host gets it.

    hooks.record(AuditStore("audit.db"))

By default a firing hands its record over and goes on; only when the queue is full it waits. With ``required`` it waits
until the record is committed, and is denied if it cannot be; with ``durable`` it waits for the disk.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Generator, Iterable, Mapping
from functools import partial
from typing import Any, Self

from ..model import Outcome
from .chain import load_key
from .desk import Options
from .entries import Entry, encode, entry_of
from .redact import Redactor
from .retention import Retention
from .tickets import StoreDown, Ticket
from .writer import Health, Writer

__all__ = ["AuditStore", "configured_store"]

MOST_WAITING = 10_000
"""Records that may wait for the writer before a firing does."""

MOST_BYTES = 64 * 1024 * 1024
"""Characters that large records among them may have together."""

PATIENCE = 5.0
"""Seconds that a firing waits for the store, before the store counts as down."""


class AuditStore:
    """Records every firing in SQLite. Two stores of one path in a process share a writer.

    ``retention`` limits age and size; ``redact`` has rules beside the built-in ones, kind to pattern (RE2). ``key``
    names a file, or ``env:NAME`` a variable, whose content seals the heads of chains; ``anchor`` names a second file
    that they are written to.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        required: bool = False,
        durable: bool = False,
        retention: Retention | None = None,
        redact: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        key: str | None = None,
        anchor: str | os.PathLike[str] | None = None,
        most_waiting: int = MOST_WAITING,
        patience: float = PATIENCE,
    ) -> None:
        self.path = os.path.abspath(os.path.expanduser(os.fspath(path)))
        self.required = required
        self.durable = durable
        self._options = Options(
            path=self.path,
            key=load_key(key),
            anchor=None if anchor is None else os.path.abspath(os.path.expanduser(os.fspath(anchor))),
            retention=retention or Retention(),
            rules=tuple(redact.items() if isinstance(redact, Mapping) else redact),
        )
        self._most_waiting = most_waiting
        self._patience = patience
        self._writer: Writer | None = None
        self._closed: Writer | None = None
        self._lock = threading.Lock()
        self._configuration = ("", "")
        self._redactor: Redactor | None = None
        _stores.add(self)

    # Recording.

    def __call__(self, outcome: Outcome) -> _Recorded | None:
        """Record an outcome; what is returned has to be waited for. Raises if it cannot be recorded."""
        writer = self._current()
        if writer.down and self.required:
            writer.count_lost(writer.down, denied=True)
            raise StoreDown(writer.down)
        entry = entry_of(outcome, self._configuration[0], self._cut)
        if self.required or self.durable:
            entry.ticket = Ticket()
        full = writer.is_full()
        if not full:
            writer.put(entry)
            if entry.ticket is None:
                return None
        elif writer.down:
            writer.count_lost(writer.down)
            raise StoreDown(f"{writer.down}; this firing is not in the record")
        return _Recorded(writer, entry, full, self._patience, self.required)

    def record_background(self, outcome: Outcome) -> None:
        """Record what became of a hook that ran in the background. It decides nothing, and no firing waits for it."""
        writer = self._current()
        entry = entry_of(outcome, self._configuration[0], self._cut)
        if writer.down and writer.is_full():
            writer.count_lost(writer.down)
        else:
            writer.put(entry)

    def _cut(self, text: str) -> str:
        """Redact the part of a long text that is kept."""
        if self._redactor is None:
            self._redactor = Redactor(rules=self._options.rules)
        return self._redactor(text)

    def configured(self, origins: Iterable[Any]) -> None:
        """Take note of the files that hooks come from: their hashes are kept with every record from now on."""
        found = [
            {
                "path": origin.real_path,
                "layer": origin.source.layer,
                "sha256": origin.sha256,
                "references": dict(origin.references),
            }
            for origin in origins
            if origin.trusted
        ]
        if not found:
            self._configuration = ("", "")
            return
        from hashlib import sha256

        body = encode(Redactor(b"configuration", self._options.rules).value({"files": found}))
        self._configuration = (sha256(body.encode()).hexdigest()[:16], body)
        if self._writer is not None:
            self._writer.describe(*self._configuration)

    # Its life.

    def _current(self) -> Writer:
        """Return the writer, or begin anew: at first, and after the last one was closed."""
        writer = self._writer
        return writer if writer is not None and not writer.stopping else self._begin()

    def _begin(self) -> Writer:
        with self._lock:
            if self._writer is None or self._writer.stopping:
                try:
                    self._writer = _acquire(self._options, self._most_waiting)
                except RuntimeError as error:  # no thread to be had, or the interpreter is shutting down
                    raise StoreDown(f"no thread can be started for the audit store: {error}") from None
                self._writer.durable = self._writer.durable or self.durable
                if self._configuration[0]:
                    self._writer.describe(*self._configuration)
            return self._writer

    @property
    def health(self) -> Health:
        """How the store is, now: up or down, how many records were written, and how many lost."""
        writer = self._writer or self._closed
        return Health(state="new") if writer is None else writer.health

    def flush(self, patience: float = PATIENCE) -> bool:
        """Wait until everything that was recorded is written; say whether it is."""
        return self._writer is None or self._writer.flush(patience)

    def close(self, patience: float = PATIENCE) -> None:
        """Write what is left and let go of the store; it opens again if it is used again."""
        with self._lock:
            writer, self._writer = self._writer, None
            self._closed = writer or self._closed
        if writer is not None:
            _release(writer, patience)

    def forget(self) -> None:
        """Start anew: after a fork the writer is the parent's."""
        self._writer = self._closed = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Recorded:
    """A record that is not written yet: to be awaited, or blocked on in a thread without an event loop."""

    __slots__ = ("_entry", "_full", "_patience", "_required", "_writer")

    def __init__(self, writer: Writer, entry: Entry, full: bool, patience: float, required: bool) -> None:
        self._writer = writer
        self._entry = entry
        self._full = full
        self._patience = patience
        self._required = required

    def block(self) -> None:
        """Wait in this thread."""
        try:
            if self._full:
                self._writer.room().block(self._patience)
                self._writer.put(self._entry)
            if self._entry.ticket is not None:
                self._entry.ticket.block(self._patience)
        except StoreDown as error:
            self._writer.count_lost(str(error), denied=self._required)
            raise

    def __await__(self) -> Generator[Any, Any, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        try:
            if self._full:
                await self._writer.room().wait(self._patience)
                self._writer.put(self._entry)
            if self._entry.ticket is not None:
                await self._entry.ticket.wait(self._patience)
        except StoreDown as error:
            self._writer.count_lost(str(error), denied=self._required)
            raise


def configured_store(audit: Mapping[str, Any]) -> AuditStore:
    """Return the store that ``audit:`` in a configuration describes."""
    return AuditStore(**{**audit, "retention": Retention(**audit.get("retention", {}))})


_stores: weakref.WeakSet[AuditStore] = weakref.WeakSet()
_writers: dict[str, Writer] = {}
_lock = threading.Lock()
_at_exit = False


def _acquire(options: Options, most_waiting: int) -> Writer:
    """Return the writer of a path, one for all in this process."""
    global _at_exit  # noqa: PLW0603 - once per process
    with _lock:
        if not _at_exit:
            import atexit

            atexit.register(_close_all)
            _at_exit = True
        path = os.path.realpath(options.path)
        writer = _writers.get(path)
        if writer is None or writer.stopping:
            writer = _writers[path] = Writer(options, most_waiting, MOST_BYTES, partial(_take_over, options))
        elif writer.options != options:
            from ..errors import UsageError

            raise UsageError("is open already in this process with another key, anchor, retention or redaction",
                             where=options.path, hint="give both stores the same options")  # fmt: skip
        writer.users += 1
        return writer


def _take_over(options: Options, entries: list[Entry]) -> None:
    """Write what came too late for a writer that was closed."""
    writer = _acquire(options, MOST_WAITING)
    for entry in entries:
        writer.put(entry)
    _release(writer, PATIENCE)


def _release(writer: Writer, patience: float) -> None:
    with _lock:
        writer.users -= 1
        if writer.users:
            last = False
        else:
            last = True
            for path in [path for path, other in _writers.items() if other is writer]:
                del _writers[path]
    if last:
        writer.stop(patience)
    else:
        writer.flush(patience)


def _close_all() -> None:
    """Write what is left when the process ends."""
    with _lock:
        writers = list(_writers.values())
        _writers.clear()
    for writer in writers:
        writer.stop(PATIENCE)


def _after_fork() -> None:
    global _lock  # noqa: PLW0603 - the parent may have held it
    _lock = threading.Lock()
    _abandoned.extend(_writers.values())
    _writers.clear()
    for store in list(_stores):
        store.forget()


_abandoned: list[Writer] = []
"""Writers of a parent: kept, so that nothing of theirs is taken apart here."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
