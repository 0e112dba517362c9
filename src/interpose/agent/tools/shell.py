"""Run a shell command and everything that it starts, with limits of time and output."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from interpose import ProcessTree

from .truncated_output import TruncatedOutput

__all__ = ["ShellResult", "run_shell"]

_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
_LINGER = 0.2
"""Seconds to wait for processes that still hold the output after the shell: a filter may write a last line."""
_DYING = 5.0
"""Seconds to wait for killed processes; only one that the kernel cannot end takes longer."""
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


async def run_shell(script: str, cwd: Path, seconds: float, env: Mapping[str, str]) -> ShellResult:
    """Run a script and return its result; all that it started is ended then, also if the caller is cancelled.

    Raises OSError if the shell cannot be started.
    """
    shell = _Shell(script, cwd, env)
    late = lingered = False
    try:
        await asyncio.wait({shell.process.exited}, timeout=seconds)
        late = not shell.process.exited.done()
        if late:
            await shell.terminate()
        else:
            await asyncio.wait({shell.silent}, timeout=_LINGER)
            lingered = not shell.silent.done()
    except asyncio.CancelledError:
        await shell.terminate()
        raise
    finally:
        await shell.end()
    if shell.process.failure:
        raise OSError(None, shell.process.failure)
    return ShellResult(shell.process.status, shell.output.text(), late, lingered)


class _Shell:
    """A running shell. ``silent`` is done when its output is closed."""

    def __init__(self, script: str, cwd: Path, env: Mapping[str, str]) -> None:
        self._loop = asyncio.get_running_loop()
        self.silent: asyncio.Future[None] = self._loop.create_future()
        self.output = TruncatedOutput()
        self._pipe, theirs = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        try:
            shell = shutil.which("bash") or "/bin/sh"
            self.process = ProcessTree(
                [shell, "-c", script], env=env, cwd=cwd, descriptors=(nothing, theirs, theirs)
            )  # fmt: skip
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
            os.close(nothing)
        os.set_blocking(self._pipe, False)
        self._loop.add_reader(self._pipe, self._drain)

    def _drain(self) -> None:
        try:
            data = os.read(self._pipe, _PIECE)
        except BlockingIOError:
            return
        self.output.feed(data)
        if not data:
            self._loop.remove_reader(self._pipe)
            self.silent.set_result(None)

    async def terminate(self) -> None:
        """Send SIGTERM, and give the shell a moment to tidy up."""
        self.process.terminate()
        await asyncio.wait({self.process.exited, self.silent}, timeout=_GRACE)

    async def end(self) -> None:
        """Kill what is left and read the rest of the output; wait, even if the caller is cancelled again."""
        self.process.kill()
        deadline = self._loop.time() + _DYING
        cancelled = False
        while not self.process.ended.done() and (left := deadline - self._loop.time()) > 0:
            try:
                await asyncio.wait({self.process.ended}, timeout=left)
            except asyncio.CancelledError:
                cancelled = True
        self.process.close()
        self._loop.remove_reader(self._pipe)
        for _ in range(16):  # a pipe holds no more, and a process that cannot be killed may write without end
            if self.silent.done():
                break
            self._drain()
        self.output.feed(b"", final=True)
        os.close(self._pipe)
        if cancelled:
            raise asyncio.CancelledError
