"""Run a shell command in its own session and process group, with limits of time and output."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from .truncated_output import TruncatedOutput

__all__ = ["ShellResult", "run_shell"]

_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
_LINGER = 0.2
"""Seconds to wait for processes that still hold the output after the shell: a filter may write a last line."""
_DYING = 5.0
"""Seconds to wait for a killed shell; only one that the kernel cannot end takes longer."""
_PIECE = 65_536


@dataclass(frozen=True)
class ShellResult:
    """How a command ended."""

    status: int
    """The exit status; negative: the signal that ended it."""
    output: str
    late: bool
    """Whether it was killed because its time was up."""
    lingered: bool
    """Whether processes that it left behind held its output open and were killed."""


async def run_shell(script: str, cwd: Path, seconds: float) -> ShellResult:
    """Run a script and return its result; its process group is killed, also if the caller is cancelled."""
    shell = _Shell(script, cwd)
    try:
        await asyncio.wait({shell.exited}, timeout=seconds)
        late = not shell.exited.done()
        if late:
            await shell.end()
        else:
            await asyncio.wait({shell.silent}, timeout=_LINGER)
        lingered = not late and not shell.silent.done()
    except asyncio.CancelledError:
        await shell.end()
        raise
    finally:
        status = shell.close()
    return ShellResult(status, shell.output.text(), late, lingered)


class _Shell:
    """A running shell. ``exited`` is done when it has exited, ``silent`` when its output is closed."""

    def __init__(self, script: str, cwd: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self.silent: asyncio.Future[None] = self._loop.create_future()
        self.output = TruncatedOutput()
        self._pipe, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                [shutil.which("bash") or "/bin/sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                cwd=cwd,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._pipe, False)
        self._loop.add_reader(self._pipe, self._drain)
        self._watcher = threading.Thread(target=self._watch, name="interpose-shell", daemon=True)
        self._watcher.start()

    def _watch(self) -> None:
        """Wait for the shell without reaping it: until then the number of its group cannot be reused."""
        try:
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        except AttributeError:  # macOS before Python 3.13
            self._process.wait()
        except ChildProcessError:
            pass  # it was reaped elsewhere
        try:
            self._loop.call_soon_threadsafe(_settle, self.exited)
        except RuntimeError:
            pass  # the loop is closed

    def _drain(self) -> None:
        try:
            data = os.read(self._pipe, _PIECE)
        except BlockingIOError:
            return
        self.output.feed(data)
        if not data:
            self._loop.remove_reader(self._pipe)
            _settle(self.silent)

    async def end(self) -> None:
        """Send SIGTERM to the group, wait, and send SIGKILL."""
        self._signal(signal.SIGTERM)
        await asyncio.wait({self.exited, self.silent}, timeout=_GRACE)
        self._signal(signal.SIGKILL)
        await asyncio.wait({self.exited}, timeout=_DYING)

    def close(self) -> int:
        """Kill what is left of the group, read the rest of the output, and return the exit status."""
        self._signal(signal.SIGKILL)
        self._loop.remove_reader(self._pipe)
        for _ in range(16):  # a pipe holds no more, and a process outside of the group may write without end
            if self.silent.done():
                break
            self._drain()
        self.output.feed(b"", final=True)
        os.close(self._pipe)
        self._watcher.join(_DYING)  # returns at once, except for a shell that was cancelled twice or cannot be killed
        status = self._process.poll()
        return -signal.SIGKILL if status is None else status

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass  # no process is left, or (macOS) only zombies


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
