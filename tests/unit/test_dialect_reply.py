"""An outcome as the reply of one hook: read again, it means the same."""

import copy
import json
import pickle

import pytest

from interpose import Hooks, UsageError, allow, ask, context, deny, inject, modify
from interpose.dialects import dialect
from interpose.dialects.reply import write_reply
from interpose.events import TABLE


def outcome_of(event, answer, **fields):
    hooks = Hooks()
    hooks.register(event, lambda event: answer, name="h")
    return hooks.fire_sync(event, **fields)


def written(name, event, answer, **fields):
    return write_reply(name, outcome_of(event, answer, **fields), fields)


def fired_through(name, event, answer, **fields):
    """Fire an event through a hook that says what a whole configuration has said."""
    said, unsaid = written(name, event, answer, **fields)
    assert not unsaid
    read = dialect(name).read(TABLE[event], json.loads(json.dumps(said)))
    hooks = Hooks()
    hooks.register(event, lambda event: read, name="outer")
    return hooks.fire_sync(event, **fields)


BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}

CASES = [
    ("PreToolUse", None, BASH),
    ("PreToolUse", deny("no"), BASH),
    ("PreToolUse", ask("sure?"), BASH),
    ("PreToolUse", allow("fine"), BASH),
    ("PreToolUse", modify(tool_input={"command": "ls -l"}), BASH),
    ("PreToolUse", context("a") + context("b"), BASH),
    ("PermissionRequest", deny("no"), BASH),
    ("PermissionRequest", allow("fine"), BASH),
    ("UserPromptSubmit", deny("no"), {"prompt": "hi"}),
    ("UserPromptSubmit", context("be brief"), {"prompt": "hi"}),
    ("Stop", {"decision": "block", "reason": "tests first"}, {}),
    ("PostToolUse", modify(tool_response="[redacted]"), {**BASH, "tool_response": "secret"}),
    ("TaskCompleted", deny("not done"), {"task_id": "1", "task_subject": "s"}),
]


def test_a_changed_error_is_written_where_the_host_can_read_it_and_reported_where_it_cannot():
    failed = {**BASH, "error": "exit status 1\nkey"}
    answer = modify(error="exit status 1\n[removed]") + context("do not print keys")

    native, claude = (written(name, "PostToolUseFailure", answer, **failed) for name in ("native", "claude"))

    outer = fired_through("native", "PostToolUseFailure", answer, **failed)
    assert (native.unsaid, outer.error, outer.context) == ([], "exit status 1\n[removed]", ["do not print keys"])
    assert claude.unsaid == ["the new error"]
    assert claude.body == {
        "hookSpecificOutput": {"hookEventName": "PostToolUseFailure", "additionalContext": "do not print keys"}
    }


def test_a_deny_is_not_deferred_because_another_hook_defers():
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: {"decision": "defer"})
    hooks.register("PreToolUse", lambda event: deny("no"))

    said = write_reply("claude", hooks.fire_sync("PreToolUse", **BASH), BASH)

    assert said.body["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    ("event", "extra"),
    [
        ("PreToolUse", {"permissionDecision": "allow", "updatedInput": {"command": "rm"}}),
        ("PermissionRequest", {"decision": {"behavior": "allow"}}),
        ("PostToolUse", {"updatedToolOutput": "other"}),
    ],
)
def test_what_a_hook_passes_on_as_extra_decides_and_changes_nothing(event, extra):
    assert written("claude", event, {"extra": extra}, **BASH).body == {}


@pytest.mark.parametrize("name", ["native", "claude"])
@pytest.mark.parametrize(("event", "answer", "fields"), CASES)
def test_a_reply_that_is_read_again_decides_the_same(name, event, answer, fields):
    inner, outer = outcome_of(event, answer, **fields), fired_through(name, event, answer, **fields)

    assert (outer.decision, outer.granted, outer.keep_going) == (inner.decision, inner.granted, inner.keep_going)
    assert "\n".join(outer.context) == "\n".join(inner.context)
    for field in TABLE[event].modifies:
        assert outer.input[field] == inner.input[field]
    if inner.decision in ("deny", "ask") or inner.keep_going:
        assert outer.reason == inner.reason


