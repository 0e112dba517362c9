"""Processes of MCP servers: their standard error is kept, and their process group is killed at the end."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from .mcp_servers import StdioServer
from .truncated_output import TruncatedOutput

__all__ = ["ServerProcess"]

_NOTE_LENGTH = 300
# The package kills a server that does not end by itself, with its group. If a server ends by itself, its children stay,
# and the package does not tell its pid. So a shell prints its pid first, and then becomes the server.
_SCRIPT = 'echo "$$" >&2; exec "$@"'


class ServerProcess:
    """The process group of one server, and its standard error."""

    def __init__(self) -> None:
        self._read_end = self._write_end = -1
        self._first: bytes | None = b""
        self._group = 0
        self._leader = -1
        self._stderr = TruncatedOutput(2_000)

    def transport(self, config: StdioServer) -> Any:
        """Return the transport that starts the server, for the package."""
        from mcp import StdioServerParameters, stdio_client

        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        asyncio.get_running_loop().add_reader(self._read_end, self._drain)
        errors = open(self._write_end, "w", closefd=False)  # noqa: SIM115 - only its number is used
        parameters = StdioServerParameters(
            command="/bin/sh",
            args=["-c", _SCRIPT, "sh", config.command, *config.args],
            env=dict(config.env),
            cwd=config.cwd,
        )
        return stdio_client(parameters, errlog=errors)

    def _drain(self) -> None:
        try:
            data = os.read(self._read_end, 65_536)
        except BlockingIOError:
            return
        if self._first is not None:
            self._first += data
            number, found, data = self._first.partition(b"\n")
            if not found:
                return
            self._first = None
            self._watch(int(number) if number.isdigit() else 0)
        self._stderr.feed(data)

    def _watch(self, group: int) -> None:
        """Kill the group as soon as the server ends: later its number may belong to another group."""
        self._group = group
        if group and hasattr(os, "pidfd_open"):
            try:
                self._leader = os.pidfd_open(group)
            except OSError:
                self.end()  # it has just ended
            else:
                asyncio.get_running_loop().add_reader(self._leader, self.end)

    def end(self) -> None:
        """Kill the server and all processes of its group."""
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

    def stderr_note(self) -> str:
        """Return the end of its standard error, to append to an error message."""
        if self._read_end >= 0:
            self._drain()
        said = " ".join(self._stderr.text().split())
        return f"; it said: {said[-_NOTE_LENGTH:]}" if said else ""

    def close(self) -> None:
        """Kill what is left of the group; ``stderr_note`` still works."""
        if self._read_end < 0:
            return
        self._drain()
        self.end()
        asyncio.get_running_loop().remove_reader(self._read_end)
        os.close(self._read_end)
        os.close(self._write_end)
        self._read_end = self._write_end = -1
