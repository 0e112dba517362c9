"""Hooks of MassGen that raise or hang: open by default, closed if the hook says so, and never silent."""

import logging

import pytest
from tests.conformance.massgen_hooks import PRE, breaks, execute, execute_hooks, hangs, manager_of

from interpose.compat.massgen import (
    GeneralHookManager,
    HookResult,
    PatternHook,
    PythonCallableHook,
)


@pytest.mark.parametrize(
    ("handler", "words"), [(breaks, "Hook h failed: raised RuntimeError: hook crashed"), (hangs, "Hook h timed out")]
)
def test_by_default_an_error_or_a_timeout_allows_and_is_kept(handler, words):
    """X-3 X-4: alone and in a manager."""
    hook = PythonCallableHook("h", handler, timeout=0.05 if handler is hangs else 30)
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    for result in (execute(hook), execute_hooks(manager)):
        assert (result.allowed, result.decision, len(result.hook_errors)) == (True, "allow", 1)
        assert result.hook_errors[0].startswith(words)


@pytest.mark.parametrize(
    ("handler", "words"), [(breaks, "Hook h failed: raised RuntimeError: hook crashed"), (hangs, "Hook h timed out")]
)
def test_with_fail_closed_an_error_or_a_timeout_denies(handler, words):
    """X-3: the reason says what happened."""
    hook = PythonCallableHook("h", handler, timeout=0.05 if handler is hangs else 30, fail_closed=True)
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, hook)

    for result in (execute(hook), execute_hooks(manager)):
        assert (result.allowed, result.decision) == (False, "deny")
        assert result.reason is not None
        assert result.reason.startswith(words)


def test_a_hook_class_of_the_host_that_raises_fails_like_a_callable():
    """X-3 X-4: open by default, closed if it says so."""

    class Breaks(PatternHook):
        async def execute(self, *args, **kwargs):
            raise RuntimeError("hook crashed")

    opened, closed = Breaks("opened"), Breaks("closed")
    closed.fail_closed = True  # type: ignore[attr-defined]
    manager = GeneralHookManager()
    manager.register_global_hook(PRE, opened)
    open_result = execute_hooks(manager)
    manager.register_global_hook(PRE, closed)
    closed_result = execute_hooks(manager)

    assert (open_result.allowed, open_result.hook_errors) == (
        True, ["Hook opened failed: raised RuntimeError: hook crashed"],
    )  # fmt: skip
    assert (closed_result.allowed, closed_result.reason) == (
        False, "Hook closed failed: raised RuntimeError: hook crashed",
    )  # fmt: skip


def test_a_failure_is_logged(caplog):
    """X-3: open does not mean silent."""
    with caplog.at_level(logging.ERROR, logger="interpose"):
        execute(PythonCallableHook("h", breaks))

    assert ["hook h at PreToolUse failed" in record.getMessage() for record in caplog.records] == [True]


def test_a_hook_that_is_no_longer_waited_for_is_an_error_too():
    """X-4: the engine gives up on one that failed ten times in a row, and says so."""
    manager = manager_of(breaks)

    results = [execute_hooks(manager) for _ in range(11)]

    assert results[-1].hook_errors == ["Hook first failed: failed 10 times in a row; not waited for"]
    assert [run["decision"] for run in results[-1].executed_hooks] == ["error"]


def test_errors_of_single_hooks_reach_the_whole():
    """X-4: what a result brings along, and what went wrong in running one, in their order."""
    manager = manager_of(lambda _: HookResult(hook_errors=["from a child"]), breaks, lambda _: {"hook_errors": 5})

    assert execute_hooks(manager).hook_errors == [
        "from a child", "Hook second failed: raised RuntimeError: hook crashed",
    ]  # fmt: skip
