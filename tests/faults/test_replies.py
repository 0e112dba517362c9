"""Answers that are no answers, and answers that fight being read."""

import asyncio
import functools
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, NoReturn

from tests.faults.hosts import BUSY, CALL, WAYS, Way, run, unharmed, within
from tests.tables import rows

from interpose import Hooks, Outcome, Reply, deny, modify

every_way = rows("way", WAYS)
THREAD = WAYS[1]


class NobodyKnows(BaseException):
    """An exception that ``except Exception`` does not catch."""


ERRORS: dict[str, BaseException] = {
    "Exception": ValueError("broken"),
    "SystemExit": SystemExit(0),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "CancelledError": asyncio.CancelledError(),
    "GeneratorExit": GeneratorExit(),
    "BaseException": NobodyKnows("broken"),
    "RecursionError": RecursionError(),
}
every_error = rows("error", ERRORS.values(), ids=ERRORS.keys())


def denied_as(outcome: Outcome, *codes: str) -> bool:
    """Whether the only hook failed with one of these codes, and that denied."""
    [result] = outcome.results
    return outcome.denied and result.status == "failed" and result.error is not None and result.error.code in codes


def raiser(error: BaseException) -> Callable[..., NoReturn]:
    def method(*_: object, **__: object) -> NoReturn:
        raise error

    return method


def hostile(base: type, error: BaseException, *methods: str) -> Any:
    """An instance of a class whose methods raise."""
    return type("Hostile", (base,), {**dict.fromkeys(methods, raiser(error)), "__slots__": ()})


# Nothing, and what is none of the three things that may be returned.


@every_way
def test_nothing_is_no_decision(way: Way) -> None:
    """Fault 134: a hook that returns None has no opinion."""
    outcome = way.outcome(lambda event: None, on_error="abort")

    assert (outcome.decision, outcome.allowed, outcome.granted) == ("none", True, False)
    assert [result.status for result in outcome.results] == ["ok"]


RUBBISH: dict[str, Callable[[], object]] = {
    "true": lambda: True,
    "false": lambda: False,
    "zero": lambda: 0,
    "number": lambda: 5,
    "text": lambda: "allow",
    "empty text": lambda: "",
    "bytes": lambda: b'{"decision": "allow"}',
    "list": lambda: [{"decision": "allow"}],
    "empty list": list,
    "pairs": lambda: [("decision", "allow")],
    "tuple": lambda: (True, "ok"),
    "set": lambda: {"allow"},
    "object": object,
    "namespace": lambda: SimpleNamespace(decision="allow"),
    "class": lambda: Reply,
    "function": lambda: deny,
    "exception": lambda: ValueError("not raised"),
    "NotImplemented": lambda: NotImplemented,
    "Ellipsis": lambda: ...,
    "subclass of Reply": lambda: type("MyReply", (Reply,), {})(decision="allow", grants=True),
    "mapping class": lambda: dict,
}


@every_way
@rows("make", RUBBISH.values(), ids=RUBBISH.keys())
def test_what_is_neither_nothing_nor_a_mapping_nor_a_reply_denies(way: Way, make: Callable[[], object]) -> None:
    """Fault 136: whatever the hook's author meant, it is not an allow; not even with ``onError: skip``."""
    outcome = way.outcome(lambda event: make(), on_error="skip")

    assert denied_as(outcome, "bad_reply")


@rows("value", ["Deny", "DENY", "no", "abort", "ok", "yes", True, False, 0, 1, [], {}, ["deny"], {"deny": 1}], ids=repr)
@rows("key", ["decision", "permissionDecision", "behavior"])
def test_a_decision_that_is_none_denies(key: str, value: object) -> None:
    """Fault 136: spelled wrongly, it may have been meant as a deny."""
    outcome = THREAD.outcome(lambda event: {key: value}, on_error="log")

    assert denied_as(outcome, "bad_decision")


@rows("value", ["false", "true", 0, 1, 5, "no", [], {}], ids=repr)
@rows("key", ["abort", "allowed", "continue", "continue_"])
def test_a_flag_that_is_none_denies(key: str, value: object) -> None:
    """Fault 136: ``"false"`` is true, and 1 is not what was asked for."""
    outcome = THREAD.outcome(lambda event: {key: value}, on_error="log")

    assert denied_as(outcome, "bad_decision")


