"""The processes of this machine, as far as they say who is at a terminal: read from /proc, or from ``ps``."""

from __future__ import annotations

import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from ..records import Record, made_by
from .agents import registered_agents, stat_of

__all__ = ["LinuxProcesses", "Process", "Processes", "PsProcesses", "read_processes"]

_HIGHEST = 64
_RECENT = 60.0
"""Seconds within which a person has typed something into a tmux session in which a command was typed."""
_SYSTEM = tuple(f"/{name}/" for name in "Applications System bin gnu nix opt sbin snap usr".split())  # noqa: SIM905
"""Directories in which the system's programs are; root's own files are elsewhere."""


class Process(Record):
    """One process. ``program`` is the path of its executable file, or empty if that cannot be read."""

    pid: int
    parent: int
    group: int
    session: int
    terminal: str = ""
    """Its controlling terminal, such as ``pts/3``; empty if it has none."""
    is_foreground: bool = True
    """Whether it is in the process group that the terminal belongs to now."""
    name: str = ""
    """What the kernel calls it: any process can choose it."""
    program: str = ""
    is_installed: bool = False
    """Whether its program belongs to the system: only root can change the file, and it is where programs are."""
    program_age: float = 0.0
    """How many seconds ago the program's file was changed (ctime), which a program cannot set back."""
    is_root: bool = False
    is_privileged: bool = False
    """Whether it has rights that this process lacks: it is root's, or of a group that we are not in."""
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = made_by(factory=dict)
    """The environment that it was started with."""


class Processes(ABC):
    """What the judgement needs to know; a system that can be read is a subclass."""

    own: int
    """The process that asks."""
    agents: frozenset[int]
    """The processes that have registered as agents."""
    has_own_users: bool = False
    """Whether this is a user namespace, in which any user can play root."""

    @abstractmethod
    def get(self, pid: int) -> Process | None:
        """Return a process; None if it is not there."""

    @abstractmethod
    def holders(self, terminal: str) -> list[Process] | None:
        """Return the processes that hold the other end of a terminal; None if the system does not say."""

    @abstractmethod
    def clients(self, server: Process, terminal: str) -> list[Process]:
        """Return the clients of a multiplexer through which the person sees a terminal and has just typed."""

    @abstractmethod
    def is_connected(self, client: tuple[str, str], server: tuple[str, str]) -> bool:
        """Return whether another machine is connected to a server of this one; each end is an address and a port."""

    def chain(self, process: Process) -> Iterator[Process]:
        """Return a process and those above it."""
        seen: set[int] = set()
        now: Process | None = process
        while now is not None and now.pid not in seen and len(seen) < _HIGHEST:
            seen.add(now.pid)
            yield now
            now = self.get(now.parent) if now.parent > 0 else None


def read_processes() -> Processes | None:
    """Return the processes of this machine; None if this system does not show them."""
    if sys.platform.startswith("linux") and stat_of("self") is not None:
        return LinuxProcesses()
    return PsProcesses.read()


class _System(Processes):
    """What every system has in common."""

    def __init__(self) -> None:
        self.own, self.agents = os.getpid(), registered_agents()
        self._known: dict[int, Process | None] = {}

    def get(self, pid: int) -> Process | None:
        if pid not in self._known:
            self._known[pid] = self._read(pid)
        return self._known[pid]

    @abstractmethod
    def _read(self, pid: int) -> Process | None: ...

    @abstractmethod
    def all(self) -> Iterator[Process]:
        """Return every process that can be read."""

    def clients(self, server: Process, terminal: str) -> list[Process]:
        if os.path.basename(server.program) == "tmux":
            return list(filter(None, map(self.get, self._tmux_clients(server, terminal))))
        # Other multiplexers do not say which of their clients shows which terminal.
        return [one for one in self.all() if _is_same_program(one, server) and one.terminal not in ("", terminal)]

    def is_connected(self, client: tuple[str, str], server: tuple[str, str]) -> bool:
        return client[0] != server[0] and not client[0].startswith("127.") and client[0] != "::1"

    def _tmux_clients(self, server: Process, terminal: str) -> Iterator[int]:
        """Return the clients of the sessions that have a terminal as a pane, if a key was typed there lately."""
        own = self.get(self.own)
        socket, _, rest = (own.variables.get("TMUX", "") if own is not None else "").partition(",")
        if rest.partition(",")[0] != str(server.pid):
            return
        panes = _ask(server.program, "-S", socket, "list-panes", "-a", "-F", "#{pid} #{pane_tty} #{session_id}")
        sessions = {words[2] for words in panes if words[:2] == [str(server.pid), f"/dev/{terminal}"] and words[2:]}
        form = "#{session_id} #{client_pid} #{client_activity}"
        for words in _ask(server.program, "-S", socket, "list-clients", "-F", form):
            session, pid, activity = [*words, "", "", ""][:3]
            if session in sessions and pid.isdigit() and activity.isdigit() and time.time() - int(activity) < _RECENT:
                yield int(pid)


