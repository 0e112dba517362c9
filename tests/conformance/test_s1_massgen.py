"""MassGen's hook framework, requirement by requirement: events, registration, matching, blocking, injecting, errors.

Commands are tested elsewhere; here every hook is a Python callable, and configurations are mappings.
"""

import asyncio
from typing import Any

import pytest
from tests.conformance.host import Host
from tests.conformance.scenarios import HANGS, STYLES, at, fired, hook, play, scenario, table

from interpose import Hooks

TOOLS = ("Bash", "Read", "mcp__files__read", "custom_tool__lookup")


def listening(calls: list[str], name: str, answer: Any = None):
    """Return a hook that notes its call and then answers."""

    def handler(event):
        calls.append(name)
        return answer

    return handler


# ----------------------------------------------------------------------------------------------------------------
# Requirement: Hook Event Types


def test_both_events_can_be_registered_for_and_fired():
    """S1-1"""
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register("PreToolUse", listening(calls, "before"))
    hooks.register("PostToolUse", listening(calls, "after"))

    hooks.fire_sync("PreToolUse", tool_name="Bash")
    hooks.fire_sync("PostToolUse", tool_name="Bash")

    assert calls == ["before", "after"]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_matching_hook_runs_before_the_tool_and_after_it(tool):
    """S1-2, S1-3, S1-4, S1-5: for MCP tools and custom tools alike."""
    hooks = Hooks()
    order: list[Any] = []
    hooks.register("PreToolUse", listening(order, "before, first"))
    hooks.register("PreToolUse", listening(order, "before, second"), matcher=tool)
    hooks.register("PreToolUse", listening(order, "before, for another tool"), matcher="Other")
    hooks.register("PostToolUse", listening(order, "after, first"), matcher=tool)
    hooks.register("PostToolUse", listening(order, "after, for another tool"), matcher="Other")

    def run(tool_input):
        order.append("the tool")
        return "done"

    asyncio.run(Host(hooks).tool(tool, {}, run))

    assert order == ["before, first", "before, second", "the tool", "after, first"]


@table(
    scenario("S1-6", "a PostToolUse hook receives the tool's result",
             at("PostToolUse", tool_name="Bash", tool_response={"stdout": "a b"}),
             [lambda event: {"inject": {"content": event.tool_response["stdout"]}}],
             inject=[("a b", "tool_result")]),
)  # fmt: skip
def test_what_a_hook_receives(scenario, style):
    assert scenario.play(style) == scenario.effect


def test_a_post_tool_use_hook_receives_what_the_tool_returned():
    """S1-6"""
    hooks = Hooks()
    received: list[Any] = []
    hooks.register(
        "PostToolUse", lambda event: received.append((event.tool_name, event.tool_input, event.tool_response))
    )

    asyncio.run(Host(hooks).tool("Bash", {"command": "ls"}, lambda tool_input: {"stdout": "a b"}))

    assert received == [("Bash", {"command": "ls"}, {"stdout": "a b"})]


def test_post_tool_use_hooks_do_not_run_when_the_tool_failed():
    """S1-7, C-45"""
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register("PostToolUse", listening(calls, "PostToolUse"))
    hooks.register("post:tool", listening(calls, "post:tool"))
    hooks.register("PostToolUseFailure", listening(calls, "PostToolUseFailure"))

    def broken_tool(tool_input):
        raise OSError("disk full")

    answer = asyncio.run(Host(hooks).tool("Write", {}, broken_tool))

    assert (calls, answer) == (["PostToolUseFailure"], ["error: disk full"])


# ----------------------------------------------------------------------------------------------------------------
# Requirements: Global and Per-Agent Hook Registration


def called_for(mapping: dict[str, Any], calls: list[str], agent: str | None, event: str = "PreToolUse") -> list[str]:
    """Return which hooks of a configuration run for one agent."""
    hooks = Hooks.from_mapping(mapping)
    calls.clear()
    hooks.fire_sync(event, tool_name="Bash", **({"agent_id": agent} if agent else {}))
    return calls.copy()


