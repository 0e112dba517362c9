"""Scripts of a host: commands of its own, and scripts as handlers of its engine."""

import asyncio
import threading
import time
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest
from tests.tables import rows
from tests.unit.script_lines import (
    NOTIFY,
    QUOTE_IT,
    SEED,
    problems,
    read,
    read_line,
)

from interpose import BadHook, Hooks, Outcome, Reply, deny
from interpose.config.script_hooks import PRIORITY
from interpose.event import Event
from interpose.events import TABLE, EventSpec
from interpose.records import replace
from interpose.scripts import Commands, ScriptHandler, ScriptHost, parse
from interpose.scripts import handler as handler_module

# Commands of a host.


def test_a_host_adds_commands_with_and_without_the_slash() -> None:
    commands = Commands()
    commands.add("deploy", lambda arguments, event: None)
    commands.add("/team:review.now", lambda arguments, event: None)

    assert list(commands)[-2:] == ["deploy", "team:review.now"]
    assert "deploy" in commands
    assert "deploy" not in Commands()


@rows(
    ("name", "function", "bounds", "expected"),
    [
        ("deny", print, {}, "there is a command /deny already (choose another name)"),
        ("a b", print, {}, "'a b' cannot be the name of a command (letters, digits, _ - . and :)"),
        ("", print, {}, "'' cannot be the name of a command (letters, digits, _ - . and :)"),
        (5, print, {}, "5 cannot be the name of a command (letters, digits, _ - . and :)"),
        ("x", 5, {}, "/x: int cannot be called (give a function)"),
        ("x", print, {"fewest": 2, "most": 1}, "/x: no line has 2 to 1 arguments (fewest is at most most)"),
    ],
)
def test_a_command_that_could_not_work_is_refused(name: Any, function: Any, bounds: Any, expected: str) -> None:
    commands = Commands()

    with pytest.raises(BadHook) as refused:
        commands.add(name, function, **bounds)

    assert str(refused.value) == expected
    assert list(commands) == list(Commands())


def test_the_arguments_of_a_hosts_command_are_counted_as_it_says() -> None:
    commands = Commands()
    commands.add("deploy", lambda arguments, event: None, usage="WHERE [HOW …]", fewest=1)

    assert problems("hook pre:tool /deploy", commands) == [
        f"my.arma:1:15: /deploy takes at least 1 argument, and here is none (write /deploy WHERE [HOW …]; {QUOTE_IT})"
    ]
    assert len(read_line("hook pre:tool /deploy a b c d", commands).arguments) == 4


class CallableObject:
    async def __call__(self, arguments: list[str], event: Event) -> Reply:
        return deny(f"{arguments[0]} at {event.row.name}")


async def async_command(arguments: list[str], event: Event) -> Reply:
    return deny(f"{arguments[0]} at {event.row.name}")


def sync_command_that_gives_a_coroutine(arguments: list[str], event: Event) -> Any:
    return async_command(arguments, event)


def sync_command(arguments: list[str], event: Event) -> Reply:
    return deny(f"{arguments[0]} at {event.row.name}")


@rows(
    "function",
    [sync_command, async_command, CallableObject(), partial(sync_command_that_gives_a_coroutine)],
)
def test_a_hosts_command_is_sync_or_async_and_answers_as_any_hook_does(function: Any) -> None:
    commands = Commands()
    commands.add("stop", function)
    hooks = armed('hook pre:tool /stop "$tool"', commands)

    outcomes = [asyncio.run(hooks.fire("pre:tool", tool="shell")), hooks.fire_sync("pre:tool", tool="shell")]

    assert [outcome.reason for outcome in outcomes] == ["shell at PreToolUse"] * 2


def test_a_hosts_sync_command_runs_in_a_daemon_thread_and_sees_the_callers_context() -> None:
    seen: list[Any] = []
    request: ContextVar[str] = ContextVar("request")
    request.set("r-1")
    commands = Commands()
    commands.add("look", lambda arguments, event: seen.extend([threading.current_thread(), request.get()]))

    asyncio.run(armed("hook pre:message /look", commands).fire("pre:message"))

    thread, number = seen
    assert thread is not threading.main_thread()
    assert thread.daemon
    assert number == "r-1"


@rows("error", [ValueError("bad"), SystemExit(1), KeyboardInterrupt(), StopIteration()])
def test_a_hosts_command_that_raises_has_failed_and_nothing_else(error: BaseException) -> None:
    def fail(arguments: list[str], event: Event) -> None:
        raise error

    commands = Commands()
    commands.add("fail", fail)

    outcome = asyncio.run(armed("hook pre:tool /fail", commands).fire("pre:tool", tool="shell"))

    assert [(result.status, result.error and result.error.code) for result in outcome.results] == [
        ("failed", "hook_crash")
    ]


def test_a_hosts_command_that_hangs_is_given_up_at_its_deadline_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler_module, "_MOST_KEPT", 1)
    monkeypatch.setattr(handler_module, "_kept", [])
    go_on = threading.Event()
    commands = Commands()
    commands.add("hang", lambda arguments, event: go_on.wait(20))
    hooks = armed("hook pre:tool /hang", commands, timeout=0.2)
    began = time.monotonic()

    first = hooks.fire_sync("pre:tool", tool="shell")
    second = asyncio.run(hooks.fire("pre:tool", tool="shell"))
    go_on.set()
    handler_module._kept[0].join(10)
    third = hooks.fire_sync("pre:tool", tool="shell")

    assert time.monotonic() - began < 15
    assert [first.results[0].status, second.results[0].error, third.results[0].status] == [
        "timeout", "1 threads are kept by script commands that hang", "failed"]  # fmt: skip
    assert third.results[0].error is not None
    assert third.results[0].error.code == "bad_reply"  # wait() answers true, which is not an answer of a hook


