"""The exact words that each agent is answered: an unknown key, or a key in another place, can let a call through."""

import asyncio
import json

import pytest
from tests.unit.agent_payloads import answered, payload_of

from interpose import allow, ask, context, deny, modify
from interpose.dialects.agents import agent_dialect
from interpose.dialects.agents.contract import HookExit
from interpose.server.refusals import refusal

SPECIFIC = {"codex": "PreToolUse", "qwen": "PreToolUse", "droid": "PreToolUse"}


def own(name, event="PreToolUse"):
    return next(mine for mine, ours in agent_dialect(name).EVENTS.items() if ours == event)


def said(name, event, answer):
    """Return the JSON object, the exit status and what was unsaid."""
    found = answered(agent_dialect(name), own(name, event), answer)
    return (json.loads(found.stdout) if found.stdout.strip() else None), found.status, found.unsaid


def specific(event, **fields):
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


DENIED = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
NEW = {"command": "ls -l"}


@pytest.mark.parametrize(
    ("name", "event", "answer", "expected", "status"),
    [
        ("codex", "PreToolUse", deny("no"), specific("PreToolUse", **DENIED), 0),
        ("codex", "PreToolUse", allow("fine"), None, 0),
        ("codex", "PreToolUse", context("c"), specific("PreToolUse", additionalContext="c"), 0),
        ("codex", "PreToolUse", modify(tool_input=NEW),
         specific("PreToolUse", permissionDecision="allow", updatedInput=NEW), 0),
        ("codex", "PostToolUse", modify(tool_response="r"), {"decision": "block", "reason": "r"}, 0),
        ("codex", "PostToolUse", modify(tool_response=" "), {"decision": "block", "reason": "[removed]"}, 0),
        ("codex", "UserPromptSubmit", deny("no"), {"decision": "block", "reason": "no"}, 0),
        ("codex", "Stop", deny("no"), {"decision": "block", "reason": "no"}, 0),
        ("codex", "PermissionRequest", deny("no"),
         specific("PermissionRequest", decision={"behavior": "deny", "message": "no"}), 0),
        ("copilot", "PreToolUse", deny("no"), DENIED, 0),
        ("copilot", "PreToolUse", ask("sure?"),
         {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}, 0),
        ("copilot", "PreToolUse", allow("fine"), {"permissionDecision": "allow"}, 0),
        ("copilot", "PreToolUse", modify(tool_input=NEW), {"modifiedArgs": NEW}, 0),
        ("copilot", "PostToolUse", modify(tool_response="r"),
         {"modifiedResult": {"resultType": "success", "textResultForLlm": "r"}}, 0),
        ("copilot", "SessionStart", context("c"), {"additionalContext": "c"}, 0),
        ("copilot", "PermissionRequest", deny("no"), {"behavior": "deny", "message": "no"}, 0),
        ("gemini", "PreToolUse", deny("no"), {"decision": "deny", "reason": "no"}, 2),
        ("gemini", "PreToolUse", ask("sure?"), {"decision": "ask", "reason": "sure?", "systemMessage": "sure?"}, 0),
        ("gemini", "PreToolUse", modify(tool_input=NEW), specific("BeforeTool", tool_input=NEW), 0),
        ("gemini", "PostToolUse", modify(tool_response="r") + context("c"), {"decision": "deny", "reason": "r\nc"}, 0),
        ("gemini", "Stop", deny("no"), {"decision": "deny", "reason": "no"}, 0),
        ("qwen", "PreToolUse", deny("no"), specific("PreToolUse", **DENIED), 0),
        ("qwen", "PostToolUse", modify(tool_response="r"), {"continue": False, "stopReason": "r"}, 0),
        ("qwen", "UserPromptSubmit", context("c"), specific("UserPromptSubmit", additionalContext="c"), 0),
        ("cline", "PreToolUse", deny("no"), {"cancel": True, "errorMessage": "no"}, 0),
        ("cline", "PreToolUse", modify(tool_input=NEW) + context("c"),
         {"overrideInput": {"commands": ["ls -l"]}, "contextModification": "c"}, 0),
        ("droid", "PreToolUse", deny("no"), specific("PreToolUse", **DENIED), 2),
        ("droid", "PreToolUse", modify(tool_input=NEW), specific("PreToolUse", updatedInput=NEW), 0),
        ("droid", "Stop", deny("no"), {"decision": "block", "reason": "no"}, 0),
        ("cursor", "PreToolUse", deny("no"), {"permission": "deny", "user_message": "no", "agent_message": "no"}, 0),
        ("cursor", "PreToolUse", None, {}, 0),
        ("cursor", "UserPromptSubmit", deny("no"), {"continue": False, "user_message": "no"}, 0),
        ("cursor", "Stop", deny("no"), {"followup_message": "no"}, 0),
        ("opencode", "PreToolUse", deny("no"), specific("tool.execute.before", **DENIED), 0),
        ("opencode", "PostToolUse", modify(tool_response="r"), specific("tool.execute.after", updatedToolOutput="r"), 0),
        ("antigravity", "PreToolUse", None, {"decision": "allow"}, 0),
        ("grok", "PreToolUse", deny("no"), {"decision": "deny", "reason": "no"}, 2),
        ("windsurf", "PreToolUse", deny("no"), None, 2),
    ],
)  # fmt: skip
def test_an_outcome_has_exactly_these_words(name, event, answer, expected, status):
    assert said(name, event, answer) == (expected, status, ())


