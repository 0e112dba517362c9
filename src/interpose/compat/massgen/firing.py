"""The way of one tool call through the engine and back: MassGen's arguments in, its results out.

``fire`` tells the engine of the call; ``hand_to_hook`` and ``hand_to_function`` make a hook's arguments of the engine's
event, ``reply`` makes a reply of its answer. ``single`` and ``aggregate`` say in MassGen's words what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ...event import Event
from ...hooks import Hooks
from ...model import Injection, Outcome, Result
from ...replies import Reply
from .._calling import Arguments, understood
from .nouns import HookEvent, HookResult, HookType

__all__ = ["aggregate", "event_of", "fire", "hand_to_function", "hand_to_hook", "reply", "single"]

_LONGEST_PREVIEW = 100


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool call as the host described it."""

    arguments: str
    tool_input: dict[str, Any]
    context: Mapping[str, Any]


_call: ContextVar[_Call] = ContextVar("interpose_massgen_call")
"""The call that this code runs inside of. Its context may hold what cannot be copied, so the engine never sees it."""


def event_of(hook_type: object) -> str:
    """Return the engine's event for a type of hook, given as such or by its value."""
    after = (HookType.POST_CALL, HookType.POST_TOOL_USE)
    return "PostToolUse" if hook_type in after or hook_type in [kind.value for kind in after] else "PreToolUse"


async def fire(
    hooks: Hooks, event: str, function_name: str, arguments: str, context: Mapping[str, Any]
) -> tuple[Outcome, dict[str, Any]]:
    """Fire a tool call; return what the engine says, and the input that the hooks began with."""
    tool_input = _parsed(arguments)
    fields: dict[str, Any] = {
        "tool_name": function_name,
        "tool_input": tool_input,
        "session_id": str(context.get("session_id") or ""),
        "orchestrator_id": str(context.get("orchestrator_id") or ""),
    }
    if context.get("agent_id"):
        fields["agent_id"] = str(context["agent_id"])
    if event == "PostToolUse":
        fields["tool_response"] = context.get("tool_output")
    before = _call.set(_Call(arguments, tool_input, context))
    try:
        return await hooks.fire(event, **fields), tool_input
    finally:
        _call.reset(before)


def _parsed(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments) if arguments else {}
    except ValueError:
        return {"raw": arguments}
    return value if isinstance(value, dict) else {"raw": value}


# From the engine to a hook.


def hand_to_hook(event: Event) -> Arguments:
    """Return what a FunctionHook is called with: the function's name, its arguments as text, the context."""
    call = _call.get()
    unchanged = event["tool_input"] == call.tool_input
    return event["tool_name"], call.arguments if unchanged else json.dumps(event["tool_input"]), dict(call.context)


def hand_to_function(event: Event) -> Arguments:
    """Return what a plain function is called with: a HookEvent."""
    context = _call.get().context
    after = event["hook_event_name"] == "PostToolUse"
    return (
        HookEvent(
            hook_type=event["hook_event_name"],
            session_id=event["session_id"],
            orchestrator_id=event["orchestrator_id"],
            agent_id=context.get("agent_id"),
            timestamp=datetime.now(UTC),
            tool_name=event["tool_name"],
            tool_input=event["tool_input"],
            tool_output=_text(event["tool_response"]) if after else None,
        ),
    )


def _text(output: Any) -> str | None:
    return output if output is None or isinstance(output, str) else json.dumps(output, default=str)


def reply(event: Event, _: Arguments, answer: Any) -> Any:
    """Return what the engine is to make of an answer: a HookResult, a mapping, a reply of its own, or nothing."""
    if answer is None:
        return None
    if isinstance(answer, HookResult):
        words = answer.to_dict()
        # Its account of earlier hooks is not something that it says.
        for name in ("hook_errors", "hook_name", "hook_type", "execution_time_ms", "executed_hooks"):
            del words[name]
        return understood(event.row, _todays(words), answer)
    if isinstance(answer, Mapping):
        return understood(event.row, _todays(dict(answer)), HookResult.from_dict(dict(answer)))
    return understood(event.row, answer, answer)  # a reply, or no answer at all: the engine knows


def _todays(words: dict[str, Any]) -> dict[str, Any]:
    """Say what older results said elsewhere in the words of today."""
    modified = words.pop("modified_args", None)
    if modified is not None:
        words["updated_input"] = _object_in(modified)
    metadata = words.pop("metadata", None)
    if not words.get("reason") and isinstance(metadata, Mapping):
        words["reason"] = metadata.get("reason")
    injected = words.get("inject")
    if isinstance(injected, Mapping) and not injected.get("content"):
        del words["inject"]
    return words


