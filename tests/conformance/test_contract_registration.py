"""The contract on registering: names, layers, scopes, what may be a hook, and configurations as mappings."""

import asyncio
import functools
from typing import Any

import pytest

from interpose import BadHook, ConfigError, Hooks, UnknownEvent, UnknownHook, deny


def noting(calls: list[str], name: str, answer: Any = None):
    """Return a hook that notes its call and then answers."""

    def handler(event):
        calls.append(name)
        return answer

    return handler


def nothing(event):
    return None


# ----------------------------------------------------------------------------------------------------------------
# Names


def test_registering_a_name_again_replaces_the_hook_in_its_place():
    """C-36, X-33"""
    hooks = Hooks()
    calls: list[Any] = []
    for name in ("a", "b", "c"):
        hooks.register("Stop", noting(calls, f"old {name}"), name=name)

    hooks.register("Stop", noting(calls, "new b"), name="b")
    hooks.fire_sync("Stop")

    assert calls == ["old a", "new b", "old c"]


def test_a_name_is_unique_within_its_layer_scope_and_event():
    hooks = Hooks()
    hooks.register("Stop", nothing, name="x")
    hooks.register("Setup", nothing, name="x")
    hooks.register("Stop", nothing, name="x", layer="project")
    hooks.register_scoped("scout", {"Stop": [{"name": "x", "handler": nothing}]})
    hooks.register("Stop", nothing, name="x")

    assert [(hook.event, hook.layer, hook.scope) for hook in hooks] == [
        ("Stop", "code", None),
        ("Stop", "project", None),
        ("Stop", "code", "scout"),
        ("Setup", "code", None),
    ]


def test_an_alias_is_the_same_event_for_names_too():
    hooks = Hooks()
    hooks.register("PreToolUse", nothing, name="x")
    hooks.register("pre:tool", nothing, name="x")

    assert len(list(hooks)) == 1


@pytest.mark.parametrize("act", ["enable", "disable", "unregister"])
def test_switching_acts_on_every_hook_of_that_name(act):
    hooks = Hooks()
    for event in ("Stop", "Setup"):
        hooks.register(event, nothing, name="x", enabled=act != "enable")
        hooks.register(event, nothing, name="y")

    getattr(hooks, act)("x")

    states = [hook.enabled for hook in hooks if hook.name == "x"]
    assert states == {"enable": [True, True], "disable": [False, False], "unregister": []}[act]
    assert [hook.enabled for hook in hooks if hook.name == "y"] == [True, True]


@pytest.mark.parametrize("act", ["enable", "disable", "unregister"])
def test_switching_raises_if_there_is_no_such_name_and_says_which_was_meant(act):
    hooks = Hooks()
    hooks.register("Stop", nothing, name="safety-check")

    with pytest.raises(UnknownHook, match="did you mean safety-check"):
        getattr(hooks, act)("safety-chek")


def test_a_hook_that_was_registered_can_be_unregistered_by_what_register_returned():
    hooks = Hooks()
    calls: list[Any] = []
    kept = hooks.register("Stop", noting(calls, "kept"))
    gone = hooks.register("Stop", noting(calls, "gone"))

    hooks.unregister(gone)
    hooks.fire_sync("Stop")

    assert (calls, list(hooks)) == (["kept"], [kept])


def test_a_handle_stays_good_after_the_hook_was_switched():
    hooks = Hooks()
    hook = hooks.register("Stop", nothing, name="x")
    hooks.disable("x")

    hooks.unregister(hook)

    assert list(hooks) == []


# ----------------------------------------------------------------------------------------------------------------
# Layers, high to low: code, user, project, local

LAYERS = ("code", "user", "project", "local")


