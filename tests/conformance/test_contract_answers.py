"""The contract on answers that mean no: what a hook says so that a person would read a deny never lets the action run."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome
from interpose.events import TABLE

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def specific(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


REFUSALS: list[dict[str, Any]] = [
    # A deciding key that is nearly one.
    {"decison": "deny"}, {"desicion": "deny"}, {"decission": "block"}, {"decisions": "deny"}, {"decisio": "deny"},
    {"Decision": "deny"}, {"DECISION": "deny"}, {"deCision": "deny"}, {"decision ": "deny"}, {" decision": "deny"},
    {"decision\n": "deny"}, {"de-cision": "deny"}, {"decision:": "deny"}, {"decision\u200b": "deny"},
    {"d\u0435cision": "deny"}, {"decisi\u00f3n": "deny"}, {"\uff44ecision": "deny"}, {"dec1sion": "deny"},
    {"permission_decision": "deny"}, {"permission-decision": "deny"}, {"permissiondecision": "deny"},
    {"PermissionDecision": "deny"}, {"permissionDecison": "deny"}, {"permisionDecision": "deny"},
    {"permission decision": "deny"}, {"permissionsDecision": "deny"}, {"permissionDecisions": "deny"},
    {"behaviour": "deny"}, {"Behavior": "deny"}, {"behavoir": "deny"}, {"behaviors": "deny"},
    {"Abort": True}, {"aborts": True}, {"abrot": True}, {"ABORT": True}, {"aborted": True},
    {"Allowed": False}, {"alowed": False}, {"allowd": False}, {"is_allowed": False}, {"isAllowed": False},
    {"Continue": False}, {"contine": False}, {"continues": False}, {"CONTINUE": False},
    {"hook_specific_output": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}},
    {"HookSpecificOutput": {"permissionDecision": "deny"}}, {"hookSpecificOuput": {"permissionDecision": "deny"}},
    {"hookspecificoutput": {"permissionDecision": "deny"}}, {"hookSpecificOutputs": [{"permissionDecision": "deny"}]},
    specific(permission_decision="deny"), specific(permissionDecison="deny"), specific(PermissionDecision="deny"),
    specific(Decision={"behavior": "deny"}), specific(decison="block"), specific(behaviour="deny"),
    {"decision": "allow", "Decision": "deny"}, {**specific(permissionDecision="allow"), "decison": "deny"},
    specific(permissionDecision="allow", permission_decision="deny"),
    # Words that are no key of an answer, with a value that refuses.
    {"deny": True}, {"denied": True}, {"block": True}, {"blocked": True}, {"reject": True}, {"rejected": True},
    {"Deny": True}, {"BLOCKED": True}, {"is_blocked": True}, {"should_block": True}, {"deny": "true"},
    {"denied": "true"}, {"denied": 1}, {"deny": "it is dangerous"}, {"block": "reason text"}, {"block": {"reason": "x"}},
    {"ok": False}, {"ok": "no"}, {"ok": "false"}, {"ok": 0}, {"approved": False}, {"approved": 0}, {"approved": "no"},
    {"approved": "denied"}, {"action": "deny"}, {"action": "block"}, {"action": "Block"}, {"action": "reject"},
    {"status": "denied"}, {"status": "blocked"}, {"status": "DENIED"}, {"status": "blocked by policy"},
    {"result": "deny"}, {"result": False}, {"result": "rejected"}, {"result": {"decision": "deny"}},
    {"verdict": "deny"}, {"verdict": "block"}, {"verdict": "refused"}, {"verdict": False}, {"verdict": "deny "},
    {"allow": False}, {"allow": "false"}, {"allow": 0}, {"permitted": False}, {"permission": "deny"},
    specific(deny=True), specific(allow=False), specific(status="denied"),
    # A deciding key with a value that is no decision.
    {"decision": "Deny"}, {"decision": "DENY"}, {"decision": "deny "}, {"decision": "denied"}, {"decision": "no"},
    {"decision": "reject"}, {"decision": ""}, {"decision": " "}, {"decision": ["deny"]}, {"decision": False},
    {"decision": {"decision": "deny"}}, {"decision": {"behavior": "Deny"}}, {"decision": {"Behavior": "deny"}},
    {"decision": {"behavior": "allow", "behaviour": "deny"}}, {"decision": {}}, {"decision": 5},
    {"permissionDecision": "Deny"}, {"permissionDecision": ""}, {"behavior": "Deny"}, {"behavior": ""},
    {"abort": "true"}, {"abort": 1}, {"abort": "yes"}, {"abort": ""}, {"allowed": "false"}, {"allowed": 0},
    {"allowed": "no"}, {"allowed": ""}, {"continue": "false"}, {"continue": 0}, {"continue": ""},
    specific(permissionDecision="Deny"), specific(permissionDecision=""), specific(permissionDecision=["deny"]),
    specific(permissionDecision={"behavior": "deny"}), specific(decision="Block"), specific(decision={}),
    {"decision": "approve", "allowed": "false"}, {**specific(permissionDecision="allow"), "decision": "Deny"},
    # A decision in another place.
    {"permissionDecision": "deny"}, {"behavior": "deny"}, {"decision": {"behavior": "deny"}},
    specific(decision="block"), specific(decision="deny"), specific(behavior="deny"), specific(allowed=False),
    specific(abort=True), specific(**{"continue": False}), specific(hookSpecificOutput={"permissionDecision": "deny"}),
    {"hookSpecificOutput": {"permissionDecision": "deny"}}, {"hookSpecificOutput": [{"permissionDecision": "deny"}]},
    {"hookSpecificOutput": "deny"}, {"hookSpecificOutput": '{"permissionDecision": "deny"}'},
    {"output": {"decision": "deny"}}, {"response": {"decision": "block"}}, {"hook": {"permissionDecision": "deny"}},
    {"answer": {"hookSpecificOutput": {"permissionDecision": "deny"}}}, {"results": [{"allowed": False}]},
    {"data": {"abort": True}}, {"reply": {"continue": False}},
    # Two that disagree.
    {"decision": "allow", "abort": True}, {"decision": "approve", "allowed": False}, {"allowed": True, "decision": "deny"},
    {**specific(permissionDecision="allow"), "decision": "block"}, {"decision": "approve", "continue": False},
    {"decision": "allow", "denied": True}, {**specific(permissionDecision="allow"), "ok": False},
]  # fmt: skip

BROKEN: list[str] = [
    '{"decision": "deny"', '{"decision": "de', '{"decision": "deny"} done', '{"decision": "allow"}\n{"decision": "deny"}',
    "{}{}", '{"decision": "deny", "decision": "allow"}', '{"decision": "deny", "score": NaN}', "{'decision': 'deny'}",
    '{"decision": "deny",}', '{decision: "deny"}', '\ufeff\ufeff{"decision": "deny"}', '  \n{"decision": "deny"',
    '{"decision": "deny", "size": 1e999}', '{"decision": "deny"} // no', '{"decision": "deny", "x": "a\tb"}',
    '{"decision": "deny", "x": ' + "[" * 200 + "]" * 200 + "}", '{"decision": True}', "{deny}",
    '{"decision": "deny", "x": ' + "1" * 5000 + "}", '{"decision": "deny"}\0', '\x1b[0m{"decision": "deny"}',
]  # fmt: skip
"""Standard output that begins as an answer and is not one."""


def by_callable(answer: object, folder: Path, on_error: str | None, event: str = "PreToolUse") -> Outcome:
    hooks = Hooks()
    hooks.register(event, lambda event: answer, on_error=on_error, inline=True, name="hook")
    return hooks.fire_sync(event, **(CALL if "tool_name" in TABLE[event].fields else {}))


def by_command(answer: object, folder: Path, on_error: str | None, event: str = "PreToolUse") -> Outcome:
    (folder / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
    return by_line(f"cat '{folder / 'answer'}'", on_error, event)


def by_line(line: str, on_error: str | None = None, event: str = "PreToolUse") -> Outcome:
    hooks = Hooks()
    hooks.register(event, command=line, isolation="group", on_error=on_error, name="hook")
    return hooks.fire_sync(event, **(CALL if "tool_name" in TABLE[event].fields else {}))


Say = Callable[..., Outcome]
EVERY_WAY = pytest.mark.parametrize("say", [by_callable, by_command])
GUARD_OR_NOT = pytest.mark.parametrize("on_error", [None, "log", "skip", "abort"])


@EVERY_WAY
@pytest.mark.parametrize("on_error", [None, "skip", "abort"])
def test_an_answer_that_means_no_denies(say: Say, on_error: str | None, tmp_path: Path) -> None:
    let_through = [answer for answer in REFUSALS if not say(answer, tmp_path, on_error).denied]

    assert let_through == []
    assert len(REFUSALS) >= 80
