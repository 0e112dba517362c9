"""Hooks of type prompt and agent in Claude Code's settings: where they run, and what ok: false does there."""

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome

FIELDS: dict[str, dict[str, Any]] = {
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a"},
    "PostToolUseFailure": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "error": "no"},
    "PermissionRequest": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PermissionDenied": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "reason": "no"},
    "UserPromptSubmit": {"prompt": "hi"},
    "UserPromptExpansion": {"command_name": "x", "prompt": "hi"},
}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def load(tmp_path: Path, event: str, handler: dict[str, Any], *turns: Any) -> Hooks:
    settings, models, script = tmp_path / ".claude/settings.json", tmp_path / "models.yaml", tmp_path / "turns.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {event: [{"hooks": [handler]}]}}))
    script.write_text(json.dumps({"turns": turns}))
    models.write_text(json.dumps({"models": {"default": "scripted:turns.json", "small": "scripted:turns.json"}}))
    return Hooks.load(settings, models)


def verdict(ok: bool, **more: Any) -> dict[str, Any]:
    return {"call": {"verdict": {"ok": ok, "reason": "the reason", **more}}}


def effects(outcome: Outcome) -> set[str]:
    found = {
        "deny": outcome.denied,
        "end turn": not outcome.continue_,
        "keep going": outcome.keep_going,
        "context": outcome.context == ["the reason"],
        "nothing": bool(outcome.ignored),
    }
    return {name for name, holds in found.items() if holds}


# B.5: the event, the effect of ok: false, and the effect with continueOnBlock.
NOT_OK = [
    ("Stop", {"keep going"}, {"keep going"}),
    ("SubagentStop", {"keep going"}, {"keep going"}),
    ("PreToolUse", {"deny", "end turn"}, {"deny"}),
    ("PostToolUse", {"end turn"}, {"context"}),
    ("PostToolBatch", {"deny", "end turn"}, {"deny", "end turn"}),
    ("UserPromptSubmit", {"deny", "end turn"}, {"deny", "end turn"}),
    ("UserPromptExpansion", {"deny", "end turn"}, {"deny", "end turn"}),
    ("PostToolUseFailure", {"context"}, {"context"}),
    ("TaskCreated", {"deny"}, {"deny"}),
    ("TaskCompleted", {"deny"}, {"deny"}),
    ("TeammateIdle", {"end turn"}, {"keep going"}),
    ("PermissionRequest", {"nothing"}, {"nothing"}),
    ("PermissionDenied", {"nothing"}, {"nothing"}),
]


@pytest.mark.parametrize(("event", "plain", "continued"), NOT_OK, ids=[row[0] for row in NOT_OK])
def test_what_ok_false_does(event: str, plain: set[str], continued: set[str], tmp_path: Path) -> None:
    for handler, expected in (
        ({"type": "prompt", "prompt": "Fine?"}, plain),
        ({"type": "prompt", "prompt": "Fine?", "continueOnBlock": True}, continued),
    ):
        outcome = load(tmp_path, event, handler, verdict(False)).fire_sync(event, **FIELDS.get(event, {}))

        assert effects(outcome) == expected
        told = (outcome.reason, outcome.stop_reason, *outcome.context)
        assert "the reason" in told or expected == {"nothing"}


@pytest.mark.parametrize("event", [row[0] for row in NOT_OK])
def test_ok_true_does_nothing(event: str, tmp_path: Path) -> None:
    hooks = load(tmp_path, event, {"type": "prompt", "prompt": "Fine?"}, verdict(True))

    outcome = hooks.fire_sync(event, **FIELDS.get(event, {}))

    assert (effects(outcome), outcome.granted, outcome.results[0].status) == (set(), False, "ok")


@pytest.mark.parametrize("event", [row[0] for row in NOT_OK if row[0] != "PermissionRequest"])
def test_an_agent_is_as_a_prompt_with_continue_on_block(event: str, tmp_path: Path) -> None:
    [(_, _, continued)] = [row for row in NOT_OK if row[0] == event]
    hooks = load(tmp_path, event, {"type": "agent", "prompt": "Fine?"}, verdict(False))

    assert effects(hooks.fire_sync(event, **FIELDS.get(event, {}), cwd=str(tmp_path))) == continued


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_what_is_impossible_lets_the_agent_stop(event: str, tmp_path: Path) -> None:
    hooks = load(tmp_path, event, {"type": "prompt", "prompt": "Done?"}, verdict(False, impossible=True))

    assert effects(hooks.fire_sync(event)) == set()


