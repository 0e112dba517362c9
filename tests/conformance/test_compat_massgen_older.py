"""MassGen's older hooks and their manager, beside the newer ones."""

import pytest
from tests.conformance.massgen_hooks import PRE, Older, execute_hooks, named

from interpose.compat.massgen import (
    FunctionHook,
    FunctionHookManager,
    GeneralHookManager,
    HookResult,
    HookType,
    PythonCallableHook,
)


def test_the_older_manager_knows_hooks_for_one_function_and_for_all():
    """S4-13: those for all come first; clearing forgets both."""
    manager, one, all_ = FunctionHookManager(), Older("one"), Older("all")
    manager.register_hook("write", HookType.PRE_CALL, one)
    manager.register_global_hook(HookType.PRE_CALL, all_)
    nothing: dict[HookType, list[FunctionHook]] = {kind: [] for kind in HookType}

    assert manager.get_hooks_for_function("write") == {**nothing, HookType.PRE_CALL: [all_, one]}
    assert manager.get_hooks_for_function("read") == {**nothing, HookType.PRE_CALL: [all_]}
    manager.clear_hooks()
    assert manager.get_hooks_for_function("write") == nothing


def test_a_function_hook_cannot_be_made_without_execute():
    """S4-13: it is a base class."""
    with pytest.raises(TypeError):
        FunctionHook("nothing")  # type: ignore[abstract]


@pytest.mark.parametrize("kind", [PRE, HookType.PRE_CALL])
def test_an_old_permission_hook_with_an_old_style_result_still_works(kind):
    """S4-13 S4-44: allowed, metadata and modified_args, also in the new manager and for an older type."""
    manager = GeneralHookManager()
    manager.register_global_hook(kind, Older("permission"))

    changed = execute_hooks(manager, kind, "write", '{"a": 1}')
    denied = execute_hooks(manager, kind, "write", '{"a": "secret"}')

    assert (changed.allowed, changed.modified_args) == (True, '{"seen": {"a": 1}}')
    assert (denied.allowed, denied.decision, denied.reason) == (False, "deny", "write may not")


def test_hooks_of_an_older_type_do_not_run_for_the_new_one():
    """S4-13: the managers keep the types apart."""
    manager = GeneralHookManager()
    manager.register_global_hook(HookType.PRE_CALL, PythonCallableHook("h", lambda _: HookResult.deny("no")))

    assert (execute_hooks(manager, PRE).allowed, execute_hooks(manager, HookType.PRE_CALL).allowed) == (True, False)


def test_both_managers_can_be_used_side_by_side():
    """S4-13: the old one in the same process, with the same hooks."""
    hook, old, new = named("shared"), FunctionHookManager(), GeneralHookManager()
    old.register_global_hook(PRE, hook)
    new.register_global_hook(PRE, hook)

    assert (old.get_hooks_for_function("w")[PRE], new.get_hooks_for_agent(None, PRE)) == ([hook], [hook])