def test_two_decisions_that_disagree_give_the_stricter() -> None:
    outcomes = [
        THREAD.outcome(lambda event: {"allowed": True, "decision": "deny"}),
        THREAD.outcome(lambda event: {"decision": "allow", "abort": True}),
        THREAD.outcome(lambda event: {"decision": "approve", "permissionDecision": "ask"}),
    ]

    assert [outcome.decision for outcome in outcomes] == ["deny", "deny", "ask"]


# Mappings that fight.


class Haunted(Mapping[str, Any]):
    """A mapping that raises wherever it is touched."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getitem__(self, key: str) -> Any:
        raise self.error

    def __iter__(self) -> Iterator[str]:
        raise self.error

    def __len__(self) -> int:
        raise self.error


class Endless(Mapping[str, Any]):
    """A mapping without a last key."""

    def __getitem__(self, key: str) -> Any:
        return None

    def __iter__(self) -> Iterator[str]:
        return map(str, itertools.count())

    def __len__(self) -> int:
        return 1


@every_way
@every_error
def test_a_mapping_that_raises_when_it_is_read_denies(way: Way, error: BaseException) -> None:
    """Fault 136: reading is not the host's risk, whatever is raised."""
    with within(BUSY):
        outcome = way.outcome(lambda event: Haunted(error))

    assert denied_as(outcome, "bad_reply")


def says(key: str, value: object, event: Any) -> dict[str, Any]:
    return {key: value}


@every_way
@every_error
def test_a_value_that_raises_when_it_is_compared_denies(way: Way, error: BaseException) -> None:
    """Faults 136, 137: ``__eq__``, ``__bool__`` and ``__hash__`` are code of the hook."""
    methods = ("__eq__", "__ne__", "__bool__", "__hash__", "__len__", "__str__", "__repr__", "__lt__", "__float__")
    value = hostile(object, error, *methods)()

    for key in ("decision", "allowed", "continue"):
        assert way.outcome(functools.partial(says, key, value)).denied


@every_way
@every_error
def test_an_object_that_raises_whatever_is_asked_of_it_denies(way: Way, error: BaseException) -> None:
    """Fault 137: not even its class can be asked for."""
    value = type(
        "Hostile",
        (),
        {
            "__class__": property(raiser(error)),
            "__bool__": raiser(error),
            "__eq__": raiser(error),
            "__hash__": raiser(error),
        },
    )()

    assert denied_as(way.outcome(lambda event: value), "bad_reply")


