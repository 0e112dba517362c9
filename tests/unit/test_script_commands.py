"""The commands of scripts: what is filled in, and what each of ours answers."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from tests.tables import rows
from tests.unit.script_lines import (
    NOTIFY,
    answer,
    hook_of,
    make_event,
    read_line,
    shell,
)

from interpose import Reply, ask, context, deny, inject
from interpose.replies import HookFailed
from interpose.scripts import Commands, ScriptHandler, ScriptHost, fill

# Filling in.


@rows(
    ("argument", "expected"),
    [
        ("$tool", "shell"),
        ("$tool_name", "shell"),
        ("$args", '{"command":"ls","paths":["/a","/b"],"你":[true,null,1.5]}'),
        ("$args.command", "ls"),
        ("$args.paths", '["/a","/b"]'),
        ("$args.paths.1", "/b"),
        ("[$args.paths.2]", "[]"),
        ("[$args.paths.x]", "[]"),
        ("[$args.paths." + "9" * 5000 + "]", "[]"),
        ("[$args.command.x]", "[]"),
        ("[$args.none]", "[]"),
        ("[$args.nothing.at.all]", "[]"),
        ("[$permission_mode]", "[]"),
        ("$session_id", "session-1"),
        ("'$tool'", "$tool"),
    ],
)
def test_a_name_is_the_events_field_when_the_hook_runs(argument: str, expected: str) -> None:
    """S0-83: a value is filled in when the hook runs; text as it is, the rest as JSON, what is missing as nothing."""
    tool_input = {"command": "ls", "paths": ["/a", "/b"], "你": [True, None, 1.5]}
    event = make_event("pre:tool", tool_name="shell", tool_input=tool_input)

    assert fill(read_line(f"hook pre:tool /deny {argument}").arguments[0], event) == expected


def test_an_empty_argument_is_the_empty_text() -> None:
    assert fill((), shell()) == ""


def test_the_result_of_a_tool_is_called_result() -> None:
    event = make_event("post:tool", tool_name="shell", tool_response={"lines": [{"text": "a\nb"}]})
    line = read_line('hook post:tool /context "$result.lines.0.text|$result"')

    assert fill(line.arguments[0], event) == 'a\nb|{"lines":[{"text":"a\\nb"}]}'


@rows("value", ['"; /deny x', "$tool ${tool}", "a b\nhook pre:tool /log", "# x", "\\", "'"])
def test_what_is_filled_in_is_never_read_again(value: str) -> None:
    """S0-83: no value adds an argument, a quote or a command."""
    seen: list[Any] = []
    commands = Commands()
    commands.add("see", lambda arguments, event: seen.append(arguments))
    line = read_line('hook pre:message /see $prompt "<$prompt>" end', commands)
    handler = ScriptHandler(commands, ScriptHost())

    asyncio.run(handler(hook_of(line), make_event("pre:message", prompt=value), 0.0))

    assert seen == [[value, f"<{value}>", "end"]]


class Odd(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Any:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


@rows("value", [{"x": {1, 2}}, {"x": float("nan")}, {"x": Odd()}, Odd(), object()])
def test_a_value_that_cannot_be_written_fails_a_hosts_command_and_never_keeps_ours_from_denying(value: Any) -> None:
    event = make_event("pre:tool", tool_name="shell", tool_input=value)
    line = read_line('hook pre:tool /deny "no: $args.x$args"')

    with pytest.raises(HookFailed) as failed:
        fill(line.arguments[0], event)
    reply = ScriptHandler(Commands(), ScriptHost()).run(line, event)

    assert failed.value.failure.code == "payload"
    assert (reply.decision, reply.reason[:9]) == ("deny", "no: <args")


# The commands.


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_log_writes_the_text_with_the_current_value_at_its_level(level: str, caplog: pytest.LogCaptureFixture) -> None:
    """S0-82, S0-83: ``Sending: `` and the prompt of this firing, at the level that the line names."""
    caplog.set_level("DEBUG", "interpose.script")
    text = f'hook pre:message /log {level} "Sending: $prompt"'

    assert answer(text, make_event("pre:message", prompt="100% %s\x1b[2K")) is None
    assert answer(text, make_event("pre:message", prompt="then")) is None

    expected = getattr(logging, level.upper())
    assert caplog.record_tuples == [
        ("interpose.script", expected, "Sending: 100% %s"),
        ("interpose.script", expected, "Sending: then"),
    ]


def test_a_level_that_is_filled_in_is_looked_at_when_the_hook_runs() -> None:
    with pytest.raises(HookFailed, match="/log: 'loud' is not a level; there are debug, info, warning, error"):
        answer("hook pre:message /log $prompt x", make_event("pre:message", prompt="loud"))


@rows(
    ("line", "permissions", "expected"),
    [
        ("shellExec", {"shellExec": "allow"}, None),
        ("shellExec", {"shellExec": "ask"}, ask("permission shellExec must be asked for")),
        ("shellExec", {"shellExec": "deny"}, deny("permission shellExec is denied")),
        ("shellExec", {}, deny("permission shellExec is not known")),
        ("shellExec", {"shellExec": "Allow"}, deny("permission shellExec is 'Allow', which is not allow, ask or deny")),
        ("shellExec", {"shellExec": True}, deny("permission shellExec is True, which is not allow, ask or deny")),
        ("$tool", {"shell": "allow"}, None),
        ("$tool", {"$tool": "allow"}, deny("permission shell is not known")),
        ("$permission_mode", {}, deny("permission  is not known")),
    ],
)
def test_perms_denies_what_is_not_allowed_and_grants_nothing(line: str, permissions: Any, expected: Any) -> None:
    """S0-86: a permission that is denied, or that nobody knows, is a deny."""
    assert answer(f"hook pre:tool /perms check {line}", shell(), permissions=permissions) == expected


@rows(
    ("line", "expected"),
    [
        ('/deny "no $tool"', deny("no shell")),
        ('/deny ""', deny("")),
        ('/ask "may $tool run?"', ask("may shell run?")),
        ('/context "it runs $args.command"', context("it runs ls")),
        ("/inject hello", inject("hello")),
        ("/inject user_message", inject("user_message")),
        ("/inject user_message $tool", inject("shell", "user_message")),
        ("/inject tool_result x", inject("x", "tool_result")),
        ("/inject system_context x", inject("x", "system_context")),
    ],
)
def test_a_guard_can_be_one_line(line: str, expected: Reply) -> None:
    assert answer(f"hook pre:tool {line}", shell()) == expected


def test_a_strategy_that_is_filled_in_is_looked_at_when_the_hook_runs() -> None:
    with pytest.raises(HookFailed, match="/inject: 'shell'; strategies are tool_result, user_message, system_context"):
        answer("hook pre:tool /inject $tool x", shell())


class Fired:
    """A host that takes note of what is fired."""

    def __init__(self, said: Any = None) -> None:
        self.events: list[Any] = []
        self.said = said

    def __call__(self, event: str, /, **fields: Any) -> Any:
        self.events.append((event, fields))
        return self.said

    async def later(self, event: str, /, **fields: Any) -> Any:
        return self(event, **fields)


def test_notify_fires_a_notification_with_the_agents_name_and_shows_it() -> None:
    """S0-87: the notification has the agent's name in it."""
    fired, shown = Fired(), list[str]()
    event = make_event("post:agent:complete", agent="scout\x07", result=None, agent_id="main")

    assert answer(NOTIFY, event, fire=fired, show=shown.append) is None
    assert shown == ["Agent scout finished"]
    assert fired.events == [(
        "Notification",
        {"message": "Agent scout\x07 finished", "notification_type": "script",
         "session_id": "session-1", "agent_id": "main"},
    )]  # fmt: skip


