"""The audit store as a recorder: it records every outcome before the host gets it.

    hooks.record(AuditStore("audit.db"))

By default a firing puts its record into a queue and returns; it waits only when the queue is full. With ``required`` it
waits until the record is committed, and is denied if that fails; with ``durable`` it waits for the disk.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from typing import Any, Self

from ..model import Outcome
from ..person.permission import Permission
from ..redaction import Redactor
from ..runtime.forks import after_fork
from .chain import key_name, load_key
from .columns import ANSWER, CHANGE, QUESTION
from .completion import Completion, StoreDown
from .entries import LONGEST, PendingRecord, encode, entry_of, permission_entry
from .json_values import plain
from .protocol import StoreOptions, StoreReader
from .questions import describe_asker, digest_of, id_of, is_sealed
from .retention import Retention, retention_of
from .writer import StoreHealth, Writer

__all__ = ["AuditStore", "Submitted", "configured_store"]

MOST_WAITING = 10_000
"""The maximum number of records in the queue; a firing waits when it is reached."""

MOST_BYTES = 64 * 1024 * 1024
"""The maximum number of characters of large records in the queue."""

PATIENCE = 5.0
"""Seconds that a firing waits for the store before it counts as down."""


class AuditStore:
    """Records every firing. Two stores of one path in a process share a writer.

    ``retention`` limits age and size: ``"30d"``, ``"500MB"``, a mapping of both, or a ``Retention``. ``redact`` are
    custom rules, kind to pattern (RE2). ``key`` is a file, or a variable as ``env:NAME``, whose content seals the
    chain; ``anchor`` is a second file that knows which records the store must have.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        required: bool = False,
        durable: bool = False,
        retention: Retention | Mapping[str, Any] | str | None = None,
        redact: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        key: str | None = None,
        anchor: str | os.PathLike[str] | None = None,
        most_waiting: int = MOST_WAITING,
        patience: float = PATIENCE,
    ) -> None:
        self.path: str = os.path.abspath(os.path.expanduser(os.fspath(path)))
        self.required = required
        self.durable = durable
        self._options = StoreOptions(
            path=self.path,
            key=load_key(key),
            anchor=None if anchor is None else os.path.abspath(os.path.expanduser(os.fspath(anchor))),
            retention=retention_of(retention),
            rules=tuple(redact.items() if isinstance(redact, Mapping) else redact),
        )
        self._most_waiting = most_waiting
        self._patience = patience
        self._writer: Writer | None = None
        self._closed: Writer | None = None
        self._lock = threading.Lock()
        self._configuration = ("", "")
        self._redactor: Redactor | None = None
        after_fork(self.forget)

    # Recording.

    def __call__(self, outcome: Outcome) -> _Recorded | None:
        """Record an outcome; what is returned has to be waited for. Raises if it cannot be recorded."""
        writer = self._current()
        if writer.down and self.required:
            writer.count_lost(writer.down, denied=True)
            raise StoreDown(writer.down)
        entry = entry_of(outcome, self._configuration[0], self._cut)
        if self.required or self.durable:
            entry.completion = Completion()
        full = writer.is_full()
        if not full:
            writer.put(entry)
            if entry.completion is None:
                return None
        elif writer.down:
            writer.count_lost(writer.down)
            raise StoreDown(f"{writer.down}; this firing is not in the record")
        return _Recorded(writer, entry, full, self._patience, self.required)

    def record_background(self, outcome: Outcome) -> None:
        """Record what became of a hook that ran in the background. It decides nothing, and no firing waits for it."""
        self._put(entry_of(outcome, self._configuration[0], self._cut))

    def record_permission(self, permission: Permission) -> None:
        """Record what was decided about a call. The call does not wait for it."""
        self._put(permission_entry(permission, self._cut))

    def record_change(self, change: Mapping[str, Any]) -> Submitted:
        """Record what a person has changed about hooks; what is returned has to be waited for."""
        return self._submit(PendingRecord(encode(plain(dict(change))), kind=CHANGE))

    def _put(self, entry: PendingRecord) -> None:
        """Put a record into the queue that no firing waits for."""
        if self._is_closed:
            _take_over(self._options, [entry], patience=0)
            return
        writer = self._current()
        if writer.down and writer.is_full():
            writer.count_lost(writer.down)
        else:
            writer.put(entry)

    # Questions.

    def ask(self, question: Mapping[str, Any]) -> Submitted:
        """Write a question; what is returned has to be waited for, and then has its id, or why it was refused."""
        body = plain({**question, "config": self._configuration[0], "asker": describe_asker(self.key_name)})
        return self._submit(PendingRecord(encode(body), kind=QUESTION))

    def answer(self, answer: Mapping[str, Any]) -> Submitted:
        """Write the answer to a question, if it has none; what is returned has to be waited for."""
        return self._submit(PendingRecord(encode(plain(dict(answer))), kind=ANSWER))

    def _submit(self, entry: PendingRecord) -> Submitted:
        if len(entry.text) > LONGEST:
            entry.refused = f"it has more than {LONGEST:,} characters, so that a person cannot see the whole of it"
            return Submitted(None, entry)
        entry.completion = Completion()
        if self._is_closed:
            writer = _take_over(self._options, [entry], patience=0)
            return Submitted(_Recorded(writer, entry, False, self._patience, True), entry)
        writer = self._current()
        full = writer.is_full()
        if not full:
            writer.put(entry)
        return Submitted(_Recorded(writer, entry, full, self._patience, True), entry)

    def read(self) -> StoreReader:
        """Return a reader of this store."""
        from .reader import open_store

        return open_store(self.path)

    @property
    def key_name(self) -> str:
        """The name of the key that seals the chain; empty without one."""
        return key_name(self._options.key)

    @property
    def configuration(self) -> str:
        """The digest of the configuration that later records have; empty if there is none."""
        return self._configuration[0]

    def believes(self, answer: Mapping[str, Any], store_id: str) -> bool:
        """Say whether an answer was written by a process with the key of this store; without a key, each counts."""
        return is_sealed(self._options.key, store_id, answer)

    def _cut(self, text: str) -> str:
        """Redact the part of a long text that is recorded."""
        if self._redactor is None:
            self._redactor = Redactor(rules=self._options.rules)
        return self._redactor(text)

    def configured(self, origins: Iterable[Any]) -> None:
        """Record the hashes of the files that hooks come from with every later record."""
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

    def prepare_reading(self) -> None:
        """Make a store of an earlier version fast to read: pages look up what it has no index for."""
        from .writer import add_indexes

        add_indexes(self.path)

    # Opening and closing.

    def _current(self) -> Writer:
        """Return the writer; start one if there is none or it was closed."""
        writer = self._writer
        return writer if writer is not None and not writer.stopping else self._begin()

    @property
    def _is_closed(self) -> bool:
        """Whether it was closed and no firing has opened it again.

        A hook in the background may end later, and a question expire: then it is open for that record alone.
        """
        return self._writer is None and self._closed is not None

    def _begin(self) -> Writer:
        with self._lock:
            if self._writer is None or self._writer.stopping:
                try:
                    self._writer = _acquire(self._options, self._most_waiting)
                except RuntimeError as error:  # no thread can be started, or the interpreter is shutting down
                    raise StoreDown(f"no thread can be started for the audit store: {error}") from None
                self._writer.durable = self._writer.durable or self.durable
                if self._configuration[0]:
                    self._writer.describe(*self._configuration)
            return self._writer

    @property
    def health(self) -> StoreHealth:
        """The state of the store: up or down, and how many records were written and lost."""
        writer = self._writer or self._closed
        return StoreHealth(state="new") if writer is None else writer.health

    def flush(self, patience: float = PATIENCE) -> bool:
        """Wait until every record is written; return whether that succeeded."""
        return self._writer is None or self._writer.flush(patience)

    def close(self, patience: float = PATIENCE) -> None:
        """Write the remaining records and close the store; a later firing opens it again."""
        with self._lock:
            writer, self._writer = self._writer, None
            self._closed = writer or self._closed
        if writer is not None:
            _release(writer, patience)

    def forget(self) -> None:
        """Drop the writer: after a fork it belongs to the parent."""
        self._writer = self._closed = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Recorded:
    """A record that is not written yet: to be awaited, or blocked on in a thread without an event loop."""

    __slots__ = ("_entry", "_full", "_patience", "_required", "writer")

    def __init__(self, writer: Writer, entry: PendingRecord, full: bool, patience: float, required: bool) -> None:
        self.writer = writer
        self._entry = entry
        self._full = full
        self._patience = patience
        self._required = required

    def block(self) -> None:
        """Wait in this thread."""
        try:
            if self._full:
                self.writer.room().block(self._patience)
                self.writer.put(self._entry)
            if self._entry.completion is not None:
                self._entry.completion.block(self._patience)
        except StoreDown as error:
            self.writer.count_lost(str(error), denied=self._required)
            raise

    def __await__(self) -> Generator[Any, Any, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        try:
            if self._full:
                await self.writer.room().wait(self._patience)
                self.writer.put(self._entry)
            if self._entry.completion is not None:
                await self._entry.completion.wait(self._patience)
        except StoreDown as error:
            self.writer.count_lost(str(error), denied=self._required)
            raise


class Submitted:
    """A question or an answer on its way to the store: to be awaited, or blocked on; raises StoreDown if it fails."""

    __slots__ = ("_entry", "_recorded")

    def __init__(self, recorded: _Recorded | None, entry: PendingRecord) -> None:
        self._recorded = recorded
        self._entry = entry

    def block(self) -> None:
        """Wait in this thread."""
        if self._recorded is not None:
            self._recorded.block()

    def __await__(self) -> Generator[Any, Any, None]:
        return iter(()) if self._recorded is None else self._recorded.__await__()  # type: ignore[return-value]

    def withdraw(self, answer: Callable[[], Mapping[str, Any]]) -> None:
        """Write this answer once the question is written, if it has none then; do not wait for it.

        The answer is made only then: the id of a question is known when its secrets are removed.
        """
        completion, recorded = self._entry.completion, self._recorded
        if completion is None or recorded is None:
            return

        def write() -> None:
            if completion.error is None and not self.refused:
                recorded.writer.put(PendingRecord(encode(plain(dict(answer()))), kind=ANSWER))

        if not completion.on_complete(write):
            write()

    @property
    def refused(self) -> str:
        """Why it was not written; empty if it was."""
        return self._entry.refused

    @property
    def digest(self) -> str:
        """The hash of what was written, without its secrets."""
        return digest_of(self._entry.text)

    @property
    def id(self) -> str:
        """The id of a question."""
        return id_of(self.digest)


def configured_store(audit: Mapping[str, Any]) -> AuditStore:
    """Return the store that ``audit:`` in a configuration describes."""
    return AuditStore(**{**audit, "retention": Retention(**audit.get("retention", {}))})


_writers: dict[str, Writer] = {}
_ending: list[Writer] = []
"""Writers that were stopped and may still write: the end of the process waits for them."""
_abandoned: list[Writer] = []
"""Writers of the parent process: referenced, so that their finalizers do not run in the child."""

_lock = threading.Lock()
_at_exit = False


def _acquire(options: StoreOptions, most_waiting: int) -> Writer:
    """Return the writer of a path, which all stores of this process share."""
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


def _take_over(options: StoreOptions, entries: list[PendingRecord], patience: float = PATIENCE) -> Writer:
    """Write entries that came too late for a writer that was closed; wait for so many seconds."""
    writer = _acquire(options, MOST_WAITING)
    for entry in entries:
        writer.put(entry)
    _release(writer, patience)
    return writer


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
        _ending[:] = [other for other in (*_ending, writer) if not other.is_over]
    else:
        writer.flush(patience)


def _close_all() -> None:
    """Write the remaining records when the process ends."""
    with _lock:
        writers = [*_writers.values(), *_ending]
        _writers.clear()
    for writer in writers:
        writer.stop(PATIENCE)


@after_fork
def _abandon_writers() -> None:
    """Drop the parent's writers in the child."""
    global _lock  # noqa: PLW0603 - the parent may have held it
    _lock = threading.Lock()
    _abandoned.extend((*_writers.values(), *_ending))
    _writers.clear()
    _ending.clear()