# As a handler of the engine.


def armed(text: str, commands: Commands | None = None, *, timeout: float = 10, **world: Any) -> Hooks:
    """Hooks with the lines of a script in them, as a host arms them."""
    commands = commands or Commands()
    hooks = Hooks()
    hooks.add_handler("script", ScriptHandler(commands, ScriptHost(**{"fire": hooks.fire, **world})))
    for line in read(text, commands):
        hooks.register(line.event, line, type="script", priority=PRIORITY, timeout=timeout, source=line.where)
    return hooks


def fired_both_ways(hooks: Hooks, event: str, **fields: Any) -> list[Outcome]:
    return [asyncio.run(hooks.fire(event, **fields)), hooks.fire_sync(event, **fields)]


def test_the_lines_of_the_seed_run_in_the_engine(caplog: pytest.LogCaptureFixture) -> None:
    """S0-81 … S0-87: the script as it stands, at a host with and without an event loop."""
    caplog.set_level("DEBUG", "interpose.script")
    shown: list[str] = []
    hooks = armed(SEED, permissions={"shellExec": "deny"}, show=shown.append)
    told: list[str] = []
    hooks.register("Notification", lambda event: told.append(event.message), matcher="script")

    sent = fired_both_ways(hooks, "pre:message", prompt="hello")
    stopped = fired_both_ways(hooks, "pre:tool", tool="shell", args={})
    others = fired_both_ways(hooks, "pre:tool", tool="reader", args={})
    completed = fired_both_ways(hooks, "post:agent:complete", agent="scout", result=1)

    assert caplog.messages == ["Sending: hello"] * 2
    assert [(outcome.denied, outcome.reason) for outcome in stopped] == [(True, "permission shellExec is denied")] * 2
    assert [(outcome.allowed, len(outcome.results)) for outcome in others] == [(True, 0)] * 2
    assert shown == told == ["Agent scout finished"] * 2
    assert [[result.status for result in outcome.results] for outcome in sent + completed] == [["ok"]] * 4


def test_a_permission_that_is_allowed_is_no_objection_and_no_grant() -> None:
    """S0-85, S0-86"""
    hooks = armed(SEED, permissions={"shellExec": "allow"})

    for outcome in fired_both_ways(hooks, "pre:tool", tool="shell"):
        assert (outcome.allowed, outcome.granted, outcome.decision) == (True, False, "none")


def test_script_lines_run_after_priority_10_and_before_the_default() -> None:
    """S0-66: a hook from a script has priority 50."""
    order: list[str] = []
    commands = Commands()
    commands.add("mark", lambda arguments, event: order.append("script"))
    hooks = Hooks()
    hooks.register("pre:message", lambda event: order.append("default"))
    hooks.add_handler("script", ScriptHandler(commands, ScriptHost()))
    line = read_line("hook pre:message /mark", commands)
    hooks.register(line.event, line, type="script", priority=PRIORITY)
    hooks.register("pre:message", lambda event: order.append("early"), priority=10)

    hooks.fire_sync("pre:message")

    assert order == ["early", "script", "default"]


def test_notifications_about_notifications_end() -> None:
    shown: list[str] = []
    hooks = armed('hook Notification /notify "again: $message"\n' + NOTIFY, show=shown.append)

    asyncio.run(hooks.fire("post:agent:complete", agent="scout"))

    assert shown == ["Agent scout finished", "again: Agent scout finished"]


def test_a_hook_is_shown_as_its_line() -> None:
    hooks = armed("hook pre:tool /deny no")

    outcome = hooks.fire_sync("pre:tool", tool="x")

    assert (outcome.results[0].hook, outcome.results[0].source) == ("hook pre:tool /deny no", "my.arma:1:1")


@rows(
    ("line", "expected"),
    [
        ("hook pre:tool /deny no", "a hook of type script runs a line, not str"),
        (None, "a hook of type script runs a line, not NoneType"),
        (replace(read_line("hook pre:tool /deny no"), command="gone"), "my.arma:1:1: /gone is not a command"),
    ],
)
def test_a_hook_without_a_line_that_can_be_run_cannot_be_loaded_which_denies(line: Any, expected: str) -> None:
    hooks = Hooks()
    hooks.add_handler("script", ScriptHandler(Commands(), ScriptHost()))
    hooks.register("pre:tool", line, type="script")

    outcome = hooks.fire_sync("pre:tool", tool="x")

    assert outcome.denied
    assert outcome.results[0].error == expected


def test_a_hosts_own_event_is_known_to_a_script() -> None:
    table = TABLE.with_row(EventSpec("pre:deploy", "before a deployment", subject="place", can="deny", fields="place"))

    [line] = parse("hook pre:deploy:prod* /deny 'not $place'", source="x", table=table, commands=Commands())

    assert line.event == "pre:deploy:prod*"