@pytest.mark.parametrize(
    ("kind", "event"),
    [("prompt", "SessionStart"), ("prompt", "Notification"), ("agent", "SessionEnd"), ("agent", "PermissionRequest")],
)
def test_a_kind_that_the_client_does_not_run_at_an_event_is_skipped_with_a_warning(
    kind: str, event: str, tmp_path: Path
) -> None:
    hooks = load(tmp_path, event, {"type": kind, "prompt": "Fine?"})

    assert list(hooks) == []
    assert f"no hook of type {kind} at {event}" in str(hooks.warnings[0])


@pytest.mark.parametrize(
    ("handler", "event", "seconds"),
    [
        ({"type": "prompt"}, "PreToolUse", 30),
        ({"type": "agent"}, "PreToolUse", 60),
        ({"type": "agent"}, "UserPromptSubmit", 30),
        ({"type": "prompt", "timeout": 7}, "PreToolUse", 7),
    ],
)
def test_its_deadline(handler: dict[str, Any], event: str, seconds: float, tmp_path: Path) -> None:
    [hook] = load(tmp_path, event, {**handler, "prompt": "Fine?"})

    assert hook.timeout == seconds


@pytest.mark.parametrize(
    ("model", "spec", "warned"),
    [
        (None, "scripted:", False),
        ("small", "scripted:", False),
        ("claude-x", "anthropic:claude-x", False),
        ("openai:y", "openai:y", False),
        ("haiku", "scripted:", True),
    ],
)
def test_the_model_that_it_asks(model: str | None, spec: str, warned: bool, tmp_path: Path) -> None:
    hooks = load(tmp_path, "Stop", {"type": "prompt", "prompt": "Fine?", **({"model": model} if model else {})})

    [hook] = hooks

    assert hook.binding.target.configured.spec.startswith(spec)
    assert bool(hooks.warnings) is warned


def test_it_is_told_what_a_command_is_told(tmp_path: Path) -> None:
    told = {
        "needs": r'Fine\? <event-\w+>\n(\{.*"command": "ls".*\})\n</event',
        "call": {"verdict": {"ok": False, "reason": "$1"}},
    }
    hooks = load(tmp_path, "PreToolUse", {"type": "prompt", "prompt": "Fine? $ARGUMENTS"}, told)

    outcome = hooks.fire_sync("PreToolUse", session_id="s", **FIELDS["PreToolUse"])

    said = json.loads(outcome.reason)
    assert (said["session_id"], said["hook_event_name"], said["tool_name"]) == ("s", "PreToolUse", "Bash")
    assert "protocol" not in said


def test_a_failure_lets_the_call_run_also_with_on_failure_which_it_does_not_have(tmp_path: Path) -> None:
    hooks = load(tmp_path, "PreToolUse", {"type": "prompt", "prompt": "Fine?", "onFailure": "block"}, {"say": "Hm."})

    outcome = hooks.fire_sync("PreToolUse", **FIELDS["PreToolUse"])

    assert (outcome.allowed, outcome.results[0].status) == (True, "failed")
    assert "onFailure" in str(hooks.warnings[0])


def test_all_hooks_of_an_event_run_and_the_same_one_once(tmp_path: Path) -> None:
    settings, script = tmp_path / ".claude/settings.json", tmp_path / "turns.json"
    settings.parent.mkdir()
    one, other = {"type": "prompt", "prompt": "One?"}, {"type": "prompt", "prompt": "Two?", "continueOnBlock": True}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [one, other, one]}]}}))
    script.write_text(json.dumps({"turns": [verdict(True), verdict(False)]}))
    (tmp_path / "models.yaml").write_text("models: {default: scripted:turns.json}")

    outcome = Hooks.load(settings, tmp_path / "models.yaml").fire_sync("PreToolUse", **FIELDS["PreToolUse"])

    assert [result.hook for result in outcome.results] == ["One?", "Two?"]
    assert outcome.denied