def _object_in(text: Any) -> Any:
    """Return the object that a JSON text holds; what is none stays as it is, for the engine to refuse."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return text
    return value if isinstance(value, dict) else text


# From the engine to the host.


def single(outcome: Outcome) -> HookResult:
    """Return what the only hook of a firing answered; an allow if it did not run, or if nothing is enforced."""
    ran = next(iter(outcome.results), None)
    if ran is None or not ran.enforced:
        return HookResult(outcome=outcome)
    said = replace(_said(ran), outcome=outcome)
    if ran.error is not None:
        said = replace(said, hook_errors=[*_errors(said), _failure(ran)])
    if ran.decision == "deny":
        return replace(said, allowed=False, reason=_reason(ran))
    return replace(said, decision="ask", reason=_reason(ran)) if ran.decision == "ask" else said


def aggregate(outcome: Outcome, tool_input: dict[str, Any]) -> HookResult:
    """Return what all hooks of a firing came to."""
    result = HookResult(outcome=outcome)
    for ran in outcome.results:
        if ran.status != "skipped" or ran.error is not None:
            _note(result, ran, "post" if outcome.event == "PostToolUse" else "pre")
    if outcome.denied:
        result.allowed, result.decision, result.reason = False, "deny", _why_denied(outcome)
        return result
    if outcome.decision == "ask":
        result.decision, result.reason = "ask", outcome.reason or None
    if outcome.input["tool_input"] != tool_input:
        result.updated_input = outcome.input["tool_input"]
        result.modified_args = json.dumps(result.updated_input)
    result.inject = _combined(outcome.inject)
    return result


def _note(result: HookResult, ran: Result, kind: str) -> None:
    """Write one run down: that it was, how it ended, and what went wrong in it."""
    said = _said(ran)
    decision: str = ran.decision if ran.decision in ("deny", "ask") else said.decision
    if ran.error is not None:
        decision = ran.decision if ran.decision == "deny" else "error"
        result.add_error(_failure(ran))
    result.hook_errors.extend(_errors(said))
    content = said.inject.get("content") if isinstance(said.inject, Mapping) else None
    content = content if isinstance(content, str) and content else None
    preview = content
    if content is not None and len(content) > _LONGEST_PREVIEW:
        preview = content[:_LONGEST_PREVIEW] + "..."
    result.add_executed_hook(ran.hook, kind, decision, _reason(ran), ran.duration * 1000, preview, content)


def _said(ran: Result) -> HookResult:
    """Return a hook's answer as a HookResult, also where it spoke in the engine's words."""
    said = ran.evidence.get("said")
    if isinstance(said, HookResult):
        return said
    if ran.reply is None:
        return HookResult()
    spoken: Reply = ran.reply
    return HookResult(
        decision=spoken.decision or "allow",
        reason=spoken.reason or None,
        updated_input=spoken.changes.get("tool_input", spoken.changes.get("args")),
        inject=_combined(spoken.inject),
    )


def _errors(said: HookResult) -> list[str]:
    # A hook's own mapping may hold anything there.
    return [str(error) for error in said.hook_errors] if isinstance(said.hook_errors, list) else []


def _failure(ran: Result) -> str:
    how = "timed out" if ran.status == "timeout" else "failed"
    return f"Hook {ran.hook} {how}: {ran.error}"


def _reason(ran: Result) -> str | None:
    """Return what a hook gave as its reason; where it failed without an answer, how."""
    if ran.error is not None and ran.reply is None:
        return _failure(ran)
    return ran.reason or _said(ran).reason or None


def _why_denied(outcome: Outcome) -> str:
    decisive = next(ran for ran in outcome.results if ran.decision == "deny")
    return _reason(decisive) or f"Denied by hook {decisive.hook}"


def _combined(injections: Sequence[Injection]) -> dict[str, Any] | None:
    """Return several injections as one; where their channels differ, each is also there by itself."""
    if not injections:
        return None
    combined: dict[str, Any] = {
        "content": "\n".join(item.content for item in injections),
        "strategy": injections[-1].strategy,
    }
    if len({item.strategy for item in injections}) > 1:
        combined["injections"] = [item.to_dict() for item in injections]
    return combined
