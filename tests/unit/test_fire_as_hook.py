"""``interpose fire --reply``: what a host is told, what it is not told, and what is said on standard error."""

import io
import json
import os
import subprocess
import sys

import pytest
from tests.unit.agent_payloads import payload_of

from interpose.cli import main
from interpose.dialects.agents import agent_dialect
from interpose.dialects.agents.contract import HookExit

CONTEXT = "[{name: c, type: script, handler: '/context TOKCTX'}]"


@pytest.fixture
def fire(tmp_path, monkeypatch, capsys):
    """Return a function that fires an event through a configuration and returns output, errors and exit status."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "INTERPOSE_OFF", "INTERPOSE_TRUST"):
        monkeypatch.delenv(name, raising=False)

    def run(hooks, payload, *words, reply="claude"):
        file = tmp_path / "hooks.yaml"
        file.write_text(f"hooks: {{{hooks}}}\n" if hooks is not None else "hooks: {PreToolUze: []}\n")
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = main(["fire", *words, "--reply", reply, "-c", str(file)])
        said = capsys.readouterr()
        return said.out, said.err, status

    return run


BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c"}


# What was wrong in Claude Code.


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "TeammateIdle"])
def test_a_broken_configuration_does_not_keep_the_agent_going(fire, event):
    assert [fire(None, {"hook_event_name": event})[2], fire(None, {}, event)[2]] == [1, 1]


def test_a_broken_configuration_denies_elsewhere(fire):
    calls = [fire(None, {"hook_event_name": event, **BASH, "prompt": "x"})[2]
             for event in ("PreToolUse", "UserPromptSubmit", "WorktreeCreate", "PreCompact")]  # fmt: skip

    assert calls == [2, 2, 2, 2]


def test_a_broken_configuration_refuses_a_request_for_permission_in_words(fire):
    out, _, status = fire(None, {"hook_event_name": "PermissionRequest", **BASH})

    assert json.loads(out)["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    assert not agent_dialect("claude").predict("PermissionRequest", HookExit(out, "", status)).tool_ran


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_context_alone_does_not_keep_the_agent_going(fire, event):
    out, err, status = fire(f"{event}: {CONTEXT}", {"hook_event_name": event})

    assert (out, status) == ("", 0)
    assert "context that does not keep the agent going: Claude Code has no word for it" in err


def test_context_beside_a_reason_to_go_on_is_said(fire):
    hooks = "Stop: [{name: c, type: script, handler: '/context TOKCTX'}, {type: script, handler: '/deny \"run the tests\"'}]"

    out, _, status = fire(hooks, {"hook_event_name": "Stop"})

    said = json.loads(out)
    assert (said["decision"], said["reason"], status) == ("block", "run the tests", 0)
    assert said["hookSpecificOutput"]["additionalContext"] == "TOKCTX"


@pytest.mark.parametrize("event", ["Setup", "Notification"])
def test_context_that_the_client_drops_is_said_on_standard_error(fire, event):
    out, err, _ = fire(f"{event}: {CONTEXT}", {"hook_event_name": event})

    assert out == ""
    assert f"context: Claude Code has no word for it at {event}" in err


@pytest.mark.parametrize(("event", "answer"), [("PostToolUse", '{"decision": "deny"}'), ("PostToolUse", '{"decision": "ask"}'),
                                               ("PostToolBatch", '{"modify": {"tool_calls": []}}')])  # fmt: skip
def test_wishes_without_effect_are_said_on_standard_error(fire, event, answer):
    hook = json.dumps([{"name": "h", "command": f"echo '{answer}'"}])

    _, err, status = fire(f"{event}: {hook}", {"hook_event_name": event, **BASH, "tool_response": "x"})

    assert status == 0
    assert "interpose fire: h: " in err
    assert f"has no effect at {event}" in err


def test_a_suppressed_output_is_said_on_standard_error(fire):
    hook = json.dumps([{"name": "h", "command": "echo '{\"suppressOutput\": true}'"}])

    _, err, _ = fire(f"PostToolUse: {hook}", {"hook_event_name": "PostToolUse", **BASH, "tool_response": "x"})

    assert "that the output is suppressed: Claude Code has no word for it at PostToolUse" in err


def test_context_in_the_background_and_once_are_said_to_be_lost(fire):
    hooks = "PreToolUse: [{name: late, async: true, command: 'true'}, {name: first, once: true, command: 'true'}]"

    _, err, _ = fire(hooks, {"hook_event_name": "PreToolUse", **BASH})

    assert "late: what it says in the background is lost" in err
    assert "first: it runs at every event, and not once" in err


@pytest.fixture
def repository(tmp_path):
    where = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(where)], check=True)
    subprocess.run(["git", "-C", str(where), "-c", "user.name=n", "-c", "user.email=e@localhost", "commit", "-q",
                    "--allow-empty", "-m", "first"], check=True)  # fmt: skip
    return where


def test_a_worktree_on_which_no_hook_has_an_opinion_is_made(fire, repository):
    out, err, status = fire("Stop: []", {"hook_event_name": "WorktreeCreate", "name": "one", "cwd": str(repository)})

    path = str(repository / ".claude" / "worktrees" / "one")
    assert (out, status) == (path + "\n", 0), err
    assert os.path.exists(os.path.join(path, ".git"))


@pytest.mark.parametrize("name", ["../x", "-b", "a/b", "", 5, "x..y"])
def test_a_worktree_cannot_be_made_elsewhere(fire, repository, name):
    out, _, status = fire("Stop: []", {"hook_event_name": "WorktreeCreate", "name": name, "cwd": str(repository)})

    assert (out, status) == ("", 2)


@pytest.mark.parametrize("word", ["ask", "deny"])
def test_a_reason_is_not_read_as_the_path_of_a_worktree(fire, word):
    hooks = f"WorktreeCreate: [{{type: script, handler: '/{word} \"really?\"'}}]"

    out, err, status = fire(hooks, {"hook_event_name": "WorktreeCreate", "name": "one"})

    assert (out, status) == ("", 2)
    assert "really?" in err


def test_the_path_of_a_hook_is_all_that_is_written(fire):
    hook = json.dumps([{"command": 'echo \'{"extra": {"worktreePath": "/w/one"}}\''}])

    assert fire(f"WorktreeCreate: {hook}", {"hook_event_name": "WorktreeCreate", "name": "one"})[::2] == ("/w/one\n", 0)


# What the settings of a project may not do.


def called_by_an_agent(tmp_path, started_with, added):
    """Start ``interpose fire`` from a program that was started with some variables and adds others, as agents do."""
    project = tmp_path / "p"
    (project / ".interpose").mkdir(parents=True)
    (project / ".interpose" / "hooks.yaml").write_text("hooks: {PreToolUse: [{type: script, handler: '/deny no'}]}\n")
    event = json.dumps({"hook_event_name": "PreToolUse", "cwd": str(project), **BASH})
    words = [sys.executable, "-m", "interpose.cli", "fire", "--reply", "claude"]
    agent = (f"import os, subprocess; os.environ.update({added!r}); done = subprocess.run({words!r}, input={event!r}, "
             "text=True, capture_output=True); print(done.returncode); print(done.stdout + done.stderr)")  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **started_with}
    done = subprocess.run([sys.executable, "-c", agent], capture_output=True, text=True, env=environment, cwd=project,
                          start_new_session=True, check=False)  # fmt: skip
    status, _, said = done.stdout.partition("\n")
    assert not done.stderr
    return int(status), said


TRUSTED = {"INTERPOSE_TRUST": "all"}


def test_trust_out_of_the_settings_of_a_project_is_ignored(tmp_path):
    status, said = called_by_an_agent(tmp_path, {}, TRUSTED)

    assert status == 2
    assert "INTERPOSE_TRUST is ignored: the agent was not started with it" in said
    assert "not trusted" in said


def test_enforcement_is_not_switched_off_by_the_settings_of_a_project(tmp_path):
    # This process is above the agent, so what counts is what it was started with.
    status, said = called_by_an_agent(tmp_path, {}, {**TRUSTED, "INTERPOSE_OFF": "because"})

    assert status == 2
    assert "INTERPOSE_OFF is ignored" in said


def test_modules_out_of_the_settings_of_a_project_are_not_imported(tmp_path):
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "graphlib.py").write_text("raise SystemExit(0)\n")
    hooks = tmp_path / "hooks.yaml"
    hooks.write_text("hooks: {PreToolUse: [{type: python, handler: checks.look, onError: abort}]}\n")
    (tmp_path / "checks.py").write_text(
        "import graphlib\n\ndef look(event):\n    return {'decision': 'deny', 'reason': graphlib.__name__}\n"
    )
    words = [sys.executable, "-m", "interpose.cli", "fire", "--reply", "claude", "-c", str(hooks)]

    done = subprocess.run(words, input=json.dumps({"hook_event_name": "PreToolUse", **BASH}), text=True,
                          capture_output=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path),
                          "PYTHONPATH": str(planted)}, check=False)  # fmt: skip

    assert (done.returncode, "permissionDecision" in done.stdout) == (2, True), done.stderr


# Deadlines.


def test_a_guard_that_hangs_denies_before_the_deadline_of_the_host(fire):
    hooks = "PreToolUse: [{name: slow, onError: abort, timeout: 60, command: 'sleep 60'}]"
    codex = agent_dialect("codex")

    out, err, status = fire(hooks, payload_of(codex, "PreToolUse"), "--deadline", "2", reply="codex")

    assert not codex.predict("PreToolUse", HookExit(out, err, status)).tool_ran


@pytest.mark.slow
@pytest.mark.parametrize(("name", "own"), [("codex", "PreToolUse"), ("cline", "PreToolUse"), ("gemini", "AfterAgent")])
def test_an_event_that_does_not_end_is_answered_before_the_deadline_of_the_host(name, own, tmp_path):
    words = [sys.executable, "-m", "interpose.cli", "fire", own, "--reply", name, "--deadline", "3"]
    dialect = agent_dialect(name)

    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write('{"tool_name": ')
        child.stdin.flush()
        status, out, err = child.wait(timeout=60), child.stdout.read(), child.stderr.read()

    seen = dialect.predict(own, HookExit(out, err, status))
    assert "nothing was decided within 3 s" in err
    assert seen.model_calls < 3
    assert not seen.tool_ran or own == "AfterAgent"


# Every agent.


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[]", b"null", b'"text"', b"{", b'{"tool_name": NaN}',
                                  b"\xff\xfe\x00", b'{"a":' * 5000, b"{}", b'{"tool_name": {}}'])  # fmt: skip
@pytest.mark.parametrize("name", ["codex", "copilot", "gemini", "qwen", "cline", "droid", "cursor", "opencode", "grok"])
def test_a_payload_that_cannot_be_read_is_denied_in_the_words_of_the_agent(fire, name, data):
    dialect = agent_dialect(name)
    own = next(own for own, ours in dialect.EVENTS.items() if ours == "PreToolUse")

    out, err, status = fire("Stop: []", data, own, reply=name)

    seen = dialect.predict(own, HookExit(out, err, status))
    assert not seen.tool_ran
    assert not seen.asks
    assert "Traceback" not in err


def test_every_file_of_a_patch_has_rules(fire):
    codex = agent_dialect("codex")
    hooks = "PreToolUse: [{if: Edit(.env), type: script, handler: '/deny \"not .env\"'}]"
    patch = "*** Begin Patch\n*** Update File: a.txt\n-a\n+b\n*** Add File: .env\n+x\n*** End Patch"
    call = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "cwd": "/tmp"}

    out, _, status = fire(hooks, {**payload_of(codex, "PreToolUse"), **call}, reply="codex")

    assert json.loads(out)["hookSpecificOutput"]["permissionDecisionReason"] == "not .env"
    assert status == 0


def test_a_rewrite_of_a_patch_is_a_deny_that_says_what_to_do(fire):
    codex = agent_dialect("codex")
    hook = json.dumps([{"command": 'echo \'{"modify": {"tool_input": {"file_path": "b", "content": ""}}}\''}])
    call = {"tool_name": "apply_patch", "tool_input": {"command": "*** Add File: a\n+x"}}

    out, _, _ = fire(f"PreToolUse: {hook}", {**payload_of(codex, "PreToolUse"), **call}, reply="codex")

    said = json.loads(out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert '{"file_path": "b", "content": ""}' in said["permissionDecisionReason"]
