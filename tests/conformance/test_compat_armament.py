"""Armament's HookSystem over the engine: what its page and its own tests say of it."""

import asyncio
import logging
from copy import copy
from typing import Any

import pytest

from interpose import BadHook, ConfigError, Outcome, TooManyHooks, UnknownEvent, UnknownHook, deny, modify
from interpose import context as note
from interpose.compat.armament import POINTS, HookSystem, HookSystemResult

NOTHING = HookSystemResult(aborted=False, reason=None, modified={}, output=None)

CONTEXTS: dict[str, dict[str, Any]] = {
    "pre:message": {"prompt": "hi"},
    "post:message": {"prompt": "hi", "output": "hello"},
    "pre:tool": {"tool": "shell", "args": ["ls"]},
    "post:tool": {"tool": "shell", "args": ["ls"], "result": "a.txt"},
    "pre:agent:spawn": {"agent": "scout", "config": {"model": "small"}},
    "post:agent:complete": {"agent": "scout", "result": "done"},
    "pre:session:phase": {"from_phase": "plan", "to_phase": "build"},
    "post:session:phase": {"from_phase": "plan", "to_phase": "build"},
    "pre:git:write": {"path": "a.txt", "content": "x"},
    "post:git:write": {"path": "a.txt", "content": "x", "commit": "abc"},
    "pre:view:render": {"view": "main", "data": {"rows": 1}},
}


def execute(system: HookSystem, point: str, **context: Any) -> HookSystemResult:
    return asyncio.run(system.execute(point, context or CONTEXTS[point]))


def account(result: HookSystemResult) -> Outcome:
    """The engine's own account of an execution."""
    assert result.outcome is not None
    return result.outcome


def system_that_runs(*registered: tuple[int | None, str]) -> tuple[HookSystem, list[str]]:
    """A system with a hook for each priority and letter, and the list of letters in which they write down a run."""
    system, ran = HookSystem(), []
    for priority, letter in registered:
        system.register("pre:message", lambda _, letter=letter: ran.append(letter), {"priority": priority})
    return system, ran


# Points.


@pytest.mark.parametrize("point", POINTS)
def test_a_handler_at_each_of_the_eleven_points_is_called_with_the_fields_of_the_point(point):
    """S0-4 S0-41: the points that the page lists, and a context with what happens there."""
    system, told = HookSystem(), []
    system.register(point, lambda context: told.append({name: context[name] for name in CONTEXTS[point]}))

    execute(system, point)

    assert told == [CONTEXTS[point]]


def test_there_are_eleven_points():
    """S0-4: exactly these."""
    assert sorted(POINTS) == sorted(CONTEXTS)


@pytest.mark.parametrize("point", ["PreToolUse", "Stop", "pre:tol", "pre", "", None])
def test_no_other_point_is_accepted(point):
    """S0-4: also not an event that the engine knows by another name."""
    with pytest.raises(UnknownEvent):
        HookSystem().register(point, lambda _: None)


def test_a_misspelt_point_is_answered_with_the_nearest_one():
    """S0-4: the error says what to do."""
    with pytest.raises(UnknownEvent, match=r"pre:mesage is not a hook point \(did you mean pre:message\?\)"):
        HookSystem().register("pre:mesage", lambda _: None)


def test_a_point_can_be_narrowed_to_one_tool():
    """S0-4: pre:tool:shell is pre:tool for the tool shell."""
    system, ran = HookSystem(), []
    system.register("pre:tool:shell", lambda context: ran.append(context.tool))

    execute(system, "pre:tool", tool="shell")
    execute(system, "pre:tool", tool="editor")

    assert ran == ["shell"]
    assert [hook.point for hook in system.get_by_point("pre:tool:shell")] == ["pre:tool:shell"]


# Registration.


def test_a_system_without_settings_and_without_hooks_lets_everything_through():
    """S0-38: no arguments are needed."""
    assert execute(HookSystem(), "pre:tool") == NOTHING


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_handler_may_be_asynchronous_or_not_and_is_waited_for(asynchronous):
    """S0-39 S0-40: two arguments suffice; the result of a coroutine is awaited."""
    system = HookSystem()

    async def later(_):
        await asyncio.sleep(0)
        return {"abort": True, "reason": "no"}

    system.register("pre:tool", later if asynchronous else lambda _: {"abort": True, "reason": "no"})

    assert execute(system, "pre:tool") == HookSystemResult(True, "no", {}, "no")


def test_a_function_that_returns_something_to_await_is_waited_for():
    """S0-40: what counts is what came back."""
    system = HookSystem()

    async def later():
        return {"abort": True, "reason": "no"}

    system.register("pre:tool", lambda _: later())

    assert execute(system, "pre:tool") == HookSystemResult(True, "no", {}, "no")