def _is_same_program(one: Process, other: Process) -> bool:
    if one.pid == other.pid:
        return False
    if other.program:
        return one.program == other.program
    return one.is_privileged and one.name.lower() == other.name.lower()


def _ask(*command: str) -> list[list[str]]:
    """Return the words of each line that a program prints; nothing if it fails."""
    import subprocess

    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=10, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
    return [line.split() for line in done.stdout.splitlines()] if done.returncode == 0 else []


class LinuxProcesses(_System):
    """Processes below /proc."""

    def __init__(self) -> None:
        super().__init__()
        self.has_own_users = _text("self/uid_map").split() != ["0", "0", "4294967295"]

    def _read(self, pid: int) -> Process | None:
        found = stat_of(pid)
        if found is None:
            return None
        name, fields = found
        ids = _ids(_text(f"{pid}/status"))
        program = _read_link(f"/proc/{pid}/exe")
        is_installed, age = _look_at(f"/proc/{pid}/exe", program)  # another file may be at its path by now
        return Process(
            pid=pid, parent=int(fields[1]), group=int(fields[2]), session=int(fields[3]),
            terminal=_terminal(int(fields[4])), is_foreground=fields[2] == fields[5], name=name,
            program=program, is_installed=is_installed, program_age=age, is_root=ids[:1] == [0],
            is_privileged=ids[:1] == [0] or (ids[1:] != [] and ids[1] not in {os.getegid(), *os.getgroups()}),
            arguments=tuple(_text(f"{pid}/cmdline").split("\0")),
            variables=dict(pair.partition("=")[::2] for pair in _text(f"{pid}/environ").split("\0") if "=" in pair),
        )  # fmt: skip

    def all(self) -> Iterator[Process]:
        """Return every process of this machine, or of this container."""
        for name in os.listdir("/proc"):
            if name.isdigit() and (process := self.get(int(name))) is not None:
                yield process

    def holders(self, terminal: str) -> list[Process] | None:
        """Look at the processes above first: the one that has opened a terminal has usually started what runs in it."""
        if not terminal.startswith("pts/"):
            return []
        index = terminal.removeprefix("pts/")
        own = self.get(self.own)
        above = [one.pid for one in self.chain(own)] if own is not None else []
        for pids in (above, [int(name) for name in os.listdir("/proc") if name.isdigit()]):
            if found := [one for one in map(self.get, filter(lambda pid: _holds(pid, index), pids)) if one is not None]:
                return found
        return None

    def is_connected(self, client: tuple[str, str], server: tuple[str, str]) -> bool:
        """Look it up: a variable is easily set. The server is root's, and the client's end is not on this machine."""
        table = connections(_text("net/tcp") + _text("net/tcp6"))
        listening = any(end[1] == server[1] and far[1] == "0" and user == "0" for end, far, user in table)
        ends = {(end, far) for end, far, _ in table}
        return listening and (server, client) in ends and (client, server) not in ends


def connections(text: str) -> list[tuple[tuple[str, str], tuple[str, str], str]]:
    """Return the connections of /proc/net/tcp: this end, the far end (port 0: it listens), and the user."""
    rows = (line.split() for line in text.splitlines() if ":" in line)
    return [(_end(row[1]), _end(row[2]), row[7]) for row in rows if row[1:2] != ["local_address"] and row[7:]]


