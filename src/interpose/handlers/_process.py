"""Start processes, and end a command together with its process group.

On Linux a command is started with ``posix_spawn`` and watched through a pidfd. The host is never forked, so a start
costs the same however large the host is. If other code in the host reaps the command, that is noticed.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..replies import Failure, HookFailed

__all__ = ["ProcessGroup", "Start", "encoded", "explain", "spawn", "start_in_group"]

_SHELL = b"/bin/sh"
_LONGEST_ARGUMENT = 131_071  # Linux refuses a single argument or variable of 128 KiB
_CATCHABLE = sorted(
    number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP) and int(number) < 32
)

_CODES = {
    errno.ENOENT: "spawn_not_found",
    errno.ENOTDIR: "spawn_not_found",
    errno.ELOOP: "spawn_not_found",
    errno.ENAMETOOLONG: "spawn_not_found",
    errno.EACCES: "spawn_permission",
    errno.EPERM: "spawn_permission",
    errno.EISDIR: "spawn_permission",
    errno.ENOEXEC: "spawn_format",
    errno.E2BIG: "spawn_too_big",
    errno.ETXTBSY: "spawn_busy",
}
"""Error numbers at the start of a command to failure codes; all others are ``spawn_resource``."""


class Start:
    """A command that is ready to start: nothing is looked up any more."""

    __slots__ = ("argv", "cwd", "env", "keep", "path")

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        env: Mapping[bytes, bytes],
        cwd: str | None = None,
        *,
        keep: bool = False,
    ) -> None:
        self.path = path
        self.argv = argv
        self.env = env
        self.cwd = cwd
        self.keep = keep
        """Whether processes that the command leaves running may stay."""

    @property
    def words(self) -> list[bytes]:
        """The program and its arguments as bytes: UTF-8, whatever the host's locale is."""
        try:
            return [encoded(word) for word in (self.path, *self.argv)]
        except UnicodeEncodeError:
            raise HookFailed("bad_input", "an argument of the command is not text that can be encoded") from None

    def check(self) -> None:
        """Raise HookFailed for a command that no system can start; called after a start has failed."""
        words = self.words
        if any(b"\0" in word for word in words) or any(b"\0" in value for value in self.env.values()):
            raise HookFailed("bad_input", "an argument or a variable of the command has a NUL character in it")
        longest = max(*map(len, words), *(len(name) + len(value) for name, value in self.env.items()))
        if longest > _LONGEST_ARGUMENT:
            raise HookFailed("spawn_too_big", f"an argument or a variable of the command has {longest} bytes")
        if self.cwd is not None and not _can_be_entered(self.cwd):
            raise HookFailed("cwd_missing", f"the directory to run in does not exist: {self.cwd!a}")


def _can_be_entered(directory: str) -> bool:
    try:
        path = encoded(directory)
    except UnicodeEncodeError:
        return False
    return b"\0" not in path and os.path.isdir(path) and os.access(path, os.X_OK)


def encoded(text: str) -> bytes:
    """Return text as bytes for a system call."""
    return text.encode("utf-8", "surrogateescape")


def spawn(
    path: str | bytes,
    argv: Sequence[str | bytes],
    env: Mapping[bytes, bytes],
    descriptors: Mapping[int, int],
    *,
    setsid: bool = True,
) -> int:
    """Start a program with these descriptors (number there to number here) and no others; return its pid."""
    actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in descriptors.items()]
    return os.posix_spawn(
        path,
        tuple(argv),
        env,
        file_actions=actions,
        setsid=setsid,
        setsigmask=(),  # not what the host blocks or ignores
        setsigdef=_CATCHABLE,
    )


def start_in_group(start: Start, descriptors: Sequence[int]) -> ProcessGroup:
    """Start a command as the leader of a new session and process group."""
    _reap_the_stuck()
    path, argv = start.words[0], start.words[1:]
    if not hasattr(os, "posix_spawn"):
        raise HookFailed("isolation_unavailable", "commands need Linux or macOS")
    if start.cwd is not None and not _is_here(start.cwd):
        start.check()
        # posix_spawn cannot change the directory: a shell does, and becomes the command.
        _check_executable(start)
        argv = [b"sh", b"-c", b'cd -- "$0" || exit 126; exec "$@"', encoded(start.cwd), path, *argv[1:]]
        path = _SHELL
    try:
        pid = spawn(path, argv, start.env, dict(enumerate(descriptors)))
    except ValueError:
        start.check()
        raise HookFailed("bad_input", "the command has arguments that no system can pass on") from None
    except OSError as error:
        raise HookFailed(*explain(error.errno or 0, start)) from None
    try:
        return ProcessGroup(pid, keep=start.keep)
    except ProcessLookupError:
        raise HookFailed("status_lost", "other code in the host has taken the command's exit status") from None
    except OSError as error:
        _end_unwatched(pid)
        why = f"the command cannot be watched, and was ended: {error.strerror}"
        raise HookFailed("spawn_resource", why, evidence={"started": True}) from None


def _is_here(directory: str) -> bool:
    try:
        return os.path.samestat(os.stat(directory), os.stat("."))
    except OSError:
        return False


