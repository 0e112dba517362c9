"""The Claude Agent SDK, with the Claude Code that it brings and a scripted Messages server on loopback."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import count, house, rows_of
from tests.end_to_end.model_servers import AnthropicServer

from interpose.adapters.claude_agent_sdk import options

SHELL = "mcp__house__shell"


class Server(AnthropicServer):
    """Plays turns to the agent whose tools it knows; other requests of Claude Code get a short answer."""

    path = "/v1/messages?beta=true"

    def __init__(self, turns: Sequence[Any], inner: Sequence[Any] = (), call: Any = None) -> None:
        super().__init__([])
        self.scripts = {"main": list(turns), "inner": list(inner)}
        self.call = call or (lambda one: (SHELL, {"cmd": one}))
        self.asked: list[dict[str, Any]] = []

    def check(self, body: Any) -> None:
        """Accept what Claude Code sends."""

    def sent(self, body: Any) -> str:
        return ""

    def next_turn(self, body: Any, key: str) -> Any:
        tools = {one.get("name") for one in body.get("tools", ())}
        if not tools:  # Claude Code asks for a title and the like
            return {"say": "ok"}
        who = "inner" if "INNER" in json.dumps(body.get("system", "")) else "main"
        with self._lock:
            self.asked.append(body)
            turn = self.scripts[who].pop(0) if self.scripts[who] else "the script is at its end"
        if isinstance(turn, str):
            return {"say": turn}
        name = self.call if who == "main" else lambda one: (SHELL, {"cmd": one})
        return {"calls": [dict([name(one)]) for one in turn]}

    @property
    def texts(self) -> list[str]:
        return [json.dumps(body["messages"]) for body in self.asked]

    @property
    def results(self) -> list[str]:
        found: dict[str, str] = {}
        for body in self.asked:
            for message in body["messages"]:
                for block in message["content"] if isinstance(message["content"], list) else ():
                    if block.get("type") == "tool_result":
                        found[block["tool_use_id"]] = json.dumps(block["content"])
        return list(found.values())


def shell_server(shell: Any) -> Any:
    @tool("shell", "Run a command.", {"cmd": str})
    async def run(given: dict[str, Any]) -> dict[str, Any]:
        said = shell(given["cmd"])
        return {"content": [{"type": "text", "text": await said if hasattr(said, "__await__") else said}]}

    return create_sdk_mcp_server("house", tools=[run])


def base(server: Server, shell: Any, home: str, **more: Any) -> ClaudeAgentOptions:
    environ = {**server.environ, "HOME": home, "CLAUDE_CONFIG_DIR": home, "DISABLE_TELEMETRY": "1",
               "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}  # fmt: skip
    return ClaudeAgentOptions(**{
        "tools": [], "mcp_servers": {"house": shell_server(shell)}, "setting_sources": [], "env": environ, "cwd": home,
        "allowed_tools": [SHELL], **more,
    })  # fmt: skip


class ClaudeAgentSDK(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "message": "it has nothing to call around a request to the model",
        "sync": "it has no call for code without an event loop",
        "handoff": "it has no handoffs: an agent calls another one as a tool",
        "handoff_denied": "it has no handoffs: an agent calls another one as a tool",
        "framework_object": "tools get JSON",
        "cancelled": "Claude Code does not tell that a call was interrupted; the next prompt does",
    }

    async def _play(self, server: Server, shell: Any, change: Any, *, prompt: str = "go", **more: Any) -> Played:
        final = ""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, server:
            async for message in query(prompt=prompt, options=change(base(server, shell, home, **more))):
                if isinstance(message, ResultMessage):
                    final = message.result or ""
        return Played(shell.ran, server.results, server.texts, final)

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        change = lambda given: options(hooks, given, ask=ask)  # noqa: E731
        return await self._play(Server(turns), Shell(), change, prompt=prompt, include_partial_messages=streamed)

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        asked = []

        async def can_use_tool(name: str, given: Any, context: Any) -> Any:
            asked.append(context.decision_reason)
            if isinstance(answer, Mapping):
                return PermissionResultAllow(updated_input=dict(answer))
            return PermissionResultAllow() if answer else PermissionResultDeny(message="no")

        played = await self._play(Server(turns), Shell(), lambda given: options(HOOKS, given), can_use_tool=can_use_tool,
                                  allowed_tools=[])  # fmt: skip
        assert asked
        return played

    async def play_cancelled(self, begun: Callable[[], None], *, again: bool = False) -> Played:
        shell, waits, server = Shell(), asyncio.Event(), Server([["sleep"], "never said"])

        async def slow(cmd: str) -> str:
            shell(cmd)
            begun()
            waits.set()
            await asyncio.Event().wait()
            return ""

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, server:
            async with ClaudeSDKClient(options(HOOKS, base(server, slow, home))) as client:
                await client.query("go")
                await waits.wait()
                await client.interrupt()
                async for _ in client.receive_response():
                    pass
                if again:
                    await client.query("again")
                    async for _ in client.receive_response():
                        pass
        return Played(shell.ran)

    async def play_subagent(self, agent: str, command: str) -> Played:
        given = {"description": "help", "prompt": "do it", "subagent_type": agent}
        server = Server([["go"], "done"], [[command], "inner is done"], lambda one: ("Agent", given))
        helper = AgentDefinition(description="A helper.", prompt="INNER", tools=[SHELL])
        change = lambda given: options(HOOKS, given)  # noqa: E731
        return await self._play(
            server, Shell(), change, tools=["Agent"], agents={agent: helper}, allowed_tools=[SHELL, "Agent"]
        )


test_the_same_hooks_hold = rows_of(ClaudeAgentSDK)


@pytest.fixture(autouse=True)
def _forget() -> None:
    house.seen.clear()


# What holds beside the table.


def play(turns: Sequence[Any], change: Any, **more: Any) -> Played:
    return asyncio.run(ClaudeAgentSDK()._play(Server(turns), Shell(), change, **more))


def test_a_call_that_was_interrupted_ends_with_the_next_prompt() -> None:
    asyncio.run(ClaudeAgentSDK().play_cancelled(lambda: None, again=True))

    assert count("PostToolUseFailure", is_interrupt=True) == 1


def test_a_session_of_claude_code_is_a_session_of_the_hooks() -> None:
    play([["ls"], "done"], lambda given: options(HOOKS, given))

    assert count("SessionStart") == 1
    assert len({one["session_id"] for one in house.seen}) == 1


def test_an_error_of_the_adapter_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr("interpose.adapters.claude_agent_sdk_calls.Calls.begin", broken)
    played = play([["ls"], "done"], lambda given: options(HOOKS, given))

    assert played.ran == []
    assert "it cannot be judged: RuntimeError: broken" in played.results[0]


def test_hooks_of_the_options_are_kept() -> None:
    seen = []

    async def own(given: Any, id: Any, context: Any) -> Any:
        seen.append(given["tool_name"])
        return {}

    matchers = {"PreToolUse": [HookMatcher(hooks=[own])]}
    played = play([["rm -rf /"], "done"], lambda given: options(HOOKS, given), hooks=matchers)

    assert seen == [SHELL]
    assert played.ran == []


def test_the_page_shows_what_its_program_prints() -> None:
    server = Server([["ls", "rm -rf /"], "done"], call=lambda one: ("mcp__house__run_command", {"cmd": one}))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, server:
        assert_page_shows("claude_agent_sdk", **server.environ, HOME=home, CLAUDE_CONFIG_DIR=home)


# What escapes: each test fails on the day on which the framework closes the hole.


def test_escapes_what_the_model_is_asked_and_answers() -> None:
    play(["done"], lambda given: options(HOOKS, given))

    assert count("pre:message") == count("post:message") == 0


def test_escapes_an_agent_without_the_options() -> None:
    played = play([["rm -rf /"], "done"], lambda given: given)

    assert played.ran == ["rm -rf /"]


def test_escapes_a_tool_that_is_called_directly() -> None:
    shell = Shell()

    @tool("shell", "Run a command.", {"cmd": str})
    async def run(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": shell(given["cmd"])}]}

    options(HOOKS, ClaudeAgentOptions(mcp_servers={"house": create_sdk_mcp_server("house", tools=[run])}))
    asyncio.run(run.handler({"cmd": "rm -rf /"}))  # type: ignore[arg-type]

    assert shell.ran == ["rm -rf /"]
