"""Agents whose hooks are functions of a plugin: opencode and Amp. The plugin is ours, and so are its words.

``attach`` writes the plugin. It starts the program with the event on standard input, throws if the program fails, and
else does what the answer says, in the shape that Claude Code has. So every failure denies, also a deadline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import predictions as then
from .base import BaseDialect, Wish, hook_specific
from .predictions import object_in, specific, text_in

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["PluginDialect"]


class PluginDialect(BaseDialect):
    """The dialect of a plugin of ours."""

    DENY_STATUS = 0

    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        body: dict[str, Any] = {}
        own: dict[str, Any] = {"additionalContext": wish.context} if wish.context else {}
        if self.EVENTS[name] == "PreToolUse":
            if text := wish.deny or wish.ask:
                own |= {"permissionDecision": "deny" if wish.deny else "ask", "permissionDecisionReason": text}
            elif wish.input is not None:
                own["updatedInput"] = wish.input
        elif wish.deny:
            body |= {"decision": "block", "reason": wish.deny}
        elif wish.result is not None:
            own["updatedToolOutput"] = wish.result
        body |= hook_specific(name, **own) if own else {}
        return body or None

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        event = self.EVENTS.get(name, "")
        said = object_in(ended.stdout) if ended.stdout.strip() else {}
        if ended.status != 0 or said is None:
            return {"PreToolUse": then.stopped_tool("stderr"), "PostToolUse": then.replaced_result("stderr"),
                    "UserPromptSubmit": then.refused_prompt()}.get(event, then.ordinary())  # fmt: skip
        own, context = specific(said), ["context"] if text_in(specific(said), "additionalContext") else []
        if event == "PreToolUse":
            if own.get("permissionDecision") in ("deny", "ask"):
                return then.stopped_tool("reason", asks=own["permissionDecision"] == "ask" and "ask" in self.CAN[name])
            return then.rewritten(*context) if "updatedInput" in own else then.ordinary(*context)
        if event == "PostToolUse":
            return then.replaced_result("result", *context) if "updatedToolOutput" in own else then.ordinary(*context)
        if event == "UserPromptSubmit" and said.get("decision") == "block":
            return then.refused_prompt()
        return then.ordinary(*context)
