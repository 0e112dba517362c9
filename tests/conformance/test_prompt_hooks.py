"""Hooks of type prompt in files of ours: what a verdict does follows from what the event's row may do."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import EventSpec, Hooks, Outcome
from interpose.events import TABLE

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def fired(tmp_path: Path, event: str, said: dict[str, Any], fields: dict[str, Any], **hook: Any) -> Outcome:
    script = tmp_path / "turns.json"
    script.write_text(json.dumps({"turns": [{"call": {"verdict": {"reason": "the reason", **said}}}]}))
    hooks = Hooks.from_mapping(
        {"models": {"default": f"scripted:{script}"}, "hooks": {event: [{"name": "judge", "prompt": "Fine?", **hook}]}}
    )
    return hooks.fire_sync(event, **fields)


@pytest.mark.parametrize("event", [name for name in TABLE if "deny" in TABLE[name].can])
def test_a_verdict_that_is_not_ok_denies_where_an_event_can_be_denied(event: str, tmp_path: Path) -> None:
    outcome = fired(tmp_path, event, {"ok": False}, {})

    assert (outcome.denied, outcome.reason, outcome.continue_) == (True, "the reason", True)


@pytest.mark.parametrize("event", [name for name in TABLE if "keep going" in TABLE[name].can])
def test_it_keeps_an_agent_going_that_wants_to_stop(event: str, tmp_path: Path) -> None:
    outcome = fired(tmp_path, event, {"ok": False}, {})
    impossible = fired(tmp_path, event, {"ok": False, "impossible": True}, {})

    assert (outcome.keep_going, outcome.reason) == (True, "the reason")
    assert (impossible.keep_going, impossible.results[0].evidence["ok"]) == (False, False)


@pytest.mark.parametrize("event", [name for name in TABLE if not TABLE[name].can & {"deny", "keep going"}])
def test_elsewhere_it_is_reported(event: str, tmp_path: Path) -> None:
    outcome = fired(tmp_path, event, {"ok": False}, {})

    assert (outcome.decision, [item.wish for item in outcome.ignored]) == ("none", ["deny"])
    assert outcome.context == (["the reason"] if "context" in TABLE[event].can else [])


@pytest.mark.parametrize("event", list(TABLE))
def test_a_verdict_that_is_ok_says_nothing_and_grants_nothing(event: str, tmp_path: Path) -> None:
    outcome = fired(tmp_path, event, {"ok": True}, {})

    assert (outcome.decision, outcome.granted, outcome.keep_going, outcome.ignored) == ("none", False, False, [])


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_it_ends_the_turn_if_the_hook_says_so(event: str, tmp_path: Path) -> None:
    outcome = fired(tmp_path, event, {"ok": False}, CALL, continueOnBlock=False)

    assert (outcome.continue_, outcome.stop_reason) == (False, "the reason")


def test_impossible_means_nothing_where_an_event_can_be_denied(tmp_path: Path) -> None:
    assert fired(tmp_path, "PreToolUse", {"ok": False, "impossible": True}, CALL).denied


def test_a_row_of_the_host_works_too(tmp_path: Path) -> None:
    script = tmp_path / "turns.json"
    script.write_text(json.dumps({"turns": [{"call": {"verdict": {"ok": False, "reason": "no"}}}]}))
    hooks = Hooks.from_mapping({"models": {"default": f"scripted:{script}"}})
    hooks.add_event(EventSpec("deploy", "before a release", can="deny", fields="target"))
    hooks.register("deploy", prompt="Fine?")

    assert hooks.fire_sync("deploy", target="production").denied


def test_what_is_only_recorded_decides_nothing(tmp_path: Path) -> None:
    outcome = fired(tmp_path, "PreToolUse", {"ok": False}, CALL, enforce=False)

    assert outcome.allowed
    assert outcome.shadow is not None
    assert outcome.shadow.denied
