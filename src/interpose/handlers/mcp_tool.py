"""Tools of MCP servers as hooks: a tool is called with parts of the event, and the text of its result is the answer."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..event import Event
from ..model import Hook
from ..records import Record, made_by
from ..replies import Ended, Failure, HookFailed
from ..runtime.held_signals import HeldSignals
from ..runtime.regex import regex
from . import hold_to_trust
from ._encoded import written_event
from ._watch import wait_until
from .declared_command import Command
from .mcp_servers import HttpServer, McpServer, StdioServer

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ._mcp_pool import McpPool

__all__ = ["LARGEST_ANSWER", "McpTool", "McpToolHandler", "mcp_tool_of"]

LARGEST_ANSWER = 1024 * 1024
"""How many bytes the text of a result may have: as many as the standard output of a command."""
_SHOWN = 300
_PATH = regex(r"\$\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}")


class McpTool(Record):
    """The tool of a hook, as declared."""

    name: str
    """The name of the server."""
    tool: str
    input: Mapping[str, Any] = made_by(factory=dict)
    """What the tool is given; ``${tool_input.file_path}`` in a text stands for a part of the event."""
    server: McpServer | None = None
    """None if no server of that name is configured."""
    program: Command | None = None
    """The program of the server, as it was found when the hook was declared; None for a server at a URL."""
    problem: str = ""
    """Why the server cannot be used."""
    dialect: str
    write: Callable[[Event], Mapping[str, Any]]
    """Writes an event in the hook's dialect."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What two hooks that do the same have in common."""
        return self.name, self.tool, repr(self.input), repr(self.server), self.problem

    @property
    def shown_server(self) -> str:
        """The server, as a person is shown it: its program and arguments, or its address."""
        if isinstance(self.server, HttpServer):
            scheme, mark, rest = self.server.url.partition("?")[0].partition("://")
            host, slash, path = rest.partition("/")
            return scheme + mark + host.rpartition("@")[2] + slash + path
        return " ".join(self.program.given) if self.program is not None else self.problem

    def runs(self) -> McpServer:
        """Return the server with the program that was found; raise HookFailed if there is none."""
        if self.server is None:
            raise HookFailed("mcp_server", f"MCP server {self.name} cannot be used: {self.problem}")
        if isinstance(self.server, HttpServer) or self.program is None:
            return self.server
        path = self.program.path
        if not os.path.isfile(path):
            raise HookFailed("spawn_not_found", f"the program of MCP server {self.name} does not exist: {path}")
        if not os.access(path, os.X_OK):
            raise HookFailed("spawn_permission", f"the program of MCP server {self.name} is not executable: {path}")
        words = tuple(self.program.argv[1:])
        return StdioServer(path, words, self.program.env, self.program.cwd or self.server.cwd)

    def arguments(self, event: Event) -> dict[str, Any]:
        """Return what the tool is given for an event."""
        if not self.input:
            return {}
        fields = written_event(event, self.write)
        made: dict[str, Any] = _filled(dict(self.input), fields)
        return made


def _filled(value: Any, fields: Mapping[str, Any]) -> Any:
    """Return a value with the parts of the event in its texts."""
    if isinstance(value, str):
        return _PATH.sub(lambda found: _part(fields, found[1].split(".")), value)
    if isinstance(value, Mapping):
        return {name: _filled(item, fields) for name, item in value.items()}
    return [_filled(item, fields) for item in value] if isinstance(value, list) else value


def _part(value: Any, path: list[str]) -> str:
    """Return a part of the event as text: nothing if it is not there, JSON if it is not text."""
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, (list, tuple)) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def mcp_tool_of(hook: Hook) -> McpTool | None:
    """Return the tool of a hook; None if it runs something else."""
    target = hook.binding.target
    return target if isinstance(target, McpTool) else None


class McpToolHandler:
    """Calls the tool of a hook, and returns the text of its result as a command's end."""

    ends_itself = True
    only_reads = True

    def __init__(self) -> None:
        self._pool: McpPool | None = None

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Call the tool while the current event loop goes on."""
        import asyncio

        tool = _tool(hook)
        try:
            call = self._begin(hook, tool, event)
        except HookFailed as error:
            return _ended(hook, tool, event, error.failure)
        waiting = asyncio.wrap_future(call)
        try:
            await asyncio.wait({waiting}, timeout=max(0.0, deadline - monotonic()))
        finally:
            if not waiting.done():
                waiting.cancel()  # and with it the call
        return _read(hook, tool, event, call)

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Call the tool while the calling thread waits."""
        tool = _tool(hook)
        with HeldSignals() as signals:
            try:
                call = self._begin(hook, tool, event)
            except HookFailed as error:
                return _ended(hook, tool, event, error.failure)
            wait_until(deadline, call, signals)
            return _read(hook, tool, event, call)

    def close(self) -> None:
        """End every server that was started; a later event starts it again."""
        if self._pool is not None:
            self._pool.close()

    def _begin(self, hook: Hook, tool: McpTool, event: Event) -> Future[Any]:
        hold_to_trust(hook.binding.seal)
        server = tool.runs()
        arguments = tool.arguments(event)
        if self._pool is None:
            from ._mcp_pool import McpPool

            self._pool = McpPool()
            weakref.finalize(self, self._pool.close)
        return self._pool.call(tool.name, server, tool.tool, arguments)


def _tool(hook: Hook) -> McpTool:
    tool = mcp_tool_of(hook)
    if tool is None:
        raise TypeError(f"{hook.label} has no tool of an MCP server")
    return tool


def _read(hook: Hook, tool: McpTool, event: Event, call: Future[Any]) -> Ended:
    """Return the result of a call that has ended, or was given up."""
    if call.cancelled() or not call.done():
        return _ended(hook, tool, event, Failure("timeout", f"MCP server {tool.name} did not answer"))
    try:
        result = call.result()
    except HookFailed as error:
        return _ended(hook, tool, event, error.failure)
    texts = [block.text for block in result.content if block.type == "text"]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content)]
    said = "\n".join(texts).encode("utf-8", "replace")
    failure = None
    if len(said) > LARGEST_ANSWER:
        failure = Failure("mcp_too_large", f"the result of {tool.tool} has more than {LARGEST_ANSWER} bytes")
        said = said[:LARGEST_ANSWER]
    elif result.is_error:
        why = " ".join(said[:_SHOWN].decode("utf-8", "replace").split())
        failure = Failure("mcp_tool_error", f"the tool {tool.tool} of MCP server {tool.name} failed: {why}")
    return _ended(hook, tool, event, failure, said)


def _ended(hook: Hook, tool: McpTool, event: Event, failure: Failure | None, stdout: bytes = b"") -> Ended:
    evidence: dict[str, Any] = {"hook": hook.label, "server": tool.name, "tool": tool.tool}
    if tool.dialect != "native":
        evidence["tool_name"] = event.get("tool_name", "")
    if failure is not None:
        failure = Failure(failure.code, failure.text, trace=failure.trace, evidence=evidence)
    return Ended(stdout=stdout, failure=failure, evidence=evidence)
