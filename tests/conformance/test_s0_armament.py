"""Armament's hook system, row by row: points, registration, abort, modify, order, errors, switching, settings.

Names that only Armament's own class has (``HookSystem``) and ``.arma`` scripts are tested elsewhere; here its points,
words and rules are those of the engine.
"""

import asyncio
import logging
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from tests.conformance.host import Host
from tests.conformance.scenarios import STYLES, at, fired, hook, play, scenario, table

from interpose import ConfigError, Hooks, TooManyHooks, UnknownHook

# ----------------------------------------------------------------------------------------------------------------
# The points, and what a hook may do at each: the table of the seed.


@dataclass(frozen=True)
class Point:
    """One line of the table: an example of its fields, and whether a hook can abort, and what it can modify."""

    name: str
    fields: dict[str, Any]
    abort: tuple[str, bool]
    modify: tuple[str, str | None]


# fmt: off
POINTS = [
    Point("pre:message", {"prompt": "hello", "model": "m"}, ("S0-6", True), ("S0-7", "prompt")),
    Point("post:message", {"prompt": "hello", "output": "hi"}, ("S0-9", False), ("S0-10", "output")),
    Point("pre:tool", {"tool": "shell", "args": {"command": "ls"}}, ("S0-12", True), ("S0-13", "args")),
    Point("post:tool", {"tool": "shell", "args": {}, "result": "a b"}, ("S0-15", False), ("S0-16", "result")),
    Point("pre:agent:spawn", {"agent": "scout", "config": {"model": "m"}}, ("S0-18", True), ("S0-19", "config")),
    Point("post:agent:complete", {"agent": "scout", "result": "done"}, ("S0-21", False), ("S0-22", None)),
    Point("pre:session:phase", {"from_phase": "plan", "to_phase": "build"}, ("S0-24", True), ("S0-25", None)),
    Point("post:session:phase", {"from_phase": "plan", "to_phase": "build"}, ("S0-27", False), ("S0-28", None)),
    Point("pre:git:write", {"path": "a.py", "content": "x = 1"}, ("S0-30", True), ("S0-31", "content")),
    Point("post:git:write", {"path": "a.py", "content": "x = 1", "commit": "c0"}, ("S0-33", False), ("S0-34", None)),
    Point("pre:view:render", {"view": "main", "data": {"rows": [1]}}, ("S0-36", False), ("S0-37", "data")),
]
# fmt: on

WORDS = {"tool": "tool_name", "args": "tool_input", "result": "tool_response"}


def field_of(point: Point, word: str) -> str:
    """Return the field that a word of Armament stands for at a point."""
    return WORDS.get(word, word) if point.name in ("pre:tool", "post:tool") else word


def changed(value: Any) -> Any:
    """Return another value of the same kind."""
    return {"changed": True} if isinstance(value, dict) else f"changed {value}"


def each(points, what):
    return [pytest.param(point, id=f"{getattr(point, what)[0]} {point.name}") for point in points]


def test_the_points_are_these_eleven():
    """S0-4, beside the events of the others (C-1), and one for agents that hand over."""
    spelled = {name for name in Hooks().events.spellings() if name.startswith(("pre:", "post:"))}

    assert spelled - {"pre:agent:handoff"} == {point.name for point in POINTS}


@pytest.mark.parametrize("point", [pytest.param(point, id=f"S0-1 {point.name}") for point in POINTS])
def test_a_handler_is_called_once_each_time_its_point_is_executed(point):
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register(point.name, calls.append)

    hooks.fire_sync(point.name, **point.fields)
    hooks.fire_sync(point.name, **point.fields)

    assert len(calls) == 2


@pytest.mark.parametrize("point", each([point for point in POINTS if point.abort[1]], "abort"))
@pytest.mark.parametrize("style", STYLES)
def test_a_hook_can_abort_here(point, style):
    played = play(at(point.name, **point.fields), [{"abort": True, "reason": "no"}, None], style)

    assert (played.outcome.allowed, played.outcome.denied) == (False, True)
    assert (played.outcome.reason, played.called) == ("no", ["first"])


@pytest.mark.parametrize("point", each([point for point in POINTS if point.abort[1]], "abort"))
def test_what_was_aborted_is_not_done(point):
    hooks = Hooks()
    hooks.register(point.name, lambda event: {"abort": True})
    host = Host(hooks)

    asyncio.run(host.act(point.name, **{field_of(point, word): value for word, value in point.fields.items()}))

    assert host.did == []


