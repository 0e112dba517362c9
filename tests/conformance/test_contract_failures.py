"""The contract on failing hooks: what fails open and what fails closed, and how an answer is read."""

import asyncio
import logging
import threading
from typing import Any

import pytest
from tests.conformance.scenarios import (
    ASYNC,
    HANGS,
    STYLES,
    SYNC,
    Imported,
    at,
    fate,
    fired,
    hook,
    play,
    scenario,
    table,
)

from interpose import Hooks, context

CALL = at("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

# ----------------------------------------------------------------------------------------------------------------
# The table: what happened, and whether the action is denied with each onError

FAILURES: list[tuple[str, Any, str, dict[str, bool]]] = [
    ("cannot be imported", Imported("no_such_module.hook"), "failed import_failed",
     {"": True, "log": False, "skip": False, "abort": True}),
    ("is nothing that can be called", Imported("sys.maxsize"), "failed bad_handler",
     {"": True, "log": False, "skip": False, "abort": True}),
    ("takes two arguments", Imported("operator.add"), "failed bad_handler",
     {"": True, "log": False, "skip": False, "abort": True}),
    ("returns what is no answer", True, "failed bad_reply",
     {"": True, "log": True, "skip": True, "abort": True}),
    ("states no decision that can be understood", {"decision": "Deny"}, "failed bad_decision",
     {"": True, "log": True, "skip": True, "abort": True}),
    ("raises", RuntimeError("bug"), "failed hook_crash",
     {"": False, "log": False, "skip": False, "abort": True}),
    ("answers what cannot be read", {"modify": 5}, "failed bad_output",
     {"": False, "log": False, "skip": False, "abort": True}),
    ("runs past its deadline", HANGS, "timeout timeout",
     {"": False, "log": False, "skip": False, "abort": True}),
]  # fmt: skip

SHORT = 0.05
CASES = [
    pytest.param(what, result, on_error or None, denies, id=f"{sentence}, onError {on_error or 'not set'}")
    for sentence, what, result, line in FAILURES
    for on_error, denies in line.items()
]


@pytest.mark.parametrize(("what", "result", "on_error", "denies"), CASES)
@pytest.mark.parametrize("style", STYLES)
def test_when_a_hook_fails(what, result, on_error, denies, style):
    played = play(
        CALL, [hook(what, on_error=on_error, timeout=SHORT if what is HANGS else None), context("later")], style
    )

    then: dict[str, Any] = {"decision": "deny", "context": []} if denies else {"decision": "none", "context": ["later"]}
    assert {name: played.effect[name] for name in then} == then
    assert played.effect["results"] == [result, "skipped" if denies else "ok"]
    assert played.outcome.reason.startswith("first failed: " if denies else "")
    assert played.effect["in_time"]


@pytest.mark.parametrize(("what", "result", "on_error", "denies"), CASES)
def test_where_the_row_cannot_deny_deny_means_logged(what, result, on_error, denies, caplog):
    played = play(
        at("PostToolUse"),
        [hook(what, on_error=on_error, timeout=SHORT if what is HANGS else None), context("later")],
        SYNC,
    )

    assert (played.outcome.decision, played.outcome.context) == ("none", ["later"])
    assert played.effect["results"] == [result, "ok"]
    assert [record.levelno for record in caplog.records] == ([] if on_error == "skip" else [logging.ERROR])


@pytest.mark.parametrize("behavior", ["log", "skip"])
def test_only_its_own_word_opens_what_cannot_be_loaded(behavior):
    """errorBehavior says it for all hooks, and so for none in particular."""
    outcome = play(CALL, [Imported("no_such_module.hook")], SYNC, error_behavior=behavior).outcome

    assert outcome.denied


# ----------------------------------------------------------------------------------------------------------------
# What states no decision that can be understood

WRONG: dict[str, list[Any]] = {
    "decision": ["Deny", "DENY", "abort", "yes", " deny", True, False, 5, 0, ["deny"], {"behavior": "no"}],
    "permissionDecision": ["Allow", 5, True],
    "behavior": ["Allow", 5],
    "abort": ["true", "false", 1, 0, []],
    "allowed": ["true", "false", 1, 0],
    "continue": ["true", "false", 1, 0],
    "continue_": ["false", 0],
}
MISSTATED = [{key: value} for key, values in WRONG.items() for value in values] + [
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "no"}},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": 5}},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": {"behavior": "no"}}},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": {"behavior": 5}}},
    {"hookSpecificOutput": "x"},
]


@pytest.mark.parametrize("answer", MISSTATED, ids=repr)
def test_a_wrong_value_or_type_where_a_decision_belongs_denies(answer):
    played = play(CALL, [answer], SYNC)

    assert (played.outcome.decision, played.effect["results"]) == ("deny", ["failed bad_decision"])


class Strange:
    """An object that breaks whatever is asked of it."""

    def __bool__(self) -> bool:
        raise RuntimeError("bug")

    __len__ = __iter__ = __str__ = __repr__ = __eq__ = __bool__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


RETURNED = [True, False, 0, 5, "", "deny", b"deny", [], ["deny"], {"deny"}, (), object, Strange(), iter([])]


