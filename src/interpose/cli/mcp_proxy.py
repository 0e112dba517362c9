"""``interpose mcp-proxy``: put hooks in front of an MCP server."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from io import FileIO, TextIOWrapper
from typing import Annotated, Any

import typer

from ..errors import UsageError
from ..handlers.mcp_servers import HttpServer, McpServer, StdioServer, servers_of
from ..hooks import Hooks
from ..runtime.regex import regex
from . import options
from .loading import current_directory, load_hooks, trace_from_environment
from .render import paint

__all__ = ["run"]

_HEADER = regex(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(.*)")
_NAME = regex(r"[A-Za-z0-9_.-]+")

Target = Annotated[
    list[str] | None,
    typer.Argument(metavar="URL | -- COMMAND...", show_default=False, help="The server: its URL, or how to start it."),
]
Server = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="NAME",
        help="What hooks call the server: its tool `search` is then `mcp__NAME__search`. Default: `search`.",
    ),
]
Header = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="'NAME: VALUE'",
        help="Send this with every request to the URL. ${VARIABLE} is a variable of the environment.",
    ),
]


def run(
    target: Target = None,
    server: Server = "",
    header: Header = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
) -> int:
    """A client starts this command instead of the server, and speaks MCP with it on standard input and output. Every
    tool call and every resource that is read goes through the hooks. The client asks the person, if it can.

    Example: interpose mcp-proxy --config hooks.yaml --server github -- github-mcp-server stdio
    """  # fmt: skip
    backend = _backend(target or [], header or [])
    if server and not _NAME.fullmatch(server):
        raise UsageError(f"--server: {server!a} cannot be a part of a tool's name", hint="letters, digits, - . _")
    hooks = load_hooks(config or [], dialect, cwd, require=True)
    for warning in hooks.warnings:
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: {warning}", file=sys.stderr)
    end_tracing = trace_from_environment(hooks)
    try:
        asyncio.run(_serve(hooks, backend, server))
    except KeyboardInterrupt:
        return 130
    finally:
        end_tracing()
    return 0


def _backend(target: list[str], headers: list[str]) -> McpServer:
    """Return the server that is meant; raise UsageError if it cannot be used."""
    if not target:
        raise UsageError("there is no server", hint="interpose mcp-proxy --config hooks.yaml -- COMMAND, or a URL")
    if target[0].startswith(("http://", "https://")):
        if len(target) > 1:
            raise UsageError(f"{target[1]}: nothing is expected after a URL", hint="options come before the URL")
        pairs = dict(map(_header, headers))
        entry = {"type": "http", "url": target[0], "headers": pairs}
        [found] = servers_of({"mcpServers": {"URL": entry}}, "the command line").values()
        return found
    if headers:
        raise UsageError("--header is for a URL", hint="a server that is started gets the environment of this command")
    program = shutil.which(target[0])
    if program is None:
        raise UsageError(f"the program {target[0]} was not found", hint="check the name, or give its path")
    return StdioServer(os.path.abspath(program), tuple(target[1:]), cwd=current_directory())


def _header(text: str) -> tuple[str, str]:
    found = _HEADER.fullmatch(text)
    if found is None:
        raise UsageError(f"--header: {text!a} is not a header", hint="'NAME: VALUE'")
    return found[1], found[2]


async def _serve(hooks: Hooks, backend: McpServer, server: str) -> None:
    """Pass on what the client says, until it closes standard input."""
    try:
        from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

        from ..adapters.fastmcp import proxy
    except ImportError as error:
        raise UsageError(
            f"mcp-proxy needs the package fastmcp: {error}", hint="pip install 'interpose[fastmcp]'"
        ) from None
    transport: Any
    if isinstance(backend, HttpServer):
        transport = StreamableHttpTransport(backend.url, headers=dict(backend.headers))
    else:
        transport = StdioTransport(backend.command, list(backend.args), env=dict(os.environ), cwd=backend.cwd)
    made = proxy(hooks, transport, server=server, name=server or "interpose")
    # What hooks print goes to descriptor 1 at once, which is standard error while the proxy runs. Text that waits in a
    # buffer would reach the client later, as a message of the protocol.
    sys.stdout = TextIOWrapper(FileIO(1, "w", closefd=False), write_through=True)
    try:
        await made.run_async("stdio", show_banner=False, log_level="WARNING")
    finally:
        sys.stdout = sys.stderr
        await made.middleware[-1].sessions.close()
        await transport.close()
