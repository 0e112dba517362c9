"""Tools of MCP servers: real servers, as processes and on loopback, that work, fail, hang and die."""

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tests.faults.commands import living
from tests.faults.hosts import eventually

from interpose import UsageError
from interpose.agent.tools import Tool, ToolFailed, Workplace
from interpose.agent.tools.mcp import connect
from interpose.handlers.mcp_servers import HttpServer, McpServer, StdioServer
from interpose.handlers.supervisors import pool

pytestmark = pytest.mark.slow

SERVER = str(Path(__file__).with_name("mcp_server.py"))
PATIENCE = 60.0
"""Seconds for what takes one or two when nobody else works on this machine."""

Call = Callable[..., Awaitable[str]]


@pytest.fixture(autouse=True)
def mark() -> Iterator[str]:
    """What every server of a test has among its variables; afterwards nothing that has it may live."""
    mark = f"mcp{uuid4().hex}"
    pool.close()  # idle supervisors are kept, and each has two descriptors
    before = os.listdir("/dev/fd")
    yield mark
    assert eventually(lambda: not living(mark)), f"processes that are left: {living(mark)}"
    pool.close()
    assert eventually(lambda: len(os.listdir("/dev/fd")) <= len(before) or gc.collect() < 0), "more descriptors"


def errands(mark: str, *args: str) -> StdioServer:
    return StdioServer(sys.executable, (SERVER, *args), {"MARK": mark})


def shell(mark: str, script: str) -> StdioServer:
    return StdioServer("sh", ("-c", script), {"MARK": mark})


def with_servers(
    servers: dict[str, McpServer],
    body: Callable[[Call, tuple[Tool, ...]], Awaitable[None]],
    *,
    start_seconds: float = PATIENCE,
    call_seconds: float = PATIENCE,
) -> list[str]:
    """Connect, do something with the tools, and return what was complained of."""
    problems: list[str] = []

    async def unneeded(path: Path, content: str) -> str:
        return content

    async def host() -> None:
        options = {"start_seconds": start_seconds, "call_seconds": call_seconds}
        async with connect(servers, on_problem=problems.append, **options) as tools:
            named = {tool.name: tool for tool in tools}

            async def call(name: str, /, **given: object) -> str:
                try:
                    return await named[name].run(given, Workplace(Path.cwd(), unneeded))
                except ToolFailed as failed:
                    return f"failed: {failed}"

            await body(call, tools)

    asyncio.run(host())
    return problems


