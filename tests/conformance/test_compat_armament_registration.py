"""Armament's hook system: its points, registration, switching and settings."""

import asyncio
from copy import copy

import pytest
from tests.conformance.armament_system import CONTEXTS, NOTHING, account, broken, execute, system_that_runs

from interpose import BadHook, ConfigError, TooManyHooks, UnknownEvent, UnknownHook
from interpose.compat.armament import POINTS, HookSystem, HookSystemResult

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