def _end(written: str) -> tuple[str, str]:
    """Return the address and the port of ``0100007F:0016``; each four bytes are in the order of the machine."""
    from ipaddress import IPv6Address, ip_address

    digits, _, port = written.partition(":")
    packed = b"".join(int(digits[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(digits), 8))
    address = ip_address(packed)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address), str(int(port, 16))


def _text(path: str) -> str:
    """Return a file below /proc; empty if it cannot be read."""
    try:
        with open(f"/proc/{path}", "rb") as opened:
            return opened.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _ids(status: str) -> list[int]:
    """Return the effective user and group of a process."""
    return [int(line.split()[2]) for line in status.splitlines() if line.startswith(("Uid:", "Gid:"))]


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _look_at(file: str, path: str) -> tuple[bool, float]:
    """Return whether a program belongs to the system, and the seconds since its file was changed."""
    try:
        found = os.stat(file)
    except OSError:
        return False, 0.0
    is_installed = found.st_uid == 0 and not found.st_mode & 0o022 and path.startswith(_SYSTEM)
    return is_installed and not path.endswith(" (deleted)"), time.time() - found.st_ctime


def _terminal(number: int) -> str:
    """Return the name of a terminal from its device number, as /proc/PID/stat has it."""
    if number == 0:
        return ""
    major, minor = number >> 8 & 0xFFF, (number & 0xFF) | (number >> 12 & 0xFFF00)
    if 136 <= major <= 143:
        return f"pts/{(major - 136) * 256 + minor}"
    return f"console {major}:{minor}"


def _holds(pid: int, index: str) -> bool:
    """Return whether a process has the other end of a pseudo-terminal open."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return False
    for name in names:
        try:
            if not os.readlink(f"/proc/{pid}/fd/{name}").endswith("ptmx"):
                continue
        except OSError:
            continue
        if f"tty-index:\t{index}\n" in _text(f"{pid}/fdinfo/{name}"):
            return True
    return False


class PsProcesses(_System):
    """Processes as ``ps`` lists them, on systems without /proc such as macOS."""

    def __init__(self, listed: str) -> None:
        super().__init__()
        self._listed: dict[int, list[str]] = {}
        for line in listed.splitlines():
            words = line.split(None, 6)
            if len(words) == 7 and words[0].isdigit():
                self._listed[int(words[0])] = words

    @classmethod
    def read(cls) -> PsProcesses | None:
        """Return the processes; None if there is no ``ps``."""
        columns = [
            word for name in ("pid", "ppid", "pgid", "uid", "tty", "stat", "comm") for word in ("-o", f"{name}=")
        ]
        lines = _ask("/bin/ps", "-A", *columns)
        return cls("\n".join(map(" ".join, lines))) if lines else None

    def _read(self, pid: int) -> Process | None:
        words = self._listed.get(pid)
        if words is None:
            return None
        try:
            session = os.getsid(pid)
        except OSError:
            session = 0
        program = words[6] if words[6].startswith("/") else ""
        is_installed, age = _look_at(program, program)
        told = " ".join(
            word for line in _ask("/bin/ps", "-E", "-ww", "-p", str(pid), "-o", "command=") for word in line
        )
        return Process(
            pid=pid, parent=int(words[1]), group=int(words[2]), session=session,
            terminal="" if words[4].startswith("?") or words[4] == "-" else words[4], is_foreground="+" in words[5],
            name=os.path.basename(words[6]), program=program,
            is_installed=is_installed, program_age=age,
            is_root=words[3] == "0", is_privileged=words[3] == "0", arguments=tuple(told.split(" ")),
            variables=dict(word.partition("=")[::2] for word in told.split(" ") if "=" in word),
        )  # fmt: skip

    def all(self) -> Iterator[Process]:
        """Return every process that was listed."""
        return filter(None, map(self.get, self._listed))

    def holders(self, terminal: str) -> list[Process] | None:
        """Return None: ``ps`` does not know."""
        return None