@pytest.mark.parametrize("point", each([point for point in POINTS if not point.abort[1]], "abort"))
@pytest.mark.parametrize("style", STYLES)
def test_a_hook_cannot_abort_here_its_wish_is_reported_and_later_hooks_run(point, style):
    played = play(at(point.name, **point.fields), [{"abort": True}, None], style)

    assert played.outcome.allowed
    assert played.effect["ignored"] == [("first", "deny")]
    assert played.called == ["first", "second"]


@pytest.mark.parametrize("point", each([point for point in POINTS if point.modify[1]], "modify"))
@pytest.mark.parametrize("style", STYLES)
def test_a_hook_can_modify_this(point, style):
    word = point.modify[1]
    value = changed(point.fields[word])

    played = play(at(point.name, **point.fields), [{"modify": {word: value}}], style)

    assert played.effect["changed"] == {field_of(point, word): value}
    assert getattr(played.outcome, word) == value
    assert played.effect["ignored"] == []


@pytest.mark.parametrize("point", each([point for point in POINTS if point.modify[1]], "modify"))
def test_what_was_modified_reaches_the_model_the_tool_the_file_or_the_caller(point):
    word = point.modify[1]
    given = {field_of(point, other): value for other, value in point.fields.items()}
    value = changed(point.fields[word])
    hooks = Hooks()
    hooks.register(point.name, lambda event: {"modify": {word: value}})
    host = Host(hooks)

    asyncio.run(host.act(point.name, **given))

    (did,) = host.did
    assert did == {name: given[name] for name in did} | {field_of(point, word): value}


@pytest.mark.parametrize("point", each(POINTS, "modify"))
@pytest.mark.parametrize("style", STYLES)
def test_a_hook_can_modify_nothing_else_and_every_such_wish_is_reported(point, style):
    others = [word for word in (*point.fields, "something") if word != point.modify[1]]

    played = play(at(point.name, **point.fields), [{"modify": dict.fromkeys(others, "changed")}], style)

    assert played.effect["changed"] == {}
    assert played.effect["ignored"] == [("first", f"modify {field_of(point, word)}") for word in others]


# ----------------------------------------------------------------------------------------------------------------
# Hooks are no events: they are waited for, and what they return counts.


def test_the_action_does_not_start_before_every_hook_has_finished():
    """S0-2"""
    done = []

    async def slow(event):
        for _ in range(5):
            await asyncio.sleep(0)
        done.append("a slow hook")

    async def host():
        await hooks.fire("pre:message", prompt="hello")
        done.append("the action")

    hooks = Hooks()
    hooks.register("pre:message", slow)
    hooks.register("pre:message", lambda event: done.append("another hook"))
    asyncio.run(host())

    assert done == ["a slow hook", "another hook", "the action"]


def test_what_a_listener_returns_changes_nothing():
    """S0-3: hooks and events are separate mechanisms."""
    hooks = Hooks()
    told: list[Any] = []
    hooks.register("pre:message", lambda event: None)

    def listener(message):
        told.append(message)
        return {"abort": True, "modify": {"prompt": "changed"}}

    with hooks.observe(listener) as listening:
        outcome = hooks.fire_sync("pre:message", prompt="hello")
        listening.flush()

    assert (len(told), outcome.allowed, outcome.prompt) == (2, True, "hello")