@pytest.mark.parametrize("act", ["enable", "disable", "unregister"])
@pytest.mark.parametrize(
    ("caller", "owner"),
    [pytest.param(caller, owner, id=f"{caller} touches {owner}") for caller in LAYERS for owner in LAYERS],
)
def test_a_lower_layer_cannot_touch_a_higher_ones_hooks(caller, owner, act):
    hooks = Hooks()
    hooks.register("Stop", nothing, name="x", layer=owner)

    if LAYERS.index(caller) <= LAYERS.index(owner):
        getattr(hooks, act)("x", layer=caller)
    else:
        with pytest.raises(UnknownHook, match=f"belongs to the {owner} layer"):
            getattr(hooks, act)("x", layer=caller)
        assert [hook.enabled for hook in hooks] == [True]


def test_of_several_hooks_of_a_name_only_those_are_touched_that_may_be():
    hooks = Hooks()
    for layer in LAYERS:
        hooks.register("Stop", nothing, name="x", layer=layer)

    hooks.disable("x", layer="project")

    assert {hook.layer: hook.enabled for hook in hooks} == {
        "code": True,
        "user": True,
        "project": False,
        "local": False,
    }


# ----------------------------------------------------------------------------------------------------------------
# Scopes


def test_the_elements_of_a_scoped_list_are_callables_hooks_and_groups():
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register_scoped("scout", {"PreToolUse": [
        noting(calls, "callable"),
        {"handler": noting(calls, "hook"), "matcher": "Bash", "priority": 5},
        {"matcher": "B*", "timeout": 1, "hooks": [noting(calls, "in a group"),
                                                  {"handler": noting(calls, "in a group too"), "name": "n"}]},
        {"matcher": "Read", "hooks": [noting(calls, "in another group")]},
    ]})  # fmt: skip

    hooks.fire_sync("PreToolUse", tool_name="Bash", agent_id="scout")

    assert calls == ["hook", "callable", "in a group", "in a group too"]


def test_a_scope_never_overrides():
    """C-14, S3-84"""
    with pytest.raises(ConfigError, match="never overrides"):
        Hooks().register_scoped("scout", {"Stop": {"override": True, "hooks": [nothing]}})


def test_registering_a_scope_again_adds_to_it():
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register_scoped("scout", {"Stop": [noting(calls, "first")]})
    hooks.register_scoped("scout", {"Stop": [noting(calls, "second")]})

    hooks.fire_sync("Stop", agent_id="scout")

    assert calls == ["first", "second"]


def test_registering_a_scope_again_leaves_it_below_its_parent():
    """Otherwise an agent would escape its parent's locked hooks by adding one of its own."""
    hooks = Hooks()
    calls: list[Any] = []
    hooks.register_scoped("parent", {"Stop": [{"handler": noting(calls, "locked"), "locked": True}]})
    hooks.register_scoped("child", {}, parent="parent")
    hooks.register_scoped("child", {"Stop": [noting(calls, "child")]})

    hooks.fire_sync("Stop", agent_id="child")

    assert calls == ["locked", "child"]


def test_registering_a_scope_again_with_another_parent_puts_it_below_that_one():
    hooks = Hooks()
    calls: list[Any] = []
    for parent in ("first", "second"):
        hooks.register_scoped(parent, {"Stop": [{"handler": noting(calls, parent), "locked": True}]})
        hooks.register_scoped("child", {}, parent=parent)

    hooks.fire_sync("Stop", agent_id="child")

    assert calls == ["second"]


def test_registering_a_scope_leaves_what_its_configuration_says():
    calls: list[str] = []
    own = {"Stop": {"override": True, "hooks": [noting(calls, "configured")]}}
    hooks = Hooks.from_mapping({
        "hooks": {"Stop": [noting(calls, "shared")]},
        "agents": [{"id": "scout", "backend": {"hooks": own}}],
    })  # fmt: skip
    hooks.register_scoped("scout", {"Stop": [noting(calls, "added")]})

    hooks.fire_sync("Stop", agent_id="scout")

    assert calls == ["configured", "added"]