def test_the_context_at_a_prompt_shows_the_prompt():
    """S0-42: as an attribute and as a mapping."""
    system, told = HookSystem(), []
    system.register(
        "pre:message", lambda context: told.extend([context.prompt, context["prompt"], "prompt" in context])
    )

    execute(system, "pre:message", prompt="hello")

    assert told == ["hello", "hello", True]


def test_a_context_has_no_other_fields_than_its_point():
    """S0-41: a mistake in a handler is seen as such."""
    system, told = HookSystem(), []

    def handler(context):
        told.append([hasattr(context, "prompt"), hasattr(context, "_private"), len(context) == len(list(context))])
        told.append(copy(context).tool)

    system.register("pre:tool", handler)

    execute(system, "pre:tool")

    assert told == [[False, False, True], "shell"]


def test_a_handler_that_returns_nothing_neither_aborts_nor_modifies():
    """S0-43."""
    system = HookSystem()
    system.register("pre:message", lambda _: None)

    assert execute(system, "pre:message") == NOTHING


def test_a_lower_priority_runs_earlier_whatever_the_order_of_registration():
    """S0-44 S0-61 S0-62 S0-63 S0-64 S0-65: system-critical, security, scripts, default."""
    system, ran = system_that_runs((100, "default"), (10, "security"), (50, "script"), (1, "critical"))

    execute(system, "pre:message")

    assert ran == ["critical", "security", "script", "default"]


def test_without_a_priority_it_is_100():
    """S0-45: before 101, after 99, and listed so."""
    system, ran = system_that_runs((101, "after"), (None, "default"), (99, "before"))

    execute(system, "pre:message")

    assert ran == ["before", "default", "after"]
    assert [hook.priority for hook in system.get_all()] == [101, 100, 99]


def test_hooks_of_one_priority_run_in_the_order_of_registration():
    """X-32."""
    system, ran = system_that_runs((10, "first"), (10, "second"), (10, "third"))

    execute(system, "pre:message")

    assert ran == ["first", "second", "third"]


def test_options_may_be_a_mapping_or_keywords():
    """S0-44 S0-46 S0-73: the page's way, and Python's."""
    system = HookSystem()
    system.register("pre:tool", print, {"priority": 5, "name": "a", "onError": "skip"})
    system.register("pre:tool", print, priority=6, name="b", on_error="abort")

    listed = [(hook.name, hook.priority, hook.on_error) for hook in system.get_all()]

    assert listed == [("a", 5, "skip"), ("b", 6, "abort")]


def test_a_keyword_is_stronger_than_the_mapping():
    """S0-44 S0-88: for options as for settings."""
    system = HookSystem({"maxHooksPerPoint": 1}, maxHooksPerPoint=2)
    system.register("pre:tool", print, {"priority": 5}, priority=6)
    system.register("pre:tool", print)

    assert [hook.priority for hook in system.get_all()] == [6, 100]


def test_an_option_that_does_not_exist_is_refused():
    """S0-39: a misspelt option would be a hook that is not what it seems."""
    with pytest.raises(BadHook, match=r"no option is called prio \(did you mean priority\?\)"):
        HookSystem().register("pre:tool", print, {"prio": 5})


@pytest.mark.parametrize("handler", [None, "print", lambda: None, lambda _a, _b: None])
def test_what_cannot_be_called_with_one_context_is_refused(handler):
    """S0-41: a handler receives one context."""
    with pytest.raises(BadHook):
        HookSystem().register("pre:tool", handler)


def test_a_hook_of_the_same_name_is_replaced():
    """X-33: the later one holds, alone."""
    system, ran = HookSystem(), []
    system.register("pre:message", lambda _: ran.append("old"), name="log", priority=10)
    system.register("pre:message", lambda _: ran.append("new"), name="log", priority=5)

    execute(system, "pre:message")

    assert ran == ["new"]
    assert [(hook.name, hook.priority) for hook in system.get_all()] == [("log", 5)]


def test_unregister_removes_a_hook_by_name_and_an_unknown_name_is_no_error():
    """X-34."""
    system, ran = HookSystem(), []
    system.register("pre:message", lambda _: ran.append("ran"), name="log")

    system.unregister("log")
    system.unregister("never there")

    execute(system, "pre:message")
    assert (ran, system.get_all()) == ([], [])


