"""One command from its start to the end of its process tree: write its input, read its output, end it at the deadline.

``CommandRun`` is a state machine: a ``Watch`` calls it when a descriptor is readable or a time has come, and it never
waits itself. A ``ProcessHandle`` ends the process tree: it is the process group, or a supervisor that owns everything
that the command starts.

The order at the end matters: the leader exits, its output is read (up to the end of file, or for 100 ms), the rest of
its tree is killed, and only then it is reaped. A group may be signalled only while the pid of its leader is not free.
"""

from __future__ import annotations

import codecs
import os
import signal
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

from ..replies import Failure, HookFailed
from ._watch import Watch

__all__ = ["GRACE", "MOST_STDERR", "MOST_STDOUT", "CommandRun", "ProcessHandle"]

MOST_STDOUT = 1024 * 1024
MOST_STDERR = 64 * 1024
GRACE = 0.1
"""Seconds between SIGTERM and SIGKILL, and for reading what a command leaves in its pipes."""
STUCK = 0.08
"""Seconds after SIGKILL until a process counts as unkillable."""

AT_FIRST = 0.003
"""Seconds for which only the end of a command is watched, not its output."""

_MOST_DROPPED = 64 * 1024 * 1024
"""Bytes of standard output at which a command is ended: more than an event has, which some commands print."""
_AT_ONCE = 65536
_PIPE_HOLDS = 65536
_MOST_READS = 32  # a process that the command has left behind may write for ever


class ProcessHandle(Protocol):
    """A started command, and the means to end everything that it starts."""

    exited: bool
    """Whether the command itself has ended."""
    ended: bool
    """Whether nothing of its process tree is left."""
    final: bool
    """Whether ``fileno()`` stays readable and nothing more follows."""
    status: int
    failure: Failure | None
    evidence: dict[str, Any]

    def fileno(self) -> int:
        """Return the descriptor that is readable when something has happened."""

    def update(self) -> None:
        """Find out what has happened."""

    def term(self) -> None:
        """Send SIGTERM to everything."""

    def kill(self) -> None:
        """Kill everything that is left; reap the command if it has exited."""

    def close(self) -> None:
        """Release it; kill what still runs."""