def two_agents(calls: list[str], section: Any, event: str = "PreToolUse") -> dict[str, Any]:
    """Return a configuration with shared hooks and one agent's own."""
    return {
        "hooks": {
            "PreToolUse": [{"handler": listening(calls, "shared")}],
            "PostToolUse": [{"handler": listening(calls, "shared after")}],
        },
        "agents": [{"id": "agent1", "backend": {"type": "openai", "hooks": {event: section}}}, {"id": "agent2"}],
    }


@pytest.mark.parametrize("agent", ["agent1", "agent2", "one that is configured nowhere", None])
def test_hooks_of_the_top_level_hold_for_all_agents(agent):
    """S1-8"""
    calls: list[str] = []

    assert called_for({"hooks": {"PreToolUse": [{"handler": listening(calls, "shared")}]}}, calls, agent) == ["shared"]


def test_a_function_is_registered_by_its_name(tmp_path, monkeypatch):
    """S1-9: handler "module.function", type "python"."""
    (tmp_path / "s1_9_policy.py").write_text(
        "def no_bash(event):\n    return {'decision': 'deny', 'reason': f'{event.agent_id} may not'}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"handler": "s1_9_policy.no_bash", "type": "python"}]}})

    reasons = [hooks.fire_sync("PreToolUse", tool_name="Bash", agent_id=agent).reason for agent in ("a", "b")]

    assert reasons == ["a may not", "b may not"]


AGENTS = [
    pytest.param("list", "agent1", "PreToolUse", ["shared", "own"],
                 id="S1-11 S1-12 an agent runs both the shared hooks and its own"),
    pytest.param("list", "agent2", "PreToolUse", ["shared"], id="S1-13 another agent does not run them"),
    pytest.param("override", "agent1", "PreToolUse", ["own"],
                 id="S1-11 S1-14 with override: true an agent runs only its own"),
    pytest.param("override", "agent1", "PostToolUse", ["shared after"],
                 id="S1-15 the override affects that event only"),
    pytest.param("override", "agent2", "PreToolUse", ["shared"], id="S1-16 the override affects that agent only"),
    pytest.param("no override", "agent1", "PreToolUse", ["shared", "own"],
                 id="S1-14 override: false overrides nothing"),
    pytest.param("override with nothing", "agent1", "PreToolUse", [],
                 id="S1-14 an override with an empty list leaves no hook (C-14)"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "agent", "event", "expected"), AGENTS)
def test_hooks_of_one_agent(section, agent, event, expected):
    calls: list[str] = []
    own = [{"handler": listening(calls, "own")}]
    sections: dict[str, Any] = {
        "list": own,
        "override": {"override": True, "hooks": own},
        "no override": {"override": False, "hooks": own},
        "override with nothing": {"override": True, "hooks": []},
    }

    assert called_for(two_agents(calls, sections[section]), calls, agent, event) == expected


def test_a_locked_hook_survives_an_override():
    """S1-14, C-14"""
    calls: list[str] = []
    mapping = two_agents(calls, {"override": True, "hooks": [{"handler": listening(calls, "own")}]})
    mapping["hooks"]["PreToolUse"].append({"handler": listening(calls, "locked"), "locked": True})

    assert called_for(mapping, calls, "agent1") == ["locked", "own"]


# ----------------------------------------------------------------------------------------------------------------
# Requirement: Pattern-Based Hook Matching

# fmt: off
MATCHERS = [
    ("S1-17", "mcp__*", "mcp__files__read", True),
    ("S1-17", "mcp__*", "Bash", False),
    ("S1-17", "*_read", "mcp__files__read", True),
    ("S1-17", "?ash", "Bash", True),
    ("S1-17", "[BC]ash", "Cash", True),
    ("S1-17", "[BC]ash", "Dash", False),
    ("S1-18", "*", "Bash", True),
    ("S1-18", "*", "mcp__files__read", True),
    ("S1-19", "Write|Edit", "Write", True),
    ("S1-19", "Write|Edit", "Edit", True),
    ("S1-20", "Write|Edit", "Read", False),
    ("S1-20", "Write|Edit", "WriteFile", False),
    ("S1-20", "Write|Edit", "MultiEdit", False),
    ("S1-20", "Write|Edit", "write", False),
    ("S1-21", None, "Bash", True),
    ("S1-21", None, "mcp__files__read", True),
]
# fmt: on


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [
        pytest.param(*row, id=f"{ids} {row[0]} {'runs' if row[2] else 'does not run'} for {row[1]}")
        for ids, *row in MATCHERS
    ],
)
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_matching(matcher, tool, runs, event):
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register(event, listening(calls, "hook"), matcher=matcher)

    outcome = hooks.fire_sync(event, tool_name=tool)

    assert (calls, [result.status for result in outcome.results]) == ((["hook"], ["ok"]) if runs else ([], []))


