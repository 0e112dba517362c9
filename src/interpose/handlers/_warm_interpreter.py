"""The program of a warm interpreter: a supervisor that has a Python script loaded, and forks instead of starting it.

It is run by path, in the script's own interpreter and environment, as ``python _warm_interpreter.py <socket>``;
``_warm_pool`` is the host's side. It runs on Python 3.8 and later. It compiles the script, loads the modules of the
standard library that the script imports, forks a child and lets the child listen in its place. When a run is requested,
the child takes the streams, the directory, the arguments and the variables of the event, unwinds to the end of this
file and executes the script there. The parent supervises the child like any command, and forks the next child when
nothing of this one is left.
"""

from __future__ import annotations

import sys

AT_START = frozenset(sys.modules)
FRESH = {name: value for name, value in globals().items() if name[:2] == "__"}  # what the interpreter gives a script

# ruff: noqa: E402 - what is imported below is not loaded at the start of a script
import _signal  # type: ignore[import-not-found]
import _socket
import atexit
import fcntl
import gc
import io
import marshal
import os
import select
import time
from _weakref import ref
from types import BuiltinFunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from interpose.handlers import _supervisor
    from interpose.handlers._supervisor import Request
    from interpose.handlers._warm_script import SAFE_PATH, CannotRunWarm, LoadedScript, check_interpreter
else:
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path[0] == here:  # unless the interpreter was told not to look there
        del sys.path[0]
    sys.path.insert(0, here)
    import _supervisor
    from _warm_script import SAFE_PATH, CannotRunWarm, LoadedScript, check_interpreter

    del sys.path[0], sys.modules["_supervisor"], sys.modules["_warm_script"]

MADV_POPULATE_WRITE = 23
MOST_TO_COPY = 64 << 20  # bytes: larger mappings are not copied ahead
AT_ONCE = 128 << 10  # bytes that are copied between two checks for a request
MOST_LOST = 3  # children that may end in a row before they are needed
OUT_OF_THE_WAY = 500  # the number of our descriptor in the script's process: the script opens lower ones first


class Released(BaseException):
    """Unwinds the child from the supervisor's loop to the script."""


