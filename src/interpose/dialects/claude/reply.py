"""An outcome as a hook's reply in the Claude dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model import Outcome, row_of
from ..reply import WrittenReply, changed_fields
from .answers import OUTPUTS, PARTS, is_discarded

__all__ = ["write_reply"]

_CONTEXT_IS_DROPPED = frozenset({"Setup", "Notification"})
"""Events whose answers have the field, which the client does not read."""


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
        new = _in_the_shape_of(before.get("tool_response"), changed["tool_response"])
        if new is not None:
            specific["updatedToolOutput"] = new
            del changed["tool_response"]
    unsaid += [f"the new {name}" for name in changed]
    # Claude Code has one channel for both: the model reads additionalContext beside the tool's result.
    if texts := [*outcome.context, *(item.content for item in outcome.inject)]:
        if row.name in _CONTEXT_IS_DROPPED or "additionalContext" not in fields:
            unsaid.append("context")
        elif "keep going" in row.can and not outcome.keep_going:
            unsaid.append("context that does not keep the agent going")  # there it would
        else:
            specific["additionalContext"] = "\n".join(texts)
    if outcome.suppress_output:
        unsaid.append("that the output is suppressed")
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


def _in_the_shape_of(before: Any, new: Any) -> Any:
    """Return the new result of a tool in the shape that the old one has; None if a text has no place in it.

    The client drops a result of another shape, and shows the old one.
    """
    if not isinstance(before, dict) or isinstance(new, dict):
        return new
    text = new if isinstance(new, str) else str(new)
    if isinstance(before.get("stdout"), str):
        return {**before, "stdout": text, **({"stderr": ""} if "stderr" in before else {})}
    file = before.get("file")
    if isinstance(file, dict) and isinstance(file.get("content"), str):
        return {**before, "file": {**file, "content": text}}
    return None


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
