"""The host's side of supervisors: connections to them, and a pool that keeps a few. Linux only; no event loop needed.

A supervisor (``_supervisor``) runs one hook at a time and owns everything that the hook starts. What it answers:

========================================  ============================================================================
``("started", pid)``                      the hook runs; in a namespace it is process 2 of it
``("failed", errno, step)``               it does not; step is "chdir", "spawn" or "unshare"
``("exited", status, survivors)``         an exit status or a negative signal; whether anything of the tree still lives
``("gone", killed)``                      the answer to ``kill()``: nothing is left
``("stuck", pids)``                       the other answer: these would not die; do not use this supervisor again
``("lost",)``                             the namespace has ended, with everything in it, and nobody knows the status
========================================  ============================================================================

After "failed", after "exited" without survivors, after "gone" and "lost" the supervisor is idle again.
"""

from __future__ import annotations

import atexit
import marshal
import os
import select
import signal
import socket
import sys
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..forks import after_fork

__all__ = ["Frame", "SupervisorConnection", "SupervisorPool", "framed", "pool", "why_unavailable"]

PROGRAM = str(Path(__file__).with_name("_supervisor.py"))
NAMESPACE_BIT = 1 << 31
MOST_IDLE = 16  # as many as commands run at a time, or a crowd would start and end them all the time
FEW_IDLE = 4  # so many stay for good
REST = 30.0  # seconds after which one of the others is no longer needed
HELLO = 5.0  # seconds for an interpreter to start on a busy machine
FAREWELL = 1.0  # seconds for supervisors to end their hooks and themselves when the host ends
STALLED = 2.0  # seconds for a supervisor to read a request that does not fit into the socket's buffer

Text = str | bytes
Frame = tuple[Any, ...]


