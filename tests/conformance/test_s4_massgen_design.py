"""MassGen's design of its hook framework, row by row: what can be said as a hook, configuration, matching, errors.

Its own class names and commands are tested elsewhere; here every hook is a Python callable.
"""

import asyncio
import sys
import threading
from fnmatch import fnmatchcase
from typing import Any

import pytest
from tests.conformance.host import Host
from tests.conformance.scenarios import ASYNC, HANGS, STYLES, SYNC, Imported, at, fired, hook, play, scenario, table

from interpose import Hooks, context, deny, inject, modify

WRITE = at("PreToolUse", tool_name="Write", tool_input={"path": "a.py"})

# ----------------------------------------------------------------------------------------------------------------
# Context and goals: what used to be three mechanisms are hooks


def test_mid_stream_injection_is_a_hook():
    """S4-1, S4-9: a callback that has something to say, and then nothing more, wrapped in a hook."""
    waiting = ["agent2 has answered"]

    def callback() -> str | None:
        return waiting.pop() if waiting else None

    def mid_stream(event):
        update = callback()
        return inject(update, "user_message") if update else None

    hooks = Hooks()
    hooks.register("PostToolUse", mid_stream)
    host = Host(hooks)
    answers = [asyncio.run(host.tool("Read", {}, lambda tool_input: "text")) for _ in range(2)]

    assert answers == [["text", "agent2 has answered"], ["text"]]


def test_reminder_extraction_is_a_hook():
    """S4-2, S4-9: what a tool's output carries as a reminder is taken out and put after it."""

    def reminders(event):
        text, _, reminder = event.tool_response.partition("REMINDER: ")
        return modify(tool_response=text) + inject(reminder, "user_message") if reminder else None

    hooks = Hooks()
    hooks.register("PostToolUse", reminders)

    answer = asyncio.run(Host(hooks).tool("update_task", {}, lambda tool_input: "saved. REMINDER: write it down"))

    assert answer == ["saved. ", "write it down"]


@table(
    scenario("S4-3 S4-8", "a permission hook denies with allowed: false", WRITE,
             [{"allowed": False, "reason": "read-only context"}], decision="deny", reason="read-only context"),
    scenario("S4-3 S4-8", "a permission hook lets through with allowed: true", WRITE, [{"allowed": True}],
             decision="allow"),
    scenario("S4-5", "a permission, a change and a reminder are registered and executed in one way", WRITE,
             [{"allowed": True}, {"updated_input": {"path": "b.py"}}, {"systemMessage": "mind the tests"}],
             decision="allow", changed={"tool_input": {"path": "b.py"}}, context=["mind the tests"]),
    scenario("S4-6", "a Python callable is a hook", WRITE, [lambda event: deny(f"not {event.tool_name}")],
             decision="deny", reason="not Write"),
)  # fmt: skip
def test_goals(scenario, style):
    assert scenario.play(style) == scenario.effect


async def as_in_the_sdk(input_data, tool_use_id, context):
    """A hook as the Claude Agent SDK's documentation shows it."""
    if input_data["tool_name"] != "Bash":
        return {}
    if "rm -rf" in input_data["tool_input"].get("command", ""):
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "Dangerous command blocked",
            }
        }
    return {}


@pytest.mark.parametrize(
    ("tool", "tool_input", "reason"),
    [
        ("Bash", {"command": "rm -rf /"}, "Dangerous command blocked"),
        ("Bash", {"command": "ls"}, ""),
        ("Read", {"path": "rm -rf"}, ""),
    ],
)
def test_a_hook_of_the_claude_agent_sdk_works_as_it_is(tool, tool_input, reason):
    """S4-4"""
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [as_in_the_sdk]}]}})

    outcome = fired(hooks, at("PreToolUse", tool_name=tool, tool_input=tool_input))

    assert (outcome.denied, outcome.reason) == (bool(reason), reason)


# ----------------------------------------------------------------------------------------------------------------
# Decision 2: two levels of registration


def the_yaml_of_the_seed(calls: list[str]) -> dict[str, Any]:
    """Return the seed's configuration as a mapping; callables stand where it names programs."""

    def noting(name):
        return lambda event: calls.append(name)

    return {
        "hooks": {
            "PreToolUse": [{"matcher": "*", "handler": noting("audit_all_tools"), "type": "python"}],
            "PostToolUse": [{"handler": noting("log everything")}],
        },
        "agents": [
            {
                "id": "agent1",
                "backend": {
                    "hooks": {
                        "PreToolUse": [{"matcher": "Write", "handler": noting("custom_write_hook")}],
                        "PostToolUse": {"override": True, "hooks": [{"handler": noting("agent1_logging")}]},
                    }
                },
            },
            {"id": "agent2", "backend": {"model": "m"}},
        ],
    }


# fmt: off
LEVELS = [
    ("S4-29", "PreToolUse", "agent1", "Read", ["audit_all_tools"]),
    ("S4-29", "PreToolUse", "agent2", "Write", ["audit_all_tools"]),
    ("S4-29", "PreToolUse", "agent3", "Bash", ["audit_all_tools"]),
    ("S4-30 S4-32", "PreToolUse", "agent1", "Write", ["audit_all_tools", "custom_write_hook"]),
    ("S4-31 S4-33", "PostToolUse", "agent1", "Write", ["agent1_logging"]),
    ("S4-31", "PostToolUse", "agent2", "Write", ["log everything"]),
]
# fmt: on


