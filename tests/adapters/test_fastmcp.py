"""FastMCP, without a model: a script calls the tools of a governed server, and those behind a governed proxy."""

import asyncio
import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from fastmcp.server.providers.proxy import FastMCPProxy
from mcp import Client as ClientOfMcp
from mcp import MCPError, StdioServerParameters
from mcp_types import CallToolResult, TextContent
from tests.adapters.driver import HOOKS, Shell
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import house, rows_of
from tests.adapters.test_mcp import NO_SESSIONS, Connected, governed_reads, read

from interpose import Hooks, deny
from interpose.adapters.fastmcp import middleware, proxy


class Called:
    """A client that returns errors as results."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        return await self._client.call_tool(name, arguments, raise_on_error=False)


class InServer(Connected):
    """One middleware governs all connections, those of two conversations and that of an agent in a tool."""

    place = "server"
    mode = "legacy"

    def __init__(self) -> None:
        self.shared: Any = None

    def make_server(self, *tools: tuple[str, Any]) -> Any:
        made = FastMCP("errands")
        for name, tool in tools:
            made.tool(tool, name=name)
        return made

    async def govern(self, made: Any, stack: AsyncExitStack, *, hooks: Path, **options: Any) -> Any:
        self.shared = self.shared or middleware(hooks, **options)
        made.add_middleware(self.shared)
        return made

    @asynccontextmanager
    async def connect(self, made: Any, answer: Any) -> Any:
        async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
            return read(answer, params)

        asks = {"elicitation_handler": elicited} if answer is not None else {}
        async with Client(made, mode=self.mode, **asks) as client:
            yield Called(client)


class InServerWithoutSessions(InServer):
    """On connections of 2026-07-28 a question is a result, and the client sends the call again with the answer."""

    place = "server, 2026-07-28"
    mode = "auto"
    cannot: ClassVar[Mapping[str, str]] = {**Connected.cannot, **NO_SESSIONS}


class InProxy(InServer):
    place = "proxy"

    async def govern(self, made: Any, stack: AsyncExitStack, *, hooks: Path, **options: Any) -> Any:
        governed = proxy(hooks, made, **options)
        self.shared = self.shared or governed.middleware[-1]
        governed.middleware[-1] = self.shared
        return governed


class InProxyWithoutSessions(InProxy):
    place = "proxy, 2026-07-28"
    mode = "auto"
    cannot: ClassVar[Mapping[str, str]] = {**Connected.cannot, **NO_SESSIONS}


test_the_same_hooks_hold_in_a_server = rows_of(InServer)
test_the_same_hooks_hold_in_a_server_without_sessions = rows_of(InServerWithoutSessions)
test_the_same_hooks_hold_in_a_proxy = rows_of(InProxy)
test_the_same_hooks_hold_in_a_proxy_without_sessions = rows_of(InProxyWithoutSessions)


# What the table has no row for.


def errands() -> tuple[FastMCP, Shell]:
    made, shell = FastMCP("errands"), Shell()
    made.tool(shell.__call__, name="shell")

    @made.resource("memo://open")
    def open_memo() -> str:
        return "a secret plan"

    @made.resource("memo://bytes")
    def bytes_memo() -> bytes:
        return b"\x89 bytes"

    @made.resource("memo://closed")
    def closed_memo() -> str:
        return "a closed memo"

    @made.tool
    def raw() -> CallToolResult:
        return CallToolResult(
            content=[TextContent(type="text", text="a secret")], structured_content={"kept": "secret"}
        )

    return made, shell


@pytest.mark.parametrize("make", [lambda made: made, lambda made: FastMCPProxy(client_factory=lambda: Client(made))])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_resource_is_read_like_a_tool(make: Any, mode: str) -> None:
    async def main() -> None:
        made = make(errands()[0])
        made.add_middleware(middleware(governed_reads()))
        async with Client(made, mode=mode) as client:
            read_open = await client.read_resource("memo://open")
            read_bytes = await client.read_resource("memo://bytes")
            with pytest.raises(MCPError, match="closed memos are not read"):
                await client.read_resource("memo://closed")

        assert [one.text for one in read_open] == ["a *** plan"]
        assert [b64decode(one.blob) for one in read_bytes] == [b"\x89 bytes"]

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_person_is_asked_about_a_resource(mode: str) -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", house.asks, matcher="ReadMcpResourceTool")
        made = errands()[0]
        made.add_middleware(middleware(hooks))
        asked: list[str] = []

        async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
            asked.append(message)
            return read("closed" not in message, params)

        async with Client(made, mode=mode, elicitation_handler=elicited) as client:
            [found] = await client.read_resource("memo://open")
            with pytest.raises(MCPError, match="did not allow it"):
                await client.read_resource("memo://closed")

        assert found.text == "a secret plan"
        assert len(asked) == 2

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_result_that_a_tool_has_made_for_the_wire_is_redacted(mode: str) -> None:
    async def main() -> None:
        made = errands()[0]
        made.add_middleware(middleware(HOOKS))
        async with Client(made, mode=mode) as client:
            result = await client.call_tool("raw", {})

        assert (result.content[0].text, result.structured_content) == ("a ***", {"kept": "***"})

    asyncio.run(main())


def test_python_code_that_calls_the_server_is_governed_and_cannot_be_asked() -> None:
    made, shell = errands()
    made.add_middleware(middleware(HOOKS))

    denied = asyncio.run(made.call_tool("shell", {"cmd": "rm x"}))
    asked = asyncio.run(made.call_tool("shell", {"cmd": "askme x"}))

    assert denied.is_error
    assert "there is no client" in asked.content[0].text
    assert shell.ran == []


def test_a_server_in_another_process_is_governed_by_a_proxy() -> None:
    async def main() -> None:
        house.seen.clear()
        program = Path(__file__).parents[1] / "end_to_end" / "mcp_server.py"
        target = {"mcpServers": {"errands": {"command": sys.executable, "args": [str(program)]}}}
        hooks = Hooks()
        hooks.register("PreToolUse", house.note)
        hooks.register("PreToolUse", lambda event: deny("not this one"), matcher="mcp__errands__variable")
        async with Client(proxy(hooks, target, server="errands")) as client:
            added = await client.call_tool("add", {"a": 1, "b": 2})
            denied = await client.call_tool("variable", {"name": "HOME"}, raise_on_error=False)

        assert added.content[0].text == "3"
        assert denied.content[0].text == "mcp__errands__variable was not run: not this one"
        assert [one["tool_name"] for one in house.seen] == ["mcp__errands__add", "mcp__errands__variable"]

    asyncio.run(main())


# What escapes.


def test_escapes_a_call_without_middleware() -> None:
    made, shell = errands()
    made.add_middleware(middleware(HOOKS))

    asyncio.run(made.call_tool("shell", {"cmd": "rm x"}, run_middleware=False))

    assert shell.ran == ["rm x"]


def test_escapes_a_direct_call_of_the_tool() -> None:
    async def main() -> None:
        made, shell = errands()
        made.add_middleware(middleware(HOOKS))
        tool = await made.get_tool("shell")
        assert tool is not None

        await tool.run({"cmd": "rm x"})

        assert shell.ran == ["rm x"]

    asyncio.run(main())


def test_escapes_a_prompt_of_the_server() -> None:
    async def main() -> None:
        house.seen.clear()
        made = FastMCP("errands", middleware=[middleware(HOOKS)])
        made.prompt(lambda: "greet the secret person", name="greet")
        async with Client(made) as client:
            prompt = await client.get_prompt("greet")

        assert prompt.messages[0].content.text == "greet the secret person"
        assert house.seen == []

    asyncio.run(main())


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("fastmcp")


# The command.

HOOKS_OF_THE_PROXY = """
hooks:
  PreToolUse:
    - {name: loud, handler: loud.say}
    - name: private
      matcher: mcp__errands__variable
      command: "grep -q 'name.: *.HOME' && { echo 'that is private' >&2; exit 2; } || exit 0"
      onError: abort
    - {name: asks, matcher: mcp__errands__show, handler: loud.asks}
  SessionEnd:
    - {name: end, command: "echo ended >> ended.txt"}
