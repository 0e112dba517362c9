"""Connections to supervisors, and the pool that keeps some of them. Linux only; no event loop needed.

A supervisor (the program ``_supervisor.py``) runs one hook at a time and owns all that the hook starts. It sends:

========================================  ============================================================================
``("started", pid)``                      the hook runs; in a namespace its pid is 2
``("failed", errno, step)``               it does not; step is "chdir", "spawn" or "unshare"
``("exited", status, survivors)``         an exit status or a negative signal; whether anything of the tree still lives
``("gone", killed)``                      the answer to ``kill()``: nothing is left
``("stuck", pids)``                       the other answer: these do not die; do not use this supervisor again
``("lost",)``                             the namespace has ended with everything in it; the status is unknown
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
from typing import Any

from ..runtime.forks import after_fork

__all__ = ["Frame", "SupervisorConnection", "SupervisorPool", "framed", "pool", "why_unavailable"]

PROGRAM = os.path.join(os.path.dirname(__file__), "_supervisor.py")
NAMESPACE_BIT = 1 << 31
MOST_IDLE = 16  # as many as commands run at a time, so that a burst does not start and end them
FEW_IDLE = 4  # these stay
REST = 30.0  # seconds after which an idle one above FEW_IDLE is closed
HELLO = 5.0  # seconds for an interpreter to start on a busy machine
FAREWELL = 1.0  # seconds that the host waits for its supervisors when it ends
STALLED = 2.0  # seconds for a supervisor to read a request that does not fit into the socket's buffer

Text = str | bytes
Frame = tuple[Any, ...]


class SupervisorConnection:
    """A connection to one supervisor. The constructor only starts it; ``run()`` may be called at once."""

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
        except OSError:  # no descriptor is free, or other code has reaped it
            self.pidfd = -1

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is something to receive."""
        return self._socket.fileno()

    @property
    def greeted(self) -> bool:
        """Whether it has said hello: from then on it may have started what it was asked to run."""
        return self._hello

    @property
    def idle(self) -> bool:
        """Whether it runs nothing and nothing of the last run is left."""
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
        """Ask it to run a command. The caller closes the descriptors. Without ``cwd`` it runs in the host's directory.

        Raises ConnectionError if the supervisor has ended, ValueError for text that cannot be an argument.
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
        """Ask it to send SIGTERM to everything of the run."""
        self._send(_TERM)

    def kill(self) -> None:
        """Ask it to kill everything of the run; it answers "gone" or "stuck"."""
        self._send(_KILL)  # first: a supervisor that wakes with an order to start must find this one behind it
        self._wake()

    def _wake(self) -> None:
        """Let it go on if the command has stopped it."""
        if self.pidfd >= 0:
            try:
                signal.pidfd_send_signal(self.pidfd, signal.SIGCONT)
            except OSError:  # it has ended
                return

    def keep(self) -> None:
        """Let the processes that the hook has left go on; the supervisor ends."""
        self._busy, self.kept = False, True
        self._send(_KEEP)

    def receive(self) -> list[Frame]:
        """Return what has arrived, without waiting; raise ConnectionResetError if the supervisor has ended."""
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
        """Wait until it has said hello; raise OSError if it cannot be used."""
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
        """Close the connection: the supervisor kills what it runs and ends. The pool reaps it."""
        if self._busy and self.pidfd >= 0 and self._was_killed():
            _end_session(self.pid)
        self._socket.close()
        self._wake()

    def _was_killed(self) -> bool:
        """Return whether the supervisor was killed during this run and is not reaped yet."""
        try:
            self.receive()
            return False
        except ConnectionError:
            poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        poll.poll(100)  # the connection closes a little before the process ends
        try:
            return os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return False

    def forget(self) -> None:
        """Close the descriptors, as a forked child does; nothing changes for the parent."""
        self._socket.close()
        pidfd, self.pidfd = self.pidfd, -1
        if pidfd >= 0:
            os.close(pidfd)

    def reap(self) -> bool:
        """Reap the process if it has ended; return whether it has."""
        try:
            if self.pidfd >= 0:
                ended = os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG) is not None
            else:
                ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:  # other code has reaped it
            ended = True
        if ended:
            self.forget()
        return ended

    def _send(self, data: bytes, fds: array[int] | None = None) -> None:
        """Send all of it; a large environment does not fit into the socket's buffer at once."""
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)] if fds else []
        sent = self._socket.sendmsg([data], control, socket.MSG_NOSIGNAL)
        while sent < len(data):
            poll = select.poll()
            poll.register(self.fileno(), select.POLLOUT)
            if not poll.poll(STALLED * 1000):
                raise ConnectionAbortedError("the supervisor does not read")
            sent += self._socket.send(memoryview(data)[sent:], socket.MSG_NOSIGNAL)


def framed(request: dict[str, Any]) -> bytes:
    """Return a request as bytes, with its length in front."""
    data = marshal.dumps(request, 2)
    return len(data).to_bytes(4, "little") + data


_TERM, _KILL, _KEEP = (framed({"op": asked}) for asked in ("term", "kill", "keep"))


def why_unavailable() -> str:
    """Return why supervisors cannot work here, as far as that is known without starting one; nothing if they may."""
    if not sys.platform.startswith("linux"):
        return f"supervisors need Linux, not {sys.platform}"
    if not sys.executable or getattr(sys, "frozen", False):
        return "there is no Python interpreter to run a supervisor in"
    return ""


