"""Armament's hook system: what aborts, what is modified, and what becomes of errors."""

import asyncio
import logging

import pytest
from tests.conformance.armament_system import NOTHING, account, broken, execute

from interpose import BadHook, deny, modify
from interpose import context as note
from interpose.compat.armament import HookSystem, HookSystemResult

# Abort.


def no_rm(context):
    if context.tool == "shell" and "rm" in context.args:
        return {"abort": True, "reason": "Destructive command blocked by hook"}
    return None


def no_long_prompt(context):
    if len(context.prompt) > 100000:
        return {"abort": True, "reason": "Prompt too large"}
    return None


@pytest.mark.parametrize(
    ("tool", "args", "reason"),
    [
        ("shell", ["rm", "-rf", "/"], "Destructive command blocked by hook"),
        ("shell", ["ls"], None),
        ("editor", ["rm"], None),
    ],
)
def test_the_pages_guard_blocks_rm_in_the_shell_and_nothing_else(tool, args, reason):
    """S0-48 S0-49 S0-50 S0-51 S0-52: tool and args are in the context; the reason reaches the caller."""
    system = HookSystem()
    system.register("pre:tool", no_rm)

    result = execute(system, "pre:tool", tool=tool, args=args)

    assert result == (HookSystemResult(True, reason, {}, reason) if reason else NOTHING)


@pytest.mark.parametrize(("length", "aborted"), [(100000, False), (100001, True)])
def test_the_pages_guard_blocks_a_prompt_above_100000_characters(length, aborted):
    """S0-53 S0-54."""
    system = HookSystem()
    system.register("pre:message", no_long_prompt)

    result = execute(system, "pre:message", prompt="x" * length)

    assert (result.aborted, result.reason) == (aborted, "Prompt too large" if aborted else None)


def test_after_an_abort_neither_later_hooks_nor_the_action_run():
    """S0-67 S0-68."""
    system, ran = HookSystem(), []
    system.register("pre:tool", lambda _: ran.append("before"), priority=1)
    system.register("pre:tool", lambda context: context.abort("no"), priority=5)
    system.register("pre:tool", lambda _: ran.append("after"), priority=10)

    result = execute(system, "pre:tool")

    assert ran == ["before"]
    assert result == HookSystemResult(True, "no", {}, "no")


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (lambda context: context.abort(), None),
        (lambda context: context.abort("no"), "no"),
        (lambda context: context.abort(5), "5"),
        (lambda context: context.abort("no") or {"modify": {"args": []}}, "no"),
        (lambda context: context.abort("no") or {"reason": "better said"}, "better said"),
        (lambda context: context.abort("no") or modify(args=[]), "no"),
        (lambda _: {"aborted": True, "modified": {}, "output": "blocked by policy"}, "blocked by policy"),
        (lambda _: {"aborted": True, "reason": "no", "output": "blocked"}, "no"),
        (lambda _: {"aborted": True, "output": {"code": 7}}, None),
        (lambda _: {"abort": False, "aborted": True}, None),
        (lambda _: {"abort": None, "aborted": True}, None),
        (lambda _: {"abort": True, "aborted": False}, None),
        (lambda _: deny("no"), "no"),
    ],
)
def test_every_way_of_saying_it_aborts(handler, reason):
    """X-36 X-37: context.abort(), the page's answer, the answer in the words of the result, a reply."""
    system = HookSystem()
    system.register("pre:tool", handler)

    result = execute(system, "pre:tool")

    assert (result.aborted, result.reason, result.modified) == (True, reason, {})
    assert [r.status for r in account(result).results] == ["ok"]


@pytest.mark.parametrize("answer", [{"aborted": "yes"}, {"aborted": 0}, {"abort": "no"}, "abort", 5])
def test_an_answer_that_cannot_be_understood_aborts(answer):
    """S0-48: what cannot be understood is not an allow."""
    system = HookSystem()
    system.register("pre:tool", lambda _: answer)

    assert execute(system, "pre:tool").aborted is True


@pytest.mark.parametrize("answer", [{"abort": False}, {"aborted": False, "modified": {}}, {"aborted": None}, {}])
def test_a_clear_no_does_not_abort(answer):
    """X-37: a handler that answers in full and has no objection."""
    system = HookSystem()
    system.register("pre:tool", lambda _: answer)

    assert execute(system, "pre:tool") == NOTHING