# ----------------------------------------------------------------------------------------------------------------
# Requirement: PreToolUse Can Block or Modify

BASH = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls", "timeout": 5})


@table(
    scenario("S1-22 S1-23", "decision deny blocks the tool", BASH, [{"decision": "deny", "reason": "not here"}],
             decision="deny", reason="not here"),
    scenario("S1-22 S1-25", "updated_input is the input that the tool executes with", BASH,
             [{"updated_input": {"command": "ls -l"}}], changed={"tool_input": {"command": "ls -l"}}),
    scenario("S1-26", "decision allow lets the tool execute; it is no objection and grants nothing", BASH,
             [{"decision": "allow"}], decision="allow"),
    scenario("S1-26", "allowed: true lets the tool execute", BASH, [{"allowed": True}], decision="allow"),
    scenario("S1-27", "an empty mapping lets the tool execute normally", BASH, [{}]),
    scenario("S1-27", "nothing lets the tool execute normally", BASH, [None]),
    scenario("S1-23", "decision ask keeps the tool from executing by itself (C-29)", BASH,
             [{"decision": "ask", "reason": "sure?"}], decision="ask", reason="sure?"),
)  # fmt: skip
def test_blocking_and_modifying(scenario, style):
    assert scenario.play(style) == scenario.effect


# fmt: off
TOOL_CALLS = [
    pytest.param({"decision": "deny", "reason": "not in this directory"}, None, ["error: not in this directory"],
                 id="S1-23 S1-24 on deny the tool does not execute and the agent is told why"),
    pytest.param({"updated_input": {"command": "echo b"}}, {"command": "echo b"}, ["ran echo b"],
                 id="S1-25 the tool executes with the modified input"),
    pytest.param({"decision": "allow"}, {"command": "echo a"}, ["ran echo a"], id="S1-26 the tool executes normally"),
    pytest.param(None, {"command": "echo a"}, ["ran echo a"], id="S1-27 after nothing the tool executes normally"),
    pytest.param({}, {"command": "echo a"}, ["ran echo a"], id="S1-27 after an empty mapping too"),
]
# fmt: on


@pytest.mark.parametrize(("answer", "executed_with", "messages"), TOOL_CALLS)
def test_what_a_host_does_with_it(answer, executed_with, messages):
    hooks = Hooks()
    inputs: list[Any] = []
    hooks.register("PreToolUse", lambda event: answer)

    def bash(tool_input):
        inputs.append(tool_input)
        return f"ran {tool_input['command']}"

    shown = asyncio.run(Host(hooks).tool("Bash", {"command": "echo a"}, bash))

    assert inputs == ([] if executed_with is None else [executed_with])
    assert shown == messages


# ----------------------------------------------------------------------------------------------------------------
# Requirement: PostToolUse Can Inject Content

DONE = at("PostToolUse", tool_name="Bash", tool_response="result")


def injects(content: str, strategy: str | None = None) -> dict[str, Any]:
    return {"inject": {"content": content} | ({"strategy": strategy} if strategy else {})}


