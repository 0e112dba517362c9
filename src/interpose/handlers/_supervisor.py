"""The program of a supervisor: a small process that is kept, runs one hook at a time and owns all that the hook starts.

It is run by path, ``python -I -S -E _supervisor.py <socket>``; ``supervisors.py`` is the host's side. It imports
nothing of this package and runs on Python 3.8 and later, since ``_warm_interpreter.py`` runs it in other interpreters.

It is a subreaper: processes that a hook leaves become its children. It kills the hook's process tree on request, when
its connection closes, when the host ends, and when an error occurs here. In a PID namespace the same loop runs as
process 1, on the same socket, for one run.
"""

from __future__ import annotations

# Nothing more: `socket`, `signal` and `selectors` would double the time of a start.
import _signal  # type: ignore[import-not-found]
import _socket
import ctypes
import gc
import marshal
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Request = dict[str, Any]
    Process = tuple[int, bytes, int]  # number, start, group

NAMESPACE_BIT = 1 << 31  # in the length of a request to run in a namespace: visible without reading the request
LATE = 5  # milliseconds after which a start is reported; most hooks have ended by then
TICK = 200  # milliseconds between checks for orphans that have ended while the hook runs
UNKILLABLE = 2.0  # seconds after which a killed process counts as stuck
# Exit statuses of the first process of a namespace: it has reported, it has not, the next request is for its parent,
# no namespace could be created.
DONE, BROKEN, NOT_MINE, NO_NAMESPACE = 0, 1, 3, 4
TERM, KILL = 15, 9
ALL_SIGNALS = frozenset(_signal.valid_signals()) - {_signal.SIGKILL, _signal.SIGSTOP}
SPAWN_OPTIONS: dict[str, Any] = {"setpgroup": 0, "setsigmask": (), "setsigdef": ALL_SIGNALS}
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, CLONE_NEWUSER, CLONE_NEWPID = 1, 36, 0x10000000, 0x20000000
SYS_PIDFD_SEND_SIGNAL, SYS_PIDFD_OPEN = 424, 434  # the same on every architecture
libc = ctypes.CDLL(None, use_errno=True)


