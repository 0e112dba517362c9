"""Hooks and an event to the ordered steps of one firing."""

from typing import Any

import pytest

from interpose.events import TABLE
from interpose.matching import compile_matcher
from interpose.model import Hook, Settings
from interpose.routes import deadline, error_policy, in_order, is_guard, total_time, under_ceiling


def hook(name: str, matcher: str = "", **options: Any) -> Hook:
    return Hook(
        row=TABLE["PreToolUse"], handler=None, name=name, label=name, matches=compile_matcher(matcher), **options
    )


def order(*hooks: Hook, subject: str = "Bash") -> list[list[str]]:
    return [[hook.label for hook in group] for group in in_order(hooks, subject)]


def test_lower_priority_runs_earlier() -> None:
    assert order(hook("b", priority=200), hook("a", priority=-5), hook("c", priority=100)) == [["a"], ["c"], ["b"]]


def test_at_one_priority_shared_hooks_run_before_scoped_ones_and_then_in_the_order_of_registration() -> None:
    hooks = [
        hook("scoped first", scope="x", sequence=1),
        hook("shared second", sequence=4),
        hook("shared first", sequence=2),
        hook("scoped second", scope="x", sequence=3),
    ]

    assert order(*hooks) == [["shared first"], ["shared second"], ["scoped first"], ["scoped second"]]


def test_only_hooks_whose_matcher_matches_are_kept() -> None:
    assert order(hook("a", "Bash"), hook("b", "Edit"), hook("c", "Ba*"), hook("d")) == [["a"], ["c"], ["d"]]


def test_a_subject_that_is_not_known_matches_every_matcher() -> None:
    assert order(hook("a", "Bash"), hook("b", "Edit"), subject="") == [["a"], ["b"]]


def test_parallel_hooks_that_stand_together_form_a_group() -> None:
    hooks = [
        hook("a", parallel=True, sequence=1),
        hook("b", parallel=True, sequence=2),
        hook("c", sequence=3),
        hook("d", parallel=True, sequence=4),
    ]

    assert order(*hooks) == [["a", "b"], ["c"], ["d"]]


def test_parallel_hooks_whose_changes_count_form_a_group_of_their_own_after_the_others() -> None:
    hooks = [
        hook("a", parallel=True, rewrites_in_group=True, sequence=1),
        hook("b", parallel=True, sequence=2),
        hook("c", parallel=True, rewrites_in_group=True, sequence=3),
    ]

    assert order(*hooks) == [["b"], ["a", "c"]]


def test_parallel_hooks_of_different_priorities_do_not_form_a_group() -> None:
    assert order(hook("a", parallel=True, priority=1), hook("b", parallel=True, priority=2)) == [["a"], ["b"]]


def test_the_route_of_nothing_is_empty() -> None:
    assert order() == []


@pytest.mark.parametrize(
    ("own", "settings", "seconds"),
    [
        (None, Settings(), 30),
        (5, Settings(), 5),
        (None, Settings(default_timeout=7), 7),
        (5, Settings(default_timeout=7), 5),
        (5, Settings(timeout_ceiling=2), 2),
        (None, Settings(timeout_ceiling=2), 2),
        (1, Settings(timeout_ceiling=2), 1),
        (0, Settings(default_timeout=7), 7),
        (600, Settings(), 600),
    ],
)
def test_a_hook_has_its_own_time_else_the_engines_else_thirty_seconds_under_the_ceiling(
    own: float | None, settings: Settings, seconds: float
) -> None:
    assert deadline(hook("a", timeout=own), settings) == seconds


def test_without_a_ceiling_nothing_is_cut() -> None:
    assert under_ceiling(1000, Settings()) == 1000


@pytest.mark.parametrize(
    ("timeouts", "settings", "total"),
    [
        ([], Settings(), 120),
        ([5, 10], Settings(), 120),
        ([5, 300], Settings(), 300),
        ([5, 300], Settings(total_timeout=60), 60),
        ([300], Settings(timeout_ceiling=10), 120),
    ],
)
def test_a_firing_has_120_seconds_or_its_longest_deadline_or_what_the_settings_say(
    timeouts: list[float], settings: Settings, total: float
) -> None:
    hooks = [hook(f"{seconds}", timeout=seconds) for seconds in timeouts]

    assert total_time(hooks, settings) == total


@pytest.mark.parametrize(
    ("own", "engine", "policy"),
    [(None, "log", "log"), (None, "abort", "abort"), ("log", "abort", "log"), ("skip", "log", "skip")],
)
def test_the_hooks_own_word_on_errors_comes_before_the_engines(own: str | None, engine: Any, policy: str) -> None:
    assert error_policy(hook("a", on_error=own), Settings(error_behavior=engine)) == policy


def test_a_guard_is_locked_or_denies_on_failure() -> None:
    settings = Settings()

    assert is_guard(hook("a", locked=True), settings)
    assert is_guard(hook("a", on_error="abort"), settings)
    assert is_guard(hook("a"), Settings(error_behavior="abort"))
    assert not is_guard(hook("a"), settings)
    assert not is_guard(hook("a", on_error="log"), Settings(error_behavior="abort"))
