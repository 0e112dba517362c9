"""A policy as a hook: it judges a call with its parameters and answers with the strictest objection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..events import TABLE
from ..handlers.projects import project_directory
from ..matching import Condition
from ..model import STRICTNESS
from ..records import Record, made_by, replace
from ..replies import Reply, ask, deny
from .call import Call
from .effects import shown
from .parameters import written
from .policy import Action, Objection, Options, Policy

__all__ = ["PolicyHook", "SharedCalls", "shared_calls"]

_MOST_REASONS = 3
_LONGEST_REASON = 1_000


class SharedCalls:
    """The call that the policies of one firing judge: read once, and not once for each of them."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Call, tuple[object, ...]]] = {}

    def forget(self) -> None:
        """Forget the call before the next firing."""
        self._calls.clear()

    def call(self, event: Any, project: str) -> Call:
        """Return the call of an event; another one if a hook has changed the input meanwhile."""
        given = event.get("tool_name"), event.get("host_tool_name"), event.get("tool_input"), event.get("cwd")
        found = self._calls.get(project)
        if found is None or found[1] != given:
            found = self._calls[project] = _call_of(event, project), given
        return found[0]


_sharing: list[SharedCalls] = []


@contextmanager
def shared_calls() -> Iterator[SharedCalls]:
    """Let policies share calls for the duration of a block, in which one thread fires one event after the other."""
    _sharing.append(SharedCalls())
    try:
        yield _sharing[-1]
    finally:
        _sharing.pop()


def _call_of(event: Any, project: str) -> Call:
    return Call(event, partial(project_directory, project, event.get("cwd")))


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
    """The project of the configuration that the policy stands in; nothing if it is a person's."""

    given: Mapping[str, Any] = made_by(factory=dict)
    """The parameters that differ from the policy's own, as they are written."""

    def __str__(self) -> str:
        changed = [f"{name}: {written(value)}" for name, value in self.given.items()]
        return f"the policy {self.policy.name}" + (f" with {'; '.join(changed)}" if changed else "")

    def __repr__(self) -> str:
        return f"<{self}>"

    def __call__(self, event: Any) -> Any:
        """Answer an event: of a tool whose name can be read in several ways, with the strictest of the answers."""
        names = event.get("tool_readings")
        if not isinstance(names, list):
            return self._answered(event)
        replies = [self._answered(event | {"tool_name": name}) for name in names]
        return max(replies, key=lambda one: (STRICTNESS[getattr(one, "decision", None) or "none"], one is not None))

    def _answered(self, event: Any) -> Any:
        if any(rule.covers(event) for rule in self.allowed):
            return None
        if self.function is not None:
            return self._adjusted(self.function(event, self.options))
        return self.answer(_sharing[-1].call(event, self.project) if _sharing else _call_of(event, self.project))

    def answer(self, call: Call) -> Reply | None:
        """Answer a call: the strictest of the objections, with its reasons."""
        objections = sorted(self.objections(call), key=lambda one: -STRICTNESS[one.action])
        if not objections:
            return self._changed(call)
        strictest = objections[0].action
        reasons = list(dict.fromkeys(one.reason for one in objections if one.action == strictest))
        said = "; ".join(reasons[:_MOST_REASONS])
        if len(reasons) > _MOST_REASONS:
            said += f"; and {len(reasons) - _MOST_REASONS} more"
        text = f"{self.name}: {shown(said)[:_LONGEST_REASON]}" + (f". {self.hint}" if self.hint else "")
        return deny(text) if strictest == "deny" else ask(text)

    def _changed(self, call: Call) -> Reply | None:
        """Return what the policy changes in a call; with ``onMatch`` it is denied or asked about unchanged."""
        reply = None if self.policy.change is None else self.policy.change(call, self.options)
        if reply is None or self.on_match is None:
            return reply
        text = f"{self.name}: {' '.join(reply.context)}" + (f" {self.hint}" if self.hint else "")
        return deny(text) if self.on_match == "deny" else ask(text)

    def _adjusted(self, reply: Any) -> Any:
        """Return the reply of the policy's own function with the decision of ``onMatch`` and the hint."""
        if not isinstance(reply, Reply) or reply.decision not in ("deny", "ask"):
            return reply
        may = self.on_match if self.on_match in TABLE.find(self.event)[0].can else None
        reason = f"{reply.reason}. {self.hint}" if self.hint else reply.reason
        return replace(reply, decision=may or reply.decision, reason=reason)

    def objections(self, call: Call) -> Iterator[Objection]:
        """Yield what the policy has against a call, as its parameters say."""
        if self.policy.judge is not None:
            for one in self.policy.judge(call, self.options):
                if one.action != "allow" and (one.grade != "opaque" or self.unreadable != "allow"):
                    yield one if self.on_match is None else one._replace(action=self.on_match)
        if self.policy.reads_lines and self.unreadable != "allow":
            for reason in call.unreadable:
                yield Objection("ask", f"the command line cannot be read: {reason}", "opaque")
