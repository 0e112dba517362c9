"""What is true of every outcome, whatever the hooks say."""

import asyncio
import copy
import functools
import json
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.conformance.clock import modules_with_a_clock
from tests.properties.strategies import (
    Body,
    fire,
    hooks_that_say,
    raises,
    replies,
    rows,
    rows_that_can_deny,
    strictness,
    values_for,
    words,
)

from interpose import EventSpec, HookError, Hooks, Outcome, Reply, allow, ask, context, deny, inject, modify
from interpose.events import TABLE
from interpose.records import Record, replace
from interpose.replies import Failure


@given(st.data(), rows)
def test_another_hook_never_makes_an_outcome_laxer(data: st.DataObject, row: EventSpec) -> None:
    population = data.draw(st.lists(hooks_that_say(row), max_size=4))
    another = data.draw(hooks_that_say(row))
    place = data.draw(st.integers(0, len(population)))

    before = fire(row, population)
    after = fire(row, [*population[:place], another, *population[place:]])

    assert strictness(after) >= strictness(before)
    assert after.allowed <= before.allowed
    assert not after.granted or after.decision == "allow"


@given(st.data(), rows)
def test_a_hook_that_is_not_enforced_changes_nothing_but_is_on_record(data: st.DataObject, row: EventSpec) -> None:
    population = data.draw(st.lists(hooks_that_say(row), max_size=3))
    another = {**data.draw(hooks_that_say(row)), "enforce": False}

    before, after = fire(row, population), fire(row, [another, *population])

    def decided(outcome: Outcome) -> dict[str, Any]:
        return {
            key: value
            for key, value in outcome.to_dict().items()
            if key not in ("results", "shadow", "ignored", "input")
        }

    assert {**decided(after), "reason": ""} == {**decided(before), "reason": ""}
    assert len(after.results) == len(before.results) + 1
    assert after.results[0].enforced is False


@given(st.data(), rows)
def test_nothing_is_enforced_when_the_engine_enforces_nothing(data: st.DataObject, row: EventSpec) -> None:
    population = data.draw(st.lists(hooks_that_say(row), max_size=3))

    outcome = fire(row, population, enforce=False)

    assert (outcome.decision, outcome.allowed, outcome.granted) == ("none", True, False)
    assert outcome.context == outcome.messages == outcome.inject == []
    assert all(result.status != "skipped" for result in outcome.results)
    assert len(outcome.results) == len(population)


@given(st.data(), rows)
def test_the_order_inside_a_parallel_group_does_not_change_the_decision(data: st.DataObject, row: EventSpec) -> None:
    population = [
        {**options, "parallel": True} for options in data.draw(st.lists(hooks_that_say(row), min_size=2, max_size=4))
    ]
    shuffled = data.draw(st.permutations(population))

    one, other = fire(row, population), fire(row, list(shuffled))

    def seen(outcome: Outcome) -> tuple[Any, ...]:
        return (
            outcome.decision, outcome.allowed, outcome.granted, outcome.keep_going, outcome.continue_,
            outcome.interrupt, outcome.suppress_output, sorted(outcome.context), sorted(outcome.messages),
            sorted(item.wish for item in outcome.ignored), sorted(result.status for result in outcome.results),
        )  # fmt: skip

    assert seen(one) == seen(other)


@given(st.data(), rows)
def test_every_hook_has_a_result_and_a_deny_skips_the_rest(data: st.DataObject, row: EventSpec) -> None:
    population = data.draw(st.lists(hooks_that_say(row), max_size=5))

    outcome = fire(row, population)

    statuses = [result.status for result in outcome.results if result.round == 1]
    assert [result.hook for result in outcome.results if result.round == 1] == [
        f"hook {n}" for n in range(len(population))
    ]
    if "skipped" in statuses:
        first = statuses.index("skipped")
        assert statuses[first:] == ["skipped"] * (len(statuses) - first)
        assert outcome.denied or not outcome.continue_ or outcome.keep_going or "deny" not in row.can


