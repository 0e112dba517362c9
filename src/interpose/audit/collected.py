"""Which records of a store have been collected, and whether they form its chain. Pure.

Batches come in any order, and some come twice. What is there of a store is kept as stretches of consecutive numbers;
each has the hash that its first record follows, and the hash of its last. Where two stretches meet, these must agree.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Record
from .chain import begin, genesis, link
from .columns import ALTERED, UNSEALED
from .raw import RawBatch, RawRecord

__all__ = ["ChainFlaw", "Stretch", "Taken", "take_in"]


class Stretch(Record, kw_only=False):
    """Records with consecutive numbers that were collected."""

    first: int
    last: int
    before: bytes
    """The hash that the first one follows; empty if it is not known."""
    hash: bytes
    """The hash of the last one."""


class ChainFlaw(Record, kw_only=False):
    """Where a chain breaks, and how."""

    number: int
    what: str


class Taken(Record):
    """What a batch adds to a store."""

    new: tuple[RawRecord, ...]
    repeated: tuple[RawRecord, ...]
    """Records with numbers that were collected before; with another hash they are another chain."""
    flaws: tuple[ChainFlaw, ...]
    stretches: tuple[Stretch, ...]
    """What has been collected now, by number."""


def take_in(known: Sequence[Stretch], batch: RawBatch) -> Taken:
    """Return what a batch adds to the stretches of its store."""
    records = batch.records
    first, last = records[0].number, records[-1].number
    there = [one for one in known if one.first <= last and first <= one.last]
    new = [one for one in records if not any(some.first <= one.number <= some.last for some in there)]
    added = {one.number for one in new}
    flaws = [flaw for flaw in _broken_links(batch) if flaw.number in added]
    stretches = sorted([*known, *_stretches(batch, new)], key=lambda one: one.first)
    joined: list[Stretch] = []
    for one in stretches:
        before = joined[-1] if joined else None
        if before is None or before.last + 1 != one.first:
            joined.append(one)
            continue
        if before.hash != one.before:
            flaws.append(ChainFlaw(one.first, f"does not follow record {before.last}: the chain is broken here"))
        joined[-1] = Stretch(before.first, one.last, before.before, one.hash)
    if joined[0].first == 1 and 1 in added and joined[0].before != genesis(batch.store):
        flaws.append(ChainFlaw(1, "is not the beginning of this store's chain"))
    repeated = tuple(one for one in records if one.number not in added)
    return Taken(new=tuple(new), repeated=repeated, flaws=tuple(flaws), stretches=tuple(joined))


def _stretches(batch: RawBatch, new: Sequence[RawRecord]) -> list[Stretch]:
    """Return the stretches of records that were not there."""
    first = batch.records[0].number
    made: list[Stretch] = []
    for one in new:
        if made and made[-1].last + 1 == one.number:
            made[-1] = Stretch(made[-1].first, one.number, made[-1].before, one.hash)
        else:
            before = batch.records[one.number - first - 1].hash if one.number > first else batch.before
            made.append(Stretch(one.number, one.number, before, one.hash))
    return made


def _broken_links(batch: RawBatch) -> list[ChainFlaw]:
    """Return the records whose hash does not follow from the one before them, and those that report a change."""
    processes = {one.number: one for one in batch.processes}
    flaws: list[ChainFlaw] = []
    before = batch.before
    for one in batch.records:
        if one.number == one.process:
            process = processes.get(one.process)
            if process is None:
                flaws.append(ChainFlaw(one.number, "the description of its process is missing"))
                before = one.hash
                continue
            before = begin(before, process.uuid, process.about)
        if one.number in batch.left_out:
            what = "was too large to be forwarded, or is no text: its body is at its node only"
            flaws.append(ChainFlaw(one.number, what))
            before = one.hash
            continue
        body = one.body.encode("utf-8", "surrogateescape")
        unknown = not batch.before and one is batch.records[0]  # nothing is known of the record before it
        if not unknown and link(before, one.number, one.process, one.kind, one.time, one.mono, body) != one.hash:
            flaws.append(ChainFlaw(one.number, "was changed, or the one before it"))
        elif one.kind in (ALTERED, UNSEALED):
            flaws.append(ChainFlaw(one.number, "says that its store was altered while a process wrote to it"))
        before = one.hash
    return flaws
