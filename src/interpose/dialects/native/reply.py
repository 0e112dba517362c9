"""An outcome as a hook's reply in the native dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model import Outcome
from ..reply import WrittenReply, changed_fields

__all__ = ["write_reply"]


def write_reply(outcome: Outcome, before: Mapping[str, Any]) -> WrittenReply:
    """Write an outcome as a native reply, which has a field for every part of it."""
    body: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if outcome.keep_going:
        body["decision"] = "block"  # at these events the decision is about stopping
    elif outcome.granted:
        specific["permissionDecision"] = "allow"  # `decision: allow` would mean no objection, and grant nothing
        specific |= {"permissionDecisionReason": outcome.reason} if outcome.reason else {}
    elif outcome.decision != "none":
        body["decision"] = outcome.decision
    if outcome.reason and not outcome.granted:
        body["reason"] = outcome.reason
    if changed := changed_fields(outcome, before):
        body["modify"] = changed
    if outcome.context:
        specific["additionalContext"] = "\n".join(outcome.context)
    if outcome.inject:
        body["inject"] = [item.to_dict() for item in outcome.inject]
    if outcome.suppress_output:
        body["suppressOutput"] = True
    if not outcome.continue_:
        body |= {"continue": False, "stopReason": outcome.stop_reason}
    if outcome.messages:
        body["messages"] = outcome.messages
    if outcome.interrupt:
        body["decision"] = {"behavior": "deny", "message": outcome.reason, "interrupt": True}
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": outcome.event, **specific}
    if outcome.extra:
        body["extra"] = dict(outcome.extra)
    return WrittenReply(body, [])