@table(
    scenario("S0-3", "a hook's return value can abort the action", at("pre:message", prompt="hello"),
             [{"abort": True}], decision="deny"),
    scenario("S0-3", "a hook's return value can modify the action", at("pre:message", prompt="hello"),
             [{"modify": {"prompt": "changed"}}], changed={"prompt": "changed"}),
)  # fmt: skip
def test_what_a_hook_returns_counts(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# Registration.


def test_a_point_and_a_handler_are_enough_to_register():
    """S0-39, S0-45"""
    made = Hooks().register("pre:message", lambda event: None)

    assert (made.event, made.priority, made.name, made.on_error, made.enabled) == ("pre:message", 100, None, None, True)


def test_a_hook_without_a_name_runs_and_cannot_be_switched_by_name():
    """S0-47"""
    hooks = Hooks()
    calls: list[Any] = []

    def handler(event):
        calls.append(event)

    hook = hooks.register("pre:message", handler)
    with pytest.raises(UnknownHook):
        hooks.disable(hook.label)
    hooks.fire_sync("pre:message", prompt="hello")

    assert len(calls) == 1


@table(
    scenario("S0-40", "what an asynchronous handler answers is awaited", at("pre:message", prompt="hello"),
             [{"abort": True, "reason": "awaited"}], decision="deny", reason="awaited"),
    scenario("S0-41 S0-42", "a handler receives one context, which at pre:message has the prompt",
             at("pre:message", prompt="hello"),
             [lambda context: {"abort": True, "reason": context.prompt}], decision="deny", reason="hello"),
    scenario("S0-43", "a handler that returns nothing neither aborts nor modifies", at("pre:message", prompt="hello"),
             [None]),
    scenario("S0-58", "at post:message the context has the output", at("post:message", output="the answer"),
             [lambda context: {"modify": {"output": context.output + "!"}}], changed={"output": "the answer!"}),
    scenario("S0-50", "at pre:tool the context has the tool and its args", at("pre:tool", tool="shell", args=["ls"]),
             [lambda context: {"abort": True, "reason": f"{context.tool} {context.args}"}],
             decision="deny", reason="shell ['ls']"),
)  # fmt: skip
def test_what_a_handler_is_given(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# Abort.


def no_destruction(context):
    """The first example of the seed."""
    if context.tool == "shell" and "rm" in context.args:
        return {"abort": True, "reason": "Destructive command blocked by hook"}
    return None


def not_too_large(context):
    """The second example of the seed."""
    if len(context.prompt) > 100000:
        return {"abort": True, "reason": "Prompt too large"}
    return None


@table(
    scenario("S0-48 S0-49", "a pre-hook that returns abort aborts the action, and its reason reaches the caller",
             at("pre:agent:spawn", agent="scout"), [{"abort": True, "reason": "enough agents"}],
             decision="deny", reason="enough agents"),
    scenario("S0-48", "abort: false aborts nothing", at("pre:tool", tool="shell"), [{"abort": False}]),
    scenario("S0-51", "shell with rm is blocked by the example", at("pre:tool", tool="shell", args="rm -r x"),
             [no_destruction], decision="deny", reason="Destructive command blocked by hook"),
    scenario("S0-52", "shell without rm goes through", at("pre:tool", tool="shell", args="ls"), [no_destruction]),
    scenario("S0-52", "rm of another tool goes through", at("pre:tool", tool="editor", args="rm"), [no_destruction]),
    scenario("S0-53", "a prompt of 100001 characters is too large", at("pre:message", prompt="x" * 100001),
             [not_too_large], decision="deny", reason="Prompt too large"),
    scenario("S0-54", "a prompt of 100000 characters is not", at("pre:message", prompt="x" * 100000),
             [not_too_large]),
    scenario("S0-67", "if a hook aborts, the hooks after it do not run", at("pre:message", prompt="hello"),
             [None, {"abort": True}, None, None], decision="deny",
             results=["ok", "ok", "skipped", "skipped"], called=["first", "second"]),
)  # fmt: skip
def test_abort(scenario, style):
    assert scenario.play(style) == scenario.effect


def test_if_a_hook_aborts_the_action_does_not_run():
    """S0-68"""
    hooks = Hooks()
    hooks.register("pre:git:write", lambda event: {"abort": event.path == "secrets.txt"})
    host = Host(hooks)

    asyncio.run(host.act("pre:git:write", path="secrets.txt", content="x"))
    asyncio.run(host.act("pre:git:write", path="notes.txt", content="y"))

    assert host.did == [{"path": "notes.txt", "content": "y"}]


# ----------------------------------------------------------------------------------------------------------------
# Modify.


def with_project(context):
    """The third example of the seed."""
    return {"modify": {"prompt": f"[Project: X]\n{context.prompt}"}}


def redacted(context):
    """The fourth example of the seed."""
    return {"modify": {"output": context.output.replace("hunter2", "***")}}


@table(
    scenario("S0-55 S0-59", "modify changes the keys it names and leaves the others",
             at("pre:message", prompt="hello", model="m"), [{"modify": {"prompt": "bye"}}], changed={"prompt": "bye"}),
    scenario("S0-59", "a key that is named is replaced whole", at("pre:agent:spawn", config={"a": 1, "b": {"c": 2}}),
             [{"modify": {"config": {"b": {}}}}], changed={"config": {"b": {}}}),
    scenario("S0-56", "the prompt gets a project in front", at("pre:message", prompt="hello"), [with_project],
             changed={"prompt": "[Project: X]\nhello"}),
    scenario("S0-57", "the output is redacted", at("post:message", output="the password is hunter2"), [redacted],
             changed={"output": "the password is ***"}),
    scenario("S0-60", "a later hook sees what earlier hooks modified", at("pre:message", prompt="hello"),
             [with_project, lambda context: {"modify": {"prompt": context.prompt.upper()}}],
             changed={"prompt": "[PROJECT: X]\nHELLO"}),
    scenario("S0-60", "a later hook can abort what an earlier one modified", at("pre:message", prompt="hello"),
             [with_project, lambda context: {"abort": context.prompt.startswith("[Project: X]")}],
             decision="deny", changed={"prompt": "[Project: X]\nhello"}),
)  # fmt: skip
def test_modify(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# Order.


@table(
    scenario("S0-44 S0-61", "a lower number runs earlier, whatever the order of registration", at("pre:message"),
             [hook(priority=30), hook(priority=10), hook(priority=20)], called=["second", "third", "first"]),
    scenario("S0-45", "without a priority it is 100", at("pre:message"),
             [hook(priority=101), hook(), hook(priority=99)], called=["third", "second", "first"]),
    scenario("S0-61", "hooks of one priority run in the order of registration", at("pre:message"),
             [hook(priority=5), hook(priority=5), hook(priority=5)]),
    scenario("S0-62 S0-63 S0-64 S0-65", "system-critical, security, user scripts, default", at("pre:tool"),
             [hook(), hook(priority=50), hook(priority=10), hook(priority=1)],
             called=["fourth", "third", "second", "first"]),
    scenario("S0-61 S0-67", "an abort of an earlier priority keeps later ones from running", at("pre:tool"),
             [hook(None), hook({"abort": True}, priority=10)], decision="deny", results=["ok", "skipped"],
             called=["second"]),
)  # fmt: skip
def test_order(scenario, style):
    assert scenario.play(style) == scenario.effect


# ----------------------------------------------------------------------------------------------------------------
# Errors.

BUG = RuntimeError("hook bug")


@table(
    scenario("S0-69 S0-71 S0-72", "a hook that throws does not throw, the others still run, the action may run",
             at("pre:message", prompt="hello"), [BUG, {"modify": {"prompt": "bye"}}], changed={"prompt": "bye"},
             results=["failed hook_crash", "ok"]),
    scenario("S0-73 S0-74", "onError skip: the failing hook is skipped, the rest run, the action may run",
             at("pre:tool", tool="shell"), [hook(BUG, on_error="skip"), None], results=["failed hook_crash", "ok"]),
    scenario("S0-73 S0-76", "onError log: the rest run, the action may run", at("pre:tool", tool="shell"),
             [hook(BUG, on_error="log"), None], results=["failed hook_crash", "ok"]),
    scenario("S0-73 S0-75", "onError abort: a failure aborts the action", at("pre:tool", tool="shell"),
             [hook(BUG, on_error="abort"), None], decision="deny",
             reason="first failed: raised RuntimeError: hook bug", results=["failed hook_crash", "skipped"],
             called=["first"]),
    scenario("S0-75", "onError abort at a point that cannot abort: the rest run (C-13)", at("post:message"),
             [hook(BUG, on_error="abort"), None], results=["failed hook_crash", "ok"]),
    scenario("S0-88", "errorBehavior abort holds for hooks without an onError", at("pre:tool"), [BUG, None],
             settings={"error_behavior": "abort"}, decision="deny",
             reason="first failed: raised RuntimeError: hook bug", results=["failed hook_crash", "skipped"],
             called=["first"]),
    scenario("S0-88", "errorBehavior skip goes on", at("pre:tool"), [BUG, None],
             settings={"error_behavior": "skip"}, results=["failed hook_crash", "ok"]),
    scenario("S0-91", "a hook's own onError comes before errorBehavior: log over abort", at("pre:tool"),
             [hook(BUG, on_error="log"), None], settings={"error_behavior": "abort"},
             results=["failed hook_crash", "ok"]),
    scenario("S0-91", "a hook's own onError comes before errorBehavior: abort over log", at("pre:tool"),
             [hook(BUG, on_error="abort"), None], settings={"error_behavior": "log"}, decision="deny",
             reason="first failed: raised RuntimeError: hook bug", results=["failed hook_crash", "skipped"],
             called=["first"]),
)  # fmt: skip
def test_errors(scenario, style):
    assert scenario.play(style) == scenario.effect


# fmt: off
LOGGED = [
    pytest.param({}, {}, logging.ERROR, id="S0-70 by default an error is logged"),
    pytest.param({"on_error": "log"}, {}, logging.ERROR, id="S0-76 onError log: logged"),
    pytest.param({"on_error": "abort"}, {}, logging.ERROR, id="S0-75 onError abort: logged (C-13)"),
    pytest.param({"on_error": "skip"}, {}, None, id="S0-74 onError skip: no line in the log (C-13)"),
    pytest.param({}, {"error_behavior": "skip"}, None, id="S0-88 errorBehavior skip: no line in the log"),
    pytest.param({"on_error": "log"}, {"error_behavior": "skip"}, logging.ERROR, id="S0-91 log over skip: logged"),
]
# fmt: on


@pytest.mark.parametrize(("options", "settings", "level"), LOGGED)
@pytest.mark.parametrize("style", STYLES)
def test_what_is_logged(options, settings, level, style, caplog):
    caplog.set_level(logging.INFO, "interpose")

    play(at("pre:message"), [hook(BUG, name="buggy", **options)], style, **settings)

    lines = [(record.levelno, "buggy" in record.getMessage(), "hook bug" in record.getMessage())
             for record in caplog.records]  # fmt: skip
    assert lines == ([] if level is None else [(level, True, True)])


# ----------------------------------------------------------------------------------------------------------------
# Switching by name.


def switched() -> tuple[Hooks, list[str]]:
    """Three hooks, of which the middle one is called safety-check."""
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register("pre:tool", lambda event: calls.append("before"))
    hooks.register("pre:tool", lambda event: calls.append("safety-check"), name="safety-check")
    hooks.register("pre:tool", lambda event: calls.append("after"))
    return hooks, calls


def test_a_disabled_hook_is_not_called_and_an_enabled_one_is_called_again():
    """S0-46, S0-77, S0-79"""
    hooks, calls = switched()

    hooks.disable("safety-check")
    hooks.fire_sync("pre:tool", tool="shell")
    without = calls.copy()
    calls.clear()
    hooks.enable("safety-check")
    hooks.fire_sync("pre:tool", tool="shell")

    assert without == ["before", "after"]
    assert calls == ["before", "safety-check", "after"]


def test_disabling_does_not_unregister():
    """S0-78: the hook is still listed and keeps its priority and position."""
    hooks, _ = switched()
    before = [(hook.name, hook.priority, hook.sequence) for hook in hooks]

    hooks.disable("safety-check")

    assert [(hook.name, hook.priority, hook.sequence) for hook in hooks] == before
    assert [hook.enabled for hook in hooks] == [True, False, True]


def test_whether_a_hook_is_enabled_is_a_boolean():
    """S0-80"""
    hooks, _ = switched()

    states = [hooks.is_enabled("safety-check")]
    hooks.disable("safety-check")
    states.append(hooks.is_enabled("safety-check"))
    hooks.enable("safety-check")
    states.append(hooks.is_enabled("safety-check"))

    assert states == [True, False, True]


def test_a_name_that_nobody_has_is_not_enabled():
    """S0-80, X-38"""
    assert Hooks().is_enabled("nobody") is False


# ----------------------------------------------------------------------------------------------------------------
# Settings.


def test_the_settings_of_the_seed_are_read_as_they_stand():
    """S0-88, S0-89, S0-90"""
    hooks = Hooks.from_mapping({"hooks": {"errorBehavior": "log", "timeout": 5000, "maxHooksPerPoint": 50}})

    settings = hooks.settings
    assert (settings.error_behavior, settings.timeout_ceiling, settings.max_hooks_per_point) == ("log", 5.0, 50)


@pytest.mark.parametrize("value", ["abort", "skip", "log"])
def test_error_behavior_can_be_configured(value):
    """S0-88, S0-91: for all hooks, and for one."""

    def broken(event):
        raise BUG

    everywhere = Hooks.from_mapping({"hooks": {"errorBehavior": value, "pre:tool": [{"handler": broken}]}})
    on_the_hook = Hooks.from_mapping(
        {"hooks": {"errorBehavior": "skip", "pre:tool": [{"handler": broken, "onError": value}]}}
    )

    denied = [hooks.fire_sync("pre:tool", tool="shell").denied for hooks in (everywhere, on_the_hook)]
    assert denied == [value == "abort"] * 2


@pytest.mark.parametrize("setting", ["errorBehavior", "onError"])
def test_there_is_no_other_error_behavior(setting):
    """S0-73, S0-88"""
    one = {"handler": print}
    section = {"pre:tool": [one | {"onError": "ignore"}]} if setting == "onError" else {"errorBehavior": "ignore"}

    with pytest.raises(ConfigError, match=f"{setting}: 'ignore' is not a choice"):
        Hooks.from_mapping({"hooks": section})


@pytest.mark.parametrize(
    ("own", "takes", "status"),
    [
        pytest.param(None, 4.9, "ok", id="S0-89 a hook that takes less than 5000 ms answers"),
        pytest.param(None, 5.1, "timeout", id="S0-89 a hook that takes longer than 5000 ms is cut off"),
        pytest.param(60, 5.1, "timeout", id="S0-89 a longer timeout of the hook's own does not help"),
        pytest.param(2, 2.1, "timeout", id="S0-89 a shorter one of its own holds"),
    ],
)
def test_timeout_is_the_most_that_any_hook_gets(own, takes, status, clock):
    handler = clock.takes(takes, {"abort": True})
    hooks = Hooks.from_mapping({"hooks": {"timeout": 5000, "pre:tool": [{"handler": handler, "timeout": own}]}})

    outcome = fired(hooks, at("pre:tool", tool="shell"))

    assert ([result.status for result in outcome.results], outcome.denied) == ([status], status == "ok")


def test_a_hook_is_cut_off_in_fact():
    """S0-89: whoever hangs does not hang the host."""
    release = threading.Event()

    def hangs(event):
        release.wait(10)
        return {"abort": True}

    hooks = Hooks.from_mapping({"hooks": {"timeout": 100, "pre:tool": [{"handler": hangs}]}})
    outcome = fired(hooks, at("pre:tool", tool="shell"))
    release.set()

    assert [(result.status, result.duration < 2) for result in outcome.results] == [("timeout", True)]
    assert outcome.allowed


@pytest.mark.parametrize("style", STYLES)
def test_one_hook_more_than_max_hooks_per_point_is_refused(style):
    """S0-90"""
    hooks = Hooks.from_mapping({"hooks": {"maxHooksPerPoint": 3, "pre:tool": [{"handler": lambda event: None}] * 3}})

    with pytest.raises(TooManyHooks):
        hooks.register("pre:tool", lambda event: {"abort": True})

    assert fired(hooks, at("pre:tool", tool="shell"), style).allowed
    assert len(list(hooks)) == 3


# fmt: off
LIMITS = [
    pytest.param({}, 51, True, id="S0-90 the limit is 50 unless told (C-35)"),
    pytest.param({}, 50, False, id="S0-90 the fiftieth is within it"),
    pytest.param({"maxHooksPerPoint": 0}, 60, False, id="S0-90 0 is no limit (C-35)"),
    pytest.param({"maxHooksPerPoint": 2}, 3, True, id="S0-90 a configuration with too many is refused"),
]
# fmt: on


@pytest.mark.parametrize(("settings", "count", "refused"), LIMITS)
def test_the_limit_of_hooks_at_one_point(settings, count, refused):
    section = {"hooks": settings | {"pre:message": [{"handler": lambda event: None}] * count}}

    try:
        made = len(list(Hooks.from_mapping(section)))
    except TooManyHooks:
        made = None

    assert made == (None if refused else count)


def test_the_limit_counts_each_point_and_each_scope_for_itself():
    """S0-90, C-35"""
    hooks = Hooks(max_hooks_per_point=1)
    hooks.register("pre:tool", lambda event: None)
    hooks.register("post:tool", lambda event: None)
    hooks.register_scoped("scout", {"pre:tool": [lambda event: None]})

    with pytest.raises(TooManyHooks):
        hooks.register_scoped("scout", {"pre:tool": [lambda event: None]})
    assert len(list(hooks)) == 3
