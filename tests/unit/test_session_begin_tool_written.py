"""A tool call in two halves: written down between them, and read back by another process."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.unit.session_hosts import LS, RM, Awaited, both, drive, saying

from interpose import (
    BegunTool,
    CallChanged,
    Hooks,
    UsageError,
    ask,
    later,
    modify,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("own_state")

ASKS = saying("PreToolUse", ask("sure?"), name="guard")


def written(**changes: Any) -> dict[str, Any]:
    """Ask about a call in one session and return what was written down, as it comes out of a file."""
    with ASKS.session_sync(session_id="s1", approver=later) as session:
        call = session.begin_tool("Bash", LS, id="t1", mcp_server={"name": "x"})
        return {**json.loads(json.dumps(call.to_dict())), **changes}


@both
def test_a_written_call_is_asked_about_again_without_its_events(play: Any) -> None:
    pending = written()
    heard: list[str] = []
    hooks = saying("PreToolUse", ask("sure?"), name="guard")

    async def scenario(session: Any) -> Any:
        session.on_outcome = lambda outcome: heard.append(outcome.event)
        call = await session.resume(pending)
        before = (call.state, str(call.question), call.id, call.input)
        await call.said(True)
        return before, await call.done("x")

    before, answer = play(hooks, scenario, session_id="s1", approver=later)

    assert before == ("asked", "Bash(command='ls'): sure?", "t1", LS)
    assert (answer.ok, answer.content) == (True, "x")
    assert (answer.permission.by, answer.permission.hook, answer.permission.verdict) == ("person", "guard", "allowed")
    assert heard == ["PostToolUse", "SessionEnd"]


@both
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"given": RM, "shown": RM}, "the written call was changed"),
        ({"shown": RM}, "the written call was changed"),
        ({"tool_name": "Shell"}, "the written call was changed"),
        ({"decision": "allow"}, "the written call was changed"),
        ({"verdict": ["run", "", None, "", ""]}, "the written call was changed"),
        ({"state": "run"}, "the written call was changed"),
        ({"code": ""}, "the written call was changed"),
        ({"code": None}, "the written call was changed"),
        ({"code": "é"}, "the written call was changed"),
        ({"given": float("nan")}, "the written call was changed"),
        ({"format": "interpose.tool_call.0"}, "not a call that was written down here"),
    ],
)
def test_a_written_call_that_was_changed_is_refused(play: Any, change: dict[str, Any], told: str) -> None:
    pending = written(**change)

    async def scenario(session: Any) -> None:
        with pytest.raises(CallChanged, match=told):
            await session.resume(pending)

    play(saying("PreToolUse", ask("sure?"), name="guard"), scenario, session_id="s1", approver=later)


@pytest.mark.parametrize("pending", [None, [], "x", {}, {"format": "interpose.tool_call.1"}])
def test_anything_else_is_refused(pending: Any) -> None:
    with ASKS.session_sync(session_id="s1", approver=later) as session, pytest.raises(CallChanged):
        session.resume(pending)


def test_a_code_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = written()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))

    told = "comes from another machine or user"
    with ASKS.session_sync(session_id="s1", approver=later) as session, pytest.raises(CallChanged, match=told):
        session.resume(pending)


def test_the_key_is_the_persons_alone(tmp_path: Path) -> None:
    written()
    key = tmp_path / "state" / "interpose" / "pending-calls.key"

    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o644)
    with pytest.raises(UsageError, match="others may read or write it"):
        written()


def test_a_key_that_was_cut_is_not_used(tmp_path: Path) -> None:
    written()
    key = tmp_path / "state" / "interpose" / "pending-calls.key"
    key.write_bytes(key.read_bytes()[:-1])

    with pytest.raises(UsageError, match="it is damaged"):
        written()


@pytest.mark.parametrize(
    "options",
    [{"name": "other"}, {"matcher": "Bash"}, {"if_": "Bash"}, {"priority": 1}, {"timeout": 1.0}, {"on_error": "abort"},
     {"enforce": False}, {"locked": True}, {"parallel": True, "inline": False}, {"once": True}, {"scope": "main"}, {"layer": "user"},
     {"source": "hooks.yaml:1"}, {"dialect": "claude"}],
    ids=str,
)  # fmt: skip
def test_a_hook_with_another_option_is_another_hook(options: dict[str, Any]) -> None:
    pending = written()
    changed = saying("PreToolUse", ask("sure?"), **{"name": "guard", **options})

    with (
        changed.session_sync(session_id="s1", approver=later) as session,
        pytest.raises(CallChanged, match="the hooks or the rules have changed"),
    ):
        session.resume(pending)


def test_hooks_rules_or_a_session_that_changed_are_named() -> None:
    pending = written()

    def told(hooks: Hooks, **options: Any) -> str:
        with hooks.session_sync(**{"session_id": "s1", "approver": later, **options}) as session:
            try:
                return str(session.resume(pending).state)
            except CallChanged as error:
                return error.problem.what

    changed = "the hooks or the rules have changed since the call was asked about"
    more = saying("PreToolUse", ask("sure?"), name="guard")
    more.register("PreToolUse", lambda event: None)
    assert told(ASKS) == "asked"
    assert told(more) == changed
    assert told(saying("PreToolUse", ask("sure?"), name="guard", matcher="Read")) == changed
    assert told(ASKS, rules={"Read": "allow"}) == changed
    assert told(ASKS, session_id="s2") == "the call belongs to the session s1, not to s2"
    assert told(ASKS, agent_id="explorer") == "the call belongs to the agent main, not to explorer"
    assert told(ASKS, mode="plan") == "denied"


def test_an_input_that_changed_is_named() -> None:
    pending = written()

    with ASKS.session_sync(session_id="s1", approver=later) as session:
        assert session.resume(pending, input=dict(LS)).state == "asked"
        with pytest.raises(CallChanged, match="the input of the call has changed"):
            session.resume(pending, input=RM)


def test_an_input_that_hooks_changed_is_resumed_as_they_left_it() -> None:
    def hooks() -> Hooks:
        return saying("PreToolUse", ask("?") + modify(tool_input={"command": "ls -l"}), name="guard")

    with hooks().session_sync(session_id="s1", approver=later) as session:
        pending = session.begin_tool("Bash", LS).to_dict()
    with hooks().session_sync(session_id="s1", approver=later) as session:
        call = session.resume(pending, input=LS)

        assert (call.input, call.question.tool_input) == ({"command": "ls -l"}, {"command": "ls -l"})


def test_only_a_call_with_an_open_question_and_a_json_input_is_written_down() -> None:
    with ASKS.session_sync(approver=later) as session:
        call = session.begin_tool("Bash", LS)
        call.said(True)
        with pytest.raises(UsageError, match="only a call with an open question is written down"):
            call.to_dict()
        for given in ({"x": {1, 2}}, {"x": (1,)}, {1: "x"}, {"x": float("inf")}):
            with pytest.raises(UsageError, match="is not JSON"):
                session.begin_tool("Bash", given).to_dict()


def test_another_process_resumes_a_call(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import json, sys
        from interpose import Hooks, ask, later

        hooks, fired = Hooks(), []
        def guard(event):
            fired.append(event.tool_input)
            return ask("sure?")
        hooks.register("PreToolUse", guard, name="guard", inline=True)
        with hooks.session_sync(session_id="s1", approver=later) as session:
            if len(sys.argv) == 1:
                print(json.dumps(session.begin_tool("Bash", {"command": "ls"}, id="t1").to_dict()))
            else:
                call = session.resume(json.loads(sys.argv[1]))
                call.said(True)
                print(call.state, call.done("x").content, fired)
    """)
    file = tmp_path / "host.py"
    file.write_text(program)

    def run(*arguments: str) -> str:
        environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
        return subprocess.run(
            [sys.executable, str(file), *arguments], env=environment, text=True, capture_output=True, check=True
        ).stdout.strip()

    assert run(run()) == "run x []"


def test_a_call_shows_its_state() -> None:
    with ASKS.session_sync(approver=later) as session:
        call = session.begin_tool("Bash", LS, id="t1")

        assert repr(call) == "<BlockingTool of <BegunTool Bash t1, asked: sure?>>"
        assert isinstance(drive(Awaited(session).begin_tool("Bash", LS, id="t1")), Awaited)
    assert BegunTool.__doc__
