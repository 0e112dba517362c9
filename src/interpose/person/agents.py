"""The processes that run agents, as they were registered: a file for each in the user's state directory.

``interpose fire --reply`` registers the programs above it at every event, and a session the process that it is in. So
this module is on the hot path: it loads nothing, reads some lines below /proc and creates a file per process once. The
name of a file is the process id and the start time, which together name one process until the next boot.
"""

from __future__ import annotations

import os

from ..state.directories import state_path
from .caller import UNKNOWN, caller
from .programs import EDITORS, LOGINS, MULTIPLEXERS, SHELLS, TERMINALS

__all__ = [
    "hosts_above", "nearest_host", "register_callers", "register_this_process", "registered_agents",
    "registered_files", "stat_of",
]  # fmt: skip

_FOLDER = "agents"
_HIGHEST = 16
"""How many processes above a hook are looked at."""
_YOUNG = 100
"""How much older than a hook the shell that runs it is, in hundredths of a second."""
_ROOTS = frozenset(("crond", "cron", "init", "launchd", "login", "su", "sudo", "systemd"))
"""Programs that start programs of persons and of agents alike."""

_done: list[int] = []
_hosts: dict[int, str] = {}
"""The programs that a resident engine has registered, with the time of their start: it need not look again."""


def stat_of(pid: int | str) -> tuple[str, list[str]] | None:
    """Return a process's name and the fields of /proc/PID/stat from its state on; None if it is not there."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as opened:
            text = opened.read().decode("utf-8", "replace")
    except OSError:
        return None
    before, _, after = text.rpartition(")")
    return before.partition("(")[2], after.split()


def register_this_process() -> None:
    """Register this process as an agent, once; a failure is of no consequence for the agent."""
    pid = os.getpid()
    if pid in _done:
        return
    _done[:] = [pid]
    found = stat_of(pid)
    _register(pid, found[1][19] if found is not None else "0")


def register_callers() -> None:
    """Register the programs above the hook, up to the person's shell, terminal or session.

    The hook is this process, or the one that it fires for. The first program is the agent, or a program that it runs
    its hooks with. An editor that runs hooks itself is an agent, with all its processes. Without /proc, only the
    parent is registered.
    """
    hook, parent = caller()
    if hook == UNKNOWN or (hook and _is_known(parent)):
        return
    below = stat_of(hook or "self")
    if below is None:
        _register(parent or os.getppid(), "0")
        return
    pid, child, first, editor = int(below[1][1]), below[1], True, ""  # not the parent that it names itself
    for _ in range(_HIGHEST):
        found = stat_of(pid)
        if found is None:
            return
        comm, fields = found
        program = _program(pid, comm)
        if _stops(pid, program, fields, child, first) and program != editor:
            return
        is_host = program not in SHELLS or int(below[1][19]) - int(fields[19]) > _YOUNG  # not one for this hook alone
        if is_host and hook:
            _hosts[pid] = fields[19]
        if is_host and not _register(pid, fields[19]):
            return  # it is registered already, and with it those above
        editor = program if program in EDITORS else ""
        first = first and program in SHELLS
        pid, child = int(fields[1]), fields


def hosts_above() -> list[int] | None:
    """Return the programs above the hook, up to the person's shell, the highest last; none if they cannot be seen.

    None stands for a hook that a person has started by hand, and for one whose process is not known.
    """
    hook, _ = caller()
    below = stat_of(hook or "self")
    if hook == UNKNOWN:
        return None
    if below is None:
        return []
    pid, child, first, editor, hosts = int(below[1][1]), below[1], True, "", list[int]()
    for _ in range(_HIGHEST):
        found = stat_of(pid)
        if found is None:
            break
        comm, fields = found
        program = _program(pid, comm)
        if _stops(pid, program, fields, child, first) and program != editor:
            return hosts or None
        if program not in SHELLS:
            hosts.append(pid)
        editor = program if program in EDITORS else ""
        first = first and program in SHELLS
        pid, child = int(fields[1]), fields
    return hosts


def nearest_host() -> int:
    """Return the program that has called the hook, behind its shells; 0 if a person has, or if it cannot be seen."""
    hook, parent = caller()
    below = stat_of(hook or "self") if hook != UNKNOWN else None
    if below is None:
        return 0
    pid, child = parent or os.getppid(), below[1]
    for _ in range(_HIGHEST):
        found = stat_of(pid)
        if found is None:
            break
        program = _program(pid, found[0])
        if _stops(pid, program, found[1], child, first=True):
            break
        if program not in SHELLS:
            return pid
        pid, child = int(found[1][1]), found[1]
    return 0


def _is_known(parent: int) -> bool:
    """Return whether the parent of a hook is a program that this process has registered before."""
    found = stat_of(parent) if parent in _hosts else None
    if found is None or found[1][19] != _hosts[parent]:
        _hosts.pop(parent, None)  # another process has its number now
        return False
    return os.path.lexists(_path(parent, _hosts[parent]))


def _path(pid: int, started: str) -> str:
    return state_path(os.path.join(_FOLDER, f"{pid}.{started}"))


def _program(pid: int, comm: str) -> str:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:  # a process of another user
        return comm


def _stops(pid: int, program: str, fields: list[str], child: list[str], first: bool) -> bool:
    """Return whether a process belongs to the person, so that neither it nor those above are the agent."""
    if pid <= 1:
        return pid == 0 or not first or program in SHELLS or program in _ROOTS
    if program in SHELLS:  # one that gives each command a process group of its own is a person's
        same_session, same_group = child[3] == fields[3], child[2] == fields[2]
        return fields[4] != "0" and same_session and not same_group
    if program in EDITORS:
        return not first
    return program in _ROOTS or program in TERMINALS or program in MULTIPLEXERS or program in LOGINS


def _register(pid: int, started: str) -> bool:
    """Register a process; return whether it is new."""
    path = _path(pid, started)
    if os.path.lexists(path):
        return False
    try:
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _drop_ended(folder)
    except OSError:
        return False  # then only the other evidence of an agent counts
    return True


def _drop_ended(folder: str) -> None:
    """Remove the files of processes that have ended: so there are no more files than processes."""
    for name in os.listdir(folder):
        pid, _, started = name.partition(".")
        if not pid.isdigit() or not _runs(int(pid), started):
            os.unlink(os.path.join(folder, name))


def _runs(pid: int, started: str) -> bool:
    if started == "0":  # without /proc
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass
        return True
    found = stat_of(pid)
    return found is not None and found[1][19] == started


def registered_files() -> dict[str, str]:
    """Return the files of registered processes: name and path."""
    folder = state_path(_FOLDER)
    try:
        return {name: os.path.join(folder, name) for name in os.listdir(folder)}
    except OSError:
        return {}


def registered_agents() -> frozenset[int]:
    """Return the registered processes that still run."""
    parts = (name.partition(".") for name in registered_files())
    return frozenset(int(pid) for pid, _, started in parts if pid.isdigit() and _runs(int(pid), started))
