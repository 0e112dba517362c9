"""Commands that misbehave: the two hosts that run them, how they are judged, and how every process of theirs is found."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.faults.hosts import BUSY, CALL, eventually, run, unharmed, within

from interpose import Hooks, Outcome
from interpose.model import Result
from interpose.replies import Failure

LONG = 12.0
"""A deadline, in seconds, that nothing comes near, also on a busy machine; what hangs in these tests hangs for longer."""

SHORT = 0.2
"""A deadline for what would never end by itself."""

DENY = """printf '{"decision":"deny","reason":"not here"}'"""
"""A line of shell that denies."""

MARK = "FAULT_MARK"
_SHORTEST_MARK = 16
_mark = [""]


def mark() -> str:
    """Return what every process of this test has in its environment, or, if it clears that, among its arguments."""
    return _mark[0]


@dataclass(frozen=True)
class Host:
    """Who fires: a program with an event loop, or one without."""

    name: str
    loop: bool

    def __str__(self) -> str:
        return self.name

    def fire(self, hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
        """Fire, and check that the host's own data and its other tasks are what they were."""
        given = fields or CALL
        before = _text(given)
        if self.loop:
            outcome = unharmed(lambda: run(hooks.fire(event, **given)))
        else:
            outcome = unharmed(lambda: hooks.fire_sync(event, **given))
        assert _text(given) == before, "the host's own fields were changed"
        return outcome

    def outcome(self, command: str | None = None, *, fields: dict[str, Any] | None = None, **options: Any) -> Outcome:
        """Return what comes out if this command is the only hook; it must come out in time."""
        hooks = Hooks()
        register(hooks, command, **options)
        with within(options.get("timeout", LONG) + BUSY):
            outcome = self.fire(hooks, **(fields or {}))
        assert len(outcome.results) == 1, "one hook, one result"
        return outcome

    def fails(
        self,
        command: str | None = None,
        *,
        code: str,
        loads: bool = True,
        fields: dict[str, Any] | None = None,
        **options: Any,
    ) -> Result:
        """Check how a command fails: as a guard it denies, and so does any hook that cannot be loaded or be asked."""
        loads = loads and Failure(code, "").kind != "unasked"
        guard = self.outcome(command, fields=fields, on_error="abort", **options)
        assert _shown(guard) == (_status(code), code, "deny"), guard.results[0]
        assert guard.reason
        observer = self.outcome(command, fields=fields, **options)
        assert _shown(observer) == (_status(code), code, "none" if loads else "deny"), observer.results[0]
        return observer.results[0]


def _status(code: str) -> str:
    return "timeout" if code == "timeout" else "failed"


def _shown(outcome: Outcome) -> tuple[str, str | None, str]:
    result = outcome.results[0]
    return result.status, result.error and result.error.code, outcome.decision


def _text(fields: dict[str, Any]) -> str:
    try:
        return json.dumps(fields) if len(str(fields)) < 10_000 else ""
    except Exception:  # made to be unreadable
        return ""


HOSTS = (Host("on a loop", loop=True), Host("without a loop", loop=False))
on_both_hosts = pytest.mark.parametrize("host", HOSTS, ids=str)


def register(hooks: Hooks, command: str | None = None, **options: Any) -> None:
    """Register a command, or with ``handler`` a program, all of whose processes can be found again."""
    options = {"timeout": LONG, "name": "hook", "event": "PreToolUse", **options}
    options["env"] = {MARK: mark(), **options.get("env", {})}
    event, handler = options.pop("event"), options.pop("handler", None)
    if handler is not None:
        hooks.register(event, handler, type="command", **options)
    else:
        hooks.register(event, command=command, **options)


def script(folder: Path, text: str, name: str = "hook.sh", mode: int = 0o755) -> str:
    """Write a program and return its path."""
    path = folder / name
    path.write_text(textwrap.dedent(text))
    path.chmod(mode)
    return str(path)


def warm_up() -> None:
    """Have the engine start what it keeps for its commands, before anything is counted."""
    hooks = Hooks()
    hooks.register("PreToolUse", command="read line", timeout=LONG)

    async def at_once() -> None:
        await asyncio.gather(*(hooks.fire("PreToolUse", **CALL) for _ in range(16)))

    asyncio.run(at_once())
    hooks.fire_sync("PreToolUse", **CALL)


# What is left.


