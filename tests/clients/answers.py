"""The answers that a raw hook gives to each agent, to see which of them it honours.

A row says what the agent did: ``tool_ran``: the command of the model's shell tool really ran. ``model_calls``: 0 if the
prompt was refused, 1 if the run ended after the first answer, 2 ordinarily, 3 if the agent was sent back to work.
``model_sees``: which marks reached the model: TOKERR standard error, TOKOUT plain standard output, TOKREASON a reason,
TOKCTX additional context, TOKINPUT the output of a rewritten input, TOKRESULT a rewritten result, TOKSTOP a stop
reason, TOKSYS a system message, TOKRAN1 the tool's own output.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .model_server import ModelServer, Turn
from .rig import Box, Client

__all__ = ["MARKS", "Case", "cases", "play_case", "record_answers"]

MARKS = ("TOKERR", "TOKOUT", "TOKREASON", "TOKCTX", "TOKINPUT", "TOKRESULT", "TOKSTOP", "TOKSYS", "TOKRAN1")
NO = {"permissionDecision": "deny", "permissionDecisionReason": "TOKREASON"}
MISSING = "/nowhere/x"
ONCE = "[ -e $BOX/markonce ] && exit 0; touch $BOX/markonce; "


class Case(NamedTuple):
    """One answer at one event."""

    name: str
    event: str
    hook: str
    """The shell line that a hook is."""
    seconds: float | None = None
    """The agent's own deadline for it."""


def says(answer: Any, status: int = 0, error: str = "") -> str:
    """Return a shell line that prints an answer."""
    said = answer if isinstance(answer, str) else json.dumps(answer)
    more = f"; echo {shlex.quote(error)} >&2" if error else ""
    return f"printf '%s' {shlex.quote(said)}{more}; exit {status}"


def fails(status: int, error: str = "TOKERR") -> str:
    """Return a shell line that exits with a status."""
    return f"echo {shlex.quote(error)} >&2; exit {status}" if error else f"exit {status}"


def cases(client: Client) -> Iterator[Case]:
    """Yield what is tried with an agent."""
    yield from _before(client)
    yield from _after(client)
    for name, event in (("prompt", client.at_prompt), ("start", client.at_start)):
        for case, hook in _turning(event).items():
            yield Case(f"{name}-{case}", event, hook)
    for case, hook in _turning(client.at_stop).items():
        yield Case(f"stop-{case}", client.at_stop, hook if hook == MISSING else ONCE + hook)


def _before(client: Client) -> Iterator[Case]:
    event = client.before_tool
    new = client.rewritten("echo TOKINPUT")

    def hso(**more: Any) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": event, **more}}

    allow = {"permissionDecision": "allow"}
    ask = {"permissionDecision": "ask", "permissionDecisionReason": "TOKREASON"}
    tried = {
        "nothing": "exit 0",
        "plain": says("TOKOUT"),
        "plain-error": "echo TOKERR >&2; exit 0",
        "exit2-stderr": fails(2),
        "exit2-silent": fails(2, ""),
        "exit2-stdout": says("TOKOUT", 2),
        "exit1": fails(1),
        "exit3": fails(3),
        "missing": MISSING,
        "signal": "kill -9 $$",
        "hso-deny": says(hso(**NO)),
        "hso-deny-exit1": says(hso(**NO), 1, "TOKERR"),
        "hso-deny-exit2": says(hso(**NO), 2, "TOKERR"),
        "hso-deny-empty-reason": says(hso(permissionDecision="deny", permissionDecisionReason="")),
        "hso-deny-no-reason": says(hso(permissionDecision="deny")),
        "hso-deny-unknown-key": says({**hso(**NO), "colour": "red"}),
        "hso-deny-inner-unknown-key": says(hso(**NO, colour="red")),
        "hso-deny-systemMessage": says({**hso(**NO), "systemMessage": "TOKSYS"}),
        "hso-deny-context": says(hso(**NO, additionalContext="TOKCTX")),
        "hso-deny-no-name": says({"hookSpecificOutput": NO}),
        "hso-deny-other-name": says({"hookSpecificOutput": {"hookEventName": "Stop", **NO}}),
        "hso-deny-twice": says(json.dumps(hso(**NO)) + "\n" + json.dumps(hso(**NO))),
        "hso-deny-after-noise": says("noise\n" + json.dumps(hso(**NO))),
        "hso-ask": says(hso(**ask)),
        "hso-allow": says(hso(**allow)),
        "hso-defer": says(hso(permissionDecision="defer")),
        "top-deny": says({"decision": "deny", "reason": "TOKREASON"}),
        "top-block": says({"decision": "block", "reason": "TOKREASON"}),
        "top-ask": says({"decision": "ask", "reason": "TOKREASON"}),
        "top-approve": says({"decision": "approve"}),
        "flat-deny": says(NO),
        "flat-ask": says(ask),
        "permission-deny": says({"permission": "deny", "user_message": "TOKREASON", "agent_message": "TOKREASON"}),
        "hso-rewrite": says(hso(updatedInput=new)),
        "hso-rewrite-allow": says(hso(**allow, updatedInput=new)),
        "hso-rewrite-ask": says(hso(**ask, updatedInput=new)),
        "hso-tool_input": says(hso(tool_input=new)),
        "flat-updatedInput": says({"updatedInput": new}),
        "flat-modifiedArgs": says({"modifiedArgs": new}),
        "flat-overrideInput": says({"overrideInput": new}),
        "context": says(hso(additionalContext="TOKCTX")),
        "flat-context": says({"additionalContext": "TOKCTX"}),
        "continue-false": says({"continue": False, "stopReason": "TOKSTOP"}),
        "continue-false-deny": says({"continue": False, "stopReason": "TOKSTOP", **hso(**NO)}),
        "systemMessage": says({"systemMessage": "TOKSYS"}),
        "suppress": says({"suppressOutput": True}),
        "empty-object": says({}),
        "array": says([]),
        "broken-json": says('{"decision": block}'),
        "cancel": says({"cancel": True, "errorMessage": "TOKREASON"}),
        "cancel-exit1": says({"cancel": True, "errorMessage": "TOKREASON"}, 1, "TOKERR"),
        "contextModification": says({"cancel": False, "contextModification": "TOKCTX"}),
    }
    for name, hook in tried.items():
        yield Case(f"pre-{name}", event, hook)
    yield Case("pre-timeout", event, "sleep 20", 1)


