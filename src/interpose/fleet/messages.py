"""The messages that carry the record: a batch of records as JSON, compressed. What is read is checked in full.

A collector believes nothing of a message but its subject, which the server has checked: the text is what a node, or a
program in its place, has written.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, NoReturn

from ..audit.raw import RawBatch, RawProcess, RawRecord
from ..runtime.regex import regex

__all__ = ["LARGEST", "MOST_RECORDS", "BadMessage", "message_id", "pack", "pack_readable", "unpack"]

LARGEST = 4 * 1024 * 1024
"""Bytes that a message has at most when it is not compressed."""

MOST_RECORDS = 1000

_VERSION = 1
_HIGHEST = (1 << 63) - 1
_HIGHEST_KIND = 1000
_STORE = regex(r"[A-Za-z0-9_-]{1,64}")
_DIGEST = regex(r"[0-9a-f]{16}")
_HASH = regex(r"[0-9a-f]{64}")
_CONTROL = regex(r"[\x00-\x1f\ud800-\udfff]")
"""What no body of ours has, and what PostgreSQL or UTF-8 cannot hold."""


class BadMessage(ValueError):
    """A message that is not kept as records; says why."""


def message_id(batch: RawBatch) -> str:
    """Return the id by which the server recognises a message that it has: the store, and which records are in it."""
    return f"{batch.store}:{batch.records[0].number}-{batch.records[-1].number}:{batch.records[-1].hash.hex()[:16]}"


def pack(team: str, node: str, batch: RawBatch) -> bytes:
    """Return the message of a batch."""
    return zlib.compress(_written(team, node, batch), 1)


def pack_readable(team: str, node: str, batch: RawBatch) -> bytes | None:
    """Return the message of a batch; None if a collector would put it aside: it is too large, or a body is no text.

    What a model writes can make it so, and must not take the records beside it along.
    """
    if any(_CONTROL.search(one.body) for one in batch.records):
        return None
    text = _written(team, node, batch)
    return zlib.compress(text, 1) if len(text) <= LARGEST else None


def _written(team: str, node: str, batch: RawBatch) -> bytes:
    document = {
        "version": _VERSION, "team": team, "node": node, "store": batch.store, "before": batch.before.hex(),
        "processes": [[one.number, one.uuid, one.about] for one in batch.processes],
        "configurations": dict(batch.configurations), "left_out": sorted(batch.left_out),
        "records": [[one.number, one.process, one.kind, one.time, one.mono, one.hash.hex(), one.body]
                    for one in batch.records],
    }  # fmt: skip
    return json.dumps(document, separators=(",", ":")).encode("ascii")


def unpack(team: str, node: str, data: bytes) -> RawBatch:
    """Return the batch of a message that came on the subject of this team and this node; raise BadMessage."""
    document = _document(data)
    if document.get("version") != _VERSION:
        _bad(f"version {document.get('version')!r:.40} is not known")
    for name, expected in (("team", team), ("node", node)):
        if document.get(name) != expected:
            _bad(f"it says {name} {document.get(name)!r:.80}, and came on the subject of {expected}")
    store, before = document.get("store"), document.get("before")
    if not isinstance(store, str) or _STORE.fullmatch(store) is None:
        _bad("the id of the store is not one")
    if before != "" and (not isinstance(before, str) or _HASH.fullmatch(before) is None):
        _bad("the hash before its first record is not one")
    records = tuple(_record(one) for one in _list(document, "records"))
    if not 1 <= len(records) <= MOST_RECORDS:
        _bad(f"it has {len(records)} records, where 1 to {MOST_RECORDS} are expected")
    first = records[0].number
    if any(one.number != number for number, one in enumerate(records, first)):
        _bad("the numbers of its records are not consecutive")
    left_out = _list(document, "left_out")
    if any(
        type(one) is not int or not 0 <= one - first < len(records) or records[one - first].body for one in left_out
    ):
        _bad("a record that is left out has a body, or is not there")
    return RawBatch(
        store=store, left_out=frozenset(left_out), before=bytes.fromhex(before), records=records,
        processes=tuple(_process(one) for one in _list(document, "processes")),
        configurations=_configurations(document.get("configurations")),
    )  # fmt: skip


def _bad(why: str) -> NoReturn:
    raise BadMessage(why)


def _document(data: bytes) -> dict[str, Any]:
    opener = zlib.decompressobj()
    try:
        text = opener.decompress(data, LARGEST)
    except zlib.error:
        _bad("it is not compressed as records are")
    if opener.unconsumed_tail or not opener.eof:
        _bad(f"it has more than {LARGEST:,} bytes, or was cut")
    try:
        found = json.loads(text, parse_constant=lambda name: _bad(f"{name} is not JSON"))
    except BadMessage:
        raise
    except (ValueError, RecursionError):
        _bad("it is not JSON")
    if not isinstance(found, dict):
        _bad("it is not a document")
    return found


def _list(document: dict[str, Any], name: str) -> list[Any]:
    found = document.get(name)
    if not isinstance(found, list):
        _bad(f"{name} is not a list")
    return found


def _record(given: Any) -> RawRecord:
    match given:
        case [int() as number, int() as process, int() as kind, int() as time, int() as mono, str() as digest,
              str() as body] if not any(isinstance(one, bool) for one in given):  # fmt: skip
            pass
        case _:
            _bad("a record has other parts than a record has")
    if not 1 <= number <= _HIGHEST or not 1 <= process <= number:
        _bad("the number of a record, or of its process, is none")
    if not 0 <= kind <= _HIGHEST_KIND or not all(-_HIGHEST <= one <= _HIGHEST for one in (time, mono)):
        _bad(f"record {number} has a number that is too large")
    if _HASH.fullmatch(digest) is None:
        _bad(f"the hash of record {number} is not one")
    _check_text(body, f"the body of record {number}")
    return RawRecord(number, process, kind, time, mono, bytes.fromhex(digest), body)


def _process(given: Any) -> RawProcess:
    match given:
        case [int() as number, str() as uuid, str() as about] if not isinstance(number, bool):
            pass
        case _:
            _bad("a process has other parts than a process has")
    if not 1 <= number <= _HIGHEST:
        _bad("the number of a process is none")
    _check_text(uuid, "the id of a process")
    _check_text(about, "the description of a process")
    if len(uuid) > 100 or len(about) > 100_000:
        _bad("the description of a process is too long")
    return RawProcess(number, uuid, about)


def _configurations(given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        _bad("configurations is not a mapping")
    for digest, body in given.items():
        if _DIGEST.fullmatch(digest) is None or not isinstance(body, str):
            _bad("a configuration is not a digest and a text")
        _check_text(body, "the description of a configuration")
    return given


def _check_text(text: str, what: str) -> None:
    if found := _CONTROL.search(text):
        kind = "lone surrogates" if found[0] > "\x1f" else "control characters"
        _bad(f"{what} has {kind}, which no text of a record has")