@pytest.mark.parametrize("asynchronous", [True, False])
def test_an_abort_counts_although_the_handler_then_breaks(asynchronous):
    """X-36: said is said; the failure is in the outcome too."""
    system = HookSystem()

    async def later(context):
        sooner(context)

    def sooner(context):
        context.abort("no")
        raise ValueError("hook bug")

    system.register("pre:tool", later if asynchronous else sooner, name="guard")

    result = execute(system, "pre:tool")

    assert (result.aborted, result.reason) == (True, "no")
    assert [(r.hook, r.status, str(r.error)) for r in account(result).results] == [
        ("guard", "failed", "raised ValueError: hook bug")
    ]


def test_an_abort_where_the_point_cannot_is_without_effect_and_reported():
    """X-37: the table says what can be aborted."""
    system, ran = HookSystem(), []
    system.register("post:tool", lambda context: context.abort("too late"), name="late")
    system.register("post:tool", lambda _: ran.append("ran"))

    result = execute(system, "post:tool")

    assert (result.aborted, ran) == (False, ["ran"])
    assert [(item.hook, item.wish) for item in account(result).ignored] == [("late", "deny")]


# Modify.


def test_the_pages_hook_adds_the_project_to_every_prompt():
    """S0-55 S0-56: the caller receives exactly that text."""
    system = HookSystem()
    system.register("pre:message", lambda context: {"modify": {"prompt": f"[Project: X]\n{context.prompt}"}})

    result = execute(system, "pre:message", prompt="hello", model="small")

    assert result == HookSystemResult(False, None, {"prompt": "[Project: X]\nhello"}, None)


def test_the_pages_hook_redacts_the_output():
    """S0-57 S0-58: the output is in the context."""
    system = HookSystem()
    system.register("post:message", lambda context: {"modify": {"output": context.output.replace("s3cret", "***")}})

    result = execute(system, "post:message", prompt="p", output="key s3cret")

    assert result.modified == {"output": "key ***"}


def test_what_is_not_named_stays_as_it_was():
    """S0-59: each named key is replaced, the others are kept."""
    system, told = HookSystem(), []
    system.register("pre:tool", lambda _: {"modify": {"args": ["-l"]}})
    system.register("pre:tool", lambda context: told.append((context.tool, context.args)))

    execute(system, "pre:tool", tool="ls", args=[])

    assert told == [("ls", ["-l"])]


@pytest.mark.parametrize(
    "say",
    [
        lambda context, value: context.modify("prompt", value),
        lambda _, value: {"modify": {"prompt": value}},
        lambda _, value: {"aborted": False, "modified": {"prompt": value}},
        lambda _, value: modify(prompt=value),
        lambda context, value: context.modify("prompt", value) or note("beside a reply"),
    ],
    ids=["through the context", "on the page", "in the words of the result", "as a reply", "beside a reply"],
)
def test_a_later_hook_sees_what_an_earlier_one_changed_however_it_was_said(say):
    """S0-60 X-36 X-37: changes chain, and the result has the last state."""
    system = HookSystem()
    system.register("pre:message", lambda context: say(context, context.prompt + "b"))
    system.register("pre:message", lambda context: say(context, context.prompt + "c"))

    assert execute(system, "pre:message", prompt="a").modified == {"prompt": "abc"}


def test_a_change_through_the_context_shows_there_at_once():
    """X-36: by the point's word and by the field's name."""
    system, told = HookSystem(), []

    def handler(context):
        context.modify("args", ["-l"])
        told.append((context.args, context["args"], context.tool_input))

    system.register("pre:tool", handler)

    execute(system, "pre:tool", tool="ls", args=[])

    assert told == [(["-l"], ["-l"], ["-l"])]


def test_what_is_answered_wins_over_what_was_said_through_the_context_before():
    """X-36: the last word counts."""
    system = HookSystem()

    def handler(context):
        context.modify("prompt", "first")
        return {"modified": {"prompt": "second"}, "modify": {"prompt": "third"}}

    system.register("pre:message", handler)

    assert execute(system, "pre:message", prompt="a").modified == {"prompt": "third"}


def test_the_changes_of_all_hooks_are_merged_in_the_words_of_the_point():
    """X-37: args, not the name that the engine has for it."""
    system = HookSystem()
    system.register("pre:tool", lambda context: context.modify("args", [*context.args, "a"]))
    system.register("pre:tool", lambda context: {"modify": {"tool_input": [*context.args, "b"]}})

    assert execute(system, "pre:tool", tool="ls", args=[]).modified == {"args": ["a", "b"]}


def test_a_change_that_the_point_does_not_grant_is_not_among_the_modified_and_is_reported():
    """X-37 S0-55: what is modified is what the caller is to use."""
    system = HookSystem()
    system.register("pre:tool", lambda context: context.modify("tool", "other"), name="renames")

    result = execute(system, "pre:tool")

    assert result.modified == {}
    assert [(item.hook, item.wish) for item in account(result).ignored] == [("renames", "modify tool_name")]