class WarmSupervisor(_supervisor.Supervisor):
    """A supervisor that forks a child ahead; the child takes the next run."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self.script: LoadedScript | None = None
        self.parked = self.lost = 0
        self.taken = -1  # becomes readable when the child has taken a run, or has ended
        self.is_child = self.is_reported = False
        # In the child:
        self.exit_status: int | None = None  # set once the script has ended with a status that is beyond doubt
        self.loaded_ahead: frozenset[str] = frozenset()
        self.pipe = self.pipe_inode = self.pid = -1

    def handle(self, request: Request) -> None:
        """Prepare a script, or handle a request like any supervisor."""
        if (
            request["op"] == "run"
        ):  # it was sent together with a request to us, so no child has it: the host runs it cold
            self.release()
            self.send("failed", 11, "warm")
            return
        if request["op"] != "prepare":
            super().handle(request)
            return
        try:
            script = LoadedScript(request, AT_START, FRESH)
            check_interpreter(AT_START)
            sys.path_importer_cache.clear()  # its entries may be out of date at the next run
            self.send(
                "ready", script.watched(), sorted(script.names), [os.fsencode(folder) for folder in script.folders]
            )
            self.script = script
        except CannotRunWarm as error:
            self.send("refused", str(error))

    def turn(self) -> None:
        """Fork a child that listens in our place while nothing runs, then wait for the next event."""
        if self.script is not None and not self.parked and self.leader_fd < 0 and not self.survivors:
            self.park(self.script)
        super().turn()

    def notice(self, descriptor: int) -> None:
        """Handle a message of the child, or any other descriptor like any supervisor."""
        if descriptor != self.taken:
            super().notice(descriptor)
            return
        data = os.read(descriptor, 1)
        if self.parked:
            self.on_taken(bool(data))
        elif data and self.leader and not self.survivors:
            self.on_exit_status(data[0])
        if not data:
            self.stop_listening()

    def park(self, script: LoadedScript) -> None:
        """Fork a child that waits for a run."""
        self.stop_listening()
        reader, writer = os.pipe()
        child = os.fork()
        if child:
            os.close(writer)
            self.parked, self.taken = child, reader
            self.poll.unregister(self.descriptor)
            self.poll.register(reader, 1)
            return
        self.is_child = True
        try:
            os.close(reader)
            os.close(self.host_fd)
            self.wait(script, writer)
        except ConnectionError:
            os._exit(0)
        except BaseException:
            os._exit(1)
        raise Released(self)

    def on_taken(self, taken: bool) -> None:
        """Note that the child has taken a run, or has ended without one."""
        child, self.parked = self.parked, 0
        self.poll.register(self.descriptor, 1)
        if taken:
            self.leader, self.lost = child, 0
            self.unsent = _supervisor.framed(("started", child))
            self.leader_fd = _supervisor.pidfd_open(child)
            self.poll.register(self.leader_fd, 1)
            return
        self.stop_listening()
        self.lost += 1
        if os.waitpid(child, 0)[1] == 0 or self.lost > MOST_LOST:
            raise ConnectionResetError

    def on_exit_status(self, status: int) -> None:
        """Report the end of the script while its process still ends."""
        if has_only_child(self.leader):
            self.is_reported = True
            self.send("exited", status, False)
            self.poll.unregister(self.descriptor)  # the next request is for the next child

    def report(self, alone: bool) -> None:
        """Report that the hook has ended, unless that was reported already."""
        if not self.is_reported:
            super().report(alone)
        elif self.leader:  # it has stopped before its end
            _supervisor.signal_all(self.leader, _supervisor.KILL)
        else:
            self.is_reported = False
            self.poll.unregister(self.leader_fd)
            os.close(self.leader_fd)
            self.leader_fd = -1
            self.poll.register(self.descriptor, 1)

    def stop_listening(self) -> None:
        """Close the pipe from the child."""
        if self.taken >= 0:
            self.poll.unregister(self.taken)
            os.close(self.taken)
            self.taken = -1

    def wait(self, script: LoadedScript, writer: int) -> None:
        """Wait, in the child, and become the process of the next run."""
        _supervisor.system("prctl", _supervisor.PR_SET_PDEATHSIG, _supervisor.KILL)
        os.setpgid(0, 0)
        if not SAFE_PATH:
            sys.path.insert(0, script.folder)
        atexit.register(self.skip_shutdown)  # before the script registers anything, so that it is called last
        self.loaded_ahead = frozenset(sys.modules)
        gc.freeze()
        copy_pages(self.descriptor)
        request = self.next_run()
        os.write(writer, b"x")
        step = "chdir"
        try:
            os.chdir(request["cwd"])
            step = "warm"
            self.become(script, request)
            self.keep_pipe(writer)
        except BaseException as error:
            self.send(
                "failed", getattr(error, "errno", None) or 22, step
            )  # the script has not started, so the host can run it cold
            raise
        self.connection.close()

    def next_run(self) -> Request:
        """Wait for a request to run, and read no byte more: what follows is for the parent."""
        while True:
            header, control, _, _ = self.connection.recvmsg(4, 64, _socket.MSG_CMSG_CLOEXEC)
            for _, _, passed in control:
                self.passed += [int.from_bytes(passed[at : at + 4], sys.byteorder) for at in range(0, len(passed), 4)]
            if len(header) < 4:
                raise ConnectionResetError
            size = int.from_bytes(header, "little")
            data = self.connection.recv(size, _socket.MSG_WAITALL)
            if len(data) < size:
                raise ConnectionResetError
            request: Request = marshal.loads(data)  # noqa: S302 - from our host
            if request["op"] == "run" and len(self.passed) == 3:
                return request
            if request["op"] == "run":
                self.release()
                self.send("failed", 24, "spawn")
            if request["op"] == "kill":  # it was sent before the host had the report that nothing is left
                self.send("gone", 0)

    def become(self, script: LoadedScript, request: Request) -> None:
        """Take the variables, the streams and the arguments of a run."""
        set_environment({**request["env"], **script.started}, script.dropped)
        for standard, passed in enumerate(self.passed):
            os.dup2(passed, standard)
            os.close(passed)
        sys.argv = [os.fsdecode(word) for word in request["argv"]]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv = script.words + sys.argv
        if "logging" in sys.modules:
            logging: Any = sys.modules["logging"]
            logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()
        sys.modules["__main__"] = script.main()  # made after gc.freeze(), so that it is collected
        if "__mp_main__" in sys.modules:  # the name that multiprocessing uses
            sys.modules["__mp_main__"] = sys.modules["__main__"]
        gc.enable()
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())

    def sweep(self) -> list[int]:
        """Kill what is left; a child that unwinds to its script has nothing to kill."""
        return [] if self.is_child else super().sweep()

    # In the child, when the script has ended.

    def keep_pipe(self, pipe: int) -> None:
        """Move the pipe to the supervisor to a number that the script does not open."""
        try:
            self.pipe = fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)
            self.pipe_inode, self.pid = os.fstat(pipe).st_ino, os.getpid()
        except OSError:  # the limit of descriptors is lower than that
            pass
        os.close(pipe)

    def skip_shutdown(self) -> None:
        """End the process without the interpreter's shutdown, if the shutdown would do nothing that can be noticed.

        Shutdown destroys every module that was loaded ahead, which takes longer than most scripts. ``atexit`` calls
        this last: the script's threads have ended and its own functions have run. What shutdown does after that is
        to flush the streams and to destroy objects, so it is skipped if no object that the script has made runs code
        when it is destroyed. This rests on two parts of CPython: ``gc.get_objects()`` leaves out what was there at
        ``gc.freeze()``, and a type written in C that has a finaliser shows it as ``__del__``.
        """
        if self.exit_status is None or not self.let_go_of_script():
            gc.unfreeze()  # shutdown has to find what the script has put into modules that were loaded ahead
            return
        try:
            self.tell_exit_status()
        finally:
            _supervisor.libc.exit(self.exit_status)  # runs the exit handlers of C libraries

    def let_go_of_script(self) -> bool:
        """Flush the streams and destroy what the script has made; return whether nothing else is left to do."""
        if sys.flags.dev_mode or gc.garbage or len(os.listdir("/proc/self/task")) > 1:
            return False
        try:
            gc.collect()
            if any(map(runs_code_when_destroyed, gc.get_objects())):
                return False
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                if stream is not None and not stream.closed:
                    stream.flush()
            for name in sys.modules.keys() - self.loaded_ahead | {"__main__"}:
                vars(sys.modules[name]).clear()
            gc.collect()  # closes databases and whatever else is written in C
        except BaseException:  # shutdown meets the same error, and reports it
            return False
        return True

    def tell_exit_status(self) -> None:
        """Close the streams and tell the supervisor, unless this is a fork of the script, or has children itself."""
        if os.getpid() != self.pid:
            return
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            _supervisor.libc.fflush(None)
            if os.fstat(self.pipe).st_ino == self.pipe_inode:  # not a file that the script has opened in its place
                os.closerange(0, 3)
                os.write(self.pipe, bytes([self.exit_status or 0]))
                time.sleep(0.001)  # the end of a process keeps a processor busy that the host needs now

    def show_only_the_script(self) -> None:
        """Have the interpreter report the exception that ends the script without our frames."""
        shown = getattr(sys, "excepthook", None)
        if shown is None:
            return

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            sys.excepthook = shown
            while trace is not None and trace.tb_frame.f_globals is globals():
                trace = trace.tb_next
            sys.last_traceback = error.__traceback__ = trace
            shown(kind, error, trace)
            forget_file()
            if not issubclass(kind, KeyboardInterrupt):  # which ends in a signal
                self.exit_status = 1

        sys.excepthook = hook


def runs_code_when_destroyed(thing: object) -> bool:
    """Return whether an object has a finaliser, or is a weak reference with a callback in Python."""
    if isinstance(thing, ref):
        return type(thing.__callback__) not in {type(None), BuiltinFunctionType}
    if type(thing) in _FILES:
        return not thing.closed  # type: ignore[attr-defined] # one that is closed has nothing left to write
    return hasattr(type(thing), "__del__")


_FILES = (io.FileIO, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper)


def forget_file() -> None:
    """Take from the script what the interpreter takes from it before the functions of ``atexit`` run."""
    for name in ("__file__", "__cached__"):
        vars(sys.modules["__main__"]).pop(name, None)


def status_of(error: SystemExit) -> int | None:
    """Return the exit status that an exception asks for; None if it is not one of the plain cases."""
    if type(error) is not SystemExit:
        return None
    if error.code is None or isinstance(error.code, int):
        status = int(error.code or 0)
        return status if 0 <= status <= 255 else None
    return 1


def set_environment(wanted: dict[bytes, bytes], dropped: set[bytes]) -> None:
    """Replace the environment, for Python and for the C library."""
    for name in dropped:
        wanted.pop(name, None)
    known: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]
    for name in known.keys() - wanted.keys():
        os.unsetenv(name)
    for name, value in wanted.items():
        if known.get(name) != value:
            os.putenv(name, value)
    known.clear()  # to have the order of the request
    known.update(wanted)


def copy_pages(until: int) -> None:
    """Copy the memory that a fork shares now, not when the script first writes to it; stop when a run is requested."""
    asked = select.poll()
    asked.register(until, 1)
    with open("/proc/self/maps", "rb", 0) as file:
        lines = file.read().splitlines()
    for line in lines:
        span, rights, _ = line.split(None, 2)
        begin, end = (int(number, 16) for number in span.split(b"-"))
        if rights == b"rw-p" and end - begin <= MOST_TO_COPY:
            for at in range(begin, end, AT_ONCE):
                if asked.poll(0):
                    return
                try:
                    _supervisor.system("madvise", at, min(AT_ONCE, end - at), MADV_POPULATE_WRITE)
                except OSError:  # the kernel is older than 5.14
                    return


def has_only_child(child: int) -> bool:
    """Return whether a process is our only child, if the kernel says so."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb", 0) as file:
            return file.read().split() == [b"%d" % child]
    except OSError:
        return False


def main() -> WarmSupervisor:
    """Serve until the connection closes; return only in a child that has taken a run."""
    try:
        _supervisor.main(WarmSupervisor)
    except Released as released:
        warm: WarmSupervisor = released.args[0]
        return warm
    except BaseException:
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    warm = main()
    try:
        exec(warm.script.code, vars(sys.modules["__main__"]))  # type: ignore[union-attr] # noqa: S102 - the hook's own
    except SystemExit as error:
        warm.exit_status = status_of(error)
        raise
    except BaseException:
        warm.show_only_the_script()
        raise
    forget_file()
    warm.exit_status = 0