def test_a_dict_whose_methods_lie_is_read_as_the_dict_that_it_is() -> None:
    """Fault 136: a subclass of dict cannot show one answer and hold another."""

    class Liar(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return "allow"

        def __getitem__(self, key: str) -> Any:
            return "allow"

        def items(self) -> Any:
            return [("decision", "allow")]

        def __iter__(self) -> Iterator[str]:
            return iter(["decision"])

    outcome = THREAD.outcome(lambda event: Liar(decision="deny", reason="the truth"))

    assert (outcome.decision, outcome.reason) == ("deny", "the truth")


def test_a_word_whose_methods_lie_is_read_as_the_text_that_it_is() -> None:
    """Fault 136: equal to everything, it would be an allow."""

    class Word(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return other == "allow"

        def __hash__(self) -> int:
            return hash("allow")

    outcomes = [
        THREAD.outcome(lambda event: {"decision": Word("deny")}),
        THREAD.outcome(
            lambda event: {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": Word("deny")}}
        ),
        THREAD.outcome(lambda event: {"decision": Word("rubbish")}),
    ]

    assert [outcome.decision for outcome in outcomes] == ["deny", "deny", "deny"]


@rows("key", ["abort", "allowed", "continue"])
def test_a_value_that_says_that_it_is_a_flag_is_none(key: str) -> None:
    """Fault 136: its truth is the hook's own code, and may be another each time it is asked."""

    class Flag:
        __class__ = property(lambda self: bool)

        def __bool__(self) -> bool:
            return key == "allowed"

    assert denied_as(THREAD.outcome(lambda event: {key: Flag()}), "bad_decision")


def test_a_value_that_is_equal_to_everything_is_no_channel() -> None:
    """Fault 136: an injection goes through one of three channels, and no other."""

    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    hooks = Hooks()
    hooks.register("PostToolUse", lambda event: {"inject": {"content": "text", "strategy": Anything()}})

    outcome = hooks.fire_sync("PostToolUse", **CALL)

    assert outcome.inject == []
    assert [result.status for result in outcome.results] == ["failed"]


def test_an_endless_mapping_is_not_read_to_its_end() -> None:
    """Fault 138."""
    with within(BUSY):
        outcome = THREAD.outcome(lambda event: Endless(), timeout=0.3, on_error="abort")

    assert len(outcome.extra) <= 10_000


@rows("answer", [{5: "deny"}, {None: 1}, {("decision",): "allow"}, {b"decision": "allow"}], ids=repr)
def test_a_mapping_whose_keys_are_no_text_denies(answer: object) -> None:
    """Fault 136."""
    assert denied_as(THREAD.outcome(lambda event: answer), "bad_reply")


@rows(
    "answer",
    [OrderedDict(decision="deny", reason="no"), MappingProxyType({"decision": "deny", "reason": "no"})],
    ids=["OrderedDict", "MappingProxyType"],
)
def test_every_kind_of_mapping_is_an_answer(answer: object) -> None:
    outcome = THREAD.outcome(lambda event: answer)

    assert (outcome.decision, outcome.reason) == ("deny", "no")


# Generators.


@every_way
def test_a_generator_is_no_answer_and_is_not_consumed(way: Way) -> None:
    """Fault 138."""
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in itertools.count():
            taken.append(number)
            yield number

    with within(BUSY):
        outcome = way.outcome(lambda event: numbers())

    assert denied_as(outcome, "bad_reply")
    assert taken == []


def test_a_hook_with_a_yield_in_it_denies() -> None:
    """Fault 138: a function that was meant to be a hook and is a generator never runs."""

    def guard(event: Any) -> Iterator[Any]:
        yield deny("never seen")

    assert denied_as(THREAD.outcome(guard), "bad_reply")


ITERATORS: dict[str, Callable[[], object]] = {
    "count": itertools.count,
    "repeat": lambda: itertools.repeat({"decision": "allow"}),
    "map": lambda: map(str, itertools.count()),
    "range": lambda: range(10**12),
}


@rows("make", ITERATORS.values(), ids=ITERATORS.keys())
def test_an_endless_iterator_is_no_answer_and_is_not_consumed(make: Callable[[], object]) -> None:
    """Fault 138."""
    with within(BUSY):
        outcome = THREAD.outcome(lambda event: make())

    assert denied_as(outcome, "bad_reply")


# Replies that were not made by deny() and its kin.

CROOKED: dict[str, Callable[[], Reply]] = {
    "decision in capitals": lambda: Reply(decision="Deny"),  # type: ignore[arg-type]
    "decision unknown": lambda: Reply(decision="maybe"),  # type: ignore[arg-type]
    "decision a number": lambda: Reply(decision=5),  # type: ignore[arg-type]
    "decision a list": lambda: Reply(decision=["deny"]),  # type: ignore[arg-type]
    "continue in words": lambda: Reply(continue_="false"),  # type: ignore[arg-type]
    "grants in words": lambda: Reply(decision="allow", grants="no"),  # type: ignore[arg-type]
}


@every_way
@rows("make", CROOKED.values(), ids=CROOKED.keys())
def test_a_reply_whose_decision_is_none_denies(way: Way, make: Callable[[], Reply]) -> None:
    """Fault 136: a Reply can be made with anything in it, and is held to the same rules as a mapping."""
    outcome = way.outcome(lambda event: make())

    assert outcome.denied
    assert not outcome.granted


HALF_BROKEN: dict[str, Callable[[], Reply]] = {
    "reason": lambda: Reply(reason=5),  # type: ignore[arg-type]
    "reason of a deny": lambda: Reply(decision="deny", reason=5),  # type: ignore[arg-type]
    "context": lambda: Reply(context=(5,)),  # type: ignore[arg-type]
    "context as one text": lambda: Reply(context="a text"),  # type: ignore[arg-type]
    "messages": lambda: Reply(messages=(5,)),  # type: ignore[arg-type]
    "inject": lambda: Reply(inject=("text",)),  # type: ignore[arg-type]
    "changes nothing": lambda: Reply(changes=None),  # type: ignore[arg-type]
    "changes a number": lambda: Reply(changes=5),  # type: ignore[arg-type]
    "names of changes": lambda: Reply(changes={5: 5}),  # type: ignore[dict-item]
    "extra": lambda: Reply(extra=5),  # type: ignore[arg-type]
    "ignored": lambda: Reply(ignored=(5,)),  # type: ignore[arg-type]
    "again": lambda: Reply(again="soon"),  # type: ignore[arg-type]
    "again of a deny": lambda: Reply(decision="deny", again="soon"),  # type: ignore[arg-type]
    "stop reason": lambda: Reply(stop_reason=7, continue_=False),  # type: ignore[arg-type]
    "problem": lambda: Reply(problem="text"),  # type: ignore[arg-type]
    "evidence": lambda: Reply(evidence=5),  # type: ignore[arg-type]
}


@every_way
@rows("make", HALF_BROKEN.values(), ids=HALF_BROKEN.keys())
def test_a_reply_with_rubbish_in_it_is_a_failure_and_never_an_exception(way: Way, make: Callable[[], Reply]) -> None:
    """Fault 136: a guard's rubbish denies."""
    outcome = way.outcome(lambda event: make(), on_error="abort")

    assert outcome.denied
    assert [result.status for result in outcome.results] == ["failed"]
    assert isinstance(outcome.reason, str)


# Changes that cannot be taken over.


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


UNCOPYABLE: dict[str, Callable[[], Any]] = {
    "a lock": threading.Lock,
    "a generator": lambda: (letter for letter in "abc"),
    "100,000 levels": lambda: nested(100_000),
    "__deepcopy__ raises": hostile(object, ValueError(), "__deepcopy__", "__reduce_ex__"),
    "__deepcopy__ exits": hostile(object, SystemExit(0), "__deepcopy__", "__reduce_ex__"),
    "__deepcopy__ raises a BaseException": hostile(object, NobodyKnows(), "__deepcopy__", "__reduce_ex__"),
}


@every_way
@rows("make", UNCOPYABLE.values(), ids=UNCOPYABLE.keys())
@rows("how", ["reply", "mapping"])
def test_a_change_that_cannot_be_copied_is_a_failure_and_never_an_exception(
    way: Way, make: Callable[[], Any], how: str
) -> None:
    """Fault 136: what a hook hands over is copied before anybody else sees it."""
    changes = {"tool_input": {"command": make()}}
    hooks = Hooks()
    way.register(
        hooks,
        lambda event: modify(changes) if how == "reply" else {"modify": changes},
        name="changer",
        on_error="abort",
    )

    with within(BUSY):
        outcome = way.fire(hooks)

    assert outcome.denied
    assert outcome.input["tool_input"] == CALL["tool_input"]
    assert [result.status for result in outcome.results] == ["failed"]


@every_way
def test_a_change_that_contains_itself_does_not_reach_the_host_as_an_exception(way: Way) -> None:
    """Fault 136: taken over as it is, or refused; the host gets an outcome."""
    outcome = way.outcome(lambda event: modify(tool_input={"command": cyclic()}))

    assert outcome.results[0].status in ("ok", "failed")


@rows("how", ["reply", "mapping"])
def test_a_change_under_a_name_that_breaks_is_no_exception(how: str) -> None:
    """Fault 136: names of fields are text."""
    name = hostile(object, ValueError(), "__str__", "__repr__", "__format__")()

    outcome = THREAD.outcome(
        lambda event: modify({name: 1}) if how == "reply" else {"modify": {name: 1}}, on_error="abort"
    )

    assert outcome.denied


def test_what_a_hook_handed_over_cannot_be_changed_by_it_afterwards() -> None:
    """Fault 140: the change is a copy from the moment it was made."""
    handed_over: dict[str, Any] = {"command": "ls", "list": [1]}
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: modify(tool_input=handed_over))
    hooks.register("PreToolUse", lambda event: handed_over["list"].append(2))

    outcome = run(hooks.fire("PreToolUse", **CALL))
    handed_over.clear()

    assert outcome.tool_input == {"command": "ls", "list": [1]}


def test_a_dict_with_methods_of_its_own_reaches_nobody_else() -> None:
    """Fault 136: the next hook and the host get a plain dict, whatever stood in the reply."""

    class Liar(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return "ls"

    seen: list[Any] = []
    hooks = Hooks()
    hooks.register(
        "PreToolUse", lambda event: modify(tool_input={"nested": Liar(command="rm"), "list": [Liar(command="rm")]})
    )
    hooks.register("PreToolUse", lambda event: seen.append(event.tool_input))

    outcome = run(hooks.fire("PreToolUse", **CALL))

    for given in (outcome.tool_input, *seen):
        assert type(given["nested"]) is dict
        assert type(given["list"][0]) is dict


def test_a_number_that_is_another_each_time_it_is_copied_is_one_number_to_all() -> None:
    """Fault 136: what the guard has judged is what the host gets, in lists and tuples too."""

    class Rising(int):
        copies = itertools.count(1)

        def __deepcopy__(self, memo: object) -> Any:
            return Rising(next(self.copies))

    seen: list[Any] = []
    hooks = Hooks()
    given = {"number": Rising(7), "list": [Rising(7)], "tuple": (Rising(7),)}
    hooks.register("PreToolUse", lambda event: modify(tool_input=given))
    hooks.register("PreToolUse", lambda event: seen.append(event.tool_input), on_error="abort")

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert seen == [outcome.tool_input]
    assert {type(value) for value in (seen[0]["number"], *seen[0]["list"], *seen[0]["tuple"])} == {int}


def test_text_of_a_reply_is_safe_to_show() -> None:
    """Fault 136: no control characters, no terminal escapes, no lone surrogates, in reason, context and injection."""
    nasty = "a\x1b[2Jb\x00c\u202ed\ud800e\r\nf"
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: {"systemMessage": nasty, "decision": "deny", "reason": nasty})
    hooks.register("PostToolUse", lambda event: {"inject": {"content": nasty}})

    denied, injected = hooks.fire_sync("PreToolUse", **CALL), hooks.fire_sync("PostToolUse", **CALL)

    assert denied.reason == "abcd?e\nf"
    assert denied.context == ["abcd?e\nf"]
    assert injected.inject[0].content == "abcd?e\nf"


def test_what_a_hook_says_beyond_the_vocabulary_is_kept() -> None:
    """Fault 136: unknown keys are no failure, and are not lost."""
    outcome = unharmed(lambda: THREAD.outcome(lambda event: {"feedback": 1, "nothing": None}))

    assert outcome.extra == {"feedback": 1, "nothing": None}
    assert [result.status for result in outcome.results] == ["ok"]


@every_error
def test_values_that_cannot_be_compared_are_two_different_ones(error: BaseException) -> None:
    """Fault 136: two hooks say something under one key; arrays of numbers, for one, have no truth when compared."""
    hooks = Hooks()
    for name in ("first", "second"):
        value = hostile(object, error, "__eq__", "__ne__")() if name == "first" else 2
        hooks.register("PreToolUse", lambda event, value=value: {"x-key": value}, name=name)

    outcome = unharmed(lambda: hooks.fire_sync("PreToolUse", **CALL))

    assert outcome.allowed
    assert [(one.hook, one.wish) for one in outcome.ignored] == [("first", "x-key: a later hook said something else")]


class BreaksLater:
    """A value that can be copied at first, and breaks when a host reads it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.copies = 0

    def __deepcopy__(self, memo: object) -> "BreaksLater":
        self.copies += 1
        if self.copies > 2:
            raise self.error
        return self


@every_error
def test_a_value_that_breaks_when_a_host_reads_it_is_given_to_it_as_it_is(error: BaseException) -> None:
    """Fault 136: what is read of an outcome is a copy, where there can be one."""
    value = BreaksLater(error)
    outcome = THREAD.outcome(lambda event: {"x-key": value})

    assert unharmed(lambda: [outcome.extra["x-key"] for _ in range(3)]) == [value] * 3


@every_way
@every_error
def test_an_input_that_breaks_when_it_is_copied_is_no_fault_of_the_hook(way: Way, error: BaseException) -> None:
    """Fault 140: the hook could not be asked, so the action does not go on, and that is not counted."""
    hooks = Hooks()
    way.register(hooks, lambda event: None)

    outcome = way.fire(hooks, tool_name="Bash", tool_input={"command": hostile(object, error, "__deepcopy__")()})

    assert outcome.denied
    assert [result.error.code for result in outcome.results if result.error] == ["payload"]
