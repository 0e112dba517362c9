"""The agent with real servers around it, and in bad company."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome, deny, modify
from interpose.agent.run import open_run
from interpose.agent.runtime import Limits, Runtime
from interpose.agent.shadow import ShadowGit
from interpose.agent.tools import TOOLS
from interpose.agent.tools.mcp import connect
from interpose.handlers.mcp_servers import servers_of
from interpose.models.scripted import ScriptedModel

SERVER = Path(__file__).parent / "mcp_server.py"


def runtime_of(project: Path, hooks: Hooks, turns: list[dict[str, Any]], **more: Any) -> Runtime:
    return Runtime(
        hooks=hooks, model=ScriptedModel(turns), cwd=project, directory=project / "transcripts",
        shadow=ShadowGit(project), **more,
    )  # fmt: skip


def results_of(project: Path) -> list[str]:
    """What the tools have answered, from the transcript."""
    found = []
    for line in (project / "transcripts" / "s.jsonl").read_text().splitlines():
        content = json.loads(line).get("message", {}).get("content")
        if isinstance(content, list):
            found += [block["content"] for block in content if block["type"] == "tool_result"]
    return found


@pytest.mark.slow
def test_hooks_govern_the_tools_of_an_mcp_server(tmp_path: Path) -> None:
    hooks = Hooks()
    fired: list[tuple[str, str]] = []
    hooks.register("PreToolUse", lambda event: deny("not that one"), matcher="mcp__errands__odd_name", name="guard")
    hooks.register(
        "PreToolUse", lambda event: {"modify": {"tool_input": {"a": 40, "b": 2}}}, matcher="mcp__errands__add"
    )

    def heard(outcome: Outcome) -> None:
        if "tool_name" in outcome.input:
            fired.append((outcome.event, str(outcome.tool_name)))

    async def run() -> None:
        servers = servers_of({"mcpServers": {"errands": {"command": sys.executable, "args": [str(SERVER)]}}}, "here")
        problems: list[str] = []
        async with connect(servers, on_problem=problems.append) as tools:
            runtime = runtime_of(
                tmp_path, hooks,
                [
                    {"call": {"mcp__errands__add": {"a": 1, "b": 1}}},
                    {"call": {"mcp__errands__odd_name": {"why": "because"}}},
                    {"say": "Done."},
                ],
                tools=(*TOOLS, *tools),
            )  # fmt: skip
            async with open_run(runtime, session_id="s", on_outcome=heard) as running:
                assert await running.ask("Add.") == "Done."
        assert problems == []

    asyncio.run(run())

    assert results_of(tmp_path) == ["42", "mcp__errands__odd_name was not run: not that one"]
    assert fired == [
        ("PreToolUse", "mcp__errands__add"),
        ("PostToolUse", "mcp__errands__add"),
        ("PreToolUse", "mcp__errands__odd_name"),
    ]


def test_a_search_finds_nothing_that_a_rule_denies(tmp_path: Path) -> None:
    for name in ("secrets/key", "secrets/deep/key", "src/app.py", ".env", "notes/.env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("token = 1\n")
    (tmp_path / "src/innocent.txt").symlink_to("../secrets/key")
    os.link(tmp_path / ".env", tmp_path / "src/hard.txt")
    hooks = Hooks.from_mapping({"permissions": {"Read(secrets/**)": "deny", "Read(.env)": "ask"}})
    turns: list[dict[str, Any]] = [
        {"call": {"Grep": {"pattern": "token"}}},
        {"call": {"Grep": {"pattern": "token", "output_mode": "content", "path": "."}}},
        {"call": {"Grep": {"pattern": "token", "output_mode": "count", "glob": "**/*{key,v,t}"}}},
        {"call": {"Glob": {"pattern": "**/*"}}},
        {"call": {"Grep": {"pattern": "token", "path": "secrets"}}},
        {"call": {"Grep": {"pattern": "token", "path": "src/innocent.txt"}}},
        {"call": {"Glob": {"pattern": "secrets/*"}}},
        {"call": {"Grep": {"pattern": "token", "glob": ".env"}}},
        {"say": "Done."},
    ]

    async def run() -> None:
        async with open_run(runtime_of(tmp_path, hooks, turns), session_id="s") as running:
            await running.ask("Look.")

    asyncio.run(run())

    wide = [re.sub(r"transcripts/.*\n", "", result) for result in results_of(tmp_path)[:4]]
    assert wide[0] == "src/app.py\n(left out by a permission rule: 6)"
    assert wide[1] == "src/app.py:1:token = 1\n(left out by a permission rule: 6)"
    assert wide[2] == "(nothing found)\n(left out by a permission rule: 6)"
    assert "src/app.py" in wide[3]
    assert not any(name in wide[3] for name in ("secrets", ".env", "innocent", "hard"))
    assert results_of(tmp_path)[4:] == [
        "Grep was not run: denied by the rule Read(secrets/**)",
        "Grep was not run: denied by the rule Read(secrets/**)",
        "Glob was not run: denied by the rule Read(secrets/**)",
        "Grep was not run: the rule Read(.env) asks (there is no approver)",
    ]


def test_calls_that_only_read_are_made_side_by_side_and_answered_in_their_order(tmp_path: Path) -> None:
    """Each of the two waits until both are there."""
    (tmp_path / "a.txt").write_text("alpha\n")
    (tmp_path / "b.txt").write_text("beta\n")
    hooks = Hooks()

    async def run() -> None:
        both = asyncio.Barrier(2)

        async def meet(event: Any) -> None:
            await both.wait()

        hooks.register("PreToolUse", meet, matcher="Read", timeout=30, on_error="abort")
        turns: list[dict[str, Any]] = [
            {"calls": [{"Read": {"file_path": "b.txt"}}, {"Read": {"file_path": "a.txt"}}]},
            {"say": "Read."},
        ]
        async with open_run(runtime_of(tmp_path, hooks, turns), session_id="s") as running:
            await running.ask("Read.")

    asyncio.run(run())

    assert [result.split()[-1] for result in results_of(tmp_path)] == ["beta", "alpha"]


def test_an_interrupted_turn_leaves_a_conversation_that_can_go_on(tmp_path: Path) -> None:
    async def run() -> tuple[str, list[str]]:
        events: list[str] = []
        turns: list[dict[str, Any]] = [
            {"calls": [{"Bash": {"command": "echo $$ > pid; sleep 600"}}, {"Bash": {"command": "echo never"}}]},
            {"needs": "interrupted\ninterrupted\nAnd now", "say": "I was interrupted."},
        ]
        runtime = runtime_of(tmp_path, Hooks(), turns)
        async with open_run(runtime, session_id="s", on_outcome=lambda one: events.append(one.event)) as running:
            asking = asyncio.ensure_future(running.ask("Wait."))
            while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n")):  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(0.01)
            assert running.interrupt()
            assert await asking == ""
            assert not running.interrupt()
            return await running.ask("And now?"), events

    said, events = asyncio.run(run())

    assert said == "I was interrupted."
    assert events.count("PostToolUseFailure") == 1
    assert events[-1] == "SessionEnd"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_the_limit_of_turns_ends_an_agent_that_never_stops(tmp_path: Path) -> None:
    shown: list[str] = []
    hooks = Hooks()
    hooks.show = shown.append
    turns = [{"call": {"Glob": {"pattern": "*"}}} for _ in range(9)]

    async def run() -> None:
        runtime = runtime_of(tmp_path, hooks, turns, limits=Limits(turns=3))
        async with open_run(runtime, session_id="s") as running:
            await running.ask("Go.")

    asyncio.run(run())

    assert shown == ["main was stopped after 3 turns."]
    assert len(results_of(tmp_path)) == 3


def results_of_commands(project: Path, hooks: Hooks, *commands: str, **options: Any) -> list[str]:
    """What a model gets that runs these commands one after another."""
    turns: list[dict[str, Any]] = [
        *({"call": {"Bash": {"command": command}}} for command in commands),
        {"say": "Done."},
    ]

    async def run() -> None:
        async with open_run(runtime_of(project, hooks, turns, **options), session_id="s") as running:
            await running.ask("Go.")

    asyncio.run(run())
    return results_of(project)


def test_a_command_of_the_model_sees_no_secret_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN", "BASH_ENV", "LD_PRELOAD_X"):
        monkeypatch.setenv(name, f"value of {name}")

    said = results_of_commands(tmp_path, Hooks(), "env", "echo $HOME $MY_TOKEN", pass_env=["MY_TOKEN", "NOT_SET"])

    assert [line for line in said[0].splitlines() if "value of" in line] == ["MY_TOKEN=value of MY_TOKEN"]
    assert "CLAUDE_ENV_FILE" not in said[0]
    assert said[1] == f"{os.environ['HOME']} value of MY_TOKEN"


def test_a_model_can_neither_find_nor_plant_what_its_later_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    hooks = Hooks()
    hooks.register(
        "SessionStart", type="command", dialect="claude",
        command='echo "export GREETING=hello" >> "$CLAUDE_ENV_FILE"; echo "$CLAUDE_ENV_FILE" > path',
    )  # fmt: skip
    plant = "ls() { echo something else; }; export GREETING=planted"

    said = results_of_commands(
        tmp_path,
        hooks,
        "cat path",
        f"echo '{plant}' >> \"$(cat path)\" 2>&1 || echo gone; find {temporary} .interpose -name '*env*' -o -name '*.sh'",
        f'mkdir -p "$(dirname "$(cat path)")"; echo \'{plant}\' >> "$(cat path)"; cat "$(cat path)"',
        "echo $GREETING; ls path",
    )

    assert said[0].startswith(str(temporary))
    assert "gone" in said[1]
    assert plant in said[2]
    assert said[3] == "hello\npath"


def test_a_line_in_the_env_file_that_is_no_assignment_is_shown_and_not_run(tmp_path: Path) -> None:
    hooks = Hooks()
    shown: list[str] = []
    hooks.register("pre:view:render", lambda event: shown.append(str(event.data.get("text", ""))), matcher="notice")
    hooks.register(
        "SessionStart", type="command", dialect="claude",
        command="""printf 'touch ran\\nexport A=b\\n' >> "$CLAUDE_ENV_FILE" """,
    )  # fmt: skip

    said = results_of_commands(tmp_path, hooks, "echo $A; ls ran")

    assert said[0].startswith("exit status 2\nb\n")
    assert shown == ["CLAUDE_ENV_FILE, line 1: 'touch ran' is not an assignment (only assignments: export NAME=value)"]


def test_hooks_may_set_variables_again_after_a_compaction(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.register(
        "SessionStart", type="command", dialect="claude",
        command="""echo "export COUNT=x\\$COUNT" >> "$CLAUDE_ENV_FILE" """,
    )  # fmt: skip
    turns: list[dict[str, Any]] = [{"call": {"Bash": {"command": "echo $COUNT"}}}, {"say": "Done."}]

    async def run() -> None:
        runtime = runtime_of(tmp_path, hooks, [])
        runtime.model = ScriptedModel({"turns": turns, "agents": {"compactor": [{"say": "A summary."}]}})
        async with open_run(runtime, session_id="s") as running:
            await running.ask("/compact")
            await running.ask("Go.")

    asyncio.run(run())

    assert results_of(tmp_path) == ["xx"]


def test_what_hooks_write_into_the_env_file_is_there_for_the_shell(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.register(
        "SessionStart", type="command", command='echo "export GREETING=hello" >> "$CLAUDE_ENV_FILE"', dialect="claude"
    )
    found = r"""file=$(sed 's/.*"env_file": *"\([^"]*\)".*/\1/'); echo "NAME='you two'" >> "$file" """
    hooks.register("Setup", None, command=found)

    assert results_of_commands(tmp_path, hooks, "echo $GREETING $NAME") == ["hello you two"]


def test_a_tool_that_a_hook_hides_is_not_shown_to_the_model(tmp_path: Path) -> None:
    hooks = Hooks()
    shown: list[list[str]] = []
    wanted: list[Any] = []

    class Watched(ScriptedModel):
        async def answer(self, request: Any, *arguments: Any) -> Any:
            shown.append([tool.name for tool in request.tools])
            return await super().answer(request, *arguments)

    @hooks.on("pre:message")
    def hide(event: Any) -> Any:
        return modify(tools=[tool for tool in event.tools if tool["name"] not in ("Bash", "Task", "Team")])

    hooks.register("post:message", lambda event: wanted.extend(event.tool_calls))
    runtime = runtime_of(tmp_path, hooks, [])
    runtime.model = Watched([{"say": "Looking.", "call": {"Glob": {"pattern": "*"}}}, {"say": "Done."}])

    async def run() -> None:
        async with open_run(runtime, session_id="s") as agent_run:
            await agent_run.ask("Look.")

    asyncio.run(run())

    assert shown == [["Read", "Write", "Edit", "Glob", "Grep"]] * 2
    assert [(call["name"], call["input"]) for call in wanted] == [("Glob", {"pattern": "*"})]