def _check_executable(start: Start) -> None:
    """Raise HookFailed for a command that cannot be executed: a shell would hide that, or run it as a script."""
    if os.path.isdir(start.path):
        number = errno.EISDIR
    elif not os.path.exists(start.path):
        number = errno.ENOENT
    elif not os.access(start.path, os.X_OK):
        number = errno.EACCES
    elif (
        os.access(start.path, os.R_OK)
        and first_line(start.path)[:2] != b"#!"
        and first_line(start.path)[:4] not in _BINARIES
    ):
        number = errno.ENOEXEC
    else:
        return
    raise HookFailed(*explain(number, start))


# The first bytes of ELF files, and of executables of macOS.
_BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa\xcf")


def _end_unwatched(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except OSError:
        return


class ProcessGroup:
    """A command and its process group. Only processes that stay in the group are ended."""

    def __init__(self, pid: int, *, keep: bool = False) -> None:
        self.pid = pid
        self._keep = keep
        self._killed = False
        self.exited = self.ended = self.final = False
        self.status = 0
        self.failure: Failure | None = None
        self.evidence: dict[str, Any] = {"isolation": "group"}
        self._exit = _exit_descriptor(pid)

    def fileno(self) -> int:
        """Return the descriptor that is readable when the command has ended."""
        return self._exit

    def update(self) -> None:
        """Note that the command has ended."""
        self.exited = self.final = True
        if self._killed:
            self._reap()

    def term(self) -> None:
        """Send SIGTERM to the group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the group; reap the command if it has exited."""
        if not (self._keep and self.exited):
            self._signal(signal.SIGKILL)
            self._killed = True
        if self.exited:
            self._reap()

    def _signal(self, number: signal.Signals) -> None:
        # Only while the leader is not reaped: afterwards another process may have its pid.
        if not self.ended:
            try:
                os.killpg(self.pid, number)
            except OSError:  # no process is left, or none that we may signal
                return

    def _reap(self) -> None:
        self.ended = True
        status = _wait(self.pid, self._exit)
        if status is None:
            self.failure = Failure("status_lost", "other code in the host has taken the command's exit status")
        else:
            self.status = status

    def close(self) -> None:
        """Release it; kill it first if it still runs."""
        if not self.ended:
            self._signal(signal.SIGKILL)
            self.ended = True
            _stuck.append((self.pid, self._exit))
            self._exit = -1
            _reap_the_stuck(0.0 if self._killed else _DYING)  # one that was killed before was waited for already
        if self._exit >= 0:
            os.close(self._exit)
            self._exit = -1


_DYING = 0.05
"""Seconds to wait for a killed process. One that does not die is reaped when the next command starts."""
_stuck: list[tuple[int, int]] = []


def _reap_the_stuck(seconds: float = 0.0) -> None:
    """Reap processes that were released before they had ended."""
    if not _stuck:
        return
    import select

    for pid, descriptor in list(_stuck):
        if select.select([descriptor], [], [], seconds)[0]:
            _stuck.remove((pid, descriptor))
            _wait(pid, descriptor)
            os.close(descriptor)


if sys.platform == "linux":

    def _exit_descriptor(pid: int) -> int:
        return os.pidfd_open(pid)

    def _wait(pid: int, descriptor: int) -> int | None:
        try:
            result = os.waitid(os.P_PIDFD, descriptor, os.WEXITED)
        except ChildProcessError:
            return None
        if result is None:
            return None
        return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status

else:

    def _exit_descriptor(pid: int) -> int:
        import select

        queue = select.kqueue()
        wish = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
        queue.control([wish], 0)
        descriptor = os.dup(queue.fileno())
        queue.close()
        return descriptor

    def _wait(pid: int, descriptor: int) -> int | None:
        try:
            _, status = os.waitpid(pid, 0)
        except ChildProcessError:
            return None
        return os.waitstatus_to_exitcode(status)


def explain(number: int, start: Start) -> tuple[str, str]:
    """Return the code and the text of the failure to start a command."""
    code = _CODES.get(number, "spawn_resource")
    reason = os.strerror(number)
    path = start.path
    if code == "spawn_not_found" and os.path.isfile(path):
        words = first_line(path)[2:].split()
        interpreter = words[0].decode("utf-8", "replace") if words else "nothing"
        hint = "; its first line ends in a carriage return: save it with LF line ends" if _ends_in_cr(path) else ""
        return code, f"{path}: its interpreter {interpreter!a} does not exist{hint}"
    if code == "spawn_format":
        return code, f"{path}: not a program; a script begins with a line such as #!/bin/sh"
    if code == "spawn_permission" and os.path.isdir(path):
        return code, f"{path}: is a directory"
    if code == "spawn_permission":
        return code, f"{path}: {reason}; make it executable with chmod +x"
    if code == "spawn_resource":
        return code, f"the command cannot be started now: {reason}"
    return code, f"{path}: {reason}"


def first_line(path: str) -> bytes:
    """Return the first line of a file, at most 256 bytes; nothing if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.readline(256)
    except OSError:
        return b""


def _ends_in_cr(path: str) -> bool:
    return first_line(path).rstrip(b"\n").endswith(b"\r")
