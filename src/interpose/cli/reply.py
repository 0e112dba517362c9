"""An outcome as the reply of one hook, so that a whole configuration can stand in for a hook in another host.

What a dialect has no words for is returned beside the reply, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..model import Outcome, row_of

__all__ = ["WRITERS", "Written", "changes"]

Written = tuple[dict[str, Any], list[str]]
"""The reply, and what it could not say."""


def changes(outcome: Outcome, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that hooks have changed, whole."""
    row = row_of(outcome)
    final = outcome.input
    defaults = row.defaults()
    return {
        name: final[name]
        for name in sorted(row.modifies)
        if name in final and final[name] != before.get(name, defaults.get(name))
    }


def write_native(outcome: Outcome, before: Mapping[str, Any]) -> Written:
    """Write a reply in our own words; every one of them has a meaning there."""
    said: dict[str, Any] = {}
    own: dict[str, Any] = {}
    if outcome.keep_going:
        said["decision"] = "block"  # where an agent wants to stop, it is the stop that is blocked
    elif outcome.granted:
        own["permissionDecision"] = "allow"  # words that grant; the plain allow means no objection
        own |= {"permissionDecisionReason": outcome.reason} if outcome.reason else {}
    elif outcome.decision != "none":
        said["decision"] = outcome.decision
    if outcome.reason and not outcome.granted:
        said["reason"] = outcome.reason
    if changed := changes(outcome, before):
        said["modify"] = changed
    if outcome.context:
        own["additionalContext"] = "\n".join(outcome.context)
    if outcome.inject:
        said["inject"] = [item.to_dict() for item in outcome.inject]
    if outcome.suppress_output:
        said["suppressOutput"] = True
    if not outcome.continue_:
        said |= {"continue": False, "stopReason": outcome.stop_reason}
    if outcome.messages:
        said["messages"] = outcome.messages
    if outcome.interrupt:
        said["decision"] = {"behavior": "deny", "message": outcome.reason, "interrupt": True}
    if own:
        said["hookSpecificOutput"] = {"hookEventName": outcome.event, **own}
    return {**{name: value for name, value in outcome.extra.items() if name not in said}, **said}, []


def write_claude(outcome: Outcome, before: Mapping[str, Any]) -> Written:
    """Write a reply as Claude Code reads it at this event."""
    from ..dialects.claude.answers import OUTPUTS, is_discarded

    row = row_of(outcome)
    places = OUTPUTS.get(row.name, {})
    said: dict[str, Any] = {}
    own: dict[str, Any] = {name: value for name, value in outcome.extra.items() if name in places}
    unsaid: list[str] = []
    changed = changes(outcome, before)
    _decide(outcome, places, said, own, changed)
    if "updatedInput" in places and "tool_input" in changed:
        own["updatedInput"] = changed.pop("tool_input")
    if "updatedToolOutput" in places and "tool_response" in changed:
        own["updatedToolOutput"] = changed.pop("tool_response")
    unsaid += [f"the new {name}" for name in changed]
    # There it is one channel: what stands beside a tool's result is read by the model as well.
    if texts := [*outcome.context, *(item.content for item in outcome.inject)]:
        if "additionalContext" in places:
            own["additionalContext"] = "\n".join(texts)
        else:
            unsaid.append("context")
    if outcome.messages:
        said["systemMessage"] = "\n".join(outcome.messages)
    if not outcome.continue_:
        said |= {"continue": False, "stopReason": outcome.stop_reason}
    if "terminalSequence" in outcome.extra:
        said["terminalSequence"] = outcome.extra["terminalSequence"]
    for name in [name for name in said if is_discarded(row, name)]:
        unsaid.append(name)
        del said[name]
    if own:
        said["hookSpecificOutput"] = {"hookEventName": row.name, **own}
    return said, unsaid


def _decide(
    outcome: Outcome, places: Mapping[str, str], said: dict[str, Any], own: dict[str, Any], changed: dict[str, Any]
) -> None:
    """Put the decision where this event has it."""
    decision = "allow" if outcome.granted else outcome.decision
    speaks = outcome.granted or decision in ("deny", "ask")
    if "permissionDecision" in places:
        if speaks:
            own["permissionDecision"] = "defer" if outcome.extra.get("defer") else decision
            own |= {"permissionDecisionReason": outcome.reason} if outcome.reason else {}
    elif "decision" in places:  # a request for permission, which is answered with an object
        if decision == "deny":
            own["decision"] = {"behavior": "deny", "message": outcome.reason, "interrupt": outcome.interrupt}
        elif outcome.granted:
            own["decision"] = {"behavior": "allow"}
            if "tool_input" in changed:
                own["decision"]["updatedInput"] = changed.pop("tool_input")
            if "updatedPermissions" in outcome.extra:
                own["decision"]["updatedPermissions"] = outcome.extra["updatedPermissions"]
    elif decision == "deny" and "action" in places:
        own["action"] = "decline"
    elif decision in ("deny", "ask") or outcome.keep_going:
        # An event without a question cannot ask: whoever cannot be asked has not agreed.
        said |= {"decision": "block", "reason": outcome.reason}


WRITERS: dict[str, Callable[[Outcome, Mapping[str, Any]], Written]] = {"native": write_native, "claude": write_claude}
"""How a reply is written, by dialect."""