@pytest.mark.parametrize("reason", ["", "   ", "\n"])
@pytest.mark.parametrize("name", ["codex", "copilot", "gemini", "qwen", "cline", "droid", "cursor", "windsurf"])
def test_a_deny_without_a_reason_has_one(name, reason):
    dialect = agent_dialect(name)

    found = answered(dialect, own(name), {"decision": "deny", "reason": reason})

    assert "denied by Interpose" in (found.stdout or found.stderr)


@pytest.mark.parametrize("name", ["codex", "cline", "droid", "opencode", "grok", "windsurf"])
def test_an_ask_where_an_agent_cannot_ask_is_a_deny_that_says_how_to_allow_it(name):
    found = answered(agent_dialect(name), own(name), ask("sure?"))

    assert "sure? (this needs a person's yes, and " in found.stderr
    assert "`questions:`" in found.stderr


def test_a_rewrite_where_an_agent_cannot_rewrite_is_a_deny_that_says_what_to_run():
    body, _, _ = said("qwen", "PreToolUse", modify(tool_input=NEW))

    own_words = body["hookSpecificOutput"]
    assert own_words["permissionDecision"] == "deny"
    assert 'run it yourself with {"command": "ls -l"}' in own_words["permissionDecisionReason"]


def test_a_rewritten_input_goes_back_under_the_keys_of_the_agent():
    codex = agent_dialect("codex")
    call = {"tool_name": "exec_command", "tool_input": {"cmd": "ls", "workdir": "/tmp"}}

    found = answered(codex, "PreToolUse", modify(tool_input={"command": "ls -l", "workdir": "/tmp"}),
                     {**payload_of(codex, "PreToolUse"), **call})  # fmt: skip

    assert json.loads(found.stdout)["hookSpecificOutput"]["updatedInput"] == {"cmd": "ls -l", "workdir": "/tmp"}


def test_what_cannot_be_said_is_returned():
    assert said("cline", "PostToolUse", modify(tool_response="r"))[2] == ("the new tool_response",)
    assert said("gemini", "PreToolUse", context("c"))[2] == ("context",)
    assert said("cline", "Stop", deny("no"))[2] == ("that the agent keeps going (no)",)


def test_a_rule_about_a_server_holds_however_its_name_is_split():
    copilot = agent_dialect("copilot")
    payload = {**payload_of(copilot, "PreToolUse"), "tool_name": "my-server-do-it", "tool_input": {}}

    event = copilot.read_event("PreToolUse", payload)

    names = ["mcp__my__server-do-it", "mcp__my-server__do-it", "mcp__my-server-do__it", "my-server-do-it"]
    assert (event.fields["tool_readings"], event.more) == (names, ())


@pytest.mark.parametrize(
    ("name", "tool"), [("cline", "house__note"), ("droid", "house___note"), ("copilot", "house-note")]
)
def test_the_result_of_a_tool_of_a_server_is_one_event_under_our_name(name, tool):
    dialect = agent_dialect(name)
    payload = payload_of(dialect, "PostToolUse")
    if name == "cline":
        payload["tool_result"]["name"] = tool
    else:
        payload["tool_name"] = tool

    event = dialect.read_event("PostToolUse", payload)

    assert (event.fields["tool_name"], event.more) == ("mcp__house__note", ())


@pytest.mark.parametrize("name", ["codex", "copilot", "gemini", "qwen", "opencode"])
def test_a_refusal_over_http_is_that_agents_deny(name):
    dialect = agent_dialect(name)

    body = asyncio.run(refusal(name, own(name), b"{}", "the server is ending"))
    at_the_end = asyncio.run(refusal(name, own(name, "Stop"), b"{}", "x")) if name != "opencode" else b"{}"

    assert not dialect.predict(own(name), HookExit(body.decode())).tool_ran
    assert at_the_end == b"{}"


def test_a_long_text_is_cut():
    found = answered(agent_dialect("cursor"), "preToolUse", deny("x" * 20_000))

    assert len(json.loads(found.stdout)["agent_message"]) == 10_000 - 20 + len(" [cut off here]")
