"""What ``interpose doctor`` says about the fleet: whether the node process runs, and how far the record has come."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from typing import Any

from ..audit.forwarding import progress_path, read_progress
from ..lint.machine import MachineCheck
from ..state.directories import state_path
from .node import read_status

__all__ = ["check_fleet"]

_FINE = {"current", "forwarding"}


def check_fleet() -> list[MachineCheck]:
    """Look at the node process of this user and at its record; nothing if this machine is in no fleet."""
    progress = read_progress()
    status = read_status()
    if progress is None and not status:
        return []
    running = _node_runs()
    checks = [_node(status, running)]
    stores = status.get("record")
    for store, one in sorted(stores.items()) if isinstance(stores, dict) else ():
        if isinstance(one, dict):
            checks += _record(str(store), one, running)
    return checks


def _node(status: dict[str, Any], running: bool) -> MachineCheck:
    who = f"node {status.get('node', '?')}"
    if not running:
        how = f"start `interpose fleet node`; on a machine that has left the fleet, remove {progress_path()}"
        return MachineCheck("fleet", "warning", f"{who}: no node process runs, and nothing is forwarded ({how})")
    problems = status.get("problems")
    said = [f"{part}: {text}" for part, text in problems.items()] if isinstance(problems, dict) else []
    return MachineCheck("fleet", "warning" if said else "ok", f"{who}: {'; '.join(said) or 'connected'}")


def _record(store: str, one: dict[str, Any], running: bool) -> Iterator[MachineCheck]:
    """Check one store: its state, what waits, and what was lost."""
    state, text = str(one.get("state", "?")), str(one.get("text", ""))
    lag, place = one.get("lag", 0), str(one.get("path", store))
    said = f"{place}: {state}{f' ({text})' if text else ''}, {one.get('forwarded', 0):,} forwarded, {lag:,} wait"
    yield MachineCheck("fleet record", "ok" if state in _FINE and running else "warning", said)
    gaps = one.get("gaps")
    if isinstance(gaps, list) and gaps:
        count = sum(last - first + 1 for first, last in gaps)
        what = f"{place}: {count:,} records were deleted before they were forwarded, the last is {gaps[-1][1]:,}"
        yield MachineCheck("fleet record", "warning", f"{what} (a larger `outbox:` keeps more)")
    if changed := one.get("changed"):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(changed)))
        what = f"{place}: another record is where one was forwarded, found on {when}"
        yield MachineCheck("fleet record", "warning", f"{what}; it is sent again, and the collector says what differs")


def _node_runs() -> bool:
    """Say whether a process holds the lock of the node."""
    try:
        descriptor = os.open(os.path.join(state_path("fleet"), "node.lock"), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
