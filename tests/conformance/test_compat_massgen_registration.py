"""Hooks of MassGen that are found by their path, registered for all agents or for one, and from configuration."""

import os

import pytest
from tests.conformance.massgen_hooks import POST, PRE, execute, execute_hooks, manager_of, named

from interpose import BadHook, ConfigError, UnknownEvent
from interpose.compat.massgen import (
    GeneralHookManager,
    HookResult,
    HookType,
    PythonCallableHook,
)

HERE = __name__


def handler_found_by_its_path(event):
    return HookResult.deny(f"{event.tool_name} seen")


# Handlers by path.


@pytest.mark.parametrize("path", ["no_such_module.function", f"{HERE}.no_such_function", f"{HERE}.HERE"])
def test_a_wrong_path_is_registered_without_complaint_and_denies_when_it_is_called(path):
    """X-8: it is imported at the first call; what cannot be imported is not an allow."""
    hook = PythonCallableHook("h", path)
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    for result in (execute(hook), execute_hooks(manager)):
        assert result.decision == "deny"
        assert result.reason is not None
        assert result.reason.startswith("Hook h failed: ")


def test_a_handler_is_imported_at_its_first_call_and_not_before(tmp_path, monkeypatch):
    """X-8: registering runs nothing; an async one works too, again and again."""
    (tmp_path / "lazily_loaded.py").write_text(
        "import os\nos.environ['LAZILY_LOADED'] = 'yes'\n"
        "async def handler(event):\n    return {'decision': 'deny', 'reason': event.tool_name}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LAZILY_LOADED", "no")
    manager = GeneralHookManager()
    manager.register_hooks_from_config({"PreToolUse": [{"handler": "lazily_loaded.handler"}]})
    before = os.environ["LAZILY_LOADED"]
    reasons = [execute_hooks(manager, name=name).reason for name in ("Write", "Write", "Edit")]

    assert (before, os.environ["LAZILY_LOADED"], reasons) == ("no", "yes", ["Write", "Write", "Edit"])


@pytest.mark.parametrize("handler", ["hooks/check.py", "no-dots-and-no-name", 5, None, lambda: None])
def test_a_handler_that_could_never_be_called_is_refused(handler):
    """X-8: a program needs another type, and a path must be one."""
    with pytest.raises(BadHook):
        PythonCallableHook("h", handler)


# For all agents and for one.


def names(manager: GeneralHookManager, agent: str | None, kind: HookType = PRE) -> list[str]:
    return [hook.name for hook in manager.get_hooks_for_agent(agent, kind)]


def ran(manager: GeneralHookManager, agent: str | None, kind: HookType = PRE) -> list[str]:
    """The names of the hooks that run for an agent, which must be those that hold for it."""
    return [run["hook_name"] for run in execute_hooks(manager, kind, context={"agent_id": agent}).executed_hooks]


def test_shared_hooks_hold_for_all_and_an_agent_s_own_for_it_alone():
    """X-9: without an agent the shared ones; what is listed is what runs."""
    manager = GeneralHookManager()
    manager.register_agent_hook("a", PRE, named("own of a"))
    manager.register_global_hook(PRE, named("shared"))

    expected = {None: ["shared"], "a": ["shared", "own of a"], "b": ["shared"], "": ["shared"]}

    assert {agent: names(manager, agent) for agent in expected} == expected
    assert {agent: ran(manager, agent) for agent in expected} == expected


def test_an_agent_that_overrides_has_its_own_hooks_only_and_for_that_type_only():
    """X-9: the others, and other types, keep the shared ones."""
    manager = GeneralHookManager()
    for kind in (PRE, POST):
        manager.register_global_hook(kind, named("shared"))
    manager.register_agent_hook("a", PRE, named("own"), override=True)

    for look in (names, ran):
        assert [look(manager, "a", PRE), look(manager, "a", POST), look(manager, "b", PRE)] == [
            ["own"], ["shared"], ["shared"],
        ]  # fmt: skip


def test_an_override_with_an_empty_list_leaves_no_hooks():
    """C-14 X-9: an agent can be freed of the shared ones."""
    manager = manager_of(lambda _: HookResult.deny("no"))
    manager.register_hooks_from_config({"PreToolUse": {"override": True, "hooks": []}}, agent_id="a")

    assert (names(manager, "a"), names(manager, "b")) == ([], ["first"])
    assert [execute_hooks(manager, context={"agent_id": agent}).allowed for agent in ("a", "b")] == [True, False]


