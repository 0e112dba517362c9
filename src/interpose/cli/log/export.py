"""``interpose log export``: firings and permissions as JSON lines or CSV, written one by one."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO

from ...audit.protocol import StoredFiring, StoredPermission
from ...errors import UsageError
from ...replies import clean

__all__ = ["FORMATS", "export", "open_output"]

_COLUMNS = ("id", "time", "session", "agent", "event", "subject", "decision", "reason", "hooks", "duration_ms", "input")
_OF_PERMISSIONS = ("call", "verdict", "by", "person", "question", "rule", "place", "mode", "asked_at", "answered_at",
                   "remembered")  # fmt: skip
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""The characters with which a formula begins in a spreadsheet."""

Entry = StoredFiring | StoredPermission


def export(entries: Iterable[Entry], format: str, output: IO[str]) -> int:
    """Write records in a format and return their number."""
    return FORMATS[format](entries, output)


def _jsonl(entries: Iterable[Entry], output: IO[str]) -> int:
    count = 0
    for entry in entries:
        output.write(json.dumps(entry.to_dict()) + "\n")
        count += 1
    return count


def _csv(entries: Iterable[Entry], output: IO[str]) -> int:
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(_COLUMNS)
    count = 0
    for entry in entries:
        writer.writerow([_cell(cell) for cell in _row(entry)])
        count += 1
    return count


def _row(entry: Entry) -> Iterator[str | int | float]:
    if isinstance(entry, StoredPermission):
        return _permission_row(entry)
    return _firing_row(entry)


def _permission_row(permission: StoredPermission) -> Iterator[str | int | float]:
    fields = permission.to_dict()
    yield permission.id
    yield _time(permission.time)
    yield from (permission.session, fields["agent"], "permission", permission.tool, permission.decision)
    yield from (fields["reason"], fields["hook"], "")
    yield json.dumps({name: fields[name] for name in _OF_PERMISSIONS if fields[name]})


def _time(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


def _firing_row(firing: StoredFiring) -> Iterator[str | int | float]:
    hooks = dict.fromkeys(str(run["hook"]) for run in firing.runs if run["status"] != "skipped")
    yield firing.id
    yield _time(firing.time)
    yield from (firing.session, firing.agent, firing.event, firing.subject, firing.decision, firing.reason)
    yield ", ".join(hooks)
    yield round(firing.duration * 1000, 3)
    yield json.dumps(firing.input)


def _cell(value: str | float) -> str | float:
    """Return a cell that no spreadsheet evaluates as a formula."""
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULAS) or value.startswith(_FORMULAS) else text


FORMATS: dict[str, Callable[[Iterable[Entry], IO[str]], int]] = {"jsonl": _jsonl, "csv": _csv}
"""The function that writes each format."""


@contextmanager
def open_output(path: str | None) -> Iterator[IO[str]]:
    """Open standard output, or a file that is replaced as a whole when the block ends without an error."""
    if path is None or path == "-":
        yield sys.stdout
        return
    scratch = ""
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device is written to, not replaced
            with open(path, "w", encoding="utf-8", newline="") as file:
                yield file
            return
        descriptor, scratch = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))  # readable to its owner only
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(scratch, os.path.realpath(path))
        scratch = ""
    except OSError as error:
        raise UsageError(f"--output {path}: {error.strerror}", hint="check the path") from None
    finally:
        if scratch:
            os.unlink(scratch)
