"""Recorded events, decided again: what counts as decided differently, and what the hooks get to know."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.databases import database

from interpose import Hooks, UsageError, allow, ask, context, deny, modify
from interpose.audit.reader import open_store
from interpose.audit.store import AuditStore
from interpose.replay import Recorded, Recording, Replay, prepared, read_session, replay
from interpose.replay.recording import UNKNOWN

LS: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}


def engine(handler: Any = None, event: str = "PreToolUse", **options: Any) -> Hooks:
    hooks = Hooks()
    if handler is not None:
        hooks.register(event, handler, name="it", **options)
    return prepared(hooks)


def again(hooks: Hooks, *recorded: Recorded) -> Replay:
    return replay(hooks, Recording("s", "store", list(recorded)))


def was(decision: str = "none", event: str = "PreToolUse", **more: Any) -> Recorded:
    return Recorded(id="1", event=event, **{"fields": LS, "decision": decision, **more})


def recorded_in(path: Path, hooks: Hooks, *firings: tuple[str, dict[str, Any]]) -> str:
    with AuditStore(path) as store:
        hooks.record(store)
        for event, fields in firings:
            hooks.fire_sync(event, **fields)
    return str(path)


@pytest.mark.parametrize(
    ("then", "now", "differences"),
    [
        (was("none"), None, ()),
        (was("deny"), lambda event: deny("no"), ()),
        (was("none"), lambda event: deny("no"), ("decision",)),
        (was("deny"), lambda event: ask(), ("decision",)),
        (was("deny"), None, ("decision",)),
        (was("allow", granted=True), lambda event: allow(), ()),
        (was("allow"), lambda event: allow(), ("granted",)),
        (was("none"), lambda event: modify(tool_input={"command": "true"}), ("tool_input",)),
        (was("none", final={"tool_input": {"command": "true"}}),
         lambda event: modify(tool_input={"command": "true"}), ()),
        (was("none", final={"tool_input": {"command": "true"}}), None, ("tool_input",)),
        (was("deny", final={"tool_input": {"command": "true"}}), lambda event: deny("no"), ()),
        (was("none"), lambda event: {"continue": False, "stopReason": "enough"}, ("decision", "continue")),
        (was("none"), lambda event: context("by the way"), ()),
    ],
)  # fmt: skip
def test_a_recorded_decision_differs_in_what_the_host_would_do(then, now, differences):
    (result,) = again(engine(now), then).results

    assert result.differences == differences


@pytest.mark.parametrize("matcher", ["mcp__a__b-c", "mcp__a-b__c"])
def test_a_rule_about_any_reading_of_a_name_holds_again(matcher):
    fields = {**LS, "tool_name": "mcp__a__b-c", "tool_readings": ["mcp__a__b-c", "mcp__a-b__c", "a-b-c"]}

    (result,) = again(engine(lambda event: deny("no"), matcher=matcher), was("deny", fields=fields)).results

    assert result.differences == ()


@pytest.mark.parametrize(
    ("then", "now", "differs"),
    [
        ("none", None, False),
        ("none", lambda event: allow(), False),
        ("none", lambda event: deny("no"), True),
        ("none", lambda event: ask(), True),
        ("deny", lambda event: deny("no"), False),
        ("deny", lambda event: ask(), True),
        ("deny", None, True),
        # A person had said no: only a hook that grants the call keeps them from saying so again.
        ("ask", None, False),
        ("ask", lambda event: ask(), False),
        ("ask", lambda event: deny("no"), False),
        ("ask", lambda event: allow(), True),
        (UNKNOWN, lambda event: deny("no"), False),
    ],
)  # fmt: skip
def test_a_decision_told_from_what_happened_differs_if_something_else_would_happen(then, now, differs):
    done = again(engine(now), was(then, derived="it ran"))

    assert done.different == int(differs)


def test_an_agent_that_is_kept_going_now_is_a_difference_and_has_its_hook():
    done = again(engine(lambda event: deny("tests are missing"), "Stop"), was(event="Stop", fields={}))

    (told,) = done.to_dict()["results"]
    assert told["differences"] == ["keep_going"]
    assert (told["was"]["hooks"], told["now"]["hooks"], told["now"]["reason"]) == ([], ["it"], "tests are missing")


def test_the_same_for_another_reason_is_no_difference_but_is_counted():
    done = again(engine(lambda event: deny("new words")), was("deny", reason="old words"))

    assert (done.different, done.to_dict()["reworded"]) == (0, 1)


def test_what_is_only_tried_out_is_told_and_not_a_difference():
    done = again(engine(lambda event: deny("one day"), enforce=False), was("none"))

    (result,) = done.results
    assert (result.differences, result.shadowed) == ((), True)


def test_an_event_of_another_host_is_left_out_and_said():
    done = again(engine(), was(event="pre:deploy"), was())

    assert [bool(one.error) for one in done.results] == [True, False]
    assert (done.different, done.to_dict()["left_out"], done.to_dict()["same"]) == (0, 1, 1)


def test_a_hook_that_fails_in_the_replay_is_named():
    def broken(event):
        raise ValueError("boom")

    done = again(engine(broken, on_error="abort"), was("none"))

    assert done.results[0].broken == ["it: hook_crash: raised ValueError: boom"]
    assert done.different == 1


def test_hooks_are_told_that_it_is_a_replay(tmp_path, monkeypatch):
    monkeypatch.delenv("INTERPOSE_REPLAY", raising=False)
    seen = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: seen.append(os.environ.get("INTERPOSE_REPLAY")))
    hooks.register("PreToolUse", command='test "$INTERPOSE_REPLAY" = 1 || exit 2', name="command")

    done = again(prepared(hooks), was("none"))

    assert (seen, done.different) == (["1"], 0)
    assert "INTERPOSE_REPLAY" not in os.environ


def test_a_variable_of_that_name_that_was_there_before_is_there_again(monkeypatch):
    monkeypatch.setenv("INTERPOSE_REPLAY", "mine")

    again(engine(), was())

    assert os.environ["INTERPOSE_REPLAY"] == "mine"


def test_a_replay_is_not_recorded_and_is_decided_although_enforcement_is_off(tmp_path, monkeypatch):
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    records: list[Any] = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("no"))
    hooks.record(records.append)

    done = again(prepared(hooks), was("none"))

    assert (done.different, records) == (1, [])


def test_a_directory_that_is_not_here_keeps_no_command_from_running(tmp_path):
    hooks = Hooks()
    hooks.register("PreToolUse", command="exit 0", on_error="abort")

    done = again(prepared(hooks), was("none", fields={**LS, "cwd": str(tmp_path / "gone")}))

    assert done.different == 0
    assert done.notes == [f"the directory {tmp_path / 'gone'} is not here; hooks run in the current one instead"]


def test_an_agent_is_fired_for_as_it_was():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("not you"), scope="reviewer")

    done = again(
        prepared(hooks), *(was(fields={**LS, "agent_id": agent}) for agent in ("main", "reviewer")),
        was(fields={**LS, "agent_id": None}),
    )  # fmt: skip

    assert [bool(one.differences) for one in done.results] == [False, True, True]


def test_a_redacted_input_is_marked():
    done = again(
        engine(lambda event: deny("no")), was(fields={**LS, "x": [{"k": "[redacted:github:0a1b2c3d]"}]}), was()
    )

    assert [one["redacted"] for one in done.to_dict()["results"]] == [True, False]


# From a store.


def guarded() -> Hooks:
    hooks = Hooks()
    hooks.register(
        "PreToolUse", lambda event: deny("no") if event.tool_input["command"] == "rm" else None, name="guard"
    )
    hooks.register(
        "PreToolUse", name="dry",
        handler=lambda event: modify(tool_input={"command": "push -n"}) if event.tool_input["command"] == "push" else None,
    )  # fmt: skip
    hooks.register("Stop", lambda event: deny("tests"), name="more")
    return hooks


COMMANDS = [("PreToolUse", {**LS, "tool_input": {"command": command}}) for command in ("ls", "rm", "push")]


def test_a_stored_session_is_decided_the_same_by_the_hooks_that_decided_it(tmp_path):
    path = recorded_in(tmp_path / "a.db", guarded(), *COMMANDS, ("Stop", {"session_id": "s"}))

    with open_store(path) as store:
        recording = read_session(store, "s")
    done = replay(prepared(guarded()), recording)

    assert [(one.event, one.decision, one.deciders, one.keep_going) for one in recording.events] == [
        ("PreToolUse", "none", (), False), ("PreToolUse", "deny", ("guard",), False), ("PreToolUse", "none", (), False),
        ("Stop", "none", ("more",), True),
    ]  # fmt: skip
    assert recording.events[2].fields["tool_input"] == {"command": "push"}
    assert recording.events[2].final == {"tool_input": {"command": "push -n"}}
    assert (done.different, done.to_dict()["same"], done.to_dict()["reworded"]) == (0, 4, 0)


def test_without_its_hooks_a_stored_session_is_decided_differently_where_they_spoke(tmp_path):
    path = recorded_in(tmp_path / "a.db", guarded(), *COMMANDS)

    with open_store(path) as store:
        done = replay(prepared(Hooks()), read_session(store, "latest"))

    assert [one.differences for one in done.results] == [(), ("decision",), ("tool_input",)]
    assert list(done.results[2].changes()) == [("tool_input", {"command": "push -n"}, {"command": "push"})]


def test_an_input_that_was_too_large_to_keep_is_not_compared(tmp_path):
    large = ("PreToolUse", {**LS, "tool_input": {"command": "x" * 2_000_000}})
    path = recorded_in(tmp_path / "a.db", guarded(), large)

    with open_store(path) as store:
        recording = read_session(store, "s")
    done = replay(engine(lambda event: deny("no")), recording)

    assert recording.notes == ["1 event had an input too large to be kept"]
    assert (done.different, done.to_dict()["unknown"]) == (0, 1)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("latest", "b-2"), ("a-1", "a-1"), ("b-2", "b-2"), ("a-10", "a-10"), ("b", "b-2")],
)
def test_a_session_is_named_by_its_id_or_a_beginning_that_is_its_own(tmp_path, wanted, found):
    sessions = [("Stop", {"session_id": name}) for name in ("a-1", "a-10", "b-2")]
    path = recorded_in(tmp_path / "a.db", Hooks(), *sessions)

    with open_store(path) as store:
        recording = read_session(store, wanted)

    assert (recording.name, [one.fields["session_id"] for one in recording.events]) == (found, [found])


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("a", "a is the beginning of 2 sessions (say which: a-10, a-1)"),
        ("x", "x is not a session"),
        ("", " is not a session"),
    ],
)
def test_a_session_that_is_not_clear_is_asked_for(tmp_path, wanted, said):
    path = recorded_in(tmp_path / "a.db", Hooks(), ("Stop", {"session_id": "a-1"}), ("Stop", {"session_id": "a-10"}))

    with open_store(path) as store, pytest.raises(UsageError) as raised:
        read_session(store, wanted)

    assert said in str(raised.value)


def test_a_store_without_firings_has_no_session(tmp_path):
    path = recorded_in(tmp_path / "a.db", Hooks(), ("Stop", {}))
    with database(path) as base:
        base.execute("DELETE FROM records")
    base.close()

    with open_store(path) as store, pytest.raises(UsageError, match="no session is recorded there yet"):
        read_session(store, "latest")
