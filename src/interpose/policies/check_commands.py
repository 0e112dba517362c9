"""Run the commands of a check: in the project, with a deadline, and with the end of their output."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from ..runtime.named_tuples import NamedTuple

if TYPE_CHECKING:
    import subprocess  # loaded when a command is run

__all__ = ["Checked", "git", "run_check"]

_TAIL_BYTES = 16_384
_TAIL_LINES = 40
_GIT_SECONDS = 20.0
_LOOKS = 0.05
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks")
"""The repository's configuration must not make git run a program."""


class Checked(NamedTuple):
    """How a command ended."""

    passed: bool
    how: str
    """Such as "failed with status 1"."""
    tail: str = ""
    """The end of what it wrote."""


def run_check(command: str, directory: str, seconds: float) -> Checked:
    """Run a command line and wait for it; kill it with all that it started when the time is over."""
    if seconds <= 0:
        return Checked(False, "was not run: there was no time left")
    import subprocess

    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return Checked(False, f"cannot be started: {error.strerror or error}")
    try:
        tail = _watched(process, time.monotonic() + seconds)
        is_late = process.returncode is None
    finally:
        _end(process)
    shown = "\n".join(tail.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:])
    if is_late:
        return Checked(False, f"did not end within {seconds:.0f} s", shown)
    if process.returncode == 0:
        return Checked(True, "passed", shown)
    return Checked(False, f"failed with status {process.returncode}", shown)


def _watched(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Return the end of the output of a process that has ended, or whose time is over."""
    import selectors

    descriptor, tail = process.stdout.fileno() if process.stdout else -1, b""
    os.set_blocking(descriptor, False)
    is_open = True
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            has_ended = process.poll() is not None
            if is_open and selector.select(0 if has_ended else _LOOKS):
                read = _read(descriptor)
                tail, is_open = (tail + read)[-_TAIL_BYTES:], bool(read)
            elif has_ended:
                break  # what it has left running may keep the pipe open
            elif not is_open:
                time.sleep(_LOOKS)
    return tail


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except BlockingIOError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the process and its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def git(directory: str, *words: str) -> str:
    """Return what git says in a directory; empty if it fails or there is no git."""
    import subprocess

    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [*_GIT, *words], cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_GIT_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n") if done.returncode == 0 else ""
