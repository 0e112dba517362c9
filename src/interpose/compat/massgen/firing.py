"""Translation of a tool call to the engine and back.

``fire`` fires the call; ``hook_arguments`` and ``function_arguments`` make a hook's arguments from the engine's event,
``reply`` makes a reply from its answer. ``single`` and ``aggregate`` make a HookResult from the outcome.
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
from .._adapter import Arguments, read_reply
from .types import HookEvent, HookResult, HookType

__all__ = ["aggregate", "event_of", "fire", "function_arguments", "hook_arguments", "reply", "single"]

_LONGEST_PREVIEW = 100


@dataclass(frozen=True, slots=True)
class _CurrentCall:
    """A tool call as the host described it."""

    arguments: str
    tool_input: dict[str, Any]
    context: Mapping[str, Any]


_current_call: ContextVar[_CurrentCall] = ContextVar("interpose_massgen_call")
"""The current call. Its context may hold objects that cannot be copied, so it is not a part of the engine's event."""


def event_of(hook_type: object) -> str:
    """Return the engine's event for a HookType or its value."""
    after = (HookType.POST_CALL, HookType.POST_TOOL_USE)
    return "PostToolUse" if hook_type in after or hook_type in [kind.value for kind in after] else "PreToolUse"


async def fire(
    hooks: Hooks, event: str, function_name: str, arguments: str, context: Mapping[str, Any]
) -> tuple[Outcome, dict[str, Any]]:
    """Fire a tool call; return the outcome, and the input before hooks changed it."""
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
    before = _current_call.set(_CurrentCall(arguments, tool_input, context))
    try:
        return await hooks.fire(event, **fields), tool_input
    finally:
        _current_call.reset(before)


def _parsed(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments) if arguments else {}
    except ValueError:
        return {"raw": arguments}
    return value if isinstance(value, dict) else {"raw": value}


# From the engine to a hook.


def hook_arguments(event: Event) -> Arguments:
    """Return the arguments of a FunctionHook: the function's name, its arguments as text, the context."""
    call = _current_call.get()
    unchanged = event["tool_input"] == call.tool_input
    return event["tool_name"], call.arguments if unchanged else json.dumps(event["tool_input"]), dict(call.context)


def function_arguments(event: Event) -> Arguments:
    """Return the argument of a plain function: a HookEvent."""
    context = _current_call.get().context
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
    """Return the engine's reply for an answer: a HookResult, a mapping, a reply, or None."""
    if answer is None:
        return None
    if isinstance(answer, HookResult):
        words = answer.to_dict()
        # What it says about other hooks is not a part of its answer.
        for name in ("hook_errors", "hook_name", "hook_type", "execution_time_ms", "executed_hooks"):
            del words[name]
        return read_reply(event.row, _with_current_fields(words), answer)
    if isinstance(answer, Mapping):
        return read_reply(event.row, _with_current_fields(dict(answer)), HookResult.from_dict(dict(answer)))
    return read_reply(event.row, answer, answer)  # a reply, or something that the engine refuses


def _with_current_fields(words: dict[str, Any]) -> dict[str, Any]:
    """Move the fields of older results to the current ones."""
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
    """Return the object of a JSON text; anything else is returned as it is, and the engine refuses it."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return text
    return value if isinstance(value, dict) else text


# From the engine to the host.


def single(outcome: Outcome) -> HookResult:
    """Return the result of the only hook of a firing; an allow if it did not run or is not enforced."""
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
    """Return the result of all hooks of a firing."""
    result = HookResult(outcome=outcome)
    for ran in outcome.results:
        if ran.status != "skipped" or ran.error is not None:
            _add_run(result, ran, "post" if outcome.event == "PostToolUse" else "pre")
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


def _add_run(result: HookResult, ran: Result, kind: str) -> None:
    """Add the run of one hook to the result."""
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
    """Return a hook's answer as a HookResult, also if it returned a reply of the engine."""
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
    """Return a hook's reason; if it failed without an answer, how it failed."""
    if ran.error is not None and ran.reply is None:
        return _failure(ran)
    return ran.reason or _said(ran).reason or None


def _why_denied(outcome: Outcome) -> str:
    decisive = next(ran for ran in outcome.results if ran.decision == "deny")
    return _reason(decisive) or f"Denied by hook {decisive.hook}"


def _combined(injections: Sequence[Injection]) -> dict[str, Any] | None:
    """Return several injections as one; if their strategies differ, it also lists each of them."""
    if not injections:
        return None
    combined: dict[str, Any] = {
        "content": "\n".join(item.content for item in injections),
        "strategy": injections[-1].strategy,
    }
    if len({item.strategy for item in injections}) > 1:
        combined["injections"] = [item.to_dict() for item in injections]
    return combined
