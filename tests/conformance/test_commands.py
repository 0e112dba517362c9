"""Commands: JSON in, JSON out, in any language; what the seeds and the contract say about them, with real processes."""

import asyncio
import json
import os
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome, strict_json

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call-1"}

HOSTS = ["on a loop", "without a loop"]


@pytest.fixture(params=HOSTS)
def fire(request: pytest.FixtureRequest) -> Any:
    """Both kinds of host."""
    return fire_on_a_loop if request.param == "on a loop" else Hooks.fire_sync


def fire_on_a_loop(hooks: Hooks, event: str, **fields: Any) -> Outcome:
    return asyncio.run(hooks.fire(event, **fields))


def script(folder: Path, name: str, text: str, *, executable: bool = True) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text).lstrip())
    path.chmod(0o755 if executable else 0o644)
    return path


def heard(fire: Any, tmp_path: Path, event: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
    """Return what a command reads from standard input."""
    hooks = Hooks(session_id="s-1")
    hooks.register(event, command=f"cat > {tmp_path}/heard")
    outcome = fire(hooks, event, **fields)
    assert [one.status for one in outcome.results] == ["ok"], outcome.results
    text = (tmp_path / "heard").read_text()
    assert text.endswith("\n")
    assert text.count("\n") == 1
    said: dict[str, Any] = json.loads(text)
    return said


# How a command is told.


def test_a_command_speaks_json_on_its_standard_streams(fire: Any, tmp_path: Path) -> None:
    """S1-32, S1-33, S1-34, S4-36: one object in, then end of file; one object out."""
    guard = script(tmp_path, "guard.py", f"""
        #!{sys.executable}
        import json, sys
        event = json.loads(sys.stdin.read())
        print(json.dumps({{"allowed": False, "decision": "deny", "reason": "no " + event["tool_input"]["command"]}}))
    """)  # fmt: skip
    hooks = Hooks()
    hooks.register("PreToolUse", str(guard), type="command")

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert (outcome.decision, outcome.reason) == ("deny", "no ls")


def test_the_words_of_massgen_are_there(fire: Any, tmp_path: Path) -> None:
    """S1-33, S4-14 … S4-22: hook_type, session, orchestrator, agent, timestamp, tool_name, tool_input, tool_output."""
    said = heard(fire, tmp_path, "PostToolUse", agent_id="worker", orchestrator_id="o-1", tool_response="done", **CALL)

    massgen = {name: said[name] for name in (
        "hook_type", "session_id", "orchestrator_id", "agent_id", "tool_name", "tool_input", "tool_output")}  # fmt: skip
    assert massgen == {
        "hook_type": "PostToolUse",
        "session_id": "s-1",
        "orchestrator_id": "o-1",
        "agent_id": "worker",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_output": "done",
    }
    assert said["timestamp"].endswith("+00:00")
    assert said["protocol"] == 1


def test_tool_output_is_text_and_only_after_a_tool(fire: Any, tmp_path: Path) -> None:
    """S4-21, S4-22, C-42"""
    assert heard(fire, tmp_path, "PreToolUse", **CALL)["tool_output"] is None
    assert heard(fire, tmp_path, "PostToolUse", tool_response={"a": 1}, **CALL)["tool_output"] == '{"a": 1}'


def test_the_words_of_goat_are_there(fire: Any, tmp_path: Path) -> None:
    """S3-26, S3-67, S3-68, S3-69, S3-70, S3-71, S3-72, S2-26"""
    said = heard(fire, tmp_path, transcript_path="t.jsonl", cwd=str(tmp_path), permission_mode="plan", **CALL)

    goat = ("session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name", "tool_name", "tool_input",
            "tool_use_id")  # fmt: skip
    assert [said[name] for name in goat] == [
        "s-1", "t.jsonl", str(tmp_path), "plan", "PreToolUse", "Bash", {"command": "ls"}, "call-1",
    ]  # fmt: skip


OMITTED = [
    ("S2-25", "PreToolUse", "permission_mode", {"permission_mode": ""}),
    ("S2-29", "PostToolUseFailure", "is_interrupt", {"is_interrupt": False}),
    ("S2-32", "SessionStart", "agent_type", {"agent_type": ""}),
    ("S2-33", "SessionStart", "model", {"model": ""}),
    ("S2-41", "Notification", "title", {"title": ""}),
    ("S2-46", "TaskCompleted", "task_description", {"task_description": ""}),
    ("S2-47", "TaskCompleted", "teammate_name", {"teammate_name": ""}),
    ("S2-48", "TaskCompleted", "team_name", {"team_name": ""}),
    ("S2-50", "PermissionRequest", "permission_suggestions", {"permission_suggestions": []}),
]


@pytest.mark.parametrize(("row", "event", "field", "given"), OMITTED, ids=[f"{one[0]} {one[2]}" for one in OMITTED])
def test_an_empty_field_that_may_be_absent_is_left_out(
    row: str, event: str, field: str, given: dict[str, Any], fire: Any, tmp_path: Path
) -> None:
    assert field not in heard(fire, tmp_path, event, **given)


def test_a_field_that_is_always_there_stays_when_it_is_empty(fire: Any, tmp_path: Path) -> None:
    """S2-23, S2-35, S2-38"""
    assert heard(fire, tmp_path, "Stop")["stop_hook_active"] is False
    assert heard(fire, tmp_path, "PreCompact", trigger="auto")["custom_instructions"] is None
    assert heard(fire, tmp_path, "PreToolUse")["transcript_path"] == ""


def test_the_environment_tells_who_asks(fire: Any, tmp_path: Path) -> None:
    """S1-35, S1-36, S1-37, S1-38, S4-36: MassGen's variables, and the same under our own name."""
    hooks = Hooks(session_id="s-1")
    hooks.register("PreToolUse", command=f"env > {tmp_path}/env")

    fire(hooks, "PreToolUse", agent_id="worker", orchestrator_id="o-1", **CALL)

    env = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    for prefix in ("MASSGEN_", "INTERPOSE_"):
        told = [env[prefix + name] for name in ("HOOK_TYPE", "TOOL_NAME", "SESSION_ID", "AGENT_ID", "ORCHESTRATOR_ID")]
        assert told == ["PreToolUse", "Bash", "s-1", "worker", "o-1"]
    assert env["CLAUDE_PROJECT_DIR"] == str(Path.cwd())
    assert env["INTERPOSE_DEPTH"] == "1"


def test_a_variable_of_the_host_is_not_there_unless_it_is_passed_on(
    fire: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-45, C-25: an allow-list, and env, passEnv and inheritEnv to add to it."""
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("HTTP_PROXY", "http://user:password@proxy:8080/x")
    seen = {}
    ways: dict[str, dict[str, Any]] = {
        "by default": {},
        "env": {"env": {"API_KEY": "other"}},
        "passEnv": {"pass_env": ["API_KEY", "NOT_THERE"]},
        "inheritEnv": {"inherit_env": True},
    }
    for how, options in ways.items():
        hooks = Hooks()
        hooks.register("PreToolUse", command='echo "$API_KEY $LC_TIME $HTTP_PROXY" >&2; exit 2', **options)
        seen[how] = fire(hooks, "PreToolUse", **CALL).reason

    assert seen == {
        "by default": "C http://proxy:8080/x",
        "env": "other C http://proxy:8080/x",
        "passEnv": "secret C http://proxy:8080/x",
        "inheritEnv": "secret C http://user:password@proxy:8080/x",
    }


def test_a_failed_command_says_which_variables_it_was_not_given(fire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-25: names, never values."""
    monkeypatch.setenv("API_KEY", "secret")
    hooks = Hooks()
    hooks.register("PreToolUse", command="exit 1")

    result = fire(hooks, "PreToolUse", **CALL).results[0]

    assert "API_KEY" in result.evidence["withheld"]
    assert "secret" not in json.dumps(result.to_dict())


# What is run.


def test_a_line_for_the_shell_runs_in_sh(fire: Any) -> None:
    """S3-25, C-24: ``command:`` is ``sh -c``."""
    hooks = Hooks()
    hooks.register("PreToolUse", command='echo "$0 $((1 + 1))" >&2; exit 2')

    assert fire(hooks, "PreToolUse", **CALL).reason == "sh 2"


def test_a_handler_is_split_into_words_and_run_without_a_shell(fire: Any, tmp_path: Path) -> None:
    """S1-10, C-24"""
    script(tmp_path, "say.sh", '#!/bin/sh\nprintf "%s|" "$@" >&2; exit 2\n')
    hooks = Hooks()
    hooks.register("PreToolUse", f"{tmp_path}/say.sh one 'two words' $HOME `ls`", type="command")

    assert fire(hooks, "PreToolUse", **CALL).reason == "one|two words|$HOME|`ls`|"


def test_with_args_a_command_is_executed_as_it_is(fire: Any) -> None:
    """C-24"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="/bin/sh", args=["-c", 'echo "$1" >&2; exit 2', "sh", "$HOME; exit 0"])

    assert fire(hooks, "PreToolUse", **CALL).reason == "$HOME; exit 0"


def test_a_python_script_that_is_not_executable_runs_under_this_interpreter(fire: Any, tmp_path: Path) -> None:
    """S1-10, C-24"""
    path = script(tmp_path, "hook.py", "import sys; sys.exit(sys.executable)\n", executable=False)
    hooks = Hooks()
    hooks.register("PreToolUse", str(path), type="command")

    result = fire(hooks, "PreToolUse", **CALL).results[0]

    assert result.evidence["stderr"].strip() == sys.executable


def test_a_global_command_of_a_file_holds_for_every_agent(fire: Any, tmp_path: Path) -> None:
    """S1-10: relative paths are found beside the file, wherever the agent is."""
    (tmp_path / "path/to").mkdir(parents=True)
    script(tmp_path / "path/to", "script.py", """
        import json, sys
        event = json.load(sys.stdin)
        print(json.dumps({"inject": {"content": "seen by " + str(event["agent_id"])}}))
    """, executable=False)  # fmt: skip
    written = {"hooks": {"PostToolUse": [{"handler": "path/to/script.py", "type": "command"}]}}
    (tmp_path / "hooks.json").write_text(json.dumps(written))
    hooks = Hooks.load(tmp_path / "hooks.json")

    said = [fire(hooks, "PostToolUse", agent_id=agent, cwd="/", **CALL).inject[0].content for agent in ("a", "b")]

    assert said == ["seen by a", "seen by b"]


@pytest.mark.parametrize("language", ["sh", "python", "perl", "node"])
def test_a_command_may_be_written_in_any_language(language: str, fire: Any, tmp_path: Path) -> None:
    """S4-37"""
    import shutil

    programs = {
        "sh": 'read -r line; printf \'{"decision":"deny","reason":"sh"}\'',
        "python": 'import json; print(json.dumps({"decision": "deny", "reason": "python"}))',
        "perl": 'print q({"decision":"deny","reason":"perl"});',
        "node": 'console.log(JSON.stringify({decision: "deny", reason: "node"}))',
    }
    interpreter = sys.executable if language == "python" else shutil.which(language)
    if interpreter is None:
        pytest.skip(f"{language} is not installed")
    path = tmp_path / "hook.js"  # node looks at the suffix, the others do not
    path.write_text(programs[language])
    hooks = Hooks()
    hooks.register("PreToolUse", [interpreter, str(path)], type="command")

    assert fire(hooks, "PreToolUse", **CALL).reason == language


# What it answers.


def test_its_answer_is_read_and_takes_effect(fire: Any) -> None:
    """S3-27, S3-30, S3-73, S1-34"""
    answer = {"continue": True, "suppressOutput": True, "systemMessage": "note", "inject": {"content": "beside"}}
    hooks = Hooks()
    hooks.register("PostToolUse", command=f"echo '{json.dumps(answer)}'")

    outcome = fire(hooks, "PostToolUse", **CALL)

    assert (outcome.suppress_output, outcome.context) == (True, ["note"])
    assert [item.content for item in outcome.inject] == ["beside"]


@pytest.mark.parametrize("word", ["deny", "block"])
def test_a_decision_may_be_spelled_deny_or_block(word: str, fire: Any) -> None:
    """S3-74"""
    hooks = Hooks()
    hooks.register("PreToolUse", command=f"""echo '{{"decision": "{word}", "reason": "no"}}'""")

    assert fire(hooks, "PreToolUse", **CALL).denied


@pytest.mark.parametrize("silence", ["true", "echo", "echo null", "echo '{}'"])
def test_nothing_said_is_no_opinion(silence: str, fire: Any) -> None:
    """S3-79"""
    hooks = Hooks()
    hooks.register("PreToolUse", command=silence)

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert (outcome.decision, outcome.allowed, outcome.results[0].status) == ("none", True, "ok")


def test_continue_false_ends_all_further_processing(fire: Any, tmp_path: Path) -> None:
    """S3-31"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="""echo '{"continue": false, "stopReason": "enough"}'""")
    hooks.register("PreToolUse", command=f"touch {tmp_path}/ran")

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert (outcome.denied, outcome.reason, outcome.stop_reason) == (True, "enough", "enough")
    assert [one.status for one in outcome.results] == ["ok", "skipped"]
    assert not (tmp_path / "ran").exists()


def test_exit_status_2_denies_with_what_it_wrote_to_standard_error(fire: Any) -> None:
    """C-26"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="echo not today >&2; exit 2")

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert (outcome.decision, outcome.reason) == ("deny", "not today")


def test_exit_status_2_keeps_an_agent_going_that_wants_to_stop(fire: Any) -> None:
    """C-26: where the row can be kept going."""
    hooks = Hooks()
    hooks.register("Stop", command="echo tests are red >&2; exit 2")

    outcome = fire(hooks, "Stop")

    assert (outcome.keep_going, outcome.reason) == (True, "tests are red")


def test_an_answer_that_is_no_json_is_logged_and_the_action_goes_on(fire: Any, caplog: Any) -> None:
    """S1-48, S1-49, S4-40"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="echo hello", name="chatty")

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert outcome.allowed
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "bad_output"
    assert "chatty" in caplog.text
    assert "not JSON" in caplog.text


def test_each_command_sees_what_the_one_before_it_changed(fire: Any, tmp_path: Path) -> None:
    """C-19, §3.3"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="""echo '{"updated_input": {"command": "ls -l"}}'""")
    hooks.register("PreToolUse", command=f"cat > {tmp_path}/heard")

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert outcome.tool_input == {"command": "ls -l"}
    assert json.loads((tmp_path / "heard").read_text())["tool_input"] == {"command": "ls -l"}


# Groups, order, progress.


def test_in_a_group_the_commands_run_after_the_callables_in_order(fire: Any, tmp_path: Path) -> None:
    """S3-23, S3-16, C-37"""
    note = tmp_path / "order"
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{
        "matcher": "Bash",
        "timeout": 5,
        "commands": [f"echo one >> {note}", f"echo two >> {note}"],
        "hooks": [lambda event: note.write_text("callable\n") and None],
    }]}})  # fmt: skip

    fire(hooks, "PreToolUse", **CALL)

    assert note.read_text().split() == ["callable", "one", "two"]
    assert {hook.timeout for hook in hooks} == {5.0}


def test_a_group_may_have_nothing_but_commands(fire: Any) -> None:
    """S3-23"""
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"commands": ["echo no >&2; exit 2"]}]}})

    assert fire(hooks, "PreToolUse", **CALL).reason == "no"


def test_a_running_command_is_told_of_as_it_writes(fire: Any, tmp_path: Path) -> None:
    """S3-24, S3-29, S3-91, S3-93, S3-95, S3-102: started, progress while it still runs, response."""
    go = tmp_path / "go"
    os.mkfifo(go)
    hooks = Hooks()
    hooks.register("PreToolUse", command=f"echo first >&2; cat {go}; echo second >&2; echo '{{}}'", timeout=10)
    messages: list[dict[str, Any]] = []

    def observe(message: dict[str, Any]) -> None:
        messages.append(message)
        if message["subtype"] == "hook_progress" and "first" in message["stderr"]:
            # It waits for this: so it is told of while the command runs.
            threading.Thread(target=lambda: go.write_text("")).start()

    with hooks.observe(observe) as subscription:
        outcome = fire(hooks, "PreToolUse", **CALL)
        assert subscription.flush()

    assert outcome.results[0].status == "ok"
    kinds = [message["subtype"] for message in messages]
    assert (kinds[0], kinds[-1]) == ("hook_started", "hook_response")
    progress = [one for one in messages if one["subtype"] == "hook_progress"]
    assert len(progress) >= 2
    assert "".join(one["stdout"] for one in progress) == "{}\n"
    assert "".join(one["stderr"] for one in progress) == "first\nsecond\n"
    assert {one["hook_id"] for one in messages} == {messages[0]["hook_id"]}
    ending = messages[-1]
    assert (ending["outcome"], ending["exit_code"], ending["stdout"]) == ("success", 0, "{}\n")


# Two phases, background, time.


def test_an_async_answer_runs_the_command_again_and_tells_it_so(fire: Any, tmp_path: Path) -> None:
    """S3-28, S3-75, S3-77, S3-78, C-23"""
    path = script(tmp_path, "later.sh", """
        #!/bin/sh
        if [ "$INTERPOSE_ASYNC_PHASE" = 2 ] && grep -q '"async_phase":2'; then
            echo '{"decision": "deny", "reason": "thought about it"}'
        else
            echo '{"async": true, "asyncTimeout": 5}'
        fi
    """)  # fmt: skip
    hooks = Hooks()
    hooks.register("PreToolUse", str(path), type="command")

    assert fire(hooks, "PreToolUse", **CALL).reason == "thought about it"


def test_twice_async_is_a_failure(fire: Any) -> None:
    """C-23"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="""echo '{"async": true}'""")

    assert [one.status for one in fire(hooks, "PreToolUse", **CALL).results] == ["failed"]


def test_the_second_run_has_the_time_that_the_command_asked_for(fire: Any) -> None:
    """S3-75, S3-76, S3-77"""
    hooks = Hooks()
    hooks.register("PreToolUse", command="""[ "$INTERPOSE_ASYNC_PHASE" = 2 ] && sleep 60
                                            echo '{"async": true, "asyncTimeout": 0.2}'""")  # fmt: skip

    result = fire(hooks, "PreToolUse", **CALL).results[0]

    assert (result.status, result.duration < 5) == ("timeout", True)


def test_a_background_command_reaches_the_next_firing_of_its_session(tmp_path: Path) -> None:
    """§6: ``async: true`` is true background work."""
    hooks = Hooks()
    hooks.register("PreToolUse", command=f'cat {tmp_path}/go; echo \'{{"systemMessage": "found it"}}\'', async_=True)
    os.mkfifo(tmp_path / "go")

    async def host() -> list[list[str]]:
        said = [(await hooks.fire("PreToolUse", **CALL)).context]
        await asyncio.to_thread((tmp_path / "go").write_text, "")
        while not hooks.engine.late:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.001)
        hooks.unregister(next(iter(hooks)))
        said.append((await hooks.fire("PreToolUse", session_id="another", **CALL)).context)
        said.append((await hooks.fire("PreToolUse", **CALL)).context)
        return said

    assert asyncio.run(host()) == [[], [], ["found it"]]


def test_a_command_past_its_deadline_is_ended_with_all_it_has_started(fire: Any, tmp_path: Path) -> None:
    """S1-42, S1-43, S1-44, S4-46"""
    hooks = Hooks()
    hooks.register("PreToolUse", command=f"sleep 61 & echo $! > {tmp_path}/pid; sleep 61", timeout=1.5)

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert (outcome.allowed, outcome.results[0].status) == (True, "timeout")
    child = int((tmp_path / "pid").read_text())
    assert not alive(child)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_command_that_is_not_there_denies(fire: Any) -> None:
    """§4, C-12"""
    hooks = Hooks()
    hooks.register("PreToolUse", "/not/there", type="command", name="guard")

    outcome = fire(hooks, "PreToolUse", **CALL)

    assert outcome.denied
    assert "guard failed: /not/there" in outcome.reason


def test_the_event_is_encoded_once_per_firing(fire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """§5, and again only after a change."""
    import interpose.handlers._encoded as module

    encoded = []

    def encode(value: Any) -> bytes:
        encoded.append(value)
        return strict_json.encode(value)

    monkeypatch.setattr(module, "encode", encode)
    hooks = Hooks()
    for _ in range(3):
        hooks.register("PreToolUse", command="true")

    fire(hooks, "PreToolUse", **CALL)

    assert len(encoded) == 1


def test_a_command_without_a_loop_needs_no_asyncio() -> None:
    """§11: so that one command can be fired quickly."""
    import subprocess

    program = """
import sys
from interpose import Hooks
hooks = Hooks()
hooks.register("PreToolUse", command="echo no >&2; exit 2", isolation="group")
print(hooks.fire_sync("PreToolUse", tool_name="Bash").reason, "asyncio" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["no", "False"]