def test_hooks_are_listed_all_in_the_order_of_registration_and_by_point_in_the_order_they_run():
    """X-35: a point without hooks has an empty list."""
    system = HookSystem()
    system.register("pre:tool", print, name="late", priority=100)
    system.register("pre:message", print, name="other")
    system.register("pre:tool", print, name="early", priority=1)

    assert [hook.name for hook in system.getAll()] == ["late", "other", "early"]
    assert [hook.name for hook in system.getByPoint("pre:tool")] == ["early", "late"]
    assert system.getByPoint("post:tool") == []


def test_a_listed_hook_shows_what_was_registered():
    """X-35: the handler itself, not what is made of it."""
    system = HookSystem()

    system.register("post:tool", print, name="log", priority=7, on_error="skip")

    [hook] = system.get_by_point("post:tool")
    assert (hook.point, hook.name, hook.priority, hook.handler, hook.enabled, hook.on_error) == (
        "post:tool", "log", 7, print, True, "skip",
    )  # fmt: skip


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


def broken(_):
    raise RuntimeError("hook bug")


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


# Switching.


def test_a_disabled_hook_is_not_called_stays_listed_and_can_be_enabled_again():
    """S0-46 S0-77 S0-78 S0-79 S0-80: and keeps its priority and its place."""
    system, ran = HookSystem(), []
    for name in ("a", "b", "c"):
        system.register("pre:message", lambda _, name=name: ran.append(name), name=name, priority=7)

    system.disable("b")
    execute(system, "pre:message")
    disabled = [(hook.name, hook.priority, hook.enabled) for hook in system.getByPoint("pre:message")]
    switched = system.isEnabled("b")
    system.enable("b")
    execute(system, "pre:message")

    assert (disabled, switched) == ([("a", 7, True), ("b", 7, False), ("c", 7, True)], False)
    assert (ran, system.isEnabled("b")) == (["a", "c", "a", "b", "c"], True)


def test_an_unknown_name_is_not_enabled():
    """X-38."""
    assert (HookSystem().isEnabled("nobody"), HookSystem().is_enabled("nobody")) == (False, False)


def test_a_hook_without_a_name_runs_and_cannot_be_switched_by_name():
    """S0-47: there is no name to find it by; saying one that nobody has is a mistake."""
    system, ran = HookSystem(), []
    system.register("pre:message", lambda _: ran.append("ran"))

    with pytest.raises(UnknownHook):
        system.disable("<lambda>")
    with pytest.raises(UnknownHook):
        system.enable("")

    execute(system, "pre:message")
    assert ran == ["ran"]


# Settings.


def test_the_output_of_a_result_is_known_where_failures_abort():
    """`output` is a field of Armament's results, and no unknown key of a guard's answer."""
    system = HookSystem({"errorBehavior": "abort"})
    system.register("pre:tool", lambda _: {"output": "looked at it"})

    assert execute(system, "pre:tool") == HookSystemResult(False, None, {}, "looked at it")


@pytest.mark.parametrize("settings", [{"errorBehavior": "abort"}, {"error_behavior": "abort"}])
def test_the_behaviour_for_all_hooks_can_be_set_and_a_hook_s_own_word_is_stronger(settings):
    """S0-88 S0-91: in the page's spelling and in Python's."""
    strict, lax = HookSystem(settings), HookSystem(**settings)
    strict.register("pre:tool", broken)
    lax.register("pre:tool", broken, {"onError": "skip"})

    assert (execute(strict, "pre:tool").aborted, execute(lax, "pre:tool").aborted) == (True, False)


def test_a_hook_that_runs_longer_than_the_timeout_in_milliseconds_is_cut_off():
    """S0-89."""
    system = HookSystem({"timeout": 100})

    async def forever(_):
        await asyncio.Event().wait()

    system.register("pre:tool", forever, name="slow")

    result = execute(system, "pre:tool")

    assert [(r.hook, r.status, str(r.error)) for r in account(result).results] == [
        ("slow", "timeout", "no answer within 0.1 s")
    ]


@pytest.mark.parametrize("settings", [{"maxHooksPerPoint": 1}, {"max_hooks_per_point": 1}])
def test_one_hook_more_than_the_limit_is_refused(settings):
    """S0-90."""
    system = HookSystem(settings)
    system.register("pre:tool", print)
    system.register("pre:message", print)

    with pytest.raises(TooManyHooks):
        system.register("pre:tool", print)


@pytest.mark.parametrize(
    ("settings", "error"), [({"timout": 5000}, BadHook), ({"timeout": 5}, ConfigError), ({"pre:tool": []}, BadHook)]
)
def test_a_setting_that_does_not_exist_or_cannot_be_is_refused(settings, error):
    """S0-88 S0-89: the three of the page, with values that make sense."""
    with pytest.raises(error):
        HookSystem(settings)
