"""A policy as a hook: it judges a call with its parameters and answers with the strictest objection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..matching import Condition
from ..model import STRICTNESS
from ..records import Record, replace
from ..replies import Reply, ask, deny
from .call import Call, project_of
from .effects import shown
from .policy import Action, Objection, Options, Policy

__all__ = ["PolicyHook"]

_MOST_REASONS = 3
_LONGEST_REASON = 1_000
_CALLS = "PreToolUse"


class PolicyHook(Record):
    """A policy with its parameters, to be called with an event."""

    policy: Policy
    name: str
    """The name of the hook; that of the policy unless the configuration gives another."""
    options: Options
    event: str
    function: Callable[[Any, Options], Any] | None = None
    """The policy's function for this event; None if it judges calls."""
    allowed: tuple[Condition, ...] = ()
    on_match: Action | None = None
    hint: str = ""
    unreadable: str = "ask"
    project: str = ""

    def __call__(self, event: Any) -> Any:
        """Answer an event."""
        if any(rule.covers(event) for rule in self.allowed):
            return None
        if self.function is not None:
            return self.completed(self.function(event, self.options))
        return self.answer(Call(event, project_of(event, self.project)))

    def completed(self, reply: Any) -> Any:
        """Return the reply of a function with the name of the policy, the hint, and the action that was chosen."""
        if not isinstance(reply, Reply) or reply.decision not in ("deny", "ask"):
            return reply
        decision = self.on_match if self.on_match and self.event == _CALLS else reply.decision
        return replace(reply, decision=decision, reason=self._said(reply.reason))

    def answer(self, call: Call) -> Reply | None:
        """Answer a call: the strictest of the objections, with its reasons."""
        objections = sorted(self.objections(call), key=lambda one: -STRICTNESS[one.action])
        if not objections:
            return None
        strictest = objections[0].action
        reasons = list(dict.fromkeys(one.reason for one in objections if one.action == strictest))
        said = "; ".join(reasons[:_MOST_REASONS])
        if len(reasons) > _MOST_REASONS:
            said += f"; and {len(reasons) - _MOST_REASONS} more"
        text = self._said(shown(said)[:_LONGEST_REASON])
        return deny(text) if strictest == "deny" else ask(text)

    def objections(self, call: Call) -> Iterator[Objection]:
        """Yield what the policy has against a call, as its parameters say."""
        if self.policy.judge is not None:
            for one in self.policy.judge(call, self.options):
                if one.action != "allow":
                    yield one if self.on_match is None else one._replace(action=self.on_match)
        if self.policy.reads_lines and self.unreadable != "allow":
            for reason in call.unreadable:
                yield Objection("ask", f"the command line cannot be read: {reason}", "opaque")

    def _said(self, reason: str) -> str:
        return f"{self.name}: {reason}" + (f". {self.hint}" if self.hint else "")