def test_notify_waits_for_a_host_that_fires_asynchronously() -> None:
    fired = Fired()
    handler = ScriptHandler(Commands(), ScriptHost(fire=fired.later))
    event = make_event("post:agent:complete", agent="scout")

    assert asyncio.run(handler(hook_of(read_line(NOTIFY)), event, 0.0)) is None
    assert len(fired.events) == 1


def test_notify_at_a_notification_is_shown_and_not_fired_again() -> None:
    fired, shown = Fired(), list[str]()

    answer('hook Notification /notify "seen: $message"', make_event("Notification", message="m"),
           fire=fired, show=shown.append)  # fmt: skip

    assert (fired.events, shown) == ([], ["seen: m"])


def test_notify_without_anybody_to_tell_is_silent() -> None:
    assert answer(NOTIFY, make_event("post:agent:complete", agent="scout")) is None


def test_what_the_hooks_of_the_notification_say_is_passed_on() -> None:
    said = Reply(context=("look",), messages=("hey",))

    assert answer(NOTIFY, make_event("post:agent:complete", agent="a"), fire=Fired(said)) == said


def test_a_terminal_that_is_gone_keeps_no_notification_from_being_fired_and_is_reported() -> None:
    def show(text: str) -> None:
        raise BrokenPipeError

    fired = Fired()

    with pytest.raises(BrokenPipeError):
        answer(NOTIFY, make_event("post:agent:complete", agent="a"), fire=fired, show=show)

    assert len(fired.events) == 1
