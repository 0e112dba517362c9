"""What spans say: names, decisions and reasons. Inputs and outputs are never among it, and no text leaves unredacted.

Names are those of the conventions for generative AI where they have one, and our own under ``interpose.`` otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..decide import HookRun
from ..events import EventSpec
from ..model import Outcome
from ..person.permission import Permission
from ..replies import clean
from ..routes import Step

__all__ = ["Words", "of_firing", "of_hook", "of_outcome", "of_permission", "of_run"]

Attributes = dict[str, str | int | float | bool]

LONGEST = 1024
"""How many characters of a text a span has."""
LONGEST_READ = 65536
"""A text longer than this is not even looked at."""
MOST_NAMES = 2048
"""How many names are kept as they were redacted."""

_GEN_AI = (
    ("gen_ai.conversation.id", "session_id"),
    ("gen_ai.agent.id", "agent_id"),
    ("gen_ai.agent.name", "agent_type"),
    ("gen_ai.agent.name", "agent"),
    ("gen_ai.tool.name", "tool_name"),
    ("interpose.tool.host_name", "host_tool_name"),
    ("gen_ai.tool.call.id", "tool_use_id"),
    ("gen_ai.request.model", "model"),
)
_OPERATIONS = {"tool_name": "execute_tool", "agent_type": "invoke_agent", "agent": "invoke_agent"}
"""What the host is about to do, or has done, by what a matcher is compared with."""


class Words:
    """Texts as they may leave the process: without secrets, and short."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._names: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return what may be said of a text; redacted before it is cut, for half a secret is not recognised."""
        if len(text) > LONGEST_READ:
            return f"[{len(text)} characters]"
        try:
            text = clean(self._redact(text))  # one lone surrogate, and an exporter could not send anything
        except Exception:  # the host's own rules
            return f"[{len(text)} characters that cannot be redacted]"
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

    def name(self, text: str) -> str:
        """Return the same for a text that comes again and again; what was made of it is kept."""
        known = self._names.get(text)
        if known is None:
            known = self.text(text)
            if len(self._names) >= MOST_NAMES:
                self._names.clear()
            self._names[text] = known
        return known


def of_firing(row: EventSpec, fields: Mapping[str, Any], words: Words) -> Attributes:
    """Return what is known when an event is fired."""
    said: Attributes = {"interpose.event": row.name}
    for attribute, field in _GEN_AI:
        value = fields.get(field)
        if field in row.fields and type(value) is str and value:
            said[attribute] = words.name(value)
    operation = _OPERATIONS.get(row.subject or "")
    if operation is None and "prompt" in row.fields and "model" in row.fields:
        operation = "chat"
    if operation is not None:
        said["gen_ai.operation.name"] = operation
    return said


def of_outcome(outcome: Outcome, hooks: int, words: Words) -> Attributes:
    """Return what came out of a firing, and of how many hooks."""
    said: Attributes = {"interpose.decision": outcome.decision, "interpose.hooks": hooks}
    if outcome.reason:
        said["interpose.reason"] = words.text(outcome.reason)
    if outcome.keep_going:
        said["interpose.keep_going"] = True
    if outcome.ignored:
        said["interpose.ignored"] = len(outcome.ignored)
    if "off" in outcome.extra:
        said["interpose.off"] = words.text(str(outcome.extra["off"]))
    if outcome.shadow is not None:
        said["interpose.shadow.decision"] = outcome.shadow.decision
    return said


def of_hook(step: Step, session: object, round: int, background: bool, words: Words) -> Attributes:
    """Return what is known when a hook starts."""
    hook = step.hook
    said: Attributes = {
        "interpose.event": hook.event,
        "interpose.hook": words.name(hook.label),
        "interpose.type": hook.type,
        "interpose.priority": hook.priority,
        "interpose.layer": hook.layer,
        "interpose.round": round,
        "interpose.enforced": step.enforced,
    }
    if type(session) is str:
        said["gen_ai.conversation.id"] = words.name(session)  # by which backends find all spans of a session
    if hook.scope is not None:
        said["interpose.scope"] = words.name(hook.scope)
    if background:
        said["interpose.background"] = True
    return said


def of_run(ran: HookRun, words: Words) -> Attributes:
    """Return what became of a hook."""
    effect = ran.effect
    said: Attributes = {
        "interpose.status": ran.status,
        "interpose.decision": (effect.decision or "none") if effect is not None else "none",
    }
    if effect is not None and effect.reason:
        said["interpose.reason"] = words.text(effect.reason)
    if ran.error is not None:
        said["error.type"] = ran.error.code
    return said


def of_permission(permission: Permission, words: Words) -> Attributes:
    """Return what was decided about a call, and by whom or what."""
    said: Attributes = {
        "interpose.permission.verdict": permission.verdict,
        "interpose.permission.by": permission.by,
        "gen_ai.tool.name": words.name(permission.tool_name),
        "gen_ai.tool.call.id": words.text(permission.tool_use_id),
        "gen_ai.conversation.id": words.name(permission.session_id),
        "gen_ai.agent.id": words.name(permission.agent_id),
    }
    for name in ("rule", "place", "hook", "mode", "remembered"):
        if text := getattr(permission, name):
            said[f"interpose.permission.{name}"] = words.name(text)
    if permission.reason:
        said["interpose.reason"] = words.text(permission.reason)
    return said
