"""The rules of the fleet that this machine has taken over: what the node process leaves on disk, and firings load.

``fleet/rules.json`` in the person's state directory names the bundle that is armed, and is replaced whole. The bundle
is run from a snapshot, as trusted files are. A record that names a bundle which is missing or damaged is an error,
never a fleet without rules.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ..errors import ConfigError, Problem
from ..runtime.regex import regex
from .files import read as read_file
from .read import Source
from .snapshots import Snapshot, open_snapshot
from .state import state_path

__all__ = ["BUNDLES", "FLEET_RULES", "SNAPSHOTS", "armed_rules", "armed_source", "fleet_snapshot", "fleet_sources",
           "read_record"]  # fmt: skip

FLEET_RULES = os.path.join("fleet", "rules.json")
"""The record, in the state directory."""
BUNDLES, SNAPSHOTS = "bundles", "snapshots"
"""Beside the record: the files of bundles by their digest, and the snapshots that they are run from."""
_NAME = regex(r"[0-9a-f]{64}")
_PATTERNS = {"digest": _NAME, "snapshot": _NAME, "config": regex(r"hooks\.(yaml|yml|json)")}
_HINT = "`interpose fleet node` fetches them again; `interpose fleet leave` goes on without, which takes a person"


def read_record(place: str) -> dict[str, Any]:
    """Return the record at a path; empty if there is none. Raise ConfigError if it cannot be used."""
    if not os.path.lexists(place):
        return {}
    try:
        found = json.loads(read_file(place, found=True).data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("highest"), dict) or "armed" not in found:
        raise _damaged(place)
    return found


def armed_rules(record: Mapping[str, Any], place: str) -> dict[str, Any] | None:
    """Return what a record says about the armed bundle; None if none is. Raise ConfigError if it says nothing sound."""
    armed = record.get("armed")
    if armed is None:
        return None
    if not isinstance(armed, dict) or not isinstance(armed.get("observe"), bool):
        raise _damaged(place)
    for key, pattern in _PATTERNS.items():
        if not isinstance(armed.get(key), str) or pattern.fullmatch(armed[key]) is None:
            raise _damaged(place)
    return armed


def _damaged(place: str) -> ConfigError:
    return ConfigError([Problem("the record of the rules of the fleet is damaged", where=place, hint=_HINT)])


def armed_source(folder: str, armed: Mapping[str, Any]) -> Source:
    """Return the configuration of an armed bundle; ``folder`` is the one with the record."""
    path = os.path.join(folder, BUNDLES, armed["digest"], ".interpose", armed["config"])
    return Source(path, "fleet", None, True, armed["snapshot"], armed["observe"])


def fleet_sources() -> list[Source]:
    """Return the configuration of the fleet, if this machine has taken over one; raise ConfigError if it is damaged."""
    place = state_path(FLEET_RULES)
    armed = armed_rules(read_record(place), place)
    return [armed_source(os.path.dirname(place), armed)] if armed is not None else []


def fleet_snapshot(source: Source) -> Snapshot:
    """Return the snapshot that the rules of the fleet are run from; raise ConfigError if it is not whole."""
    folder = source.path
    for _ in range(4):  # FOLDER/bundles/DIGEST/.interpose/hooks.yaml
        folder = os.path.dirname(folder)
    return open_snapshot(source.snapshot, source.path, folder=os.path.join(folder, SNAPSHOTS), hint=_HINT)
