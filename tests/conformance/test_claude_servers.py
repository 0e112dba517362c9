"""Hooks of type http and mcp_tool in a settings file of Claude Code: they run, and mean what the client's documents say.

Status codes never block; an answer that is an empty body or a JSON object of status 2xx is one, everything else is an
error after which the call goes on, unless the hook has ``onFailure: block``.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.http_servers import Server, answer

from interpose import Hooks, Outcome

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "echo ran", "description": "d"}}
SMALL = str(Path(__file__).parents[1] / "faults" / "mcp_small_server.py")
DENY = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
}


def load(folder: Path, event: str, *handlers: dict[str, Any]) -> Hooks:
    settings = folder / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {event: [{"hooks": list(handlers)}]}}))
    return Hooks.load(settings)


def fire(hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    try:
        return asyncio.run(hooks.fire(event, **(CALL if event.endswith("ToolUse") else {}), **fields))
    finally:
        hooks.close()


# http.

HTTP = {
    # what the server answers: (denied, code)
    "200 without a body": (answer(), False, ""),
    "200 with a deny": (answer(DENY), True, ""),
    "201 with a deny": (answer(DENY, status=201), True, ""),
    "a deny of another type, which the client does not look at": (answer(DENY, content_type="text/plain"), True, ""),
    "200 with text": (answer(b"fine"), False, "bad_output"),
    "200 with a page": (answer(b"<p>", content_type="text/html"), False, "bad_output"),
    "200 with a list": (answer(b"[1]"), False, "bad_output"),
    "200 with a wrong decision": (answer({"decision": "Deny"}), False, "bad_output"),
    "403 never blocks": (answer(DENY, status=403), False, "http_status"),
    "500": (answer(status=500), False, "http_status"),
    "60 MiB": (answer(b"{" + b" " * (2 << 20)), False, "http_too_large"),
}


@pytest.mark.parametrize("what", HTTP)
def test_what_an_answer_does_and_what_it_does_if_failures_block(what: str, tmp_path: Path) -> None:
    said, denied, code = HTTP[what]
    with Server(said) as server:
        hook = {"type": "http", "url": server.url()}
        outcome = fire(load(tmp_path, "PreToolUse", hook))
        blocking = fire(load(tmp_path, "PreToolUse", {**hook, "onFailure": "block"}))

    [result] = outcome.results
    assert (outcome.denied, result.error.code if result.error else "") == (denied, code)
    assert blocking.denied is (denied or code != "")
    if code:
        assert blocking.reason == 'failed; blocking because onFailure is "block"'


def test_a_server_that_is_not_there_lets_the_call_run_unless_failures_block(tmp_path: Path) -> None:
    hook = {"type": "http", "url": "http://127.0.0.1:9/"}

    assert fire(load(tmp_path, "PreToolUse", hook)).allowed
    assert fire(load(tmp_path, "PreToolUse", {**hook, "onFailure": "block"})).denied


def test_a_server_that_is_too_slow_is_cancelled(tmp_path: Path) -> None:
    with Server(lambda visit: visit.hang()) as server:
        outcome = fire(load(tmp_path, "PreToolUse", {"type": "http", "url": server.url(), "timeout": 0.2}))
        blocking = fire(
            load(tmp_path, "PreToolUse", {"type": "http", "url": server.url(), "timeout": 0.2, "onFailure": "block"})
        )

    assert (outcome.allowed, outcome.results[0].status) == (True, "timeout")
    assert (blocking.denied, blocking.reason) == (True, 'timed out; blocking because onFailure is "block"')


def test_it_is_posted_what_a_command_of_the_client_gets(tmp_path: Path) -> None:
    with Server(answer()) as server:
        fire(load(tmp_path, "PreToolUse", {"type": "http", "url": server.url()}), session_id="s1")

    [visit] = server.visits
    assert (visit.event["session_id"], visit.event["tool_name"], visit.event["hook_event_name"]) == (
        "s1",
        "Bash",
        "PreToolUse",
    )
    assert "protocol" not in visit.event


def test_text_is_no_context_where_that_of_a_command_is(tmp_path: Path) -> None:
    with Server(answer(b"a note")) as server:
        outcome = fire(
            load(tmp_path, "UserPromptSubmit", {"type": "http", "url": server.url()}), "UserPromptSubmit", prompt="x"
        )

    assert (outcome.context, outcome.results[0].status) == ([], "failed")


def test_the_path_of_a_worktree_comes_in_the_answer(tmp_path: Path) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "WorktreeCreate", "worktreePath": "/w"}}
    with Server(answer(said)) as server:
        outcome = fire(
            load(tmp_path, "WorktreeCreate", {"type": "http", "url": server.url()}), "WorktreeCreate", name="w"
        )
    failed = fire(
        load(tmp_path, "WorktreeCreate", {"type": "http", "url": "http://127.0.0.1:9/"}), "WorktreeCreate", name="w"
    )

    assert outcome.extra["worktreePath"] == "/w"
    assert failed.denied


# mcp_tool.


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    """A project with the small server in its ``.mcp.json``."""
    server = {"command": sys.executable, "args": ["-S", SMALL]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"small": server, "broken": {"type": "sse"}}}))
    return tmp_path


def tool(name: str, server: str = "small", **given: Any) -> dict[str, Any]:
    return {"type": "mcp_tool", "server": server, "tool": name, "input": given}


def test_text_of_a_tool_is_read_as_standard_output(servers: Path) -> None:
    said = json.dumps(DENY)
    outcome = fire(load(servers, "PreToolUse", tool("say", text=said)))
    plain = fire(
        load(servers, "UserPromptSubmit", tool("say", text="note: ${prompt}")), "UserPromptSubmit", prompt="hello"
    )

    assert (outcome.denied, outcome.reason) == (True, "no")
    assert plain.context == ["note: hello"]


@pytest.mark.parametrize(
    ("hook", "code"),
    [
        (tool("refuse", text=json.dumps(DENY)), "mcp_tool_error"),
        (tool("say", server="unknown", text=""), "mcp_server"),
        (tool("say", server="broken", text=""), "mcp_server"),
        (tool("flood"), "mcp_too_large"),
    ],
    ids=["isError", "a server that is not configured", "a server of a type that is not known", "too large"],
)
def test_an_error_never_blocks(hook: dict[str, Any], code: str, servers: Path) -> None:
    outcome = fire(load(servers, "PreToolUse", hook))

    assert outcome.allowed
    assert [result.error.code for result in outcome.results if result.error] == [code]


def test_it_is_skipped_at_launch_and_runs_after_compaction(servers: Path) -> None:
    hooks = load(servers, "SessionStart", tool("say", text="note"))
    launch = asyncio.run(hooks.fire("SessionStart", source="startup"))
    later = fire(hooks, "SessionStart", source="compact")

    assert (launch.results, later.context) == ((), ["note"])


def test_the_server_runs_in_the_project_wherever_the_event_is(servers: Path) -> None:
    (servers / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"small": {"command": sys.executable, "args": ["-S", "server.py"]}}})
    )
    (servers / "server.py").symlink_to(SMALL)
    outcome = fire(load(servers, "PreToolUse", tool("say", text=json.dumps(DENY))), cwd="/tmp")

    assert outcome.denied


def test_the_same_request_in_a_file_twice_is_sent_once_and_another_header_makes_it_another(tmp_path: Path) -> None:
    with Server(answer()) as server:
        hook = {"type": "http", "url": server.url()}
        outcome = fire(load(tmp_path, "PreToolUse", hook, hook, {**hook, "headers": {"X": "y"}}))

    assert (len(outcome.results), len(server.visits)) == (2, 2)