def test_nothing_said_is_nothing_written():
    assert written("native", "PreToolUse", None, **BASH) == ({}, [])
    assert written("claude", "PreToolUse", None, **BASH) == ({}, [])


def test_no_objection_is_not_a_grant():
    said, _ = written("claude", "PreToolUse", {"decision": "allow"}, **BASH)

    assert said == {}


def test_what_a_dialect_has_no_words_for_is_named():
    assert written("claude", "pre:message", modify(prompt="x"), prompt="y") == ({}, ["the new prompt"])
    assert written("claude", "PreCompact", context("x"), trigger="manual") == ({}, ["context"])


def test_what_stands_beside_a_result_is_context_there():
    said, _ = written("claude", "PostToolUse", inject("beside it"), **BASH, tool_response="x")

    assert said == {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "beside it"}}


def test_an_outcome_writes_itself_as_a_reply() -> None:
    hooks = Hooks()
    silent = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "pwd"}) + ask("sure?"))
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    assert (silent.reply(), silent.reply("claude")) == ({}, {})
    assert outcome.reply() == {"decision": "ask", "reason": "sure?", "modify": {"tool_input": {"command": "pwd"}}}
    for same in (outcome, pickle.loads(pickle.dumps(outcome)), copy.deepcopy(outcome)):
        assert same.reply("claude") == {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "ask",
                "permissionDecisionReason": "sure?",
                "updatedInput": {"command": "pwd"},
            }
        }
    with pytest.raises(UsageError, match="there is no dialect 'codax'"):
        outcome.reply("codax")


def test_what_a_dialect_cannot_say_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    hooks = Hooks()
    hooks.register("pre:message", lambda event: modify(prompt="other"))

    with caplog.at_level("WARNING", "interpose"):
        assert hooks.fire_sync("pre:message", prompt="x").reply("claude") == {}
    assert "the reply of pre:message has no field for the new prompt" in caplog.text


@pytest.mark.parametrize(
    ("before", "new", "expected"),
    [
        ({"stdout": "key", "stderr": "key", "interrupted": False}, "[removed]",
         {"stdout": "[removed]", "stderr": "", "interrupted": False}),
        ({"type": "text", "file": {"filePath": "/a", "content": "key"}}, "[removed]",
         {"type": "text", "file": {"filePath": "/a", "content": "[removed]"}}),
        ({"stdout": "key"}, {"stdout": "[removed]"}, {"stdout": "[removed]"}),
        ("key", "[removed]", "[removed]"),
    ],
)  # fmt: skip
def test_a_new_result_has_the_shape_of_the_old_one_without_which_claude_code_drops_it(before, new, expected):
    said = written("claude", "PostToolUse", modify(tool_response=new), **BASH, tool_response=before)

    assert (said.body["hookSpecificOutput"]["updatedToolOutput"], said.unsaid) == (expected, [])


def test_a_result_whose_shape_has_no_place_for_a_text_is_said_to_stay():
    before = {"matches": [{"line": "key"}]}

    said = written("claude", "PostToolUse", modify(tool_response="[removed]"), **BASH, tool_response=before)

    assert (said.body, said.unsaid) == ({}, ["the new tool_response"])


def test_an_outcome_is_a_reply_in_the_words_of_an_agent():
    denied = outcome_of("PreToolUse", deny("no"), **BASH)

    assert denied.reply("copilot") == {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    assert denied.reply("gemini") == {"decision": "deny", "reason": "no"}
    with pytest.raises(UsageError, match="there is no dialect 'cortex'"):
        denied.reply("cortex")
    with pytest.raises(UsageError, match="Gemini CLI has no event SubagentStart"):
        outcome_of("SubagentStart", None).reply("gemini")
