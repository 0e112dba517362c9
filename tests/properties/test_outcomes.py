"""What is true of every outcome, whatever the hooks say."""

import functools
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import (
    fire,
    hooks_that_say,
    replies,
    rows,
    rows_that_can_deny,
    strictness,
)

from interpose import Outcome, Reply, Row


@given(st.data(), rows)
def test_another_hook_never_makes_an_outcome_laxer(data: st.DataObject, row: Row) -> None:
    population = data.draw(st.lists(hooks_that_say(row), max_size=4))
    another = data.draw(hooks_that_say(row))
    place = data.draw(st.integers(0, len(population)))

    before = fire(row, population)
    after = fire(row, [*population[:place], another, *population[place:]])

    assert strictness(after) >= strictness(before)
    assert after.allowed <= before.allowed
    assert not after.granted or after.decision == "allow"


@given(st.data(), rows)
def test_a_hook_that_is_not_enforced_changes_nothing_but_is_on_record(data: st.DataObject, row: Row) -> None:
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
def test_nothing_is_enforced_when_the_engine_enforces_nothing(data: st.DataObject, row: Row) -> None:
    population = data.draw(st.lists(hooks_that_say(row), max_size=3))

    outcome = fire(row, population, enforce=False)

    assert (outcome.decision, outcome.allowed, outcome.granted) == ("none", True, False)
    assert outcome.context == outcome.messages == outcome.inject == []
    assert all(result.status != "skipped" for result in outcome.results)
    assert len(outcome.results) == len(population)


@settings(max_examples=40)
@given(st.data(), rows)
def test_the_order_inside_a_parallel_group_does_not_change_the_decision(data: st.DataObject, row: Row) -> None:
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
def test_every_hook_has_a_result_and_a_deny_skips_the_rest(data: st.DataObject, row: Row) -> None:
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
def test_one_deny_anywhere_is_a_deny(data: st.DataObject, row: Row) -> None:
    before = data.draw(st.lists(hooks_that_say(row), max_size=3))
    after = data.draw(st.lists(hooks_that_say(row), max_size=3))
    reply = Reply(decision="deny", reason="no")

    outcome = fire(row, [*before, {"handler": lambda event: reply}, *after])

    assert (outcome.decision, outcome.allowed, outcome.granted) == ("deny", False, False)


@given(st.data(), rows)
def test_an_outcome_can_be_written_as_json(data: st.DataObject, row: Row) -> None:
    outcome = fire(row, data.draw(st.lists(hooks_that_say(row), max_size=3)))

    shown = outcome.to_dict()

    assert json.loads(json.dumps(shown)) == shown
    assert shown["allowed"] is (shown["decision"] not in ("deny", "ask"))


# No wish is lost.


def says(reply: Reply, event: Any) -> Reply:
    """The body of a hook that always says the same."""
    return reply


def unheard(row: Row, reply: Reply, outcome: Outcome) -> list[str]:
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
def test_every_wish_of_a_reply_has_an_effect_or_is_reported(data: st.DataObject, row: Row) -> None:
    reply = data.draw(replies(row))

    outcome = fire(row, [{"handler": lambda event: reply}])

    assert unheard(row, reply, outcome) == []


@settings(max_examples=40)
@given(st.data(), rows)
def test_every_wish_of_a_parallel_reply_has_an_effect_or_is_reported(data: st.DataObject, row: Row) -> None:
    reply = data.draw(replies(row))

    outcome = fire(
        row, [{"handler": lambda event: reply, "parallel": True}, {"handler": lambda event: None, "parallel": True}]
    )

    assert unheard(row, reply, outcome) == []


@given(st.data(), rows)
def test_what_several_hooks_say_is_not_lost_among_each_other(data: st.DataObject, row: Row) -> None:
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


@settings(max_examples=40)
@given(st.data(), rows)
def test_a_parallel_hook_changes_no_field_and_is_told_so(data: st.DataObject, row: Row) -> None:
    said = data.draw(st.lists(replies(row), min_size=2, max_size=3))
    before = fire(row, []).input

    outcome = fire(row, [{"handler": functools.partial(says, reply), "parallel": True} for reply in said])

    assert {name: outcome.input[name] for name in row.modifies} == {name: before[name] for name in row.modifies}
    reported = [(item.hook, item.wish) for item in outcome.ignored]
    for number, reply in enumerate(said):
        assert {(f"hook {number}", f"modify {name}") for name in reply.changes} <= set(reported)


@given(st.data(), rows)
def test_a_wish_that_had_an_effect_is_not_reported_as_ignored(data: st.DataObject, row: Row) -> None:
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
def test_a_field_that_a_row_does_not_grant_is_never_changed(data: st.DataObject, row: Row, parallel: bool) -> None:
    said = data.draw(st.lists(replies(row), min_size=1, max_size=3))
    population = [{"handler": functools.partial(says, reply), "parallel": parallel} for reply in said]
    fields = {"session_id": "mine", "nonsense": "mine"}

    outcome = fire(row, population, fields)

    for name in ("session_id", "nonsense"):
        assert outcome.input[name] == "mine"
    assert outcome.input["hook_event_name"] == row.name