@given(st.data(), rows_that_can_deny)
def test_one_deny_anywhere_is_a_deny(data: st.DataObject, row: EventSpec) -> None:
    before = data.draw(st.lists(hooks_that_say(row), max_size=3))
    after = data.draw(st.lists(hooks_that_say(row), max_size=3))
    reply = Reply(decision="deny", reason="no")

    outcome = fire(row, [*before, {"handler": lambda event: reply}, *after])

    assert (outcome.decision, outcome.allowed, outcome.granted) == ("deny", False, False)


@given(st.data(), rows)
def test_an_outcome_can_be_written_as_json(data: st.DataObject, row: EventSpec) -> None:
    outcome = fire(row, data.draw(st.lists(hooks_that_say(row), max_size=3)))

    shown = outcome.to_dict()

    assert json.loads(json.dumps(shown)) == shown
    assert shown["allowed"] is (shown["decision"] not in ("deny", "ask"))


# No wish is lost.


def says(reply: Reply, event: Any) -> Reply:
    """The body of a hook that always says the same."""
    return reply


def unheard(row: EventSpec, reply: Reply, outcome: Outcome) -> list[str]:
    """The wishes of a reply that had no effect and are not reported either."""
    said = " ".join(item.wish for item in outcome.ignored)
    wishes = {
        "deny": (reply.decision == "deny", outcome.denied or outcome.keep_going),
        "ask": (reply.decision == "ask", outcome.decision in ("ask", "deny")),
        "allow": (reply.decision == "allow" and reply.grants, outcome.granted or outcome.denied),
        "context": (bool(reply.context), all(text in outcome.context for text in reply.context)),
        "messages": (bool(reply.messages), outcome.messages == list(reply.messages)),
        "inject": (bool(reply.inject), outcome.inject == list(reply.inject)),
        "suppress": (reply.suppress, outcome.suppress_output),
        "interrupt": (reply.interrupt, outcome.interrupt),
        "keep going": (reply.keep_going, outcome.keep_going),
        "continue": (reply.continue_ is False, not outcome.continue_ or row.continue_keeps_going is False),
        "extra": (bool(reply.extra), outcome.extra == dict(reply.extra)),
    }
    lost = [wish for wish, (wished, had) in wishes.items() if wished and not had and wish not in said]
    for name, value in reply.changes.items():
        if outcome.input.get(name) != value and f"modify {name}" not in said:
            lost.append(f"modify {name}")
    return lost


@given(st.data(), rows)
def test_every_wish_of_a_reply_has_an_effect_or_is_reported(data: st.DataObject, row: EventSpec) -> None:
    reply = data.draw(replies(row))

    outcome = fire(row, [{"handler": lambda event: reply}])

    assert unheard(row, reply, outcome) == []


@given(st.data(), rows)
def test_every_wish_of_a_parallel_reply_has_an_effect_or_is_reported(data: st.DataObject, row: EventSpec) -> None:
    reply = data.draw(replies(row))

    outcome = fire(
        row, [{"handler": lambda event: reply, "parallel": True}, {"handler": lambda event: None, "parallel": True}]
    )

    assert unheard(row, reply, outcome) == []


@given(st.data(), rows)
def test_what_several_hooks_say_is_not_lost_among_each_other(data: st.DataObject, row: EventSpec) -> None:
    said = data.draw(st.lists(replies(row), min_size=2, max_size=4))

    outcome = fire(row, [{"handler": functools.partial(says, reply)} for reply in said])

    ran = [reply for reply, result in zip(said, outcome.results, strict=False) if result.status == "ok"]
    reported = " ".join(item.wish for item in outcome.ignored)
    for reply in ran:
        assert "context" in reported or all(text in outcome.context for text in reply.context)
        assert "inject" in reported or all(item in outcome.inject for item in reply.inject)
        assert all(text in outcome.messages for text in reply.messages)
        for name, value in reply.extra.items():
            assert outcome.extra.get(name, ...) == value or name in reported
        if reply.continue_ is False and row.continue_keeps_going is not False:
            assert outcome.continue_ is False