def test_tools_of_a_process_are_listed_and_called(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    said: dict[str, str] = {}
    described: dict[str, tuple[str, str, set[str]]] = {}

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        described.update({tool.name: (tool.kind, tool.description, set(tool.schema["properties"])) for tool in tools})
        said["add"] = await call("mcp__errands__add", a=1, b=2)
        said["missing"] = await call("mcp__errands__add", a=1)
        said["refuse"] = await call("mcp__errands__odd_name", why="no")
        said["show"] = await call("mcp__errands__show")
        said["flood"] = await call("mcp__errands__flood")
        said["own"] = await call("mcp__errands__variable", name="MARK")
        said["secret"] = await call("mcp__errands__variable", name="ANTHROPIC_API_KEY")
        said["many"] = " ".join(
            await asyncio.gather(*(call("mcp__errands__add", a=number, b=0) for number in range(20)))
        )

    assert with_servers({"errands": errands(mark)}, body) == []

    assert described["mcp__errands__add"] == ("run", "Add two numbers.", {"a", "b"})
    assert described["mcp__errands__odd_name"] == ("run", "odd.name", {"why"})
    assert said["add"] == "3"
    assert said["missing"].startswith("failed: Error executing tool add")
    assert said["refuse"].startswith("failed: Error executing tool odd.name")
    assert said["show"].split("\n") == [
        "some text",
        "(image, image/png, 7 bytes: it cannot be shown as text)",
        "(resource file:///notes.txt: notes)",
        "(resource memo:1)",
        "a memo",
        "(resource memo:2, binary, 3 bytes: it cannot be shown as text)",
    ]
    assert len(said["flood"]) < 101_000
    assert "400,000 characters left out" in said["flood"]
    assert (said["own"], said["secret"]) == (mark, "not set")
    assert said["many"] == " ".join(map(str, range(20)))


def test_servers_that_do_not_start_are_named_and_the_others_work(mark: str) -> None:
    said: list[str] = []

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        said.append(await call("mcp__errands__add", a=1, b=2))
        assert {tool.name.split("__")[1] for tool in tools} == {"errands"}

    problems = with_servers(
        {
            "absent": StdioServer("no-such-program", (), {"MARK": mark}),
            "broken": shell(mark, "echo cannot find my settings >&2; exit 4"),
            "errands": errands(mark),
            "nowhere": HttpServer("http://127.0.0.1:9/mcp"),
            "lost": StdioServer("true", cwd="/no/such/directory"),
            "noisy": shell(mark, "echo this is no protocol; cat"),
        },
        body,
    )

    assert said == ["3"]
    starts = [
        "MCP server absent: no-such-program was not found on PATH",
        "MCP server broken: Connection closed; it said: cannot find my settings",
        "MCP server nowhere: All connection attempts failed",
        "MCP server lost: the directory to run in does not exist: '/no/such/directory'",
        "MCP server noisy: ",
    ]
    assert [problem[: len(start)] for problem, start in zip(problems, starts, strict=True)] == starts


def test_a_server_that_hangs_at_the_start_holds_nobody_up_for_long(mark: str) -> None:
    began = time.monotonic()
    ready: list[float] = []

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        ready.append(time.monotonic() - began)
        assert tools == ()

    problems = with_servers({"slow": shell(mark, "echo warming up >&2; sleep 600")}, body, start_seconds=5.0)

    assert problems == ["MCP server slow: no answer within 5 s; it said: warming up"]
    assert ready[0] < PATIENCE / 2


def test_a_server_that_dies_in_the_middle_fails_its_calls_and_no_others(mark: str) -> None:
    said: list[str] = []

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        said.append(await call("mcp__one__die"))
        said.append(await call("mcp__one__add", a=1, b=2))
        said.append(await call("mcp__two__add", a=1, b=2))

    assert with_servers({"one": errands(mark), "two": errands(mark)}, body) == []

    assert said[0].startswith("failed: MCP server one: Connection closed; it said: ")
    assert said[0].endswith("something broke")
    assert said[1].startswith("failed: MCP server one: Connection closed")
    assert said[2] == "3"


def test_a_call_that_hangs_fails_at_its_deadline(mark: str, tmp_path: Path) -> None:
    said: list[str] = []

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        said.append(await call("mcp__errands__hang", told=str(tmp_path / "told")))

    with_servers({"errands": errands(mark)}, body, call_seconds=1.0)

    assert said == ["failed: MCP server errands: no answer within 1 s"]


def test_a_cancelled_host_leaves_no_server(mark: str, tmp_path: Path) -> None:
    told = tmp_path / "told"

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        await call("mcp__errands__hang", told=str(told))

    async def host() -> None:
        task = asyncio.create_task(asyncio.to_thread(with_servers, {"errands": errands(mark)}, cancelled))
        await task

    async def cancelled(call: Call, tools: tuple[Tool, ...]) -> None:
        me = asyncio.current_task()
        assert me is not None
        hanging = asyncio.create_task(body(call, tools))
        while not told.exists():  # noqa: ASYNC110 - a server says so, outside this loop
            await asyncio.sleep(0.01)
        for delay in (0.0, 0.05, 0.5):  # once, and while it closes
            asyncio.get_running_loop().call_later(delay, me.cancel)
        await hanging

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(host())

    assert living(mark) == []


def test_what_a_server_started_ends_with_it(mark: str) -> None:
    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        for own_session in (False, True):
            helper = int(await call("mcp__errands__start_helper", own_session=own_session))
            assert any(process.startswith(f"{helper} ") for process in living(mark))

    with_servers({"errands": errands(mark)}, body)

    assert living(mark) == []


def test_a_server_that_neither_reads_nor_ends_is_ended_with_what_it_started(mark: str) -> None:
    script = "trap '' TERM; setsid sleep 600 & while :; do echo noise; done"

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        assert tools == ()

    problems = with_servers({"deaf": shell(mark, script)}, body, start_seconds=0.5)

    assert living(mark) == []
    assert len(problems) == 1


@pytest.fixture
def web() -> Iterator[str]:
    """A server on loopback that asks for a token; its address."""
    process = subprocess.Popen(
        [sys.executable, SERVER, "http"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    with process.stdout:
        port = process.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()
        process.wait()


def test_tools_behind_an_address_are_called_with_their_headers(web: str) -> None:
    said: list[str] = []

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        said.append(await call("mcp__web__add", a=1, b=2))

    problems = with_servers(
        {"web": HttpServer(web, {"Authorization": "Bearer secret"}), "stranger": HttpServer(web)}, body
    )

    assert said == ["3"]
    assert len(problems) == 1
    assert problems[0].startswith("MCP server stranger: ")
    assert problems[0].endswith("(HTTP status 401)")


def test_two_tools_that_would_have_one_name_are_told_apart(mark: str) -> None:
    names: list[str] = []

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        names.extend(tool.name for tool in tools)

    problems = with_servers({"my.errands": errands(mark), "my_errands": errands(mark)}, body)

    assert len(names) == len(set(names)) == 8
    assert len(problems) == 8
    assert problems[0] == "MCP server my_errands: its tool add is left out: there is another mcp__my_errands__add"


def test_without_servers_nothing_is_imported_or_started() -> None:
    script = (
        "import asyncio, sys\n"
        "from interpose.agent.tools.mcp import connect\n"
        "async def main():\n"
        "    async with connect({}, on_problem=print) as tools: print(tools, 'mcp' in sys.modules)\n"
        "asyncio.run(main())\n"
    )

    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert said == "() False\n"


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    async def body(call: Call, tools: tuple[Tool, ...]) -> None:
        raise AssertionError

    with pytest.raises(UsageError, match=r"pip install 'interpose\[mcp\]'"):
        with_servers({"errands": StdioServer("true")}, body)
