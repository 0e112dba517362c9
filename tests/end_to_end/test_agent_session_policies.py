"""The policies about sessions in whole sessions of the agent: what it may use, what it repeats, when it may stop."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome
from interpose.agent.run import open_run
from interpose.agent.runtime import Runtime
from interpose.agent.shadow import ShadowGit
from interpose.agent.tools import TOOLS, Tool, Workplace
from interpose.models.scripted import ScriptedModel


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    (tmp_path / "project").mkdir()


def played(
    folder: Path, hooks: Hooks, turns: list[dict[str, Any]], tools: tuple[Tool, ...] = (), **options: Any
) -> list[str]:
    """Run the agent with these turns of the model; return the decisions about its calls and stops."""
    found: list[str] = []

    def heard(outcome: Outcome) -> None:
        assert not any(result.error for result in outcome.results), outcome.results
        if outcome.event == "PreToolUse":
            found.append(outcome.decision if not outcome.context else "context")
        elif outcome.event == "Stop":
            found.append("keep going" if outcome.keep_going else "stop")

    async def host() -> None:
        model = ScriptedModel({"turns": turns, "agents": {}})
        project = folder / "project"
        runtime = Runtime(hooks, model, project, folder / "transcripts", ShadowGit(project), tools=(*TOOLS, *tools))
        async with open_run(runtime, on_outcome=heard, **{"session_id": "s", **options}) as run:
            await run.ask("Go.")
        await model.close()

    asyncio.run(host())
    return found


def mail(description: str) -> Tool:
    async def send(_given: dict[str, Any], _place: Workplace) -> str:
        return "sent"

    return Tool("mcp__mail__send", description, {"type": "object", "properties": {}}, "run", send)


def test_the_tokens_of_the_agent_are_counted(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.use("budgets", tokens=1000)
    turns: list[dict[str, Any]] = [{"calls": [{"Bash": {"command": "echo one"}}], "tokens": 600},
             {"calls": [{"Bash": {"command": "echo two"}}], "tokens": 600}, {"say": "Done."}]  # fmt: skip

    assert played(tmp_path, hooks, turns) == ["none", "ask", "stop"]


def test_a_call_that_fails_again_and_again_is_denied(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.use("repeated-calls")
    turns: list[dict[str, Any]] = [{"calls": [{"Bash": {"command": "exit 3"}}]} for _ in range(3)]

    assert played(tmp_path, hooks, [*turns, {"say": "Done."}]) == ["none", "context", "deny", "stop"]


def test_the_agent_goes_on_until_the_checks_pass(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.use("checks-before-stop", test="grep -q right a.txt")
    turns: list[dict[str, Any]] = [{"calls": [{"Write": {"file_path": "a.txt", "content": "wrong"}}]}, {"say": "Done."},
             {"calls": [{"Bash": {"command": "echo right > a.txt"}}]}, {"say": "Now."}]  # fmt: skip

    assert played(tmp_path, hooks, turns) == ["none", "keep going", "none", "stop"]


def test_a_tool_of_a_server_that_has_changed_since_the_last_session_is_asked_about(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.use("mcp-tools")
    turns: list[dict[str, Any]] = [{"calls": [{"mcp__mail__send": {}}]}, {"say": "Done."}]

    assert played(tmp_path, hooks, turns, (mail("Sends a mail."),), session_id="a") == ["none", "stop"]
    changed = (mail("Sends a mail, and a copy to us."),)
    assert played(tmp_path, hooks, turns, changed, session_id="b") == ["ask", "stop"]
    assert played(tmp_path, hooks, turns, changed, session_id="c", approver=lambda question: True) == ["ask", "stop"]
    assert played(tmp_path, hooks, turns, changed, session_id="d") == ["none", "stop"]
