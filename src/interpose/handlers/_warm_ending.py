"""The end of a script in a warm interpreter, as like the end of a fresh one as can be; a part of the program ``_warm``.

Imports nothing of this package, and runs on Python 3.8.
"""

from __future__ import annotations

import _thread
import ctypes
import fcntl
import gc
import os
import sys
import time
import weakref
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

OUT_OF_THE_WAY = 500  # a descriptor of ours in the script's process: one that the script does not open first


class Ending:
    """How the interpreter ends after the script: as always, or without taking apart what no run has made.

    The threads have ended and the functions of ``atexit`` have run when this is called, which is one of them. To take
    apart all that was loaded ahead would be most of the time of a run. So only what the script has made and loaded is
    ended here, the way the interpreter does it; if anything is left that might still have something to do at its end,
    or if anything is unusual, the interpreter goes on.
    """

    def __init__(self) -> None:
        self.status: int | None = None  # known once the script has ended in a way that leaves no doubt
        self.before: dict[str, ModuleType] = {}
        self.pipe = self.inode = self.pid = -1

    def tell(self, pipe: int) -> None:
        """Have the supervisor told when the script has ended, before the process is taken apart."""
        try:
            self.pipe = fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)
            self.inode, self.pid = os.fstat(pipe).st_ino, os.getpid()
        except OSError:  # so few descriptors may be open
            pass
        os.close(pipe)

    def __call__(self) -> None:
        """End the process, or return to have it ended as always."""
        if self.status is None or sys.flags.inspect or sys.flags.dev_mode or gc.garbage or _thread._count():
            return
        try:
            flush()
            self.take_apart()
            flush()
        except BaseException:  # the interpreter will find the same, and knows what to say
            return
        if any(hasattr(type(thing), "__del__") for thing in gc.get_objects()):
            return
        try:
            self.say_so()
        finally:
            ctypes.pythonapi.exit(self.status)  # with the C library's own end

    def say_so(self) -> None:
        """Close the streams and tell the status, if this is the process that was started, and it has no children."""
        if os.getpid() != self.pid:
            return
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            ctypes.pythonapi.fflush(None)
            if os.fstat(self.pipe).st_ino == self.inode:  # not one that the script has opened in its place
                os.closerange(0, 3)
                os.write(self.pipe, bytes([self.status or 0]))
                time.sleep(0.001)  # taking a process apart keeps a processor busy that those who wait for us need now

    def take_apart(self) -> None:
        """Let go of everything that belongs to the script."""
        for name in (
            "path",
            "argv",
            "last_type",
            "last_value",
            "last_traceback",
            "last_exc",
            "path_hooks",
            "meta_path",
        ):
            if hasattr(sys, name):
                setattr(sys, name, None)
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        own = [module for name, module in sys.modules.items() if self.before.get(name) is not module]
        left = [weakref.ref(module) for module in own if isinstance(module, ModuleType)]
        del own
        sys.modules.clear()  # nothing can be imported any more
        gc.collect()
        for module in filter(None, (reference() for reference in reversed(left))):
            for name in sorted(vars(module), key=lambda name: name[:1] != "_" or name[:2] == "__"):
                if name != "__builtins__":
                    vars(module)[name] = None
        gc.collect()
        sys.modules.update(self.before)


ENDING = Ending()


def flush() -> None:
    """Write what is left in the standard streams."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


OURS = sys.modules["__main__"]


def without_us(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that belongs to the script."""
    while trace is not None and trace.tb_frame.f_globals is vars(OURS):
        trace = trace.tb_next
    return trace


def show_only_the_script() -> None:
    """Have the interpreter report what ends the script as if it had called the script itself."""
    shown = getattr(sys, "excepthook", None)
    if shown is None:
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.excepthook = shown
        sys.last_traceback = error.__traceback__ = without_us(trace)
        shown(kind, error, error.__traceback__)
        has_run()
        if not issubclass(kind, KeyboardInterrupt):  # which ends in a signal
            ENDING.status = 1

    sys.excepthook = hook


def has_run() -> None:
    """Take from the script what the interpreter takes from it before the functions of ``atexit`` run."""
    for name in ("__file__", "__cached__"):
        vars(sys.modules["__main__"]).pop(name, None)


def status_of(error: SystemExit) -> int | None:
    """Return the exit status that an exception asks for, if there is no doubt about it."""
    if type(error) is not SystemExit:
        return None
    if error.code is None or error.code == "":
        return 0 if error.code is None else 1
    if isinstance(error.code, int):
        return int(error.code) if 0 <= error.code <= 255 else None
    return 1
