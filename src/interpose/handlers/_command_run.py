"""One command from its start to the end of its whole tree: feed, drain, bound, end.

``CommandRun`` is a state machine: a ``Watch`` calls it when a descriptor is readable or a time has come, and it never
waits itself. A ``ProcessHandle`` ends the process tree: it is the process group, or a supervisor that owns everything
that the command starts.

The order at the end matters: the leader exits, what it wrote is drained (end of file or a moment), the rest of its tree
is ended, and only then it is reaped; a group may be signalled only as long as its leader's number is not free again.
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
"""Seconds between SIGTERM and SIGKILL, and for draining what a command leaves in its pipes."""
STUCK = 0.08
"""Seconds after SIGKILL until a process counts as one that cannot be killed."""

AT_FIRST = 0.003
"""Seconds in which only the end of a command is waited for, not its output."""

_AT_ONCE = 65536
_PIPE_HOLDS = 65536
_MOST_READS = 32  # somebody whom the command has left behind may write for ever


class ProcessHandle(Protocol):
    """A command that was started, and the means to end everything that it starts in turn."""

    exited: bool
    """Whether the command itself has ended."""
    ended: bool
    """Whether nothing of its tree is left."""
    heard_out: bool
    """Whether there will be no more news."""
    status: int
    failure: Failure | None
    evidence: dict[str, Any]

    def fileno(self) -> int:
        """Return what becomes readable when there is news."""

    def news(self) -> None:
        """Find out what has happened."""

    def term(self) -> None:
        """Ask everything to end."""

    def kill(self) -> None:
        """End everything that is left; once the command itself has exited, also reap it."""

    def close(self) -> None:
        """Let go of it; what still runs is ended."""


class CommandRun:
    """One command on its way. ``failure`` is set if it gave no answer that can be read."""

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
        self._let_go = False
        self._watching = False
        self._ending = False

    @property
    def stdout(self) -> bytes:
        """What the command wrote to standard output."""
        return b"".join(self._stdout)

    @property
    def stderr(self) -> str:
        """The beginning of what it wrote to standard error."""
        text = b"".join(self._stderr).decode("utf-8", "replace")
        return text if self.stderr_size <= MOST_STDERR else f"{text}\n[{self.stderr_size - MOST_STDERR} bytes more]"

    # Beginning.

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
        self._watch.on_readable(self.running.fileno(), self._news)
        if "stdin" in self._pipes:
            self._watch.on_writable(self._pipes["stdin"], self._stdin_ready)
        if "stdin" in self._pipes or self._report is not None or monotonic() + AT_FIRST > self._deadline:
            self._watch_pipes()
        else:
            # Most commands have ended by then, and all they wrote waits in the pipes: one wake-up instead of three.
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
            # Both ends of the pipe are still ours: no waiting, and nobody who could close it. A pipe may be smaller.
            self._stdin = self._stdin[os.write(self._pipes["stdin"], self._stdin) :]
            if not self._stdin:
                self._close("stdin")

    # While it runs.

    def _stdout_ready(self) -> bool:
        """Take what there is; say whether there may be more."""
        data = _read(self._pipes["stdout"])
        if data is None:
            return False
        if not data:
            self._closed("stdout")
            return False
        self.stdout_size += len(data)
        if self.stdout_size > MOST_STDOUT:
            self._end_with(Failure("stdout_limit", f"it wrote more than {MOST_STDOUT} bytes to standard output"))
            return False
        self._stdout.append(data)
        self._tell("stdout", data)
        return True

    def _stderr_ready(self) -> bool:
        """Take what there is; say whether there may be more."""
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
        except OSError:  # it does not want to read the rest; that is its business
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

    def _news(self) -> None:
        running = self.running
        if running is None or self.over:
            return
        running.news()
        if running.heard_out:
            self._watch.forget(running.fileno())  # it stays readable, and has nothing more to say
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
        """Wait for what the command has written, or somebody for it: the verdict may still be in a pipe."""
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
        """End what is left of the tree."""
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

    # Ending.

    def _late(self) -> None:
        self.end(Failure("timeout", "no answer in time"))

    def end(self, failure: Failure) -> None:
        """Ask the whole tree to end, and a moment later make it."""
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
        """End the whole tree without asking."""
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
        """Let go of everything; whatever still runs is ended."""
        if self._let_go:
            return
        self.over = self._let_go = True
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
    """Write to a pipe that may have lost its reader, in a host where SIGPIPE may be deadly, whatever Python knows."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        return os.write(descriptor, data)
    except BrokenPipeError:
        if signal.SIGPIPE in signal.sigpending():
            signal.sigwait([signal.SIGPIPE])
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
