"""A note in the user's state directory of every store that was created, and where.

A store that is deleted and begun anew has another id than the one that was noted for its path. The note has no heads:
it is written once per store, and so costs a firing nothing; an anchor detects what was removed from a store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from ..records import Record
from ..state.directories import state_path, write_privately
from .completion import StoreDown
from .private_files import appendable, places_of

__all__ = ["KnownStore", "all_known_stores", "known_stores", "note_store"]

_LARGEST = 256 * 1024
"""Bytes from which notes about directories that do not exist any more are dropped."""


class KnownStore(Record):
    """A store that was created at a path."""

    store: str
    places: tuple[str, ...]
    """The path as it is named, and with links resolved."""
    time: float


def _notes_path() -> str:
    return state_path("audit-stores.jsonl")


def note_store(path: str, store: str, time: float) -> None:
    """Note that a store was created; without a writable state directory there is no note."""
    place = _notes_path()
    known = KnownStore(store=store, places=places_of(path), time=time)
    try:
        descriptor = appendable(place)
        try:
            os.write(descriptor, f"{_as_line(known)}\n".encode())
            large = os.fstat(descriptor).st_size > _LARGEST
        finally:
            os.close(descriptor)
        if large:
            kept = [one for one in _read(place) if any(os.path.isdir(os.path.dirname(place)) for place in one.places)]
            write_privately(place, "".join(f"{_as_line(one)}\n" for one in kept).encode())
    except (OSError, StoreDown):
        return


def _as_line(known: KnownStore) -> str:
    return json.dumps({"places": known.places, "store": known.store, "time": known.time})


def known_stores(path: str) -> list[KnownStore]:
    """Return the stores that were created at this path, oldest first."""
    wanted = set(places_of(path))
    return [one for one in _read(_notes_path()) if wanted.intersection(one.places)]


def all_known_stores() -> list[KnownStore]:
    """Return all stores that this user's processes have created, oldest first."""
    return list(_read(_notes_path()))


def _read(place: str) -> Iterator[KnownStore]:
    try:
        with open(place, "rb") as opened:
            lines = opened.readlines()
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
            places = tuple(map(str, found["places"]))
            yield KnownStore(store=str(found["store"]), places=places, time=float(found["time"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