@pytest.mark.parametrize("answer", RETURNED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("style", [ASYNC, SYNC])
def test_neither_nothing_nor_a_mapping_nor_a_reply_denies(answer, style):
    played = play(CALL, [lambda event: answer], style)

    assert (played.outcome.decision, played.effect["results"]) == ("deny", ["failed bad_reply"])


@table(
    scenario("", "two decisions that disagree: the stricter, allow and abort", CALL,
             [{"decision": "allow", "abort": True, "reason": "no"}], decision="deny", reason="no"),
    scenario("", "two decisions that disagree: the stricter, allowed false and approve (C-28)", CALL,
             [{"decision": "approve", "allowed": False}], decision="deny"),
    scenario("", "two decisions that disagree: the stricter, ask and permissionDecision allow", CALL,
             [{"decision": "ask", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}],
             decision="ask"),
    scenario("", "two decisions, one unreadable: a deny that was understood stands, and the failure shows", CALL,
             [{"decision": "deny", "reason": "no", "abort": "perhaps"}], decision="deny", reason="no",
             results=["failed bad_output"]),
    scenario("", "two decisions, one unreadable: an allow does not stand", CALL,
             [{"decision": "approve", "allowed": "perhaps"}], decision="deny",
             reason="first failed: allowed: 'perhaps' where true or false is expected",
             results=["failed bad_decision"]),
    scenario("", "a deny or ask counts although the rest cannot be read", CALL,
             [{"decision": "ask", "reason": "sure?", "modify": 5}], decision="ask", reason="sure?",
             results=["failed bad_output"]),
    scenario("", "a deny at the top level counts wherever it is spelled", CALL,
             [{"permissionDecision": "deny", "permissionDecisionReason": "no"}], decision="deny", reason="no"),
    scenario("", "an allow in the wrong place does not", CALL, [{"permissionDecision": "allow"}],
             ignored=[("first", "permissionDecision allow: not where an allow is read")]),
    scenario("", "a deny for another event counts", CALL,
             [{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}], decision="deny",
             results=["failed bad_output"]),
    scenario("", "an allow or a change for another event does not", CALL,
             [{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "allow", "updatedInput": {}}}],
             results=["failed bad_output"]),
    scenario("", "no value is no opinion", CALL,
             [{"decision": None, "abort": None, "allowed": None, "continue": None, "reason": None, "modify": None,
               "updated_input": None, "inject": None, "hookSpecificOutput": None}]),
    scenario("", "an empty decision is no decision (X-22 holds in compat only)", CALL, [{"decision": ""}],
             decision="deny", reason="first failed: decision: '' is no decision; say allow, ask or deny",
             results=["failed bad_decision"]),
    scenario("", "defer is an ask, and is passed on", CALL, [{"decision": "defer"}], decision="ask",
             extra={"defer": True}),
)  # fmt: skip
def test_how_an_answer_is_read(scenario, style):
    assert scenario.play(style) == scenario.effect


UNREADABLE: list[Any] = [
    {"reason": 5},
    {"systemMessage": 5},
    {"stopReason": ["x"]},
    {"suppressOutput": "yes"},
    {"updated_input": "x"},
    {"updatedInput": ["x"]},
    {"inject": "x"},
    {"inject": {"content": 5}},
    {"inject": {"content": "x", "strategy": "telegram"}},
    {"hookSpecificOutput": {"additionalContext": "no event is named"}},
    {"async": "yes"},
    {"async": True, "asyncTimeout": "soon"},
]


@pytest.mark.parametrize("answer", UNREADABLE, ids=repr)
def test_an_answer_that_cannot_be_read_has_no_effect_at_all(answer):
    played = play(CALL, [answer | {"systemMessage": answer.get("systemMessage", "half of it")}, None], SYNC)

    assert (played.effect["results"], played.outcome.decision) == (["failed bad_output", "ok"], "none")
    assert (played.outcome.context, played.effect["changed"], played.outcome.inject) == ([], {}, [])


# ----------------------------------------------------------------------------------------------------------------
# The engine never raises for a hook's fault


class Unspeakable(Exception):
    """An exception that breaks when it is shown."""

    def __str__(self) -> str:
        raise RuntimeError("bug")

    __repr__ = __str__


class Own(BaseException):
    """Not even an Exception."""


RAISED = [
    ValueError("bug"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), StopIteration(1),
    StopAsyncIteration(), RecursionError(), MemoryError(), TimeoutError(), Unspeakable(), Own("bug"),
    ExceptionGroup("several", [ValueError("a"), KeyError("b")]),
]  # fmt: skip


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("style", STYLES)
def test_the_engine_never_raises_for_a_hooks_fault(error, style):
    played = play(CALL, [error, context("later")], style)

    assert (played.effect["results"], played.outcome.context) == (["failed hook_crash", "ok"], ["later"])


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_a_guard_raises_denies(error):
    assert play(CALL, [hook(error, on_error="abort")], SYNC).outcome.denied


def test_a_host_that_is_cancelled_is_cancelled_and_its_hook_too():
    ended: list[str] = []

    async def waits(event):
        started.set()
        try:
            await asyncio.sleep(10)
        finally:
            ended.append("the hook")

    async def host():
        firing = asyncio.create_task(hooks.fire("PreToolUse"))
        await started.wait()
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing
        ended.append("the host")

    started = asyncio.Event()
    hooks = Hooks()
    hooks.register("PreToolUse", waits)
    asyncio.run(host())

    assert ended == ["the hook", "the host"]


def test_a_failure_names_its_code_and_reads_as_its_text():
    (result,) = play(CALL, [ValueError("bad luck")], SYNC).outcome.results

    assert result.error is not None
    assert (result.error.code, str(result.error)) == ("hook_crash", "raised ValueError: bad luck")


@pytest.mark.parametrize("on_error", [None, "log", "skip", "abort"])
def test_input_that_cannot_be_copied_is_a_failed_hook_and_denies(on_error):
    """A lock, for instance: ``payload``, never an exception."""
    event = at("PreToolUse", tool_name="Bash", tool_input={"lock": threading.Lock()})
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, on_error=on_error)

    outcome = fired(hooks, event)

    assert ([fate(result) for result in outcome.results], outcome.denied) == (["failed payload"], True)