def system(function: str, *arguments: int) -> int:
    """Call a function of the C library that the standard library lacks."""
    result: int = getattr(libc, function)(*map(ctypes.c_long, arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


pidfd_open: Callable[[int], int] = getattr(os, "pidfd_open", lambda pid: system("syscall", SYS_PIDFD_OPEN, pid, 0))


class Supervisor:
    """One connection to the host, and at most one run at a time."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.connection = _socket.socket(fileno=descriptor)
        self.buffer = b""
        self.passed: list[int] = []  # descriptors that came with a request
        self.poll = select.poll()
        self.host_fd = self.leader_fd = -1
        self.leader = self.status = self.killed = 0
        self.survivors = self.is_init = False
        self.unsent = b""  # a start that is not reported yet

    def send(self, *frame: object) -> None:
        """Send a frame, after a start that is not reported yet."""
        self.connection.sendall(self.unsent + framed(frame))
        self.unsent = b""

    def receive(self) -> None:
        """Read what has arrived and carry it out."""
        data, control, _, _ = self.connection.recvmsg(65536, _socket.CMSG_SPACE(12), _socket.MSG_CMSG_CLOEXEC)
        for _, _, passed in control:  # these are descriptors
            self.passed += [int.from_bytes(passed[at : at + 4], sys.byteorder) for at in range(0, len(passed), 4)]
        if not data:
            raise ConnectionResetError
        self.buffer += data
        while len(self.buffer) >= 4:
            size = (int.from_bytes(self.buffer[:4], "little") & ~NAMESPACE_BIT) + 4
            if len(self.buffer) < size:
                self.buffer += self.connection.recv(size - len(self.buffer), _socket.MSG_WAITALL)
            request, self.buffer = marshal.loads(self.buffer[4:size]), self.buffer[size:]  # noqa: S302 - from our host
            self.handle(request)

    def handle(self, request: Request) -> None:
        """Carry out one request."""
        asked = request["op"]
        if asked == "term":
            self.terminate()
        elif asked == "kill":
            self.kill()
        elif asked == "keep":
            self.keep()
        elif len(self.passed) != 3:  # the kernel drops descriptors above the limit
            self.release()
            self.send("failed", 24, "spawn")
        elif request["namespace"] and not self.is_init:
            self.run_in_namespaces(request)
        else:
            self.run(request)

    def run(self, request: Request) -> None:
        """Start the hook, or report why it cannot be started."""
        if self.buffer or self.poll.poll(0):
            raise ConnectionResetError  # too late: the host has asked to end it, has closed the connection or is gone
        step = "chdir"
        try:
            if request["cwd"]:
                os.chdir(request["cwd"])
            step = "spawn"
            actions = [(os.POSIX_SPAWN_DUP2, passed, standard) for standard, passed in enumerate(self.passed)]
            command = request["path"], request["argv"], request["env"]
            self.leader = os.posix_spawn(*command, file_actions=actions, **SPAWN_OPTIONS)
        except OSError as error:
            self.send("failed", error.errno, step)
        except ValueError:  # a NUL where none may be, or an empty argv
            self.send("failed", 22, step)
        else:
            self.unsent = framed(("started", self.leader))
            self.leader_fd = pidfd_open(self.leader)
            self.poll.register(self.leader_fd, select.POLLIN)
        finally:
            self.release()

    def release(self) -> None:
        """Close the pipes of the hook and leave its directory."""
        for passed in self.passed:
            os.close(passed)
        self.passed = []
        os.chdir("/")

    def is_alone(self) -> bool:
        """Reap what has ended; return whether nothing is left. A subreaper without children has no descendants."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return False
                self.killed += status & 0x7F == KILL
                if pid == self.leader:
                    self.leader, self.status = 0, -(status & 0x7F) or status >> 8
        except ChildProcessError:
            return True

    def report(self, alone: bool) -> None:
        """Report once that the hook has ended, and whether anything of it is left."""
        if self.leader_fd >= 0 and not self.leader:
            self.poll.unregister(self.leader_fd)
            os.close(self.leader_fd)
            self.leader_fd = -1
            self.survivors = not alone
            self.send("exited", self.status, self.survivors)

    def terminate(self) -> None:
        """Send SIGTERM: to the hook's process group at once, then to descendants outside the group."""
        group = self.leader
        if self.is_init:
            signal_all(-1, TERM)
        elif group or self.survivors:
            if group:
                signal_all(-group, TERM)
            for process in descendants():
                if process[2] != group:
                    signal_one(process, TERM)

    def kill(self) -> None:
        """Kill everything; report the end of the hook if it ran, then that nothing is left."""
        left = self.sweep()
        self.report(not left)
        self.survivors = bool(left)
        self.send(*(("stuck", left[:100]) if left else ("gone", self.killed)))

    def sweep(self) -> list[int]:
        """Kill and reap until nothing is left; return what does not die in time."""
        self.killed = 0
        deadline = time.monotonic() + UNKILLABLE
        if self.leader:  # once it is reaped, another group may have its id
            signal_all(-self.leader, KILL)
        while not self.is_alone():
            if self.is_init:
                signal_all(-1, KILL)  # one call for the whole namespace: a fork loop cannot outrun it
            for process in (found := [] if self.is_init else descendants()):
                signal_one(process, KILL)
            if time.monotonic() > deadline:
                return [pid for pid, _, _ in found] or [self.leader]
            if not self.is_alone():
                select.select((), (), (), 0.001)
        return []

    def keep(self) -> None:
        """Leave running what the hook has left."""
        if not self.is_init:
            os._exit(0)
        # The namespace ends with its first process: stay, without a connection, while there are others.
        self.connection.close()
        while True:
            os.waitpid(-1, 0)

    def run_in_namespaces(self, request: Request | None) -> None:
        """Run in a new PID namespace, then prepare the next one: creating it is most of the cost.

        Its first process reads the socket in our place. We wait until it has served one run, or has found that the next
        request is not for a namespace.
        """
        status = DONE
        while status == DONE:
            try:
                status = self.in_child(self.make_namespace, request)
            except OSError as error:
                status = self.report_no_namespace(request, error.errno, "spawn")
            if status == BROKEN:
                self.sweep()
                self.send("lost")
            request = None

    def in_child(self, work: Callable[[Request | None], int], request: Request | None) -> int:
        """Do the work in a forked child, which the kernel kills with us; return what the work returns."""
        child = os.fork()
        if not child:
            status = BROKEN
            try:
                system("prctl", PR_SET_PDEATHSIG, KILL)
                status = work(request)
            finally:
                os._exit(status)
        self.release()
        _, status = os.waitpid(child, 0)
        return BROKEN if status & 0x7F else status >> 8

    def make_namespace(self, request: Request | None) -> int:
        """Create a namespace: our next child is its first process."""
        try:
            enter_namespace()
            return self.in_child(self.be_init, request)
        except OSError as error:
            return self.report_no_namespace(request, error.errno, "unshare")

    def report_no_namespace(self, request: Request | None, number: int | None, step: str) -> int:
        """Report that, if a run was requested."""
        self.release()
        if request is not None:
            self.send("failed", number, step)
        return NO_NAMESPACE

    def be_init(self, request: Request | None) -> int:
        """Be the first process of a namespace and serve one run. When it ends, the kernel kills everything in it."""
        self.is_init = True
        try:
            if request is not None:
                self.run(request)
            elif self.next_is_mine():
                self.receive()
            else:
                return NOT_MINE
            while self.leader_fd >= 0 or self.survivors:
                self.turn()
        except (ConnectionError, ChildProcessError):
            pass
        return DONE

    def next_is_mine(self) -> bool:
        """Wait; return whether the next request is to run in a namespace, without reading it."""
        if all(descriptor != self.descriptor for descriptor, _ in self.poll.poll()):
            return False  # the host has ended
        return bool(int.from_bytes(self.connection.recv(4, _socket.MSG_PEEK), "little") & NAMESPACE_BIT)

    def turn(self) -> None:
        """Wait for the next event and handle it."""
        events = self.poll.poll(LATE if self.unsent else TICK if self.leader_fd >= 0 or self.survivors else None)
        if not events:
            self.connection.sendall(self.unsent)
            self.unsent = b""
            self.report(self.is_alone())
        for descriptor, _ in events:
            self.notice(descriptor)

    def notice(self, descriptor: int) -> None:
        """Handle a descriptor that is readable."""
        if descriptor == self.leader_fd:
            self.report(self.is_alone())
        elif descriptor == self.descriptor:
            self.receive()
        elif descriptor == self.host_fd:  # the host has ended, though another process may hold its socket
            raise ConnectionResetError

    def serve(self) -> None:
        """Serve until the connection closes; leave no process behind, whatever happens."""
        try:
            why_not = why_no_tree()
            self.send("hello", why_not)
            if why_not:
                return
            self.host_fd = pidfd_open(os.getppid())
            self.poll.register(self.descriptor, select.POLLIN)
            self.poll.register(self.host_fd, select.POLLIN)
            while True:
                self.turn()
        finally:
            self.sweep()


def framed(frame: Any) -> bytes:
    """Return a message as bytes, with its length in front. Every Python 3 reads format 2 of marshal."""
    data = marshal.dumps(frame, 2)
    return len(data).to_bytes(4, "little") + data


def signal_all(group: int, number: int) -> None:
    """Send a signal to a process group, or with -1 to the whole namespace, if it exists."""
    try:
        os.kill(group, number)
    except OSError:
        pass


def signal_one(process: Process, number: int) -> None:
    """Send a signal to a process, unless another one has its pid by now."""
    descriptor = -1
    try:
        descriptor = pidfd_open(process[0])
        if status_of(process[0])[19] == process[1]:
            system("syscall", SYS_PIDFD_SEND_SIGNAL, descriptor, number, 0, 0)
    except (OSError, ValueError):  # it has ended, or belongs to another user
        pass
    if descriptor >= 0:
        os.close(descriptor)


def status_of(pid: int | str) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the state on: state, parent, group, session, …, start time (19)."""
    with open(f"/proc/{pid}/stat", "rb", 0) as file:
        text = file.read(2048)
    return text[text.rindex(b")") + 2 :].split()  # the name before it may contain spaces and parentheses


def descendants() -> list[Process]:
    """Return all descendants of this process."""
    children: dict[int, list[Process]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = status_of(name)
            children.setdefault(int(status[1]), []).append((int(name), status[19], int(status[2])))
        except (OSError, ValueError):  # it has ended meanwhile
            pass
    found: list[Process] = []
    below = children.pop(os.getpid(), [])
    while below:
        found += below
        below = [child for pid, _, _ in below for child in children.pop(pid, [])]
    return found


def enter_namespace() -> None:
    """Make the next child the first of a PID namespace; without privileges inside a user namespace."""
    user, group = os.geteuid(), os.getegid()
    system("unshare", CLONE_NEWPID if user == 0 else CLONE_NEWUSER | CLONE_NEWPID)
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)


def why_no_tree() -> str:
    """Return why a process tree cannot be owned here; nothing if it can."""
    try:
        system("prctl", PR_SET_CHILD_SUBREAPER, 1)
        if os.readlink("/proc/self") != str(os.getpid()) or not status_of("self"):
            return "/proc shows another PID namespace"
        os.close(pidfd_open(os.getpid()))
    except OSError as error:
        return f"no subreaper, no /proc or no pidfd: {error}"
    return ""


def main(make: Callable[[int], Supervisor]) -> None:
    """Close everything of the host but the socket, then serve."""
    descriptor = int(sys.argv[1])
    _signal.pthread_sigmask(_signal.SIG_BLOCK, ALL_SIGNALS)  # only the connection ends it
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, max(map(int, os.listdir("/proc/self/fd"))) + 1)  # the limit may be a billion
    os.set_inheritable(descriptor, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir("/")
    gc.disable()
    gc.freeze()  # what a fork shares stays shared
    make(descriptor).serve()


if __name__ == "__main__":
    try:
        main(Supervisor)
    except BaseException:
        os._exit(1)  # there is no stream to report to; the tree has been killed
    os._exit(0)
