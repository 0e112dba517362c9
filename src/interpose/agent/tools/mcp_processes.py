"""MCP servers that are programs: what they complain of is kept, and nothing that they started is left."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from .excerpt import Excerpt
from .mcp_servers import StdioServer

__all__ = ["Programs"]

_LAST_WORDS = 300
# The package ends a server that does not end itself, with its group; but of one that does, whatever it has started
# stays, and its number is not to be had. So a shell says it first, and becomes the server.
_SCRIPT = 'echo "$$" >&2; exec "$@"'


class Programs:
    """The process group of one server, and what it says on standard error."""

    def __init__(self) -> None:
        self._ours = self._theirs = -1
        self._first: bytes | None = b""
        self._group = 0
        self._leader = -1
        self._said = Excerpt(2_000)

    def transport(self, config: StdioServer) -> Any:
        """Return what starts the server and speaks with it, as the package takes it."""
        from mcp import StdioServerParameters, stdio_client

        self._ours, self._theirs = os.pipe()
        os.set_blocking(self._ours, False)
        asyncio.get_running_loop().add_reader(self._ours, self._drain)
        errors = open(self._theirs, "w", closefd=False)  # noqa: SIM115 - only its number is used
        parameters = StdioServerParameters(
            command="/bin/sh",
            args=["-c", _SCRIPT, "sh", config.command, *config.args],
            env=dict(config.env),
            cwd=config.cwd,
        )
        return stdio_client(parameters, errlog=errors)

    def _drain(self) -> None:
        try:
            data = os.read(self._ours, 65_536)
        except BlockingIOError:
            return
        if self._first is not None:
            self._first += data
            number, found, data = self._first.partition(b"\n")
            if not found:
                return
            self._first = None
            self._watch(int(number) if number.isdigit() else 0)
        self._said.feed(data)

    def _watch(self, group: int) -> None:
        """Be there when the server ends: what it leaves behind is ended then, as later its number may be another's."""
        self._group = group
        if group and hasattr(os, "pidfd_open"):
            try:
                self._leader = os.pidfd_open(group)
            except OSError:
                self.end()  # it has just ended
            else:
                asyncio.get_running_loop().add_reader(self._leader, self.end)

    def end(self) -> None:
        """End the server and all that it has started and that has stayed in its group."""
        if self._leader >= 0:
            asyncio.get_running_loop().remove_reader(self._leader)
            os.close(self._leader)
            self._leader = -1
        if self._group:
            try:
                os.killpg(self._group, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            self._group = 0

    def last_words(self) -> str:
        """Return what it has complained of last, to be put behind an error."""
        if self._ours >= 0:
            self._drain()
        said = " ".join(self._said.text().split())
        return f"; it said: {said[-_LAST_WORDS:]}" if said else ""

    def close(self) -> None:
        """End what is left of the group; what it complained of can still be asked for."""
        if self._ours < 0:
            return
        self._drain()
        self.end()
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)
        os.close(self._theirs)
        self._ours = self._theirs = -1
