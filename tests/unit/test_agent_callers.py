"""Which agent calls: some load the settings of another, and one event is decided once."""

import io
import json

import pytest
from tests.unit.agent_payloads import payload_of

from interpose.cli import main
from interpose.dialects.agents import AGENTS, agent_dialect
from interpose.dialects.agents.callers import caller_of, can_call_twice

LOADERS = {"copilot": "PreToolUse", "cursor": "preToolUse", "vscode": "PreToolUse", "grok": "PreToolUse"}
VARIABLES = {"copilot": {"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/tmp"}, "cursor": {}, "vscode": {}, "grok": {}}


def sent(name):
    """Return a payload of an agent that loads Claude's settings."""
    found = payload_of(agent_dialect(name), LOADERS[name])
    return {**found, "timestamp": "2026-11-16T00:00:00Z"} if name == "vscode" else found


@pytest.mark.parametrize("name", LOADERS)
def test_an_entry_of_claude_knows_who_calls(name):
    assert caller_of("claude", sent(name), VARIABLES[name]) == name


@pytest.mark.parametrize("event", agent_dialect("claude").EVENTS)
def test_claude_code_itself_is_not_mistaken(event):
    payload = {**payload_of(agent_dialect("claude"), event), "prompt_id": "p", "transcript_path": "/t"}

    assert (
        caller_of("claude", payload, {"CLAUDE_PROJECT_DIR": "/tmp", "COPILOT_CLI": "1", "VSCODE_PID": "1"}) == "claude"
    )


@pytest.mark.parametrize("name", sorted(set(AGENTS) - {"claude", "copilot", "vscode"}))
def test_an_entry_that_only_one_agent_loads_is_that_agents(name):
    assert caller_of(name, {"cursor_version": "1", "timestamp": "x", "hook_event_name": "PreToolUse"}, {}) == name


def test_only_agents_that_load_several_files_pay_for_what_is_kept():
    assert [name for name in AGENTS if can_call_twice(name)] == ["copilot", "cursor", "vscode", "antigravity", "grok"]


@pytest.fixture
def fire(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    count = tmp_path / "count"
    file = tmp_path / "hooks.yaml"
    line = f'echo x >> {count}; echo \'{{"decision": "deny", "reason": "no"}}\''
    file.write_text(f"hooks: {{PreToolUse: [{{command: {json.dumps(line)}}}]}}\n")

    def run(payload, reply, event="PreToolUse"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode())))
        status = main(["fire", event, "--reply", reply, "-c", str(file)])
        return status, capsys.readouterr().out, len(count.read_text().split()) if count.exists() else 0

    return run


def test_an_event_that_two_entries_are_called_for_is_decided_once(fire, monkeypatch):
    monkeypatch.setenv("COPILOT_CLI", "1")
    payload = sent("copilot")

    own = fire({**payload, "timestamp": "2026-11-16T00:00:01Z"}, "copilot")
    imported = fire({**payload, "timestamp": "2026-11-16T00:00:02Z"}, "claude")

    assert (own, imported) == ((0, own[1], 1), (0, own[1], 1))
    assert json.loads(own[1]) == {"permissionDecision": "deny", "permissionDecisionReason": "no"}


def test_the_same_call_again_is_decided_again(fire, monkeypatch):
    monkeypatch.setenv("COPILOT_CLI", "1")
    payload = sent("copilot")

    counts = [fire(payload, reply)[2] for reply in ("copilot", "claude", "copilot", "claude", "claude")]

    assert counts == [1, 1, 2, 2, 3]


def test_another_call_is_decided_for_itself(fire):
    first = {**sent("cursor"), "tool_use_id": "one"}

    counts = [fire({**first, "tool_use_id": call}, "claude")[2] for call in ("one", "two", "three")]

    assert counts == [1, 2, 3]


def test_an_agent_that_calls_once_keeps_nothing(fire, tmp_path):
    counts = [fire(payload_of(agent_dialect("codex"), "PreToolUse"), "codex")[2] for _ in range(2)]

    assert counts == [1, 2]
    assert not (tmp_path / ".local" / "state" / "interpose" / "answers").exists()