def test_a_block_takes_away_only_what_it_brought():
    """A guard from the configuration holds before, in and after it."""
    hooks = Hooks.from_mapping(
        {"agents": [{"id": "scout", "backend": {"hooks": {"PreToolUse": [{"handler": lambda event: deny("no")}]}}}]}
    )

    with hooks.scope("scout", {"Stop": [nothing]}):
        inside = hooks.fire_sync("PreToolUse", agent_id="scout").denied
    after = hooks.fire_sync("PreToolUse", agent_id="scout").denied

    assert (inside, after) == (True, True)


def test_unregistering_a_scope_that_is_not_there_is_no_error():
    hooks = Hooks()
    hooks.register("Stop", nothing)

    hooks.unregister_scoped("nobody")

    assert len(list(hooks)) == 1


def test_a_scope_ends_with_its_block_even_if_that_raises():
    hooks = Hooks()

    with pytest.raises(RuntimeError), hooks.scope("scout", {"Stop": [nothing]}):
        raise RuntimeError("the agent died")

    assert list(hooks) == []


# ----------------------------------------------------------------------------------------------------------------
# What may be a hook


def test_on_registers_the_decorated_function_and_returns_it():
    hooks = Hooks()

    @hooks.on("PreToolUse", matcher="Bash", priority=10, name="safety-check")
    def no_rm(event):
        if "rm -rf" in event.tool_input["command"]:
            return deny("Destructive command blocked by hook")
        return None

    (hook,) = hooks
    assert (hook.handler, hook.matcher, hook.priority, hook.name) == (no_rm, "Bash", 10, "safety-check")
    assert hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"}).denied


# fmt: off
SHAPES = [
    pytest.param(lambda event: deny("1"), "1", id="one parameter: the event"),
    pytest.param(lambda given, tool_use_id, context: deny(tool_use_id), "toolu_1", id="three: the style of the SDK"),
    pytest.param(lambda event, extra=None: deny("1"), "1", id="what has a default does not count"),
    pytest.param(lambda *events: deny(str(len(events))), "1", id="any number: the event"),
    pytest.param(functools.partial(lambda a, event: deny(a), "bound"), "bound", id="a partial"),
]
# fmt: on


@pytest.mark.parametrize(("handler", "reason"), SHAPES)
def test_how_a_callable_is_called(handler, reason):
    hooks = Hooks()
    hooks.register("PreToolUse", handler)

    assert hooks.fire_sync("PreToolUse", tool_use_id="toolu_1").reason == reason


# fmt: off
REFUSED: list[Any] = [
    pytest.param({"handler": lambda: None}, "takes 0 arguments", id="no parameter"),
    pytest.param({"handler": lambda a, b: None}, "takes 2 arguments", id="two parameters"),
    pytest.param({"handler": lambda a, b, c, d: None}, "takes 4 arguments", id="four parameters"),
    pytest.param({"handler": lambda event, *, needed: None}, "keyword arguments", id="a keyword that nobody gives"),
    pytest.param({"handler": 5}, "cannot be called", id="something that cannot be called"),
    pytest.param({"handler": "hooks/check.py"}, "is a path", id="a path where a function's name belongs (C-38)"),
    pytest.param({"handler": "no function"}, "not the name of a Python function", id="no name at all"),
    pytest.param({"handler": nothing, "matcher": "|"}, "names nothing", id="a matcher of separators only (C-16)"),
    pytest.param({"handler": nothing, "matcher": "re:("}, "not a regular expression", id="a broken expression"),
    pytest.param({"handler": nothing, "matcher": 5}, "matcher", id="a matcher that is not text"),
    pytest.param({"handler": nothing, "timeout": -1}, "not a time in seconds", id="a negative timeout"),
    pytest.param({"handler": nothing, "timeout": "5s"}, "not a time in seconds", id="a timeout that is not a number"),
    pytest.param({"handler": nothing, "timeout": float("inf")}, "not a time in seconds", id="an endless timeout"),
    pytest.param({"handler": nothing, "priority": "high"}, "not a whole number", id="a priority that is not a number"),
    pytest.param({"handler": nothing, "priority": True}, "not a whole number", id="a priority that is a truth"),
    pytest.param({"handler": nothing, "on_error": "ignore"}, "not a choice", id="an unknown onError"),
    pytest.param({"handler": nothing, "once": 1}, "true or false", id="a flag that is a number"),
    pytest.param({"handler": nothing, "locked": "yes"}, "true or false", id="a flag that is text"),
    pytest.param({"handler": nothing, "layer": "global"}, "layer", id="an unknown layer"),
    pytest.param({"handler": nothing, "if_": "Bash("}, "closing parenthesis", id="a broken if"),
    pytest.param({"handler": nothing, "colour": "red"}, "no such option", id="an unknown option"),
]
# fmt: on


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_could_never_work_is_refused_at_registration(options, said):
    hooks = Hooks()

    with pytest.raises(BadHook, match=said):
        hooks.register("PreToolUse", **options)
    assert list(hooks) == []