# SIGKILL is among the pending signals of the process, which are a mask in hexadecimal digits.
_KILLED = re.compile(r"^ShdPnd:\t[0-9a-f]+[13579bdf][0-9a-f]{2}$", re.MULTILINE)


def living(wanted: str | None = None) -> list[str]:
    """Return every process that has a mark in its environment or its arguments, as it would call itself.

    One that was killed runs no more, although a busy kernel may take it away a moment later.
    """
    mark_ = (wanted or mark()).encode()
    if len(mark_) < _SHORTEST_MARK:
        raise ValueError(f"{mark_!r} is no mark: other processes of the machine would be found, and ended")
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            arguments = (folder / "cmdline").read_bytes()
            marked = mark_ in arguments or mark_ in (folder / "environ").read_bytes()
            if marked and not _KILLED.search((folder / "status").read_text()):
                found.append(f"{folder.name} {arguments!r}")
        except OSError:  # it ended, or is another's
            continue
    return found


def alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and is not reaped yet does not."""
    stat = _read(Path(f"/proc/{pid}/stat"))
    return bool(stat) and stat.rpartition(")")[2].split()[0] != "Z"


def supervisors() -> set[str]:
    """Return the processes that the engine keeps; one that was given up is reaped when the next is needed."""
    from interpose.handlers.supervisors import pool

    return {str(one.pid) for one in (*pool._all, *pool._leaving)}


def zombies() -> list[str]:
    """Return the children of this process that have ended and that nobody has asked for."""
    children = {child for task in Path("/proc/self/task").iterdir() for child in _read(task / "children").split()}
    return [child for child in children - supervisors() if ") Z " in _read(Path("/proc", child, "stat"))]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it ended
        return ""


def stop(process: str) -> None:
    """End a process that a test has found."""
    try:
        os.kill(int(process.partition(" ")[0]), 9)
    except ProcessLookupError:
        return


@contextmanager
def as_many_supervisors() -> Iterator[None]:
    """Check that every supervisor is given back, and close those that a test has made more."""
    from interpose.handlers.supervisors import pool

    before = len(pool._all)

    yield

    assert eventually(lambda: len(pool._idle) == len(pool._all)), "supervisors were not given back"
    while len(pool._all) > before:
        pool.discard(pool._idle.pop())

    def all_reaped() -> bool:
        pool.reap()
        return not pool._leaving

    assert eventually(all_reaped), "supervisors that were given up do not end"


@contextmanager
def nothing_lives(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Mark what a test starts; afterwards no process, no zombie and no temporary file may be left."""
    _mark[0] = f"fault{uuid4().hex}"
    temporary = folder / "temporary"
    temporary.mkdir()
    patch.setattr(tempfile, "tempdir", str(temporary))
    patch.setenv("TMPDIR", str(temporary))
    before = set(zombies())

    with as_many_supervisors():
        yield

    try:
        # At once: when a firing returns, it is over. A moment only for what the kernel still has to take away.
        assert eventually(lambda: not living(), 0.1), f"processes that are left: {living()}"
        assert set(zombies()) <= before, "zombies are left"
        assert not os.listdir(temporary), "temporary files are left"
    finally:
        for process in living():
            stop(process)


# What not every machine has.

ISOLATIONS = ("group", "tree", "namespace")
OWNED = ("tree", "namespace")
"""The isolations that hold what leaves the process group."""


@cache
def why_no_namespace() -> str:
    error = HOSTS[1].outcome("true", isolation="namespace").results[0].error
    return str(error) if error is not None and error.code == "isolation_unavailable" else ""


def may_have(isolation: str) -> None:
    """Skip, by name, where this machine has no namespaces."""
    if isolation == "namespace" and why_no_namespace():
        pytest.skip(f"needs PID namespaces: {why_no_namespace()}")


@cache
def _runs_for_others() -> bool:
    """Say whether another user can start this interpreter: its files may lie where only we can look."""
    become = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    tried = subprocess.run(
        [*become, sys.executable, "-c", "import interpose"], capture_output=True, cwd="/", check=False
    )
    return tried.returncode == 0


def needs(*programs: str, root: bool = False) -> pytest.MarkDecorator:
    """Skip a test, by name, on a machine without what it needs."""
    missing = [program for program in programs if shutil.which(program) is None]
    if root and os.geteuid() != 0:
        missing.append("root")
    elif "setpriv" in programs and not missing and not _runs_for_others():
        missing.append("an interpreter that other users may run")
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")
