"""An outcome as a hook's reply in the Claude dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model import Outcome, row_of
from ..reply import WrittenReply, changed_fields
from .answers import OUTPUTS, PARTS, is_discarded

__all__ = ["write_reply"]


def write_reply(outcome: Outcome, before: Mapping[str, Any]) -> WrittenReply:
    """Write an outcome as Claude Code reads a reply at this event."""
    row = row_of(outcome)
    fields = OUTPUTS.get(row.name, {})
    body: dict[str, Any] = {}
    specific: dict[str, Any] = {
        name: value for name, value in outcome.extra.items() if name in fields and name not in PARTS
    }
    unsaid: list[str] = []
    changed = changed_fields(outcome, before)
    _decide(outcome, fields, body, specific, changed)
    if "updatedInput" in fields and "tool_input" in changed:
        specific["updatedInput"] = changed.pop("tool_input")
    if "updatedToolOutput" in fields and "tool_response" in changed:
        specific["updatedToolOutput"] = changed.pop("tool_response")
    unsaid += [f"the new {name}" for name in changed]
    # Claude Code has one channel for both: the model reads additionalContext beside the tool's result.
    if texts := [*outcome.context, *(item.content for item in outcome.inject)]:
        if "additionalContext" in fields:
            specific["additionalContext"] = "\n".join(texts)
        else:
            unsaid.append("context")
    if outcome.messages:
        body["systemMessage"] = "\n".join(outcome.messages)
    if not outcome.continue_:
        body |= {"continue": False, "stopReason": outcome.stop_reason}
    if "terminalSequence" in outcome.extra:
        body["terminalSequence"] = outcome.extra["terminalSequence"]
    for name in [name for name in body if is_discarded(row, name)]:
        unsaid.append(name)
        del body[name]
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": row.name, **specific}
    return WrittenReply(body, unsaid)


def _decide(
    outcome: Outcome, fields: Mapping[str, str], body: dict[str, Any], specific: dict[str, Any], changed: dict[str, Any]
) -> None:
    """Write the decision into the field that this event has for it."""
    decision = "allow" if outcome.granted else outcome.decision
    speaks = outcome.granted or decision in ("deny", "ask")
    if "permissionDecision" in fields:
        if speaks:
            specific["permissionDecision"] = "defer" if decision == "ask" and outcome.extra.get("defer") else decision
            specific |= {"permissionDecisionReason": outcome.reason} if outcome.reason else {}
    elif "decision" in fields:  # PermissionRequest takes an object
        if decision == "deny":
            specific["decision"] = {"behavior": "deny", "message": outcome.reason, "interrupt": outcome.interrupt}
        elif outcome.granted:
            specific["decision"] = {"behavior": "allow"}
            if "tool_input" in changed:
                specific["decision"]["updatedInput"] = changed.pop("tool_input")
            if "updatedPermissions" in outcome.extra:
                specific["decision"]["updatedPermissions"] = outcome.extra["updatedPermissions"]
    elif decision == "deny" and "action" in fields:
        specific["action"] = "decline"
    elif decision in ("deny", "ask") or outcome.keep_going:
        # This event has no field for an ask, so an ask blocks.
        body |= {"decision": "block", "reason": outcome.reason}