@given(st.data(), rows)
def test_a_parallel_hook_changes_no_field_and_is_told_so(data: st.DataObject, row: EventSpec) -> None:
    said = data.draw(st.lists(replies(row), min_size=2, max_size=3))
    before = fire(row, []).input

    outcome = fire(row, [{"handler": functools.partial(says, reply), "parallel": True} for reply in said])

    assert {name: outcome.input[name] for name in row.modifies} == {name: before[name] for name in row.modifies}
    reported = [(item.hook, item.wish) for item in outcome.ignored]
    for number, reply in enumerate(said):
        assert {(f"hook {number}", f"modify {name}") for name in reply.changes} <= set(reported)


@given(st.data(), rows)
def test_a_wish_that_had_an_effect_is_not_reported_as_ignored(data: st.DataObject, row: EventSpec) -> None:
    reply = data.draw(replies(row))

    outcome = fire(row, [{"handler": lambda event: reply}])

    wishes = [item.wish for item in outcome.ignored]
    if outcome.denied:
        assert "deny" not in wishes
    if outcome.granted:
        assert "allow" not in wishes
    if outcome.suppress_output:
        assert "suppress" not in wishes
    assert not {f"modify {name}" for name, value in reply.changes.items() if name in row.modifies
                and outcome.decision != "deny" and not row.changes_need_allow} & set(wishes)  # fmt: skip
    assert len(wishes) == len(set(wishes))


@given(st.data(), rows, st.booleans())
def test_a_field_that_a_row_does_not_grant_is_never_changed(
    data: st.DataObject, row: EventSpec, parallel: bool
) -> None:
    said = data.draw(st.lists(replies(row), min_size=1, max_size=3))
    population = [{"handler": functools.partial(says, reply), "parallel": parallel} for reply in said]
    fields = {"session_id": "mine", "nonsense": "mine"}

    outcome = fire(row, population, fields)

    for name in ("session_id", "nonsense"):
        assert outcome.input[name] == "mine"
    assert outcome.input["hook_event_name"] == row.name


# An outcome is a value: frozen, compared by what is in it, and given out in copies.


class Firing(NamedTuple):
    """An event and the hooks that react to it: fired twice, it gives the same outcome, but for the time."""

    row: EventSpec
    population: list[dict[str, Any]]
    fields: dict[str, Any]
    asynchronous: bool

    def hooks(self) -> Hooks:
        hooks = Hooks(max_hooks_per_point=0)
        for number, given_ in enumerate(self.population):
            options = {"name": f"hook {number}", "inline": True, **copy.deepcopy(given_)}
            hooks.register(self.row.name, options.pop("handler"), **options)
        return hooks

    def outcome(self, hooks: Hooks | None = None) -> Outcome:
        hooks = hooks or self.hooks()
        if self.asynchronous:
            return asyncio.run(hooks.fire(self.row.name, **self.fields))
        return hooks.fire_sync(self.row.name, **self.fields)


def answers(answer: Mapping[str, Any], event: Any) -> Mapping[str, Any]:
    """The body of a hook that always answers with the same mapping."""
    return answer


def silent(event: Any) -> None:
    """The body of a hook that says nothing."""


def tampers(event: Any) -> None:
    """The body of a hook that changes what it was given."""
    for name in list(event):
        tamper(event[name])
    event.clear()


SAID: dict[str, Reply] = {
    "deny": deny("no"),
    "ask": ask("sure?"),
    "allow": allow("fine"),
    "modify": modify(tool_input={"command": "ls", "more": [1, [2]]}, prompt="hello"),
    "inject": inject("beside"),
    "context": context("look"),
    "extra": Reply(messages=("hello",), extra={"key": ["a", {"b": 1}]}, evidence={"seen": ["a", {"b": 1}]}),
}
ANSWERS: list[Mapping[str, Any]] = [
    {"decision": "deny", "reason": "no", "mark": ["a", {"b": 1}]},
    {"decision": "allow", "reason": 5},
    {"decision": "deny", "reason": 5},
    {"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls", "more": [1, [2]]}}},
]
"""Answers in words: a key that the engine has no meaning for, a key that cannot be read, a change."""


