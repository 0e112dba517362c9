"""Many commands, a third of which misbehave: at the end everything is as it was at the beginning."""

import asyncio
import gc
import logging
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.faults.conftest import open_descriptors
from tests.faults.hosts import eventually

from interpose import Hooks

LONGEST_TEST = 600.0

AT_ONCE = 16
SLOW = 0.15

# What each does, and what becomes of it.
WELL = {
    "says nothing": ("true", "ok"),
    "denies": ("""cat >/dev/null; echo '{"decision": "deny", "reason": "no"}'""", "ok"),
    "exits with 2": ("echo no >&2; exit 2", "ok"),
    "adds context": ("""echo '{"systemMessage": "note"}'""", "ok"),
}
BADLY = {
    "exits with 1": ("exit 1", "failed"),
    "answers rubbish": ("echo {{{", "failed"),
    "kills itself": ("kill -9 $$", "failed"),
    "writes too much": ("yes", "failed"),
    "is not there": ("exec /not/there", "failed"),
    "leaves a child that holds its output": ("sleep 97 & echo '{}'", "ok"),
    "leaves a daemon": ("""setsid sh -c 'trap "" TERM; sleep 97 & sleep 97' & echo '{}'""", "ok"),
    "does not read": ("exec <&-; echo '{}'", "ok"),
    "hangs and ignores SIGTERM": ("trap '' TERM; sleep 97 & sleep 97", "timeout"),
    "stops itself": ("kill -STOP $$", "timeout"),
}


def descendants() -> set[int]:
    """The processes below this one, and those that were ours and have found another parent."""
    parents: dict[int, int] = {}
    marked = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
                if b"97" in Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0"):
                    marked.add(int(name))
            except OSError:
                continue
    found: set[int] = set()
    front = {os.getpid()}
    while front:
        front = {pid for pid, parent in parents.items() if parent in front} - found
        found |= front
    return found | marked


def resident() -> int:
    """How many KiB of memory this process has."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


async def soak(firings: int) -> Counter[tuple[str, str]]:
    """Fire commands in crowds, two that behave for every one that does not; count what became of each kind."""
    engines: dict[str, Hooks] = {}
    for kind, (line, _) in (WELL | BADLY).items():
        engines[kind] = hooks = Hooks()
        hooks.register("PreToolUse", command=line, timeout=SLOW if BADLY.get(kind, ("", ""))[1] == "timeout" else 20)
    well, badly = list(WELL), list(BADLY)
    kinds = [badly[n // 3 % len(badly)] if n % 3 == 2 else well[n % len(well)] for n in range(firings)]
    fates: Counter[tuple[str, str]] = Counter()
    call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "x" * 100_000}}

    async def worker(mine: list[str]) -> None:
        for kind in mine:
            next(iter(engines[kind])).health.failures = 0  # the breaker is not what is tested here
            outcome = await engines[kind].fire("PreToolUse", **call)
            fates[kind, outcome.results[0].status] += 1

    await asyncio.gather(*(worker(kinds[start::AT_ONCE]) for start in range(AT_ONCE)))
    return fates


def check(firings: int) -> None:
    # Thousands of failures are logged, and pytest keeps every line of the log.
    logging.getLogger("interpose").setLevel(logging.CRITICAL)
    try:
        _check(firings)
    finally:
        logging.getLogger("interpose").setLevel(logging.NOTSET)


def _check(firings: int) -> None:
    others = set(descendants())  # what other tests have left in this process is not our business
    asyncio.run(soak(200))  # everything that is kept is there now
    gc.collect()
    assert eventually(lambda: not _strangers(others)), _strangers(others)
    processes, descriptors, memory = len(descendants()), open_descriptors(), resident()

    fates = asyncio.run(soak(firings))

    gc.collect()
    expected = {kind: fate for kind, (_, fate) in (WELL | BADLY).items()}
    assert {kind: fate for kind, fate in fates if fates[kind, fate]} == expected
    assert sum(fates.values()) == firings
    assert eventually(lambda: not _strangers(others)), _strangers(others)
    assert len(descendants()) <= processes
    assert open_descriptors() <= descriptors
    assert resident() < memory + 8192, f"{resident() - memory} KiB more than before"


def _strangers(others: set[int]) -> list[str]:
    """Command lines below us that are no supervisors and were not there before: what hooks have left."""
    found = []
    for pid in descendants() - others:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "_supervisor.py" not in line and "pytest" not in line:
            found.append(f"{pid}: {line or 'a zombie'}")
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_a_crowd_of_commands_leaves_nothing_behind() -> None:
    """Fault 107"""
    check(600)


@pytest.mark.more
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_twenty_thousand_commands_leave_nothing_behind() -> None:
    """Fault 107; takes minutes."""
    check(20_000)