@pytest.mark.parametrize(
    ("event", "agent", "tool", "expected"),
    [pytest.param(*row, id=f"{ids} {row[0]}, {row[1]}, {row[2]}: {', '.join(row[3])}") for ids, *row in LEVELS],
)
def test_the_configuration_of_the_seed(event, agent, tool, expected):
    calls: list[str] = []
    hooks = Hooks.from_mapping(the_yaml_of_the_seed(calls))

    hooks.fire_sync(event, tool_name=tool, agent_id=agent)

    assert calls == expected


# ----------------------------------------------------------------------------------------------------------------
# Decision 4: matching

PATTERNS = ["*", "Wri*", "W?ite", "[WR]rite", "[!W]rite", "mcp__*__read", "Write", "mcp__?", "*_*", "*/*"]
TOOLS = ["Write", "write", "Read", "Rrite", "mcp__fs__read", "mcp__x", "a/b", "Wriite"]


@pytest.mark.parametrize("pattern", PATTERNS, ids=[f"S4-7 S4-34 {pattern}" for pattern in PATTERNS])
def test_one_pattern_matches_as_fnmatch_does(pattern):
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, matcher=pattern)

    matched = [tool for tool in TOOLS if hooks.fire_sync("PreToolUse", tool_name=tool).results]

    assert matched == [tool for tool in TOOLS if fnmatchcase(tool, pattern)]


# fmt: off
ALTERNATIVES = [
    ("Write|Edit", ["Write", "Edit"]),
    ("Write | Edit", ["Write", "Edit"]),
    ("Wri*|Edit", ["Write", "Edit", "WriteFile"]),
    ("Read|*File", ["Read", "WriteFile"]),
    ("Write|", ["Write"]),
    ("re:Wri.*|Edit", ["Write", "Edit", "WriteFile"]),
]
# fmt: on


@pytest.mark.parametrize(("matcher", "expected"), ALTERNATIVES, ids=[f"S4-7 S4-35 {row[0]}" for row in ALTERNATIVES])
def test_alternatives_are_separated_by_a_bar(matcher, expected):
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, matcher=matcher)
    tools = ["Write", "Edit", "Read", "WriteFile", "MultiEdit"]

    assert {tool for tool in tools if hooks.fire_sync("PreToolUse", tool_name=tool).results} == set(expected)


# ----------------------------------------------------------------------------------------------------------------
# Decision 6: errors fail open or closed by their kind


@table(
    scenario("S4-38", "a timeout fails open", WRITE, [hook(HANGS, timeout=0.05), None],
             results=["timeout timeout", "ok"]),
    scenario("S4-39", "an import error fails closed", WRITE, [Imported("no_such_module.hook"), None],
             results=["failed import_failed", "skipped"], called=[], decision="deny",
             reason="first failed: cannot import no_such_module.hook: "
                    "ModuleNotFoundError: No module named 'no_such_module'"),
    scenario("S4-40", "a runtime error fails open", WRITE, [RuntimeError("bug"), None],
             results=["failed hook_crash", "ok"]),
)  # fmt: skip
def test_errors(scenario, style):
    assert scenario.play(style) == scenario.effect


@pytest.mark.parametrize("style", STYLES)
def test_a_runtime_error_is_logged(style, caplog):
    """S4-40"""
    play(WRITE, [RuntimeError("bug in the hook")], style)

    assert [record.levelname for record in caplog.records if "bug in the hook" in record.getMessage()] == ["ERROR"]


# ----------------------------------------------------------------------------------------------------------------
# Risks and mitigations


def test_a_handler_is_imported_at_its_first_call_and_not_before(tmp_path, monkeypatch):
    """S4-41, X-8"""
    (tmp_path / "s4_41_lazy.py").write_text("calls = []\n\ndef hook(event):\n    calls.append(event.tool_name)\n")
    monkeypatch.syspath_prepend(tmp_path)
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"matcher": "Bash", "handler": "s4_41_lazy.hook"}]}})

    states = ["s4_41_lazy" in sys.modules]
    hooks.fire_sync("PreToolUse", tool_name="Read")
    states.append("s4_41_lazy" in sys.modules)
    hooks.fire_sync("PreToolUse", tool_name="Bash")
    states.append("s4_41_lazy" in sys.modules)

    assert states == [False, False, True]
    assert sys.modules["s4_41_lazy"].calls == ["Bash"]


@pytest.mark.parametrize("style", [ASYNC, SYNC])
def test_a_slow_hook_does_not_block_other_tasks(style):
    """S4-42: the hook waits for what another task of the same loop does."""
    done, told = threading.Event(), asyncio.Event()

    def blocking(event):
        return context("not blocked" if done.wait(5) else "blocked")

    async def waiting(event):
        await told.wait()
        return context("not blocked")

    async def another_task():
        done.set()
        told.set()

    async def host():
        firing = asyncio.create_task(hooks.fire("PreToolUse"))
        await asyncio.sleep(0)
        await asyncio.create_task(another_task())
        return await firing

    hooks = Hooks()
    hooks.register("PreToolUse", waiting if style == ASYNC else blocking)

    assert asyncio.run(host()).context == ["not blocked"]


# fmt: off
TIMES = [
    pytest.param(None, 29.9, "ok", id="S4-43 30 seconds by default"),
    pytest.param(None, 30.1, "timeout", id="S4-43 and not more"),
    pytest.param(1, 1.1, "timeout", id="S4-43 less for one hook"),
]
# fmt: on


@pytest.mark.parametrize(("timeout", "takes", "status"), TIMES)
def test_timeouts_are_short(timeout, takes, status, clock):
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"handler": clock.takes(takes), "timeout": timeout}]}})

    assert [result.status for result in fired(hooks, WRITE).results] == [status]