@table(
    scenario("S1-28 S1-29", "content is injected into the tool's result", DONE, [injects(" + note", "tool_result")],
             inject=[(" + note", "tool_result")]),
    scenario("S1-30 S1-31", "content is injected as a user message, and the result stays as it is", DONE,
             [injects("note", "user_message")], inject=[("note", "user_message")]),
    scenario("S1-29", "without a strategy it goes into the tool's result", DONE, [injects("note")],
             inject=[("note", "tool_result")]),
    scenario("S1-56 S1-57 S1-58", "all injections are delivered, each with its strategy, in the order of their hooks",
             DONE, [injects("1", "user_message"), hook(injects("2", "tool_result"), priority=5), injects("3")],
             inject=[("2", "tool_result"), ("1", "user_message"), ("3", "tool_result")],
             called=["second", "first", "third"]),
    scenario("S1-30", "an unknown strategy is no answer (C-34)", DONE, [injects("note", "telegram"), injects("after")],
             inject=[("after", "tool_result")], results=["failed bad_output", "ok"]),
    scenario("S1-28", "before the tool there is no result to inject into", BASH, [injects("note")],
             ignored=[("first", "inject")]),
)  # fmt: skip
def test_injecting(scenario, style):
    assert scenario.play(style) == scenario.effect


# fmt: off
INJECTIONS = [
    pytest.param([injects("note", "tool_result")], ["result\nnote"],
                 id="S1-28 S1-29 the content is appended to the tool's result"),
    pytest.param([injects("note", "user_message")], ["result", "note"],
                 id="S1-30 S1-31 a user message follows the tool's result, which stays unchanged"),
    pytest.param([injects("1"), injects("2", "user_message"), injects("3"), injects("4", "user_message")],
                 ["result\n1\n3", "2", "4"], id="S1-56 S1-57 S1-58 several combine"),
]
# fmt: on


@pytest.mark.parametrize(("answers", "messages"), INJECTIONS)
def test_what_the_model_gets_to_see(answers, messages):
    hooks = Hooks()
    for answer in answers:
        hooks.register("PostToolUse", lambda event, answer=answer: answer)

    assert asyncio.run(Host(hooks).tool("Bash", {}, lambda tool_input: "result")) == messages


# ----------------------------------------------------------------------------------------------------------------
# Requirement: Hook Timeout Enforcement

# fmt: off
TIMES = [
    pytest.param({}, 29.9, "ok", id="S1-39 S1-40 a hook without a timeout has 30 seconds"),
    pytest.param({}, 30.1, "timeout", id="S1-40 after 30 seconds it times out"),
    pytest.param({"timeout": 60}, 59.9, "ok", id="S1-41 a hook with timeout: 60 has 60 seconds, not 30"),
    pytest.param({"timeout": 60}, 60.1, "timeout", id="S1-41 after 60 seconds it times out"),
    pytest.param({"timeout": 0.5}, 0.6, "timeout", id="S1-39 a timeout can be shorter"),
]
# fmt: on


@pytest.mark.parametrize(("options", "takes", "status"), TIMES)
@pytest.mark.parametrize("style", STYLES)
def test_how_long_a_hook_has(options, takes, status, style, clock):
    played = play(BASH, [hook(clock.takes(takes, {"decision": "deny"}), **options)], style)

    assert ([result.status for result in played.outcome.results], played.outcome.denied) == ([status], status == "ok")


@table(
    scenario("S1-42 S1-44", "a hook that exceeds its timeout is ended, and execution continues", BASH,
             [hook(HANGS, timeout=0.05), {"updated_input": {"command": "pwd"}}],
             changed={"tool_input": {"command": "pwd"}}, results=["timeout timeout", "ok"]),
    scenario("S1-44", "with onError abort a timeout denies (C-11)", BASH,
             [hook(HANGS, timeout=0.05, on_error="abort"), None], decision="deny",
             reason="first failed: no answer within 0.05 s", results=["timeout timeout", "skipped"], called=["first"]),
)  # fmt: skip
def test_timeouts(scenario, style):
    assert scenario.play(style) == scenario.effect


def test_a_hook_that_exceeds_its_timeout_is_terminated():
    """S1-42: an asynchronous hook is cancelled; the host does not wait for more."""
    ended = []

    async def slow(event):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("terminated")

    hooks = Hooks()
    hooks.register("PreToolUse", slow, timeout=0.05)
    outcome = fired(hooks, BASH)

    assert ended == ["terminated"]
    assert [(result.status, result.duration < 30) for result in outcome.results] == [("timeout", True)]