def _spawn(theirs: int) -> int:
    """Start the program with its end of the socket, and with no variables of this process but paths and language."""
    if why := why_unavailable():
        raise FileNotFoundError(why)
    signals = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    at = 4 if theirs == 3 else 3  # under another number it is inherited by the program
    null = [(os.POSIX_SPAWN_OPEN, standard, "/dev/null", os.O_RDWR, 0) for standard in (0, 1, 2)]
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-E", _compiled(PROGRAM), str(at)],
        {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, at), *null],
        setsid=True,
        setsigmask=signals,  # Ctrl-C during its start would end it
        setsigdef=signals,
    )


def _compiled(program: str) -> str:
    """Return the file that Python has compiled a program to, if it is up to date, else the program.

    Python compiles a program that is run by its path each time, which takes as long as all that a supervisor does then.
    """
    from importlib.util import MAGIC_NUMBER, cache_from_source

    try:
        compiled = cache_from_source(program)
        source = os.stat(program)
        with open(compiled, "rb") as file:
            header = file.read(16)
    except (OSError, NotImplementedError):  # this interpreter keeps no compiled files
        return program
    facts = (0, int(source.st_mtime), source.st_size)  # as PEP 552 writes them
    expected = MAGIC_NUMBER + b"".join((fact & 0xFFFFFFFF).to_bytes(4, "little") for fact in facts)
    return compiled if header == expected else program


def _absolute(cwd: Text | None) -> str:
    """Return a directory as an absolute path. Dots stay in it: a symbolic link may come before them."""
    return os.path.join(os.getcwd(), os.fsdecode(cwd or ""))


def _end_session(pid: int) -> None:
    """Kill what is left in the session of a supervisor that was killed during a run.

    Processes with a session of their own are not found. A namespace has ended by itself. While the supervisor is not
    reaped, its pid is not free, so every process in that session belongs to the hook.
    """
    for _ in range(10):  # a process that forks meanwhile is found the next time
        found = False
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    status = file.read()
                state, _, _, session = status[status.rindex(b")") + 2 :].split()[:4]
                if int(session) == pid != int(name) and state not in {b"Z", b"X"}:
                    os.kill(int(name), signal.SIGKILL)
                    found = True
            except (OSError, ValueError):  # it has ended meanwhile
                continue
        if not found:
            return


class SupervisorPool:
    """Keeps idle supervisors. Safe to use from several threads, and in a child after a fork."""

    def __init__(self) -> None:
        self._reset()
        after_fork(self.forget)
        atexit.register(self.close)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SupervisorConnection] = []
        self._all: set[SupervisorConnection] = set()
        self._leaving: list[SupervisorConnection] = []
        self._why_not: str | None = None

    def take(self) -> SupervisorConnection:
        """Return an idle supervisor, or start one. Raise OSError if that is not possible."""
        self.reap()
        self._close_idle()
        while True:
            with self._lock:
                if not self._idle:
                    break
                supervisor = self._idle.pop()
            if self._is_usable(supervisor):
                return supervisor
            self.discard(supervisor)
        supervisor = SupervisorConnection()
        with self._lock:
            self._all.add(supervisor)
        return supervisor

    def _close_idle(self) -> None:
        """Close the supervisor that was idle for longest, if there are many and it was idle for long."""
        with self._lock:
            if len(self._idle) <= FEW_IDLE or time.monotonic() - self._idle[0].since < REST:
                return
            longest = self._idle.pop(0)
        self.discard(longest)

    def give_back(self, supervisor: SupervisorConnection) -> None:
        """Keep it for the next hook; close it if it still runs something, or if enough are idle."""
        with self._lock:
            if keeps := supervisor.idle and supervisor in self._all and len(self._idle) < MOST_IDLE:
                self._idle.append(supervisor)
                supervisor.since = time.monotonic()
        if not keeps:
            self.discard(supervisor)

    def discard(self, supervisor: SupervisorConnection) -> None:
        """Close it, and reap it as soon as it has ended."""
        with self._lock:
            known = supervisor in self._all
            self._all.discard(supervisor)
        if known:  # not from before a fork
            supervisor.close()
            with self._lock:
                self._leaving.append(supervisor)
        self.reap()

    def reap(self) -> None:
        """Reap supervisors that have ended, without waiting."""
        if self._leaving:
            with self._lock:
                self._leaving = [supervisor for supervisor in self._leaving if not supervisor.reap()]

    def why_not(self) -> str:
        """Return why supervisors do not work here; nothing if they do. The first call starts one."""
        if self._why_not is None:
            self._why_not = self._try_one()
        return self._why_not

    def forget(self) -> None:
        """Reset after a fork: the supervisors belong to the parent."""
        for supervisor in (*self._all, *self._leaving):
            supervisor.forget()
        self._reset()

    def close(self) -> None:
        """Close all supervisors, and wait a moment for them to end."""
        with self._lock:
            all_of_them, self._idle = list(self._all), []
        for supervisor in all_of_them:
            self.discard(supervisor)
        deadline = time.monotonic() + FAREWELL
        while not all(supervisor.kept for supervisor in self._leaving) and time.monotonic() < deadline:
            time.sleep(0.002)
            self.reap()

    @staticmethod
    def _is_usable(supervisor: SupervisorConnection) -> bool:
        try:
            return not supervisor.receive()
        except OSError:
            return False

    def _try_one(self) -> str:
        if why := why_unavailable():
            return why
        if not os.path.exists("/proc/self/stat"):
            return "there is no /proc"
        try:
            supervisor = self.take()
        except (
            OSError,
            NotImplementedError,
        ) as error:  # NotImplementedError: the C library's posix_spawn has no setsid
            return f"a supervisor cannot be started: {error}"
        try:
            supervisor.ready()
        except OSError as error:
            self.discard(supervisor)
            return f"a supervisor cannot be used: {error}"
        self.give_back(supervisor)
        return ""


pool = SupervisorPool()
