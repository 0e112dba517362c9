"""A settings file of Claude Code, loaded as it stands: its scripts run unchanged and mean what they mean there.

What the client does was observed with a scripted model; here the same hooks are fired by the engine. ``denied`` stands
for a call that did not run, ``model`` and ``person`` for what either of them gets to read.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from interpose import ConfigError, Hooks, Outcome

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "echo ran", "description": "d"}}


def load(folder: Path, hooks: dict[str, Any], **more: Any) -> Hooks:
    settings = folder / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": hooks, **more}))
    return Hooks.load(settings)


def group(*commands: str, matcher: str | None = None, **handler: Any) -> list[dict[str, Any]]:
    made: dict[str, Any] = {"hooks": [{"type": "command", "command": command, **handler} for command in commands]}
    return [made if matcher is None else {"matcher": matcher, **made}]


def fire(hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    return asyncio.run(hooks.fire(event, **(CALL if event.endswith("ToolUse") else {}), **fields))


def prints(answer: Any) -> str:
    return f"printf '%s' '{json.dumps(answer)}'"


def specific(**said: Any) -> str:
    return prints({"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}})


SEEN = [
    pytest.param("exit 0", {}, id="nothing said"),
    pytest.param("echo no >&2; exit 2", {"denied": "no"}, id="exit status 2"),
    pytest.param("echo no >&2; exit 1", {}, id="exit status 1 does not block"),
    pytest.param("/not/there.sh", {}, id="a missing script does not block"),
    pytest.param(specific(permissionDecision="deny", permissionDecisionReason="no"), {"denied": "no"}, id="deny"),
    pytest.param(specific(permissionDecision="deny", permissionDecisionReason="no") + "; exit 1", {"denied": "no"},
                 id="deny and exit status 1"),
    pytest.param(specific(permissionDecision="allow") + "; echo no >&2; exit 2", {"denied": "no"},
                 id="an allow does not undo exit status 2"),
    pytest.param(prints({"decision": "block", "reason": "no"}), {"denied": "no"}, id="the old word block"),
    pytest.param(prints({"decision": "deny", "reason": "no"}), {}, id="deny is no old word"),
    pytest.param(prints({"decision": "block", "reason": "no", "colour": "red"}), {"denied": "no"}, id="a stray key"),
    pytest.param(prints({"hookSpecificOutput": {"permissionDecision": "deny"}}), {}, id="no hookEventName"),
    pytest.param(specific(updatedInput={"command": "echo other"}), {"input": {"command": "echo other"}},
                 id="a rewritten input"),
    pytest.param(specific(additionalContext="note"), {"model": ["note"]}, id="context"),
    pytest.param(prints({"systemMessage": "note"}), {"person": ["note"]}, id="a message to the person"),
    pytest.param(prints({"continue": False, "stopReason": "enough"}), {"stops": "enough"}, id="the turn ends, the call runs"),
    pytest.param("echo hello", {}, id="plain text"),
    pytest.param("printf '{\"decision\": block}'", {}, id="broken JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "effect"), SEEN)
def test_a_hook_before_a_tool_means_what_it_means_there(command: str, effect: dict[str, Any], tmp_path: Path) -> None:
    """S3-98"""
    outcome = fire(load(tmp_path, {"PreToolUse": group(command)}))

    seen = {
        "denied": outcome.reason if outcome.denied else None,
        "input": outcome.tool_input if outcome.tool_input != CALL["tool_input"] else None,
        "model": outcome.context,
        "person": outcome.messages,
        "stops": None if outcome.continue_ else outcome.stop_reason,
    }
    assert {name: value for name, value in seen.items() if value} == effect
    assert outcome.allowed is ("denied" not in effect)


MATCHERS = {"Bash": True, "bash": False, "Ba": False, "Ba.*": True, "Edit, Bash": True, "Edit|Bash": True, "": True,
            "*": True, "^Bash$": True, "as": False, "a.h": True}  # fmt: skip


@pytest.mark.parametrize(("matcher", "matches"), MATCHERS.items())
def test_a_matcher_is_exact_or_an_unanchored_pattern(matcher: str, matches: bool, tmp_path: Path) -> None:
    """S3-98, S3-99: as the client has it since 2.1.195."""
    hooks = load(tmp_path, {"PreToolUse": group("exit 2", matcher=matcher)})

    assert fire(hooks).denied is matches


def test_after_a_tool_a_hook_cannot_undo_but_tells_the_model(tmp_path: Path) -> None:
    """S3-98"""
    outcome = fire(load(tmp_path, {"PostToolUse": group("echo bad >&2; exit 2")}), "PostToolUse")

    assert (outcome.denied, outcome.context) == (False, ["bad"])


STOPS = {
    "exit status 2": ("echo more >&2; exit 2", True),
    "continue: true": (prints({"continue": True}), False),
    "context": (prints({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "more"}}), True),
}


@pytest.mark.parametrize(("command", "keeps_going"), STOPS.values(), ids=STOPS)
def test_what_keeps_an_agent_going(command: str, keeps_going: bool, tmp_path: Path) -> None:
    """S3-98"""
    assert fire(load(tmp_path, {"Stop": group(command)}), "Stop").keep_going is keeps_going


def test_plain_output_is_context_where_the_client_makes_it_so(tmp_path: Path) -> None:
    """S3-98"""
    hooks = load(tmp_path, {event: group("echo note") for event in ("UserPromptSubmit", "SessionStart", "Stop")})

    said = {event: fire(hooks, event).context for event in ("UserPromptSubmit", "SessionStart", "Stop")}

    assert said == {"UserPromptSubmit": ["note"], "SessionStart": ["note"], "Stop": []}


def test_a_blocked_prompt(tmp_path: Path) -> None:
    """S3-98"""
    hooks = load(tmp_path, {"UserPromptSubmit": group(prints({"decision": "block", "reason": "no"}))})

    assert fire(hooks, "UserPromptSubmit", prompt="hello").denied


# Several hooks.


def test_all_hooks_run_side_by_side_and_to_completion(tmp_path: Path) -> None:
    """A deny does not stop the others; each of these seven waits until all of them run."""
    (tmp_path / "here").mkdir()
    meet = f'while [ "$(ls {tmp_path}/here | wc -l)" -lt 7 ]; do sleep 0.02; done'
    lines = [f"touch {tmp_path}/here/{n}; {meet}; touch {tmp_path}/{n}" for n in range(7)]
    hooks = load(tmp_path, {"PreToolUse": group("exit 2", *lines)})

    outcome = fire(hooks)

    assert outcome.denied
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.isdigit()) == list("0123456")


def test_rewrites_are_taken_in_order_and_one_that_is_overwritten_is_reported(tmp_path: Path) -> None:
    """The client takes whoever finishes last; here the order of the file decides, whoever is slow."""
    hooks = load(tmp_path, {"PreToolUse": group(
        "sleep 0.3; " + specific(updatedInput={"command": "first"}), specific(updatedInput={"command": "second"}),
    )})  # fmt: skip

    outcome = fire(hooks)

    assert outcome.tool_input == {"command": "second"}
    assert [wish.wish.split(":")[0] for wish in outcome.ignored] == ["modify tool_input"]


def test_they_come_after_native_hooks_of_the_same_priority(tmp_path: Path) -> None:
    """They see what those have changed."""
    hooks = load(tmp_path, {"PreToolUse": group(f"cat > {tmp_path}/heard")})
    hooks.register("PreToolUse", lambda event: {"updated_input": {"command": "safe"}})

    fire(hooks)

    heard = json.loads((tmp_path / "heard").read_text())
    assert heard["tool_input"] == {"command": "safe"}
    assert not {"hook_type", "protocol", "timestamp", "orchestrator_id"} & heard.keys()


def test_deny_beats_defer_beats_allow(tmp_path: Path) -> None:
    said = [specific(permissionDecision=word) for word in ("allow", "defer", "deny")]

    assert fire(load(tmp_path, {"PreToolUse": group(*said)})).decision == "deny"
    asked = fire(load(tmp_path, {"PreToolUse": group(*said[:2])}))
    assert (asked.decision, asked.extra["defer"]) == ("ask", True)
    assert fire(load(tmp_path, {"PreToolUse": group(said[0])})).granted


# Failures, time, conditions.


@pytest.mark.parametrize("command", ["exit 1", "/not/there.sh", "sleep 60", "printf '{x}'"])
def test_with_on_failure_block_a_failure_denies(command: str, tmp_path: Path) -> None:
    outcome = fire(load(tmp_path, {"PreToolUse": group(command, onFailure="block", timeout=0.4)}))

    assert outcome.denied
    assert 'blocking because onFailure is "block"' in outcome.reason


def test_a_hook_past_its_deadline_is_ended_and_the_call_runs(tmp_path: Path) -> None:
    outcome = fire(load(tmp_path, {"PreToolUse": group(f"sleep 60; touch {tmp_path}/mark", timeout=0.3)}))

    assert (outcome.allowed, outcome.results[0].status) == (True, "timeout")
    assert not (tmp_path / "mark").exists()


def test_a_failure_that_the_client_lets_through_is_marked(tmp_path: Path) -> None:
    outcome = fire(load(tmp_path, {"PreToolUse": group("/not/there.sh")}))

    assert (outcome.allowed, outcome.results[0].status) == (True, "failed")


RULES = {"Bash(git push *)": False, "Bash(echo *)": True, "Bash": True, "Edit(*.ts)": False}


@pytest.mark.parametrize(("rule", "runs"), RULES.items())
def test_an_if_rule_looks_at_the_command(rule: str, runs: bool, tmp_path: Path) -> None:
    assert fire(load(tmp_path, {"PreToolUse": group("exit 2", **{"if": rule})})).denied is runs


def test_a_handler_that_cannot_be_run_loads_warns_and_fails(tmp_path: Path) -> None:
    hooks = load(tmp_path, {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "shell": "powershell"}]}]})

    outcome = fire(hooks)

    assert outcome.allowed
    assert [one.error.code for one in outcome.results if one.error] == ["handler_type"]
    assert "powershell" in str(hooks.warnings[0])


def test_a_background_hook_decides_nothing_and_its_context_comes_later(tmp_path: Path) -> None:
    said = prints({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "later"}})
    hooks = load(tmp_path, {"PreToolUse": [{"hooks": [{"type": "command", "command": said, "async": True}]}]})

    async def host() -> list[list[str]]:
        first = await hooks.fire("PreToolUse", **CALL)
        while not hooks.engine.late:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.001)
        second = await hooks.fire("PreToolUse", **CALL)
        return [first.context, second.context]

    assert asyncio.run(host()) == [[], ["later"]]


# What a hook is told.


def test_it_gets_the_whole_environment_and_the_clients_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("OTEL_EXPORTER", "x")
    names = "API_KEY OTEL_EXPORTER CLAUDECODE CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ID"
    shown = " ".join(f'"${{{name}-unset}}"' for name in names.split())
    hooks = load(tmp_path, {"PreToolUse": group(f"echo {shown} >&2; exit 2")})

    assert fire(hooks, session_id="s-1").reason == f"secret unset 1 {tmp_path} s-1"


def test_a_script_is_found_by_the_project_directory_and_runs_where_the_agent_is(tmp_path: Path) -> None:
    script = tmp_path / ".claude" / "hooks" / "guard.sh"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\npwd >&2; exit 2\n")
    script.chmod(0o755)
    hooks = load(tmp_path, {"PreToolUse": group('"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh')})
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()

    assert fire(hooks, cwd=str(elsewhere)).reason == str(elsewhere)
    assert fire(hooks, cwd=str(tmp_path / "gone")).reason == str(tmp_path)


def test_with_args_nothing_is_left_to_a_shell(tmp_path: Path) -> None:
    handler = {"type": "command", "command": "/bin/sh",
               "args": ["-c", 'echo "$1" >&2; exit 2', "sh", "${CLAUDE_PROJECT_DIR}/a b; exit 0"]}  # fmt: skip
    hooks = load(tmp_path, {"PreToolUse": [{"hooks": [handler]}]})

    assert fire(hooks).reason == f"{tmp_path}/a b; exit 0"


def test_ten_thousand_characters_are_enough(tmp_path: Path) -> None:
    hooks = load(tmp_path, {"UserPromptSubmit": group("head -c 12000 /dev/zero | tr '\\0' x")})

    (context,) = fire(hooks, "UserPromptSubmit").context

    assert len(context) <= 10_000
    assert "cut off here" in context[-80:]


def test_a_copy_in_another_file_runs_once(tmp_path: Path) -> None:
    for name in ("settings.json", "settings.local.json"):
        (tmp_path / ".claude").mkdir(exist_ok=True)
        written = {"hooks": {"PreToolUse": group(f"echo x >> {tmp_path}/ran")}}
        (tmp_path / ".claude" / name).write_text(json.dumps(written))

    fire(Hooks.load(tmp_path / ".claude/settings.json", tmp_path / ".claude/settings.local.json"))

    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.parametrize("text", ["{", '{"hooks": []}', '{"hooks": {}, "hooks": {}}', "[1]"])
def test_a_file_that_is_not_sound_arms_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"settings\.json"):
        Hooks.load(path, dialect="claude")


def test_hooks_of_two_files_with_scripts_of_one_name_all_run_and_can_be_switched(tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        folder = tmp_path / name / ".claude"
        folder.mkdir(parents=True)
        script = folder / "guard.sh"
        script.write_text(f"#!/bin/sh\necho {name} >&2; exit 2\n")
        script.chmod(0o755)
        files.append(folder / "settings.json")
        files[-1].write_text(json.dumps({"hooks": {"PreToolUse": group(str(script))}}))
    hooks = Hooks.load(*files)

    assert [(result.hook, result.reason) for result in fire(hooks).results] == [
        ("guard.sh", "one"),
        ("guard.sh-2", "two"),
    ]
    hooks.disable("guard.sh")
    assert [result.hook for result in fire(hooks).results] == ["guard.sh-2"]
    assert [hook.source for hook in hooks] == [f"{file}:1" for file in files]