def test_hooks_registered_after_a_call_hold_for_the_next():
    """X-9: shared ones, an agent's own, an override, and none after clearing."""
    manager = GeneralHookManager()
    manager.register_agent_hook("a", PRE, named("own"))
    seen = [ran(manager, "a")]

    manager.register_global_hook(PRE, named("shared"))
    seen.append(ran(manager, "a"))
    manager.register_agent_hook("a", PRE, named("own too"))
    seen.append(ran(manager, "a"))
    manager.register_hooks_from_config({"PreToolUse": {"override": True, "hooks": []}}, agent_id="a")
    seen.append(ran(manager, "a"))
    manager.clear_hooks()
    seen.append(ran(manager, "a"))

    assert seen == [["own"], ["shared", "own"], ["shared", "own", "own too"], ["own", "own too"], []]
    assert names(manager, "a") == []


def test_hooks_may_share_a_name_and_be_many():
    """S4-13: a name is what people call it, not what finds it."""
    manager = GeneralHookManager()
    for _ in range(60):
        manager.register_global_hook(PRE, named("same"))

    assert ran(manager, None) == ["same"] * 60


# From configuration.

CONFIGURED = f"{HERE}.handler_found_by_its_path"


def test_hooks_are_registered_from_configuration():
    """X-8 S4-13: a list for each type, with MassGen's keys."""
    manager = GeneralHookManager()
    manager.register_hooks_from_config({
        "PreToolUse": [
            {"handler": CONFIGURED, "matcher": "Write|Edit", "type": "python", "timeout": 5, "fail_closed": True},
            {"handler": CONFIGURED, "matcher": None},
        ],
        "PostToolUse": {"hooks": [{"handler": CONFIGURED}]},
    })  # fmt: skip

    shown = [
        [
            (hook.name, hook.matcher, hook.timeout, hook.fail_closed)
            for hook in manager.get_hooks_for_agent(None, kind)
            if isinstance(hook, PythonCallableHook)
        ]
        for kind in (PRE, POST)
    ]

    name = f"python_{CONFIGURED}"
    assert shown == [[(name, "Write|Edit", 5, True), (name, "*", 30, False)], [(name, "*", 30, False)]]
    assert execute_hooks(manager, name="Write").reason == "Write seen"


def test_hooks_of_one_agent_are_registered_from_configuration_beside_the_shared_ones():
    """X-9: a key override beside the types means nothing."""
    manager = manager_of(lambda _: None)
    manager.register_hooks_from_config({"override": True, "PreToolUse": [{"handler": CONFIGURED}]}, agent_id="a")

    assert (names(manager, "a"), names(manager, None)) == (["first", f"python_{CONFIGURED}"], ["first"])


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        ({"PreTolUse": []}, UnknownEvent, r"PreTolUse is not a type of hook \(did you mean PreToolUse\?\)"),
        ({"Stop": []}, UnknownEvent, "Stop is not a type of hook"),
        ({"PreToolUse": "x"}, BadHook, "PreToolUse: str where a list of hooks is expected"),
        ({"PreToolUse": [{"matcher": "*"}]}, BadHook, r"PreToolUse\[0\]: a hook without handler"),
        ({"PreToolUse": ["x"]}, BadHook, r"PreToolUse\[0\]: a hook without handler"),
        ({"PreToolUse": [{"handler": CONFIGURED, "matchr": "x"}]}, BadHook, r"PreToolUse\[0\].matchr is not a key"),
        ({"PreToolUse": [{"handler": "a/b.py"}]}, BadHook, "is a path"),
        ({"PreToolUse": [{"handler": CONFIGURED, "timeout": -1}]}, ConfigError, "is not a time in seconds"),
        ({"PreToolUse": [{"handler": CONFIGURED, "type": "http"}]}, ConfigError, "type"),
        ({"PreToolUse": {"override": "yes"}}, BadHook, "where true or false is expected"),
        ({"PreToolUse": {"override": True}}, BadHook, "only an agent can override shared hooks"),
    ],
)
def test_a_configuration_with_a_mistake_is_refused_as_a_whole(config, error, words):
    """X-8: a guard that is misspelt is not a guard that is missing."""
    manager = GeneralHookManager()

    with pytest.raises(error, match=words):
        manager.register_hooks_from_config({"PostToolUse": [{"handler": CONFIGURED}], **config})

    assert names(manager, None, POST) == []