class CommandRun:
    """One run of a command. ``failure`` is set if it gave no answer."""

    def __init__(
        self,
        watch: Watch,
        stdin: bytes,
        deadline: float,
        report: Callable[[str, str], None] | None = None,
    ) -> None:
        self._watch = watch
        self._deadline = deadline
        self._report = report
        self._stdin = memoryview(stdin)
        self._pipes: dict[str, int] = {}
        self._theirs: list[int] = []
        self._stdout: list[bytes] = []
        self._stderr: list[bytes] = []
        self.stdout_size = self.stderr_size = 0
        if report is not None:
            utf8 = codecs.getincrementaldecoder("utf-8")  # a character may come in two parts
            self._decoders = {stream: utf8("replace") for stream in ("stdout", "stderr")}
        self.failure: Failure | None = None
        self.running: ProcessHandle | None = None
        self.over = False
        self._is_closed = False
        self._watching = False
        self._ending = False

    @property
    def stdout(self) -> bytes:
        """What the command wrote to standard output."""
        return b"".join(self._stdout)

    @property
    def stderr(self) -> str:
        """The beginning of what the command wrote to standard error."""
        text = b"".join(self._stderr).decode("utf-8", "replace")
        return text if self.stderr_size <= MOST_STDERR else f"{text}\n[{self.stderr_size - MOST_STDERR} bytes more]"

    # Start.

    def begin(self, start: Callable[[list[int]], ProcessHandle]) -> None:
        """Make the pipes, start the command with its ends of them, and watch ours."""
        try:
            self._open_pipes()
        except OSError as error:
            self._give_up(Failure("spawn_resource", f"no pipe can be made: {error.strerror}"))
            return
        try:
            self.running = start(self._theirs)
        except HookFailed as error:
            self._give_up(error.failure)
            return
        self._close_theirs()
        self._watch.on_readable(self.running.fileno(), self._on_update)
        if "stdin" in self._pipes:
            self._watch.on_writable(self._pipes["stdin"], self._stdin_ready)
        if "stdin" in self._pipes or self._report is not None or monotonic() + AT_FIRST > self._deadline:
            self._watch_pipes()
        else:
            # Most commands have ended by then, and their output is in the pipes: one wake-up instead of three.
            self._watch.at(monotonic() + AT_FIRST, self._watch_pipes)

    def _watch_pipes(self) -> None:
        self._watching = True
        self._watch.at(self._deadline, self._late)
        for name, ready in (("stdout", self._stdout_ready), ("stderr", self._stderr_ready)):
            if name in self._pipes:
                self._watch.on_readable(self._pipes[name], ready)

    def _close_theirs(self) -> None:
        for descriptor in self._theirs:
            os.close(descriptor)
        self._theirs = []

    def _open_pipes(self) -> None:
        for name in ("stdin", "stdout", "stderr"):
            reader, writer = os.pipe()  # close-on-exec, both
            ours, theirs = (writer, reader) if name == "stdin" else (reader, writer)
            self._pipes[name] = ours
            self._theirs.append(theirs)
            os.set_blocking(ours, False)
        if len(self._stdin) <= _PIPE_HOLDS:
            # Both ends of the pipe are ours: the write neither waits nor fails. A pipe may be smaller.
            self._stdin = self._stdin[os.write(self._pipes["stdin"], self._stdin) :]
            if not self._stdin:
                self._close("stdin")

    # While it runs.

    def _stdout_ready(self) -> bool:
        """Read what is there; return whether there may be more."""
        data = _read(self._pipes["stdout"])
        if data is None:
            return False
        if not data:
            self._closed("stdout")
            return False
        self.stdout_size += len(data)
        if self.stdout_size > MOST_STDOUT:
            failure = Failure("stdout_limit", f"it wrote more than {MOST_STDOUT} bytes to standard output")
            self.failure = self.failure or failure
            if self.stdout_size > _MOST_DROPPED:
                self._end_with(self.failure)
                return False
            return True  # dropped: its exit status may still deny
        self._stdout.append(data)
        self._tell("stdout", data)
        return True

    def _stderr_ready(self) -> bool:
        """Read what is there; return whether there may be more."""
        data = _read(self._pipes["stderr"])
        if data is None:
            return False
        if not data:
            self._closed("stderr")
            return False
        room = MOST_STDERR - self.stderr_size
        self.stderr_size += len(data)
        if room > 0:
            self._stderr.append(data[:room])
            self._tell("stderr", data[:room])
        return True

    def _tell(self, stream: str, data: bytes) -> None:
        if self._report is not None:
            self._report(stream, self._decoders[stream].decode(data))

    def _stdin_ready(self) -> None:
        try:
            written = _write(self._pipes["stdin"], self._stdin[:_AT_ONCE])
        except BlockingIOError:
            return
        except OSError:  # the command does not read the rest, which is allowed
            self._closed("stdin")
            return
        self._stdin = self._stdin[written:]
        if not self._stdin:
            self._closed("stdin")

    def _closed(self, name: str) -> None:
        self._watch.forget(self._pipes[name])
        self._close(name)
        if self.running is not None and self.running.exited:
            self._finish_if_drained()

    def _close(self, name: str) -> None:
        os.close(self._pipes.pop(name))

    def _on_update(self) -> None:
        running = self.running
        if running is None or self.over:
            return
        running.update()
        if running.final:
            self._watch.forget(running.fileno())  # it stays readable
        if running.failure is not None:
            self.failure = self.failure or running.failure
            self._done()
        elif running.ended:
            if self._ending or self._drained():
                self._done()
            else:
                self._drain()
        elif running.exited:
            if self._ending:
                self._finish()
            else:
                self._drain()

    def _drained(self) -> bool:
        return "stdout" not in self._pipes and "stderr" not in self._pipes

    def _drain(self) -> None:
        """Read what the command, or a process that it has left, has written: the answer may still be in a pipe."""
        for name, ready in (("stdout", self._stdout_ready), ("stderr", self._stderr_ready)):
            for _ in range(_MOST_READS):
                if name not in self._pipes or self.over or not ready():
                    break
        if self.over or self._drained():
            self._finish_if_drained()
            return
        if not self._watching:
            self._watch_pipes()
        self._watch.at(min(monotonic() + GRACE, max(self._deadline, monotonic())), self._finish)

    def _finish_if_drained(self) -> None:
        if self._drained():
            self._finish()

    def _finish(self) -> None:
        """Kill what is left of the tree."""
        running = self.running
        if self.over or running is None:
            return
        self._ending = True
        if not running.ended:
            running.kill()
        if running.ended:
            self.failure = self.failure or running.failure
            self._done()
        else:
            self._watch.at(monotonic() + STUCK, self._stuck)

    # End.

    def _late(self) -> None:
        self.end(Failure("timeout", "ended"))

    def end(self, failure: Failure) -> None:
        """Send SIGTERM to the whole tree, and SIGKILL 100 ms later."""
        if self.over or self.running is None:
            return
        self.failure = self.failure or failure
        self._ending = True
        self.running.term()
        self._watch.at(monotonic() + GRACE, self.end_now)

    def _end_with(self, failure: Failure) -> None:
        self.failure = failure
        self._ending = True
        self.end_now()

    def end_now(self) -> None:
        """Kill the whole tree."""
        if not self.over and self.running is not None:
            self._finish()

    def _stuck(self) -> None:
        if self.running is not None:
            self.running.evidence["unkillable"] = True
        self._done()

    def _give_up(self, failure: Failure) -> None:
        self.failure = failure
        self._done()

    def _done(self) -> None:
        if not self.over:
            self.close()
            self._watch.done()

    def close(self) -> None:
        """Close the pipes and release the process; kill what still runs."""
        if self._is_closed:
            return
        self.over = self._is_closed = True
        self._close_theirs()
        for name in list(self._pipes):
            self._watch.forget(self._pipes[name])
            self._close(name)
        if self.running is not None:
            self._watch.forget(self.running.fileno())
            self.running.close()


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, _AT_ONCE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _write(descriptor: int, data: memoryview) -> int:
    """Write to a pipe that may have lost its reader, in a host that may not ignore SIGPIPE."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        return os.write(descriptor, data)
    except BrokenPipeError:
        if signal.SIGPIPE in signal.sigpending():
            signal.sigwait([signal.SIGPIPE])
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