@st.composite
def firings(draw: st.DrawFn) -> Firing:
    """A firing in which no hook matches, or hooks are silent, decide, change, inject, fail or are observed only."""
    row = draw(rows | st.just(TABLE["PreToolUse"]))
    said = st.sampled_from(sorted(SAID)).map(SAID.__getitem__) | replies(row)
    returns: st.SearchStrategy[Body] = said.map(lambda reply: functools.partial(says, reply))
    answer = st.sampled_from(ANSWERS).map(lambda answer: functools.partial(answers, answer))
    hook = st.fixed_dictionaries(
        {
            "handler": returns | answer | st.sampled_from([silent, raises, tampers]),
            "enforce": st.sampled_from([True, True, False]),
            "on_error": st.sampled_from([None, "skip", "abort"]),
        }
    )
    fields = {name: draw(values_for(row.fields[name].kind)) for name in sorted(row.modifies)}
    known = {"session_id": "s", "cwd": "/", "tool_use_id": "t", "more": {"list": [1, {"a": "b"}]}}
    return Firing(row, draw(st.lists(hook, max_size=3)), {**fields, **known}, draw(st.booleans()))


def read(outcome: Outcome) -> dict[str, Any]:
    """Everything that a host can read of an outcome, as it is at this moment."""
    names = {name for name in dir(outcome) if not name.startswith("_")} | set(outcome.input) | set(row_words(outcome))
    shown = {name: getattr(outcome, name) for name in names if name not in ("to_dict", "shadow", "reply")}
    shadow = outcome.shadow
    return copy.deepcopy(
        {
            **shown,
            "to_dict": outcome.to_dict(),
            "reply": outcome.reply("native"),
            "shadow": None if shadow is None else shadow.to_dict(),
        }
    )


def row_words(outcome: Outcome) -> Mapping[str, str]:
    """The other names of the event's fields."""
    return TABLE[outcome.event].words


def tamper(thing: Any) -> None:
    """Change what can be changed in a thing and in what it gives out: by attribute, by item, by method."""
    match thing:
        case dict():
            for value in list(thing.values()):
                tamper(value)
            thing.clear()
            thing["tampered"] = True
        case list():
            for value in thing:
                tamper(value)
            thing[:] = ["tampered"]
        case tuple():
            for value in thing:
                tamper(value)
        case Outcome() | Record() | HookError() | Failure():
            names = [name for name in dir(thing) if not name.startswith("_")]
            if isinstance(thing, Outcome):
                names += [*thing.input, *row_words(thing)]
                tamper(thing.to_dict())
            for name in names:
                tamper(getattr(thing, name))
                with suppress(AttributeError):
                    setattr(thing, name, "tampered")
        case _:
            pass


@contextmanager
def clock_stands_still() -> Iterator[None]:
    """Let every hook take no time at all, so that two firings can be compared whole."""
    with ExitStack() as stopped:
        for module in modules_with_a_clock():
            stopped.enter_context(mock.patch.object(module, "monotonic", return_value=1000.0))
        yield


@given(firings())
def test_no_attribute_of_an_outcome_and_no_field_of_its_event_can_be_set_or_deleted(firing: Firing) -> None:
    outcome = firing.outcome()
    before = read(outcome)

    for name in [*before, "nonsense"]:
        with pytest.raises(AttributeError):
            setattr(outcome, name, "allow")
        with pytest.raises(AttributeError):
            delattr(outcome, name)

    assert read(outcome) == before


@given(firings())
def test_an_outcome_equals_its_copy_and_what_was_pickled(firing: Firing) -> None:
    outcome = firing.outcome()

    for same in (copy.copy(outcome), copy.deepcopy(outcome), pickle.loads(pickle.dumps(outcome))):
        assert same == outcome
        assert hash(same) == hash(outcome)
        assert read(same) == read(outcome)
        assert (same.shadow, repr(same)) == (outcome.shadow, repr(outcome))