def _after(client: Client) -> Iterator[Case]:
    event = client.after_tool

    def hso(**more: Any) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": event, **more}}

    block = {"decision": "block", "reason": "TOKREASON"}
    tried = {
        "plain": says("TOKOUT"),
        "exit2": fails(2),
        "exit2-silent": fails(2, ""),
        "exit1": fails(1),
        "missing": MISSING,
        "block": says(block),
        "deny": says({"decision": "deny", "reason": "TOKREASON"}),
        "block-context": says({**block, **hso(additionalContext="TOKCTX")}),
        "context": says(hso(additionalContext="TOKCTX")),
        "flat-context": says({"additionalContext": "TOKCTX"}),
        "updatedToolOutput": says(hso(updatedToolOutput="TOKRESULT")),
        "updatedResponse": says(hso(updatedResponse="TOKRESULT")),
        "updatedMCP": says(hso(updatedMCPToolOutput="TOKRESULT")),
        "modifiedResult": says({"modifiedResult": {"resultType": "success", "textResultForLlm": "TOKRESULT"}}),
        "continue-false": says({"continue": False, "stopReason": "TOKSTOP"}),
        "systemMessage": says({"systemMessage": "TOKSYS"}),
        "suppress": says({"suppressOutput": True}),
        "cancel": says({"cancel": True, "errorMessage": "TOKREASON"}),
        "contextModification": says({"cancel": False, "contextModification": "TOKCTX"}),
    }
    for name, hook in tried.items():
        yield Case(f"post-{name}", event, hook)


def _turning(event: str) -> dict[str, str]:
    """Return what is tried at a prompt, at the start and at the end."""
    context = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "TOKCTX"}}
    block = {"decision": "block", "reason": "TOKREASON"}
    return {
        "plain": says("TOKOUT"),
        "exit2": fails(2),
        "exit2-silent": fails(2, ""),
        "exit1": fails(1),
        "missing": MISSING,
        "block": says(block),
        "deny": says({"decision": "deny", "reason": "TOKREASON"}),
        "block-empty-reason": says({"decision": "block", "reason": ""}),
        "context": says(context),
        "flat-context": says({"additionalContext": "TOKCTX"}),
        "block-context": says({**block, **context}),
        "continue-false": says({"continue": False, "stopReason": "TOKSTOP"}),
        "systemMessage": says({"systemMessage": "TOKSYS"}),
        "cancel": says({"cancel": True, "errorMessage": "TOKREASON"}),
        "contextModification": says({"cancel": False, "contextModification": "TOKCTX"}),
    }


def play_case(client: Client, case: Case) -> dict[str, Any]:
    """Play one session with the hook, and return the row."""
    turns: list[Turn] = [[client.shell("touch $BOX/ran; printf 'TOK%s' RAN1")], "done"]
    with Box(client) as box, ModelServer({"main": turns}) as server:
        client.configure(box, server.url)
        # A file, because some agents show the line itself to the model.
        box.write("box/hook.sh", case.hook)
        line = case.hook if case.hook == MISSING else f'exec /bin/bash "{box.marks}/hook.sh"'
        client.add_hook(box, case.event, line, case.seconds)
        client.play(box, server, "[main] go")
        seen = server.seen()
        row: dict[str, Any] = {"client": client.name, "case": case.name, "event": case.event, "hook": case.hook}
        if case.seconds:
            row["options"] = {"timeout": case.seconds}
        calls = len(server.requests["main"])
        return {**row, "tool_ran": box.has("ran"), "model_calls": calls,
                "model_sees": [mark for mark in MARKS if mark in seen]}  # fmt: skip


def record_answers(client: Client, names: Collection[str] = ()) -> dict[str, Any]:
    """Play every case, or those that are named."""
    rows = []
    for case in cases(client):
        if names and case.name not in names:
            continue
        rows.append(play_case(client, case))
        row = rows[-1]
        print(f"  {row['case']}: {row['tool_ran']} {row['model_calls']} {' '.join(row['model_sees'])}", flush=True)
    recorded = datetime.now(UTC).date().isoformat()
    head = {"agent": client.name, "package": client.package, "version": client.version, "recorded": recorded}
    return {**head, "rows": rows}