class SupervisorConnection:
    """A connection to one supervisor. The constructor only starts it; it may be asked to run a hook at once."""

    __slots__ = ("_buffer", "_busy", "_hello", "_socket", "kept", "pid", "pidfd", "since")

    def __init__(self, spawn: Callable[[int], int] | None = None) -> None:
        ours, theirs = socket.socketpair()
        self._socket, self._buffer = ours, b""
        self.since = 0.0
        self._hello = self._busy = self.kept = False
        try:
            ours.setblocking(False)
            with theirs:
                self.pid = (spawn or _spawn)(theirs.fileno())
        except BaseException:
            ours.close()
            raise
        try:
            self.pidfd = os.pidfd_open(self.pid)
        except OSError:  # no room for one more descriptor, or somebody else has reaped it
            self.pidfd = -1

    def fileno(self) -> int:
        """The descriptor that becomes readable when there is something to receive."""
        return self._socket.fileno()

    @property
    def greeted(self) -> bool:
        """Whether it has come up: from then on a request may have been carried out."""
        return self._hello

    @property
    def idle(self) -> bool:
        """Whether no run is under way and nothing of the last one is left."""
        return not self._busy

    def run(
        self,
        path: Text,
        argv: Sequence[Text],
        env: Mapping[str, str] | Mapping[bytes, bytes],
        cwd: Text | None,
        fds: Sequence[int],
        namespace: bool = False,
    ) -> None:
        """Ask for a run; the descriptors stay the caller's to close. Without a cwd, it is the host's.

        Raises ConnectionError if the supervisor is no more, ValueError for text that no command can be given.
        """
        if self._busy:
            raise RuntimeError("a supervisor runs one hook at a time")
        encode = os.fsencode
        request = {
            "op": "run",
            "path": encode(path),
            "argv": [encode(argument) for argument in argv],
            "env": {encode(name): encode(value) for name, value in env.items()},
            "cwd": encode(cwd if cwd is not None and os.path.isabs(cwd) else _absolute(cwd)),
            "namespace": namespace,
        }
        data = marshal.dumps(request, 2)
        header = len(data) | NAMESPACE_BIT if namespace else len(data)
        self._busy = True
        self._send(header.to_bytes(4, "little") + data, array("i", fds))

    def term(self) -> None:
        """Ask everything of the run to end."""
        self._send(_TERM)

    def kill(self) -> None:
        """Have everything of the run ended; "gone" or "stuck" is the answer."""
        self._send(_KILL)

    def keep(self) -> None:
        """Let what the hook has left behind live on; the supervisor ends."""
        self._busy, self.kept = False, True
        self._send(_KEEP)

    def receive(self) -> list[Frame]:
        """Return what has arrived, without waiting; ConnectionResetError if the supervisor is no more."""
        try:
            data = self._socket.recv(65536)
        except (BlockingIOError, InterruptedError):
            return []
        if not data:
            raise ConnectionResetError("the supervisor has ended")
        buffer = self._buffer + data
        frames: list[Frame] = []
        while len(buffer) >= 4 and len(buffer) >= (size := int.from_bytes(buffer[:4], "little") + 4):
            frame, buffer = marshal.loads(buffer[4:size]), buffer[size:]  # noqa: S302 - our own program wrote it
            self._note(frame, frames)
        self._buffer = buffer
        return frames

    def _note(self, frame: Frame, frames: list[Frame]) -> None:
        kind = frame[0]
        if kind == "hello":
            self._hello = True
            if frame[1]:
                raise ConnectionRefusedError(frame[1])
            return
        frames.append(frame)
        if kind in {"failed", "gone", "lost"} or (kind == "exited" and not frame[2]):
            self._busy = False

    def ready(self, seconds: float = HELLO) -> None:
        """Wait until it has said hello; raise an OSError that says why it cannot be used."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        while not self._hello:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"the supervisor did not say hello within {seconds} s")
            poll.poll(left * 1000)
            if self.receive():
                raise ConnectionRefusedError("the supervisor said something else than hello")

    def close(self) -> None:
        """End the connection: the supervisor ends whatever it runs, then itself. The pool reaps it."""
        if self._busy and self.pidfd >= 0 and self._has_lost_it():
            _end_session(self.pid)
        self._socket.close()

    def _has_lost_it(self) -> bool:
        """Say whether the supervisor of this run was killed, and was not reaped yet."""
        try:
            self.receive()
            return False
        except ConnectionError:
            poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        poll.poll(100)  # the end of the connection comes a little before the end of the process
        try:
            return os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return False

    def forget(self) -> None:
        """Close the copies of descriptors that a forked child has; for the parent nothing changes."""
        self._socket.close()
        pidfd, self.pidfd = self.pidfd, -1
        if pidfd >= 0:
            os.close(pidfd)

    def reap(self) -> bool:
        """Say whether the process has ended and was reaped, without waiting."""
        try:
            if self.pidfd >= 0:
                ended = os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG) is not None
            else:
                ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:  # somebody else has reaped it
            ended = True
        if ended:
            self.forget()
        return ended

    def _send(self, data: bytes, fds: array[int] | None = None) -> None:
        """Send all of it; a request with a large environment does not fit into the buffer at once."""
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)] if fds else []
        sent = self._socket.sendmsg([data], control, socket.MSG_NOSIGNAL)
        while sent < len(data):
            poll = select.poll()
            poll.register(self.fileno(), select.POLLOUT)
            if not poll.poll(STALLED * 1000):
                raise ConnectionAbortedError("the supervisor does not read")
            sent += self._socket.send(memoryview(data)[sent:], socket.MSG_NOSIGNAL)


def framed(request: dict[str, Any]) -> bytes:
    """Return a request as it is sent."""
    data = marshal.dumps(request, 2)
    return len(data).to_bytes(4, "little") + data


_TERM, _KILL, _KEEP = (framed({"op": asked}) for asked in ("term", "kill", "keep"))


def why_unavailable() -> str:
    """Say why there can be no supervisor here, as far as that is known without starting one."""
    if not sys.platform.startswith("linux"):
        return f"supervisors need Linux, not {sys.platform}"
    if not sys.executable or getattr(sys, "frozen", False):
        return "there is no Python interpreter to run a supervisor in"
    return ""


def _spawn(theirs: int) -> int:
    """Start the program with its end of the connection, and with nothing of this process but the way to a library."""
    if why := why_unavailable():
        raise FileNotFoundError(why)
    signals = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    at = 4 if theirs == 3 else 3  # copied to another number it stays open in the program, and only there
    null = [(os.POSIX_SPAWN_OPEN, standard, "/dev/null", os.O_RDWR, 0) for standard in (0, 1, 2)]
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-E", PROGRAM, str(at)],
        {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, at), *null],
        setsid=True,
        setsigmask=signals,  # Ctrl-C during its start would end it
        setsigdef=signals,
    )


def _absolute(cwd: Text | None) -> str:
    """Return where the host is, or a directory as seen from there; dots stay, since a link may be before them."""
    return os.path.join(os.getcwd(), os.fsdecode(cwd or ""))


def _end_session(pid: int) -> None:
    """End what is left of the session of a supervisor that was killed during a run.

    That is all but what has made a session of its own. A namespace has ended by itself. As long as we have not reaped
    the supervisor, nobody else can have its number, so whatever is in that session is the hook's.
    """
    for _ in range(10):  # what forks while we look is found the next time
        found = False
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                status = Path(f"/proc/{name}/stat").read_bytes()
                state, _, _, session = status[status.rindex(b")") + 2 :].split()[:4]
                if int(session) == pid != int(name) and state not in {b"Z", b"X"}:
                    os.kill(int(name), signal.SIGKILL)
                    found = True
            except (OSError, ValueError):  # it has ended while we looked
                continue
        if not found:
            return


class SupervisorPool:
    """Supervisors that wait for a hook. Safe to use from several threads, and in a child after a fork."""

    def __init__(self) -> None:
        self._start_over()
        after_fork(self.forget)
        atexit.register(self.close)

    def _start_over(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SupervisorConnection] = []
        self._all: set[SupervisorConnection] = set()
        self._leaving: list[SupervisorConnection] = []
        self._why_not: str | None = None

    def take(self) -> SupervisorConnection:
        """Return one that waits, or one that has just been started. OSError if the machine has no room for it."""
        self.reap()
        self._let_rest()
        while True:
            with self._lock:
                if not self._idle:
                    break
                supervised = self._idle.pop()
            if self._is_well(supervised):
                return supervised
            self.discard(supervised)
        supervised = SupervisorConnection()
        with self._lock:
            self._all.add(supervised)
        return supervised

    def _let_rest(self) -> None:
        """Close one that has waited in vain since a busier time."""
        with self._lock:
            if len(self._idle) <= FEW_IDLE or time.monotonic() - self._idle[0].since < REST:
                return
            longest = self._idle.pop(0)
        self.discard(longest)

    def give_back(self, supervised: SupervisorConnection) -> None:
        """Keep it for the next hook; one that is still at work, or one too many, is closed."""
        with self._lock:
            if keeps := supervised.idle and supervised in self._all and len(self._idle) < MOST_IDLE:
                self._idle.append(supervised)
                supervised.since = time.monotonic()
        if not keeps:
            self.discard(supervised)

    def discard(self, supervised: SupervisorConnection) -> None:
        """Close it, and reap it as soon as it has ended."""
        with self._lock:
            known = supervised in self._all
            self._all.discard(supervised)
        if known:  # not one from before a fork
            supervised.close()
            with self._lock:
                self._leaving.append(supervised)
        self.reap()

    def reap(self) -> None:
        """Reap those that have ended; wait for none."""
        if self._leaving:
            with self._lock:
                self._leaving = [supervised for supervised in self._leaving if not supervised.reap()]

    def why_not(self) -> str:
        """Say why there can be no supervisors here; nothing if there can. The first answer takes the start of one."""
        if self._why_not is None:
            self._why_not = self._find_out()
        return self._why_not

    def forget(self) -> None:
        """In a child after a fork: the supervisors are the parent's, who must see to it that they end."""
        for supervised in (*self._all, *self._leaving):
            supervised.forget()
        self._start_over()

    def close(self) -> None:
        """Close all, wherever they are, and give them a moment to end their hooks and themselves."""
        with self._lock:
            everyone, self._idle = list(self._all), []
        for supervised in everyone:
            self.discard(supervised)
        deadline = time.monotonic() + FAREWELL
        while not all(supervised.kept for supervised in self._leaving) and time.monotonic() < deadline:
            time.sleep(0.002)
            self.reap()

    @staticmethod
    def _is_well(supervised: SupervisorConnection) -> bool:
        try:
            return not supervised.receive()
        except OSError:
            return False

    def _find_out(self) -> str:
        if why := why_unavailable():
            return why
        if not os.path.exists("/proc/self/stat"):
            return "there is no /proc"
        try:
            supervised = self.take()
        except (OSError, NotImplementedError) as error:  # the latter from a C library whose spawn makes no sessions
            return f"a supervisor cannot be started: {error}"
        try:
            supervised.ready()
        except OSError as error:
            self.discard(supervised)
            return f"a supervisor cannot be used: {error}"
        self.give_back(supervised)
        return ""


pool = SupervisorPool()
