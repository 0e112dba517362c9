"""Tools of MCP servers as hooks: servers that answer, refuse, hang, die and are not there; nothing of them is left."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.faults.commands import alive, living
from tests.faults.hosts import BUSY, CALL, eventually, run, unharmed, within
from tests.faults.http_servers import Server, Visit, answer

from interpose import Hooks, Outcome
from interpose.handlers._mcp_process import ServerProcess
from interpose.handlers.mcp_client import load_mcp_package
from interpose.handlers.mcp_servers import StdioServer

pytestmark = pytest.mark.slow

"""Seconds: the first call imports the package."""
PATIENCE = 60.0
SERVER = str(Path(__file__).with_name("mcp_small_server.py"))
REAL_SERVER = str(Path(__file__).parents[1] / "end_to_end" / "mcp_server.py")


@pytest.fixture(scope="module", autouse=True)
def package() -> None:
    """The package is imported before anything is measured."""
    load_mcp_package()


@pytest.fixture(autouse=True)
def mark() -> Iterator[str]:
    """What every server of a test has among its variables; afterwards nothing that has it may live."""
    mark = f"mcp{uuid4().hex}"
    yield mark
    assert eventually(lambda: not living(mark)), f"processes that are left: {living(mark)}"


def on_a_loop(hooks: Hooks, **fields: Any) -> Outcome:
    return unharmed(lambda: run(hooks.fire("PreToolUse", **(fields or CALL))))


def without_a_loop(hooks: Hooks, **fields: Any) -> Outcome:
    return unharmed(lambda: hooks.fire_sync("PreToolUse", **(fields or CALL)))


Fire = Callable[..., Outcome]


@pytest.fixture(params=[on_a_loop, without_a_loop])
def fire(request: pytest.FixtureRequest) -> Fire:
    """Fire on an event loop, and without one."""
    found: Fire = request.param
    return found


def small(mark: str, *args: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-S", SERVER, *args], "env": {"MARK": mark}}


def calls(server: dict[str, Any], tool: str, given: dict[str, Any] | None = None, **options: Any) -> Hooks:
    """Return hooks with one that calls this tool."""
    hooks = Hooks()
    options = {"timeout": PATIENCE, "name": "remote", **options}
    hooks.register("PreToolUse", server=server, tool=tool, input=given, **options)
    return hooks


def code(outcome: Outcome) -> str:
    [result] = outcome.results
    return result.error.code if result.error else ""


# What a tool is given, and what its result does.


def test_the_text_of_a_result_is_an_answer_and_parts_of_the_event_are_filled_in(mark: str, fire: Fire) -> None:
    given = {
        "line": "run ${tool_input.command}!",
        "list": ["${tool_name}", 7],
        "whole": "${tool_input}",
        "no": "${x.y}",
    }
    hooks = calls(small(mark), "echo", given)
    outcome = fire(hooks)
    hooks.close()

    assert outcome.denied
    assert outcome.reason == '{"line": "run ls!", "list": ["Bash", 7], "whole": "{\\"command\\": \\"ls\\"}", "no": ""}'
    assert outcome.results[0].type == "mcp_tool"


@pytest.mark.parametrize(("tool", "decision"), [("structured", "deny"), ("nothing", "none"), ("image", "none")])
def test_a_result_without_text(tool: str, decision: str, mark: str) -> None:
    hooks = calls(small(mark), tool, on_error="abort")
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == (decision, "")


@pytest.mark.more
def test_a_server_of_the_official_package_answers(mark: str) -> None:
    server = {"command": sys.executable, "args": [REAL_SERVER], "env": {"MARK": mark}}
    hooks = calls(server, "add", {"a": "1", "b": "${tool_input.n}"}, on_error="abort")
    outcome = without_a_loop(hooks, tool_name="Bash", tool_input={"n": 2})
    hooks.close()

    # A number is no answer: the guard denies, and says what was said.
    assert (outcome.decision, code(outcome), outcome.results[0].evidence["stdout"]) == ("deny", "bad_output", "3")


def test_a_server_gets_few_variables_and_those_that_are_named(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("TOKEN", "t0ken")
    server = small(mark)
    server["env"]["GIVEN"] = "${TOKEN}/${NOT_SET:-none}"
    found = []
    for name in ("API_KEY", "GIVEN"):
        hooks = calls(server, "variable", {"name": name})
        found.append(without_a_loop(hooks).reason)
        hooks.close()

    assert found == ["not set", "t0ken/none"]


# Servers are kept.


def test_a_server_is_kept_over_loops_and_threads_and_shared_by_hooks(mark: str) -> None:
    hooks = calls(small(mark), "pid")
    hooks.register("PermissionRequest", server=small(mark), tool="pid", timeout=PATIENCE)
    pids = [on_a_loop(hooks).reason, without_a_loop(hooks).reason, on_a_loop(hooks).reason]
    pids.append(hooks.fire_sync("PermissionRequest", **CALL).reason)
    [alone] = set(pids)
    hooks.close()

    assert alone.isdigit()
    assert eventually(lambda: not living(mark))


def test_a_server_that_died_is_started_again_for_the_next_event(mark: str, fire: Fire) -> None:
    hooks = calls(small(mark), "pid")
    first = fire(hooks).reason
    kill(int(first))
    second = fire(hooks).reason
    hooks.close()

    assert second.isdigit()
    assert second != first


def test_a_server_that_died_is_not_called_before_its_end_is_noticed(mark: str) -> None:
    """The event loop learns of the end in its next turn; a call that comes first finds the pipe closed."""

    async def host() -> tuple[bool, bool]:
        process = ServerProcess()
        server = small(mark)
        async with process.transport(StdioServer(server["command"], tuple(server["args"]), server["env"])):
            assert eventually(lambda: bool(living(mark)))
            before = process.has_ended
            kill(int(living(mark)[0].split()[0]))
            after = process.has_ended
        process.close()
        return before, after

    assert asyncio.run(host()) == (False, True)


def kill(pid: int) -> None:
    """Kill a process and wait until it has ended, without a turn of the event loop."""
    os.kill(pid, 9)
    assert eventually(lambda: not alive(pid))


def test_close_ends_a_server_and_a_later_event_starts_it_again(mark: str) -> None:
    hooks = calls(small(mark), "pid")
    first = without_a_loop(hooks).reason
    hooks.close()
    assert eventually(lambda: not living(mark))
    second = without_a_loop(hooks).reason
    hooks.close()

    assert first != second


def test_hooks_that_are_forgotten_take_their_server_with_them(mark: str) -> None:
    import gc

    hooks = calls(small(mark), "pid")
    without_a_loop(hooks)
    del hooks
    gc.collect()

    assert eventually(lambda: not living(mark))


# Servers that fail.


def test_a_tool_that_fails_is_a_failure_and_a_guard_denies(mark: str, fire: Fire) -> None:
    results = []
    for guard in (None, "abort"):
        hooks = calls(small(mark), "refuse", on_error=guard)
        outcome = fire(hooks)
        results.append((outcome.decision, code(outcome), "it broke" in str(outcome.results[0].error)))
        hooks.close()

    assert results == [("none", "mcp_tool_error", True), ("deny", "mcp_tool_error", True)]


def test_a_deny_in_an_error_still_counts(mark: str) -> None:
    hooks = calls(small(mark), "refuse", {"text": '{"decision": "deny", "reason": "no"}'})
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, outcome.reason) == ("deny", "no")


FAILURES = {
    "no such tool": ("missing", "mcp_call", "none"),
    "it dies": ("die", "mcp_connection", "none"),
    "too large": ("flood", "mcp_too_large", "deny"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_call_without_a_result_says_why(what: str, mark: str) -> None:
    tool, expected, decision = FAILURES[what]
    hooks = calls(small(mark), tool)
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == (decision, expected)


def test_a_server_that_writes_garbage_still_answers(mark: str) -> None:
    hooks = calls(small(mark), "garbage", on_error="abort")
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == ("none", "")


@pytest.mark.parametrize(("args", "tool"), [(("mute",), "pid"), ((), "hang")], ids=["while it starts", "in a call"])
def test_a_server_that_hangs_is_killed_at_the_deadline_with_all_it_has_started(
    args: tuple[str, ...], tool: str, mark: str, fire: Fire
) -> None:
    hooks = calls(small(mark, *args), tool, timeout=1.0, on_error="abort")
    with within(1.0 + BUSY):
        outcome = fire(hooks)

    assert (outcome.decision, outcome.results[0].status) == ("deny", "timeout")
    assert eventually(lambda: not living(mark))
    hooks.close()


def test_after_a_call_that_hangs_the_next_one_gets_a_new_server(mark: str) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", server=small(mark), tool="hang", timeout=0.5)
    hooks.register("Stop", server=small(mark), tool="say", input={"text": "{}"}, timeout=PATIENCE)

    async def host() -> list[str]:
        hung = await hooks.fire("PreToolUse", **CALL)
        after = await hooks.fire("Stop")
        return [hung.results[0].status, after.results[0].status]

    statuses = run(host())
    hooks.close()

    assert statuses == ["timeout", "ok"]


def test_a_cancelled_host_ends_the_call(mark: str) -> None:
    hooks = calls(small(mark), "hang")

    async def host() -> None:
        firing = asyncio.ensure_future(hooks.fire("PreToolUse", **CALL))
        while len(living(mark)) < 2:  # noqa: ASYNC110 - the server, and what it has started
            await asyncio.sleep(0.01)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    run(host())
    assert eventually(lambda: not living(mark))
    hooks.close()


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({"command": "/not/there"}, "spawn_not_found"),
        ({"command": SERVER}, "spawn_permission"),
        ({"command": sys.executable, "env": {"X": "${NOT_SET_ANYWHERE}"}}, "mcp_server"),
    ],
)
def test_a_server_that_cannot_be_started_denies(server: dict[str, Any], expected: str, tmp_path: Path) -> None:
    if expected == "spawn_permission":
        plain = tmp_path / "server.sh"
        plain.write_text("exit")
        server = {"command": str(plain)}
    hooks = calls(server, "pid")
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == ("deny", expected)


def test_a_program_that_is_no_server_is_a_failure(mark: str) -> None:
    hooks = calls({"command": "sh", "args": ["-c", "echo nonsense >&2; exit 4"], "env": {"MARK": mark}}, "pid")
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == ("none", "mcp_connection")
    assert "nonsense" in str(outcome.results[0].error)


def test_a_server_at_a_url_that_is_not_there_is_a_failure() -> None:
    hooks = calls({"type": "http", "url": "http://127.0.0.1:9/mcp"}, "pid", on_error="abort")
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == ("deny", "mcp_connection")


def test_without_the_package_the_event_is_denied_and_the_reason_says_what_to_install(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    hooks = calls(small(mark), "pid")
    outcome = without_a_loop(hooks)
    hooks.close()

    assert (outcome.decision, code(outcome)) == ("deny", "mcp_package")
    assert "interpose[mcp]" in outcome.reason


def test_no_thread_is_left(mark: str) -> None:
    hooks = calls(small(mark), "pid")
    without_a_loop(hooks)
    assert any(thread.name == "interpose-mcp" for thread in threading.enumerate())
    hooks.close()

    assert not any(thread.name == "interpose-mcp" for thread in threading.enumerate())


def test_a_server_at_a_url_is_called_and_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    said = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        },
        "tools/list": {"tools": []},
        "tools/call": {"content": [{"type": "text", "text": '{"decision": "deny", "reason": "from afar"}'}]},
    }

    def behave(visit: Visit) -> None:
        asked = visit.event
        if "id" not in asked:
            visit.send(answer(status=202))
        elif asked["method"] in said:
            visit.send(answer({"jsonrpc": "2.0", "id": asked["id"], "result": said[asked["method"]]}))
        else:
            visit.send(answer({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}))

    with Server(behave) as server:
        hooks = calls({"url": server.url("/mcp"), "headers": {"X-Key": "${SOME_KEY:-none}"}}, "scan")
        outcome = without_a_loop(hooks)
        hooks.close()

    assert outcome.reason == "from afar"
    assert server.visits[0].headers["x-key"] == "none"
