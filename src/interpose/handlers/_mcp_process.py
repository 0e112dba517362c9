"""Processes of MCP servers: a server ends with everything that it has started, and its standard error is kept.

The transport is ours, because the one of the ``mcp`` package ends the process group only: a process with a session of
its own, or one that is left when the server ends by itself, would stay.
"""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from ..replies import clean
from .mcp_servers import StdioServer
from .processes import ProcessTree, tool_environment

__all__ = ["ServerProcess"]

_NOTE_LENGTH = 300
_MOST_STDERR = 2_000
_FAREWELL = 2.0
"""Seconds for a server to end by itself after its standard input is closed, and again after SIGTERM."""
_DYING = 5.0
"""Seconds to wait for killed processes; only one that the kernel cannot end takes longer."""
_PIECE = 65_536
_LONGEST_LINE = 64 * 1024 * 1024


class ServerProcess:
    """The process tree of one server, and its standard streams."""

    def __init__(self) -> None:
        self._process: ProcessTree | None = None
        self._pipes: dict[str, int] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._stderr = b""  # the end of it

    @property
    def failure(self) -> str:
        """Why the server was not started; empty if it was."""
        return self._process.failure if self._process is not None else ""

    @property
    def has_ended(self) -> bool:
        """Whether the server was started and has ended by itself, or reads no more messages.

        The pipe is looked at because the end of the process is noticed later.
        """
        return self._process is not None and (self._process.exited.done() or self._stdin_is_closed())

    def _stdin_is_closed(self) -> bool:
        descriptor = self._pipes.get("stdin")
        if descriptor is None:
            return True
        poll = select.poll()
        poll.register(descriptor, 0)  # errors are always reported
        return bool(poll.poll(0))

    @asynccontextmanager
    async def transport(self, config: StdioServer) -> AsyncIterator[tuple[Any, Any]]:
        """Start the server and yield the streams of its messages; end it afterwards."""
        import anyio

        self._start(config)
        received, to_session = _channel(anyio)
        from_session, sent = _channel(anyio)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._receive, to_session)
            tasks.start_soon(self._send, from_session, to_session)
            try:
                yield received, sent
            finally:
                with anyio.CancelScope(shield=True):
                    received.close()  # from now on its output is read and dropped, so that it can end
                    await self._stop()
                tasks.cancel_scope.cancel()
                for stream in (to_session, from_session, sent):
                    stream.close()

    def _start(self, config: StdioServer) -> None:
        theirs: list[int] = []
        try:
            for name in ("stdin", "stdout", "stderr"):
                reader, writer = os.pipe()
                self._pipes[name] = writer if name == "stdin" else reader
                theirs.append(reader if name == "stdin" else writer)
                os.set_blocking(self._pipes[name], False)
            self._process = ProcessTree(
                [config.command, *config.args], env=tool_environment(variables=config.env),
                cwd=config.cwd or os.getcwd(), descriptors=theirs,
            )  # fmt: skip
        except BaseException:
            self.close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        asyncio.get_running_loop().add_reader(self._pipes["stderr"], self._read_stderr)

    def _read_stderr(self) -> None:
        try:
            data = os.read(self._pipes["stderr"], _PIECE)
        except BlockingIOError:
            return
        self._stderr = (self._stderr + data)[-_MOST_STDERR:]
        if not data:
            asyncio.get_running_loop().remove_reader(self._pipes["stderr"])

    # Messages.

    async def _receive(self, to_session: Any) -> None:
        """Hand every line of standard output to the session, until the end; drop them if the session is gone."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        message: SessionMessage | ValueError
        async with to_session:
            async for line in self._lines():
                try:
                    message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                except ValueError as error:
                    message = error
                try:
                    await to_session.send(message)
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    break
        while await self._read("stdout"):
            continue  # a server that cannot write cannot end

    async def _lines(self) -> AsyncIterator[bytes]:
        rest = bytearray()
        while (data := await self._read("stdout")) and len(rest) <= _LONGEST_LINE:
            rest += data
            if b"\n" in data:
                *lines, last = bytes(rest).split(b"\n")
                rest = bytearray(last)
                for line in lines:
                    yield line

    async def _send(self, from_session: Any, to_session: Any) -> None:
        """Write every message of the session as a line to standard input."""
        async with from_session:
            async for message in from_session:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                if not await self._write("stdin", f"{text}\n".encode()):
                    await to_session.aclose()  # the session sees that the connection has ended
                    return

    async def _read(self, name: str) -> bytes:
        """Return the next bytes of a pipe; none at its end."""
        while name in self._pipes:
            try:
                return os.read(self._pipes[name], _PIECE)
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await self._ready(name, loop.add_reader, loop.remove_reader)
        return b""

    async def _write(self, name: str, data: bytes) -> bool:
        """Write bytes to a pipe; return whether all of them were taken."""
        while data and name in self._pipes:
            try:
                data = data[os.write(self._pipes[name], data) :]
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await self._ready(name, loop.add_writer, loop.remove_writer)
            except OSError:
                return False
        return not data

    async def _ready(self, name: str, watch: Callable[..., Any], forget: Callable[[int], Any]) -> None:
        """Wait until a pipe can be read or written, or is closed."""
        descriptor = self._pipes[name]
        ready = self._waiting[name] = asyncio.get_running_loop().create_future()
        watch(descriptor, _settle, ready)
        try:
            await ready
        finally:
            if self._pipes.get(name) == descriptor:  # a closed one may have another's number now
                forget(descriptor)

    # The end.

    async def _stop(self) -> None:
        """Close standard input, wait, send SIGTERM, wait, and kill what is left of the tree."""
        process = self._process
        if process is None:
            return
        self._close_pipe("stdin")
        await asyncio.wait({process.exited}, timeout=_FAREWELL)
        if not process.exited.done():
            process.terminate()
            await asyncio.wait({process.exited}, timeout=_FAREWELL)
        process.kill()
        await asyncio.wait({process.ended}, timeout=_DYING)

    def end(self) -> None:
        """Kill the server and everything that it has started."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Kill what is left, and close the pipes; ``stderr_note`` still works."""
        if self._process is not None:
            self._process.close()
        if self._pipes:
            self.stderr_note()
        for name in list(self._pipes):
            self._close_pipe(name)

    def _close_pipe(self, name: str) -> None:
        if (descriptor := self._pipes.pop(name, -1)) >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(descriptor)
            loop.remove_writer(descriptor)
            os.close(descriptor)
            if name in self._waiting:
                _settle(self._waiting.pop(name))

    def stderr_note(self) -> str:
        """Return the end of its standard error, to append to an error message."""
        if "stderr" in self._pipes:
            self._read_stderr()
        said = " ".join(clean(self._stderr.decode("utf-8", "replace")).split())
        return f"; it said: {said[-_NOTE_LENGTH:]}" if said else ""


def _channel(anyio: Any) -> tuple[Any, Any]:
    """Return the ends of a stream without a buffer: the receiving one, then the sending one."""
    sending, receiving = anyio.create_memory_object_stream(0)
    return receiving, sending


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
