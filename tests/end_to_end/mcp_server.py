"""A real MCP server for tests: ``python mcp_server.py`` on standard input, ``python mcp_server.py http`` on loopback."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import Image, MCPServer
from mcp.types import BlobResourceContents, EmbeddedResource, ResourceLink, TextResourceContents, ToolAnnotations
from starlette.responses import PlainTextResponse

server = MCPServer("errands")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool(name="odd.name")
def refuse(why: str) -> str:
    raise ValueError(why)


@server.tool(structured_output=False)
def show() -> list[object]:
    return [
        "some text",
        Image(data=b"\x89PNG123", format="png"),
        ResourceLink(type="resource_link", uri="file:///notes.txt", name="notes"),
        EmbeddedResource(type="resource", resource=TextResourceContents(uri="memo:1", text="a memo")),
        EmbeddedResource(type="resource", resource=BlobResourceContents(uri="memo:2", blob="AAAA")),
    ]


@server.tool()
def flood() -> str:
    return "x" * 500_000


@server.tool()
def variable(name: str) -> str:
    return os.environ.get(name, "not set")


@server.tool()
def die() -> str:
    print("something broke", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def hang(told: str) -> str:
    Path(told).write_text(str(os.getpid()))
    time.sleep(600)
    return "done"


@server.tool()
def start_helper(own_session: bool = False) -> str:
    """Start a process that outlives its starter."""
    helper = subprocess.Popen(
        ["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=own_session
    )
    return str(helper.pid)


def serve_http(token: str) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app()

    async def only_with_the_token(scope, receive, send):
        known = scope["type"] != "http" or (b"authorization", f"Bearer {token}".encode()) in scope["headers"]
        await (app if known else PlainTextResponse("who are you?", 401))(scope, receive, send)

    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(only_with_the_token, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    serve_http("secret") if sys.argv[1:] == ["http"] else server.run()
