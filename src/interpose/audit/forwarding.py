"""How far each store of this machine has been forwarded to a fleet; kept in the user's state directory.

The node process writes it after the servers have acknowledged records; if it is lost, records are sent again and
dropped there. Retention reads it: while there is a fleet, records that were not forwarded are not deleted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ..records import Record
from ..state.directories import state_path, write_privately

__all__ = ["LIMIT", "Forwarded", "Held", "held_records", "progress_path", "read_progress", "write_progress"]

LIMIT = 2_000_000_000
"""Bytes that a store may have before records are deleted that were not forwarded."""

_MOST_GAPS = 50


class Forwarded(Record):
    """How far one store has been forwarded."""

    path: str
    upto: int = 0
    """The number of the last record that was acknowledged."""
    hash: str = ""
    """Its hash: a store that has another record there was changed."""
    gaps: tuple[tuple[int, int], ...] = ()
    """Records that were deleted before they were forwarded: from, to."""
    changed: float = 0.0
    """When it was found to be changed, in seconds since 1970."""


class Held(Record):
    """What retention has to keep of a store: all behind ``upto``, while the store has at most ``limit`` bytes."""

    upto: int
    limit: int


def progress_path() -> str:
    """Return the path of the file; it is there while this machine is in a fleet."""
    return os.path.join(state_path("fleet"), "forwarded.json")


def read_progress() -> dict[str, Forwarded] | None:
    """Return how far each store has been forwarded, by its id; None if this machine is in no fleet."""
    document = _document()
    if document is None:
        return None
    found = document.get("stores")
    return {str(store): _forwarded(one) for store, one in found.items()} if isinstance(found, dict) else {}


def held_records(store: str) -> Held | None:
    """Return what retention has to keep of a store; None if this machine is in no fleet."""
    document = _document()
    if document is None:
        return None
    stores, limit = document.get("stores"), document.get("limit")
    one = stores.get(store) if isinstance(stores, dict) else None
    return Held(upto=_forwarded(one).upto, limit=limit if type(limit) is int else LIMIT)


def write_progress(stores: Mapping[str, Forwarded], limit: int) -> None:
    """Write how far stores have been forwarded; raise OSError if that fails."""
    made = {
        store: {"path": one.path, "upto": one.upto, "hash": one.hash, "gaps": one.gaps[-_MOST_GAPS:],
                "changed": one.changed}
        for store, one in stores.items()
    }  # fmt: skip
    write_privately(progress_path(), json.dumps({"limit": limit, "stores": made}).encode())


def _document() -> dict[str, Any] | None:
    try:
        with open(progress_path(), "rb") as opened:
            found = json.loads(opened.read(16 * 1024 * 1024))
    except OSError:
        return None
    except (ValueError, RecursionError):  # it was cut: records are sent again
        return {}
    return found if isinstance(found, dict) else {}


def _forwarded(given: Any) -> Forwarded:
    one = given if isinstance(given, dict) else {}
    upto, changed, digest = one.get("upto"), one.get("changed"), one.get("hash")
    gaps = one.get("gaps")
    return Forwarded(
        path=str(one.get("path", "")), upto=upto if type(upto) is int and upto > 0 else 0,
        hash=digest if isinstance(digest, str) else "", changed=float(changed) if isinstance(changed, float) else 0.0,
        gaps=tuple((gap[0], gap[1]) for gap in gaps if _is_gap(gap)) if isinstance(gaps, list) else (),
    )  # fmt: skip


def _is_gap(given: Any) -> bool:
    return isinstance(given, list) and len(given) == 2 and all(type(one) is int for one in given)
