"""What is raised: every error says where, what, and what to do."""

import pytest

from interpose import errors
from interpose.errors import (
    BadEvent,
    BadHook,
    ConfigError,
    InterposeError,
    Problem,
    TooManyHooks,
    UnknownEvent,
    UnknownHook,
    UsageError,
    nearest,
)


def test_a_problem_reads_as_where_what_and_what_to_do() -> None:
    problem = Problem("PreToolUze is not an event", where="hooks.yaml:14:7", hint="did you mean PreToolUse?")

    assert str(problem) == "hooks.yaml:14:7: PreToolUze is not an event (did you mean PreToolUse?)"


def test_a_problem_without_a_place_or_advice_is_only_what_is_wrong() -> None:
    assert str(Problem("wrong")) == "wrong"


def test_problems_that_read_the_same_are_the_same() -> None:
    assert Problem("a", where="b") == Problem("a", where="b")
    assert Problem("a") != Problem("b")
    assert Problem("a") != "a"
    assert len({Problem("a"), Problem("a")}) == 1


@pytest.mark.parametrize(
    ("kind", "code", "bases"),
    [
        (UsageError, "usage", (InterposeError,)),
        (UnknownEvent, "unknown_event", (UsageError, LookupError)),
        (UnknownHook, "unknown_hook", (UsageError, LookupError)),
        (BadEvent, "bad_event", (UsageError, TypeError)),
        (BadHook, "bad_hook", (UsageError, ValueError)),
        (TooManyHooks, "too_many_hooks", (UsageError,)),
        (ConfigError, "config", (InterposeError, ValueError)),
    ],
)
def test_every_error_has_its_code_and_its_place_in_the_tree(
    kind: type[InterposeError], code: str, bases: tuple[type, ...]
) -> None:
    assert kind.code == code
    assert all(issubclass(kind, base) for base in bases)


def test_codes_are_different() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, InterposeError)]

    assert len({kind.code for kind in kinds}) == len(kinds)


def test_an_error_carries_its_problem_and_reads_as_it() -> None:
    error = BadHook("no such thing", where="here", hint="do that")

    assert str(error) == "here: no such thing (do that)"
    assert error.problem == Problem("no such thing", where="here", hint="do that")


def test_a_configuration_error_has_every_problem_a_line_each() -> None:
    problems = [Problem("one", where="a:1:1"), Problem("two", where="a:2:1")]

    error = ConfigError(problems)

    assert error.problems == tuple(problems)
    assert str(error) == "a:1:1: one\na:2:1: two"
    assert error.problem == problems[0]


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("PreToolUze", ["PreToolUse", "PostToolUse"], "did you mean PreToolUse?"),
        ("pretooluse", ["PreToolUse"], "did you mean PreToolUse?"),
        ("mather", ["matcher", "name"], "did you mean matcher?"),
        ("zebra", ["PreToolUse"], ""),
        ("anything", [], ""),
    ],
)
def test_the_nearest_name_is_offered_if_there_is_one(word: str, known: list[str], hint: str) -> None:
    assert nearest(word, known) == hint