# ----------------------------------------------------------------------------------------------------------------
# Requirement: Hook Error Handling

ERRORS = [ValueError("bug"), KeyError("k"), SystemExit(0), asyncio.CancelledError(), KeyboardInterrupt()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"S1-45 S1-46 S1-47 {type(error).__name__}")
@pytest.mark.parametrize("style", STYLES)
def test_a_hook_that_raises_is_logged_and_execution_continues(error, style, caplog):
    played = play(BASH, [error, None], style)

    assert played.outcome.allowed
    assert played.effect["results"] == ["failed hook_crash", "ok"]
    assert [record.levelname for record in caplog.records if type(error).__name__ in record.getMessage()] == ["ERROR"]


# fmt: off
UNIMPORTABLE = [
    pytest.param("no_such_module.hook", id="S1-50 S1-51 a module that is not there"),
    pytest.param("os.path.no_such_function", id="S1-50 S1-51 a function that is not there"),
    pytest.param("s1_broken_module.hook", id="S1-50 S1-51 a module that breaks while it is imported"),
    pytest.param("sys.maxsize", id="S1-50 S1-51 something that cannot be called"),
]
# fmt: on


@pytest.mark.parametrize("handler", UNIMPORTABLE)
@pytest.mark.parametrize("style", STYLES)
def test_a_hook_that_cannot_be_imported_is_logged_and_the_call_is_denied(handler, style, caplog, tmp_path, monkeypatch):
    (tmp_path / "s1_broken_module.py").write_text("raise RuntimeError('at import')\n")
    monkeypatch.syspath_prepend(tmp_path)
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [{"handler": handler}]}})
    calls: list[Any] = []
    hooks.register("PreToolUse", listening(calls, "a later hook"))

    outcome = fired(hooks, BASH, style)

    assert (outcome.denied, handler in outcome.reason, calls) == (True, True, [])
    assert [result.status for result in outcome.results] == ["failed", "skipped"]
    assert [record.levelname for record in caplog.records if handler in record.getMessage()] == ["ERROR"]


# ----------------------------------------------------------------------------------------------------------------
# Requirement: Multiple Hook Aggregation


@table(
    scenario("S1-52", "several results are aggregated into one", at("PreToolUse", tool_name="Bash", tool_input={}),
             [{"updated_input": {"a": 1}}, {"decision": "ask", "reason": "sure?"}, {"systemMessage": "a note"}],
             changed={"tool_input": {"a": 1}}, decision="ask", reason="sure?", context=["a note"]),
    scenario("S1-53", "deny first: denied", BASH, [{"decision": "deny", "reason": "no"}, {"decision": "allow"}],
             decision="deny", reason="no", results=["ok", "skipped"], called=["first"]),
    scenario("S1-53", "deny last: denied", BASH, [{"decision": "allow"}, {"decision": "ask"},
                                                  {"decision": "deny", "reason": "no"}],
             decision="deny", reason="no"),
    scenario("S1-53", "deny between others: denied", BASH, [{"decision": "allow"}, {"decision": "deny"}, None],
             decision="deny", results=["ok", "ok", "skipped"], called=["first", "second"]),
    scenario("S1-54 S1-55", "each hook receives the input as the hooks before it left it",
             at("PreToolUse", tool_name="Bash", tool_input={"seen": ["start"]}),
             [lambda event: {"updated_input": {"seen": [*event.tool_input["seen"], "first"]}},
              None,
              lambda event: {"updated_input": {"seen": [*event.tool_input["seen"], "third"]}}],
             changed={"tool_input": {"seen": ["start", "first", "third"]}}),
    scenario("S1-25 S1-54", "updated_input replaces the whole input (C-19)", BASH,
             [{"updated_input": {"command": "a"}}, {"updated_input": {"timeout": 1}}],
             changed={"tool_input": {"timeout": 1}}),
)  # fmt: skip
def test_aggregation(scenario, style):
    assert scenario.play(style) == scenario.effect