def test_an_unknown_event_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownEvent, match=r"PreToolUze is not an event .*did you mean PreToolUse"):
        Hooks().register("PreToolUze", nothing)


# ----------------------------------------------------------------------------------------------------------------
# A configuration as a mapping


def places(mapping: Any) -> list[str]:
    """Return the place of everything that is wrong with a configuration."""
    with pytest.raises(ConfigError) as caught:
        Hooks.from_mapping(mapping)
    return sorted(problem.where for problem in caught.value.problems)


def one(**options: Any) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"handler": nothing} | options]}}


# fmt: off
WRONG: list[Any] = [
    pytest.param({"hooks": {"PreToolUze": []}}, "hooks.PreToolUze", id="an unknown event"),
    pytest.param({"hooks": {"errorBehaviour": "log"}}, "hooks.errorBehaviour", id="an unknown setting"),
    pytest.param(one(colour="red"), "hooks.PreToolUse[0].colour", id="an unknown key"),
    pytest.param({"hooks": {"PreToolUse": [{"hooks": [nothing], "priority": 1}]}}, "hooks.PreToolUse[0].priority",
                 id="an unknown key of a group"),
    pytest.param({"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}, "hooks.PreToolUse[0]",
                 id="a hook without a handler"),
    pytest.param({"hooks": {"PreToolUse": "audit"}}, "hooks.PreToolUse", id="an event that is not a list"),
    pytest.param({"hooks": {"PreToolUse": [5]}}, "hooks.PreToolUse[0]", id="a hook that is none"),
    pytest.param({"hooks": {"PreToolUse": [{"hooks": [{"hooks": [nothing]}]}]}}, "hooks.PreToolUse[0].hooks[0]",
                 id="a group inside a group"),
    pytest.param({"hooks": {"PreToolUse": {"hooks": [], "matcher": "x"}}}, "hooks.PreToolUse.matcher",
                 id="an event with a key that belongs to a group"),
    pytest.param({"hooks": []}, "hooks", id="hooks that are a list"),
    pytest.param({"hooks": {"PreToolUse": {"override": True, "hooks": []}}}, "hooks.PreToolUse.override",
                 id="an override for all"),
    pytest.param({"agents": [{"backend": {"hooks": {"Stop": []}}}]}, "agents[0].id", id="an agent without an id"),
    pytest.param({"agents": [{"id": "a", "backend": {"hooks": {"timeout": 5000}}}]},
                 "agents[0].backend.hooks.timeout", id="a setting under an agent"),
    pytest.param({"hooks": {"Stop": [{"handler": nothing, "matcher": "x"}]}}, "hooks.Stop[0]", id="a useless matcher"),
    pytest.param(one(type="telepathy"), "hooks.PreToolUse[0]", id="an unknown type of handler"),
    pytest.param([], "", id="no mapping at all"),
]
# fmt: on


@pytest.mark.parametrize(("mapping", "place"), WRONG)
def test_what_is_wrong_inside_hooks_is_an_error_that_says_where(mapping, place):
    assert places(mapping) == [place]


def test_all_problems_are_reported_at_once():
    mapping = {
        "hooks": {"errorBehavior": "ignore", "PreToolUze": [], "Stop": [{"handler": nothing, "timeout": -1}, 5]},
        "agents": [{"id": "a", "backend": {"hooks": {"Nope": []}}}],
    }

    assert places(mapping) == [
        "agents[0].backend.hooks.Nope",
        "hooks",
        "hooks.PreToolUze",
        "hooks.Stop[0]",
        "hooks.Stop[1]",
    ]


def test_keys_that_begin_with_x_are_free_and_keys_elsewhere_are_left_alone():
    mapping = {
        "hooks": {"x-note": "ours", "Stop": [{"handler": nothing, "x-owner": "ops"}]},
        "orchestrator": {"snapshot": True},
        "agents": [{"id": "a", "colour": "red", "backend": {"type": "openai", "hooks": {"x-note": 1}}}, "whatever"],
    }

    assert len(list(Hooks.from_mapping(mapping))) == 1


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ({"errorBehavior": "abort"}, {"error_behavior": "abort"}),
        ({"defaultTimeout": "4s"}, {"default_timeout": "4s"}),
        ({"totalTimeout": "9s"}, {"total_timeout": "9s"}),
        ({"maxHooksPerPoint": 7}, {"max_hooks_per_point": 7}),
    ],
)
def test_camel_case_is_canonical_and_snake_case_is_read_too(camel, snake):
    default = Hooks().settings

    assert Hooks.from_mapping({"hooks": camel}).settings == Hooks.from_mapping({"hooks": snake}).settings != default