@given(firings())
def test_two_firings_in_which_the_same_is_said_have_equal_outcomes(firing: Firing) -> None:
    with clock_stands_still():
        one, other = firing.outcome(), firing.outcome()

    assert one == other
    assert hash(one) == hash(other)
    assert one != "an outcome"


def after(reply: Reply, **fields: Any) -> Outcome:
    """The outcome of a tool call to which one hook replies, and which takes no time."""
    hooks = Hooks()
    hooks.register("PreToolUse", functools.partial(says, reply), inline=True, name="hook")
    known = {"session_id": "s", "cwd": "/", "tool_use_id": "t", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    with clock_stands_still():
        return hooks.fire_sync("PreToolUse", **{**known, **fields})


@settings(max_examples=10)
@given(words, words)
def test_outcomes_that_differ_in_decision_reason_input_or_a_result_are_not_equal(one: str, other: str) -> None:
    base = after(deny(one))

    different = {
        "decision": after(ask(one)),
        "reason": after(deny(one + other)),
        "input": after(deny(one), tool_input={"command": "ls", one: other}),
        "another field": after(deny(one), more=other),
        "what a result shows": after(Reply(decision="deny", reason=one, evidence={one: other})),
        "what a hook replied": after(Reply(decision="deny", reason=one, extra={one: other})),
        "what is ignored": after(deny(one) + inject(other)),
        "what is said to the person": after(Reply(decision="deny", reason=one, messages=(other,))),
    }

    assert after(deny(one)) == base
    assert [what for what, outcome in different.items() if outcome == base] == []


@given(firings())
def test_what_an_outcome_gives_out_is_a_copy(firing: Firing) -> None:
    outcome = firing.outcome()
    before = read(outcome)

    tamper(outcome)

    assert read(outcome) == before


@given(firings())
def test_what_a_copy_of_an_outcome_gives_out_is_a_copy(firing: Firing) -> None:
    outcome = firing.outcome()
    before = read(outcome)

    for same in (copy.copy(outcome), copy.deepcopy(outcome), pickle.loads(pickle.dumps(outcome))):
        tamper(same)

        assert read(same) == read(outcome) == before


# Nothing that is told of an outcome can change it.


class Ends:
    """A listener that is told of the outcome, as tracing is."""

    def __init__(self, tell: Callable[[Outcome], None]) -> None:
        self.run_ends = tell

    def run_begins(self, run: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments: None


def with_recorder(firing: Firing, tell: Callable[[Outcome], None]) -> Outcome:
    hooks = firing.hooks()
    hooks.record(tell)
    return firing.outcome(hooks)


def with_async_recorder(firing: Firing, tell: Callable[[Outcome], None]) -> Outcome:
    async def record(outcome: Outcome) -> None:
        await asyncio.sleep(0)
        tell(outcome)

    hooks = firing.hooks()
    hooks.record(record)
    return firing._replace(asynchronous=True).outcome(hooks)


def with_listener(firing: Firing, tell: Callable[[Outcome], None]) -> Outcome:
    hooks = firing.hooks()
    hooks.engine.listen(Ends(tell), True)
    return firing.outcome(hooks)


@pytest.mark.parametrize("fire_with", [with_recorder, with_async_recorder, with_listener])
@given(firing=firings())
def test_a_recorder_or_a_listener_cannot_change_an_outcome(
    fire_with: Callable[[Firing, Callable[[Outcome], None]], Outcome], firing: Firing
) -> None:
    told: list[Outcome] = []

    def told_and_changed(outcome: Outcome) -> None:
        told.append(outcome)
        tamper(outcome)

    with clock_stands_still():
        undisturbed, disturbed = fire_with(firing, lambda outcome: None), fire_with(firing, told_and_changed)

    assert read(disturbed) == read(undisturbed)
    assert disturbed == undisturbed
    assert [one == disturbed for one in told] == [True]


@settings(max_examples=20)
@given(firings())
def test_an_observer_cannot_change_an_outcome(firing: Firing) -> None:
    hooks, told = firing.hooks(), []

    def observer(message: dict[str, Any]) -> None:
        told.append(message["subtype"])
        tamper(message)

    with clock_stands_still():
        undisturbed = firing.outcome()
        with hooks.observe(observer) as subscription:
            disturbed = firing.outcome(hooks)
            assert subscription.flush()

    assert read(disturbed) == read(undisturbed)
    assert told.count("hook_response") == sum(result.status != "skipped" for result in disturbed.results)


@given(st.lists(st.sampled_from(sorted(SAID)), min_size=1, max_size=3))
def test_a_session_acts_on_what_hooks_said_whatever_its_callback_does(said: list[str]) -> None:
    def session_of(on_outcome: Callable[[Outcome], None]) -> tuple[Any, ...]:
        hooks, ran = Hooks(), []

        def tool(arguments: Any) -> list[Any]:
            ran.append(copy.deepcopy(arguments))
            return ["done", [1]]

        for event in ("PreToolUse", "PostToolUse", "PermissionRequest"):
            for number, word in enumerate(said):
                body = functools.partial(says, copy.deepcopy(SAID[word]))
                hooks.register(event, body, name=f"{event} {number}", inline=True)
        with hooks.session_sync(session_id="s", cwd="/", on_outcome=on_outcome) as session:
            answer = session.tool("Bash", {"command": "rm"}, tool, tool_use_id="t")
            if answer.permission is not None:  # two sessions ask at two times
                answer = replace(answer, permission=replace(answer.permission, asked_at=None, answered_at=None))
            return answer, ran, session.pending_context

    told: list[str] = []

    def changed(outcome: Outcome) -> None:
        told.append(outcome.event)
        tamper(outcome)

    undisturbed, disturbed = session_of(lambda outcome: None), session_of(changed)

    assert repr(disturbed) == repr(undisturbed)
    assert "PreToolUse" in told


@given(firings())
def test_a_later_hook_cannot_change_what_an_earlier_one_said(firing: Firing) -> None:
    """It has the event, and what earlier hooks have returned."""

    def tampers_with_all(event: Any) -> None:
        for hook in hooks:
            if isinstance(hook.handler, functools.partial):
                tamper(hook.handler.args)
        tampers(event)

    hooks, others = firing.hooks(), firing.hooks()
    hooks.register(firing.row.name, tampers_with_all, name="last", inline=True, source="here")
    others.register(firing.row.name, silent, name="last", inline=True, source="here")
    with clock_stands_still():
        undisturbed, disturbed = firing.outcome(others), firing.outcome(hooks)

    assume(all(result.round == 1 for result in disturbed.results))  # a hook that is asked again says what it has by now
    assert read(disturbed) == read(undisturbed)


@given(st.booleans(), st.sampled_from(["args", "nested", "beside"]))
def test_an_input_that_cannot_be_copied_gives_an_outcome_that_can_be_read(asynchronous: bool, where: str) -> None:
    lock = threading.Lock()
    fields: dict[str, dict[str, Any]] = {
        "args": {"tool_input": {"lock": lock}},
        "nested": {"tool_input": {"deep": [{"lock": lock}]}},
        "beside": {"tool_input": {}, "more": lock},
    }
    hook = {"handler": lambda event: deny("no"), "on_error": "abort"}
    for population in ([], [hook]):
        outcome = Firing(TABLE["PreToolUse"], population, fields[where], asynchronous).outcome()

        assert outcome.denied is bool(population)
        assert outcome.tool_input == fields[where]["tool_input"]
        assert outcome.to_dict()["input"]["tool_input"] == fields[where]["tool_input"]
        assert repr(outcome).startswith("<Outcome of PreToolUse: ")
        assert outcome == outcome  # noqa: PLR0124 - it can be compared
        with pytest.raises(TypeError, match=r"cannot pickle '_thread\.lock' object"):
            pickle.dumps(outcome)