"""
LOUD = """
from interpose import ask

def say(event):
    print("a hook prints")

def asks(event):
    return ask("may it show?")
"""
PROGRAM = "import sys; from interpose.cli import main; sys.exit(main())"
ERRANDS = str(Path(__file__).parents[1] / "end_to_end" / "mcp_server.py")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "hooks.yaml").write_text(HOOKS_OF_THE_PROXY)
    (tmp_path / "loud.py").write_text(LOUD)
    return tmp_path


def command(project: Path, *words: str, **variables: str) -> StdioServerParameters:
    source = str(Path(__file__).parents[2] / "src")
    environment = {"PYTHONPATH": source, "PATH": os.environ["PATH"], "HOME": str(project), **variables}
    given = ["-c", PROGRAM, "mcp-proxy", "--config", "hooks.yaml", "--server", "errands", *words]
    return StdioServerParameters(command=sys.executable, args=given, env=environment, cwd=str(project))


async def filled_in(context: Any, params: Any) -> Any:
    return read(True, params)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_command_governs_a_server_that_it_starts(
    mode: str, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        started = command(project, "--", sys.executable, ERRANDS, SECRET_OF_THE_SERVER="found")
        async with ClientOfMcp(started, mode=mode, elicitation_callback=filled_in) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            added = await client.call_tool("add", {"a": 1, "b": 2})
            denied = await client.call_tool("variable", {"name": "HOME"})
            inherited = await client.call_tool("variable", {"name": "SECRET_OF_THE_SERVER"})
            shown = await client.call_tool("show", {})

        assert "variable" in names
        assert (added.content[0].text, inherited.content[0].text) == ("3", "found")
        assert (denied.is_error, denied.content[0].text) == (
            True,
            "mcp__errands__variable was not run: that is private",
        )
        assert [one.type for one in shown.content][:2] == ["text", "image"]
        assert (project / "ended.txt").read_text() == "ended\n"

    asyncio.run(main())
    assert "a hook prints" not in caplog.text  # what the hook prints is no message of the protocol


def test_the_command_governs_a_server_at_a_url(project: Path) -> None:
    async def main(port: str) -> None:
        words = ["--header", "Authorization: Bearer ${TOKEN}", f"http://127.0.0.1:{port}/mcp"]
        async with ClientOfMcp(command(project, *words, TOKEN="secret")) as client:
            added = await client.call_tool("add", {"a": 1, "b": 2})
            denied = await client.call_tool("variable", {"name": "HOME"})

        assert (added.content[0].text, denied.is_error) == ("3", True)

    served = subprocess.Popen([sys.executable, ERRANDS, "http"], stdout=subprocess.PIPE, text=True)
    assert served.stdout is not None
    try:
        asyncio.run(main(served.stdout.readline().strip()))
    finally:
        served.terminate()
        served.wait()
        served.stdout.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_proxy_speaks_with_a_server_that_is_older_than_the_client(mode: str) -> None:
    async def main() -> None:
        old = StdioTransport(sys.executable, [str(Path(__file__).with_name("old_server.py"))])
        async with Client(proxy(HOOKS, old), mode=mode) as client:
            result = await client.call_tool("echo", {"text": "a secret"})
            others = [*await client.list_prompts(), *await client.list_resources()]
        await old.close()

        assert (result.content[0].text, others) == ("a ***", [])

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("target", "said"),
    [
        (lambda: StdioTransport("false", []), "Connection closed"),
        (lambda: "http://127.0.0.1:9/mcp", "failed to connect"),
    ],
    ids=["program", "url"],
)
def test_a_server_that_does_not_answer_is_not_a_server_without_tools(target: Any, said: str, mode: str) -> None:
    async def main() -> None:
        async with Client(proxy(HOOKS, target()), mode=mode) as client:
            with pytest.raises(MCPError, match=said):
                await client.list_tools()
            with pytest.raises((MCPError, ToolError), match=said):
                await client.call_tool("shell", {"cmd": "ls"})

    asyncio.run(main())


def test_a_server_behind_a_proxy_can_ask_the_person_itself() -> None:
    async def main() -> None:
        made = FastMCP("errands")

        @made.tool
        async def greet(ctx: Context) -> str:
            said = await ctx.elicit("your name", response_type=str)
            return f"hello {said.data}"

        async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
            return {"value": "Ada"}

        async with Client(proxy(HOOKS, made), mode="legacy", elicitation_handler=elicited) as client:
            result = await client.call_tool("greet", {})

        assert result.content[0].text == "hello Ada"

    asyncio.run(main())