def test_the_options_of_a_hook_in_a_mapping_are_those_of_register():
    options: dict[str, Any] = {
        "name": "guard", "matcher": "Bash", "if": "Bash", "priority": 7, "timeout": 2.5, "onError": "abort",
        "enabled": False, "enforce": False, "locked": True, "parallel": True, "once": True, "description": "why",
    }  # fmt: skip
    (written,) = Hooks.from_mapping(one(**options))
    spelled = {"onError": "on_error", "if": "if_"}
    registered = Hooks().register("PreToolUse", nothing, **{spelled.get(k, k): v for k, v in options.items()})

    names = ("name", "matcher", "condition", "priority", "timeout", "on_error", "enabled", "enforce", "locked",
             "parallel", "once", "description", "event", "layer", "scope", "label")  # fmt: skip
    assert {name: getattr(written, name) for name in names} == {name: getattr(registered, name) for name in names}


def test_settings_are_keywords_of_hooks_in_snake_case():
    hooks = Hooks(max_hooks_per_point=3, default_timeout=4, timeout_ceiling=5, total_timeout=6, error_behavior="skip",
                  enforce=False)  # fmt: skip
    mapping = {"maxHooksPerPoint": 3, "defaultTimeout": 4, "timeout": 5000, "totalTimeout": 6,
               "errorBehavior": "skip", "enforce": False}  # fmt: skip

    assert hooks.settings == Hooks.from_mapping({"hooks": mapping}).settings


def test_an_event_may_be_named_with_its_matcher():
    calls: list[str] = []
    hooks = Hooks.from_mapping({"hooks": {"pre:tool:shell": [noting(calls, "shell")]}})

    hooks.fire_sync("PreToolUse", tool_name="shell")
    hooks.fire_sync("PreToolUse", tool_name="Bash")

    assert calls == ["shell"]


def test_a_hook_registered_for_one_scope_holds_for_no_other_whoever_fired_before():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("scout only"), scope="scout")

    def decision(**fields: Any) -> str:
        return asyncio.run(hooks.fire("PreToolUse", tool_name="Bash", **fields)).decision

    assert [decision(), decision(agent_id="other"), decision(agent_id="scout")] == ["deny", "none", "deny"]
