"""Agents that say they take Claude Code's shape, and take a part of it: what they read is a table of words.

None of them was run here. What is written is what their documentation, their source or reports say that they honour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, hook_specific
from .predictions import object_in, specific, text_in

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["ShapedDialect"]


class ShapedDialect(BaseDialect):
    """The dialect of an agent that denies on exit status 2 and reads a part of Claude's answers."""

    SPECIFIC = True
    """Whether ``hookSpecificOutput`` is read; else a deny is ``decision`` and ``reason`` alone."""
    DENY_WORD = "block"
    """The word of ``decision`` that denies, where that is read."""
    STOP_SPECIFIC = False
    """Whether the block at Stop is inside of ``hookSpecificOutput``."""
    PLAIN_CONTEXT = ""
    """Events at which plain standard output is the context."""
    EXIT_2_EVERYWHERE = True
    """Whether exit status 2 blocks at other events than PreToolUse."""
    DENY_STATUS = 2

    def event_of(self, name: str) -> str:
        """Return our name of an event of the agent."""
        return self.EVENTS.get(name, name)

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {"systemMessage": wish.message} if wish.message else {}
        own: dict[str, Any] = {"additionalContext": wish.context} if wish.context else {}
        if wish.stop:
            body |= {"continue": False, "stopReason": wish.stop}
        if self.event_of(name) == "PreToolUse" and self.SPECIFIC:
            if text := wish.deny or wish.ask:
                own |= {"permissionDecision": "deny" if wish.deny else "ask", "permissionDecisionReason": text}
            elif wish.granted:
                own["permissionDecision"] = "allow"
            if wish.input is not None:
                own["updatedInput"] = wish.input
        elif self.event_of(name) == "PermissionRequest" and self.SPECIFIC:
            if wish.deny or wish.granted:
                own["decision"] = {"behavior": "deny", "message": wish.deny} if wish.deny else {"behavior": "allow"}
        elif text := wish.deny:
            body |= {"decision": self.DENY_WORD, "reason": text}
        elif wish.ask:
            body |= {"decision": "ask", "reason": wish.ask}
        elif wish.keep_going and self.STOP_SPECIFIC:
            own |= {"decision": "block", "reason": wish.keep_going}
        elif wish.keep_going:
            body |= {"decision": "block", "reason": wish.keep_going}
        body |= hook_specific(name, **own) if own else {}
        return body or None

    def _answer(self, name: str, wish: Wish, unsaid: Any) -> Any:
        if name in self.PLAIN_CONTEXT.split() and wish.context and not wish.deny:
            return super()._answer(name, Wish(), unsaid)._replace(stdout=wish.context + "\n")
        return super()._answer(name, wish, unsaid)

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        event, can = self.event_of(name), self._can(name)
        if ended.status == 2 and "deny" in can and (event == "PreToolUse" or self.EXIT_2_EVERYWHERE):
            return then.refused_prompt() if event == "UserPromptSubmit" else then.stopped_tool("stderr")
        if ended.status == 2 and "keep_going" in can and self.EXIT_2_EVERYWHERE:
            return then.sent_back("stderr")
        if ended.status != 0:
            return then.ordinary()
        said = object_in(ended.stdout.strip())
        if said is None:
            is_context = ended.stdout.strip() and name in self.PLAIN_CONTEXT.split()
            return then.ordinary("stdout") if is_context else then.ordinary()
        own = specific(said) if self.SPECIFIC else {}
        if said.get("continue") is False and "stop" in can:
            return (
                then.refused_prompt() if event == "UserPromptSubmit" else then.ended_run(tool_ran=event != "PreToolUse")
            )
        context = ["context"] if text_in(own, "additionalContext") and "context" in can else []
        if event == "PreToolUse" and self.SPECIFIC:
            decision = own.get("permissionDecision")
            if decision == "deny" or (decision == "ask" and "ask" in can):
                return then.stopped_tool("reason", asks=decision == "ask")
            has_input = isinstance(own.get("updatedInput"), dict) and "input" in can
            return then.rewritten(*context) if has_input else then.ordinary(*context)
        if event == "PermissionRequest" and self.SPECIFIC:
            decision = own.get("decision")
            denies = isinstance(decision, dict) and decision.get("behavior") == "deny"
            return then.stopped_tool("reason") if denies else then.ordinary()
        if "deny" in can and said.get("decision") in ("block", self.DENY_WORD):
            return then.refused_prompt() if event == "UserPromptSubmit" else then.stopped_tool("reason")
        if "ask" in can and said.get("decision") == "ask":
            return then.stopped_tool("reason", asks=True)
        where = own if self.STOP_SPECIFIC else said
        if "keep_going" in can and where.get("decision") == "block" and text_in(where, "reason"):
            return then.sent_back("reason")
        return then.ordinary(*context)