@pytest.mark.parametrize("answer", [{"modify": "all of it"}, {"modified": "all of it"}, {"modified": {}, "modify": 5}])
def test_a_change_that_is_no_mapping_changes_nothing_and_is_a_failure(answer):
    """S0-55: also where the context was used before."""
    system = HookSystem()
    system.register("pre:message", lambda context: context.modify("prompt", "b") or answer)

    result = execute(system, "pre:message", prompt="a")

    assert result == NOTHING
    assert [r.error and r.error.code for r in account(result).results] == ["bad_output"]


def test_a_changed_action_that_is_then_aborted_shows_the_changes_before_the_abort():
    """X-37: the one who aborts changes nothing."""
    system = HookSystem()
    system.register("pre:message", lambda context: context.modify("prompt", "b"))
    system.register("pre:message", lambda context: context.modify("prompt", "c") or context.abort("no"))

    assert execute(system, "pre:message", prompt="a") == HookSystemResult(True, "no", {"prompt": "b"}, "no")


def test_an_output_that_a_handler_gives_is_in_the_result():
    """X-37: aborted, modified and output."""
    system = HookSystem()
    system.register("pre:tool", lambda _: {"aborted": True, "modified": {}, "output": {"code": 7}, "reason": "no"})

    assert execute(system, "pre:tool") == HookSystemResult(True, "no", {}, {"code": 7})


def test_where_enforcement_is_switched_off_nothing_is_aborted_or_modified(monkeypatch):
    """X-37: and the outcome says so."""
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    system = HookSystem()
    system.register("pre:message", lambda context: context.modify("prompt", "b"))
    system.register("pre:message", lambda context: context.abort("no"))

    result = execute(system, "pre:message", prompt="a")

    assert (result, account(result).extra) == (NOTHING, {"off": "locked out"})


# Errors.


def test_a_hook_that_throws_is_logged_and_everything_else_runs(caplog):
    """S0-69 S0-70 S0-71 S0-72 X-39: the default."""
    system, ran = HookSystem(), []
    system.register("pre:message", broken, name="buggy")
    system.register("pre:message", lambda _: ran.append("ran"))

    with caplog.at_level(logging.ERROR, logger="interpose"):
        result = execute(system, "pre:message")

    assert (result, ran) == (NOTHING, ["ran"])
    assert ["hook buggy at pre:message failed" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize(("on_error", "aborted", "logged"), [("skip", False, 0), ("log", False, 1), ("abort", True, 1)])
def test_what_an_error_means_can_be_said_for_each_hook(caplog, on_error, aborted, logged):
    """S0-73 S0-74 S0-75 S0-76: skip and log go on, abort aborts; skip says nothing."""
    system, ran = HookSystem(), []
    system.register("pre:tool", broken, {"onError": on_error})
    system.register("pre:tool", lambda _: ran.append("ran"))

    with caplog.at_level(logging.INFO, logger="interpose"):
        result = execute(system, "pre:tool")

    assert (result.aborted, ran, len(caplog.records)) == (aborted, [] if aborted else ["ran"], logged)


def test_another_word_for_what_an_error_means_is_refused():
    """S0-73: skip, abort, log."""
    with pytest.raises(BadHook, match="onError: 'ignore' is not a choice"):
        HookSystem().register("pre:tool", broken, {"onError": "ignore"})


@pytest.mark.parametrize(
    ("point", "context", "aborted"),
    [
        ("pre:tol", {}, True),
        ("PreToolUse", {}, True),
        ("pre:tool", {"tool": 5}, True),
        ("pre:tool", 5, True),
        ("pre:git:write", {"path": 5}, True),
        ("post:tool", {"tool": 5}, False),
    ],
)
def test_what_cannot_be_executed_does_not_raise_and_is_aborted_where_that_is_possible(caplog, point, context, aborted):
    """X-39: a guarded action does not get through because the caller misspelt its point."""
    result = asyncio.run(HookSystem().execute(point, context))

    assert (result.aborted, bool(result.reason), len(caplog.records)) == (aborted, True, 1)


def test_a_caller_that_is_cancelled_stays_cancelled():
    """X-39: that is not an error of execution."""
    system = HookSystem()

    async def host():
        begun = asyncio.Event()

        async def forever(_):
            begun.set()
            await asyncio.Event().wait()

        system.register("pre:tool", forever)
        task = asyncio.ensure_future(system.execute("pre:tool", {}))
        await begun.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(host())
