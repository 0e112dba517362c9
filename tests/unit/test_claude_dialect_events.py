"""The Claude dialect: what a hook is told of an event, on standard input and in variables."""

from typing import Any

from tests.tables import rows
from tests.unit.claude_answers import CLIENTS, PRE, row_of

from interpose.dialects import claude
from interpose.dialects.claude import variables, write
from interpose.event import Event
from interpose.event import event_of as make_event
from interpose.model import Template


def event_of(name: str, **fields: Any) -> Event:
    template = Template(row_of(name), "session-1")
    return make_event(template.row, template.complete({"cwd": "/work", **fields}))


def test_a_hook_is_told_the_event_as_the_client_tells_it():
    told = write(event_of(PRE, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", transcript_path="/t"))

    assert told == {
        "session_id": "session-1", "transcript_path": "/t", "cwd": "/work", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1",
    }  # fmt: skip


def test_what_may_be_absent_is_left_out_when_it_is_empty():
    empty: dict[str, Any] = {"permission_mode": "", "agent_id": None, "agent_type": "", "effort": {}, "model": ""}

    assert write(event_of("SessionStart", source="startup", **empty)).keys().isdisjoint(empty)
    told = write(event_of("SessionStart", source="fork", permission_mode="plan", context_tokens=0))
    assert (told["permission_mode"], told["context_tokens"]) == ("plan", 0)


def test_what_is_always_there_stays():
    assert write(event_of("PreCompact", trigger="auto"))["custom_instructions"] is None
    assert write(event_of("Stop"))["stop_hook_active"] is False
    assert write(event_of("SubagentStop"))["agent_id"] == ""


def test_a_hook_is_told_what_the_host_adds_and_nothing_of_the_native_format():
    told = write(event_of(PRE, tool_name="Bash", ticket=7, env_file="/e", hook_type="x", timestamp="now", protocol=1))

    assert told["ticket"] == 7
    assert told.keys().isdisjoint({"env_file", "hook_type", "timestamp", "protocol", "orchestrator_id"})


def test_variables_tell_of_the_session_and_the_effort():
    told = variables(event_of(PRE, effort={"level": "high"}, env_file="/e"))

    assert told == {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-1", "CLAUDE_EFFORT": "high"}
    assert "CLAUDE_EFFORT" not in variables(event_of(PRE, effort="high"))


@rows("event", CLIENTS)
def test_the_file_for_variables_is_named_where_the_table_says_so(event):
    assert ("CLAUDE_ENV_FILE" in variables(event_of(event, env_file="/e"))) is row_of(event).claude.env_file


def test_variables_of_the_hosts_telemetry_are_withheld():
    assert claude.withheld_prefixes == ("OTEL_",)


def test_only_a_subagent_has_an_id() -> None:
    fields = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "1", "session_id": "s", "cwd": "/"}
    told = [
        claude.write(event_of("PreToolUse", **fields, agent_id="main")).get("agent_id"),
        claude.write(event_of("PreToolUse", **fields, agent_id="explorer-1", agent_type="explorer")).get("agent_id"),
    ]

    assert told == [None, "explorer-1"]
