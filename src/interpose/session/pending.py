"""A tool call with an open question, written down and read back, also by another process.

What is written down has no answer in it: a call that is resumed is asked about again. It is not shown to hooks again.
So it is sealed, and a hash of the hooks and rules is a part of it: a call that a model has written or changed is
refused, and a call that other hooks have seen is too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..errors import CallChanged, UsageError
from ..matching.declared_tools import same_value
from ..model import Hook, Template, make_outcome
from ..records import Record
from ..runtime.regex import regex
from .calls import BegunTool, Schema, hook_that_decided
from .permission import Verdict
from .sealed import AGAIN, read_sealed, seal

if TYPE_CHECKING:
    from .session import Session

__all__ = ["resume_call", "write_call"]

_ADDRESS = regex(r" at 0x[0-9A-Fa-f]+")
_HOOK_PARTS = ("event", "label", "type", "matcher", "condition", "priority", "timeout", "on_error", "enforce", "locked",
               "parallel", "once", "scope", "layer", "source", "dialect")  # fmt: skip


class _SaidBefore(Record, kw_only=False):
    """What hooks said in the process that wrote the call down: they ask, or say nothing."""

    decision: str
    reason: str
    hook: str = ""
    place: str = ""
    granted: bool = False


def write_call(call: BegunTool) -> dict[str, Any]:
    """Return a call that is asked about as sealed JSON values."""
    session, verdict, permission = call._session, call._verdict, call.permission
    if not _is_json(call._given) or not _is_json(call._shown):
        raise UsageError(f"the input of this call of {call.name} is not JSON", hint="give the session view=json_view")
    return seal({
        "session_id": session.session_id, "agent_id": session.agent_id, "id": call.id, "tool_name": call.name,
        "given": call._given, "shown": call._shown, "is_view": call.input is not call._shown, "kind": call.kind,
        "leaves_out": call._leaves_out, "fields": dict(call._fields), "hooks": _fingerprint(session),
        "decision": call._said.decision, "verdict": [getattr(verdict, part) for part in type(verdict)._parts],
        "asked_at": permission.asked_at if permission else None, **hook_that_decided(call._said),
    })  # fmt: skip


async def resume_call(
    session: Session, pending: Mapping[str, Any], given: tuple[Any, ...], schema: Schema
) -> BegunTool:
    """Return the call that was written down, if nothing has changed since; ``given`` has the input, if there is one."""
    body = read_sealed(pending)
    for name, now in (("session", session.session_id), ("agent", session.agent_id)):
        if body[f"{name}_id"] != now:
            then = body[f"{name}_id"]
            raise CallChanged(f"the call belongs to the {name} {then}, not to {now}", hint=f"resume it in that {name}")
    if body["hooks"] != _fingerprint(session):
        raise CallChanged("the hooks or the rules have changed since the call was asked about", hint=AGAIN)
    if not given and body["is_view"]:
        raise UsageError("the input is an object that was not written down", hint="pass it as input=")
    value = given[0] if given else body["given"]
    name, options = body["tool_name"], (body["kind"], body["leaves_out"], body["fields"])
    call = BegunTool(session, name, value, body["id"], schema, *options)
    if not same_value(call._given, body["given"]):
        raise CallChanged("the input of the call has changed since it was asked about", hint=AGAIN)
    if not body["is_view"]:
        call.input = body["shown"]
    await _restore(call, body)
    return call


async def _restore(call: BegunTool, body: dict[str, Any]) -> None:
    """Let a call be the one that was written down; rules and the mode that hold now may deny it."""
    session = call._session
    call._shown, call._verdict = body["shown"], Verdict(*body["verdict"])
    call._said = _SaidBefore(body["decision"], call._verdict.reason, body.get("hook", ""), body.get("place", ""))
    row = session._engine.engine.table["PreToolUse"]
    call._decided_by = make_outcome(Template(row, session.session_id), call._event(session._common()))
    call._hook_set = session._permission_cache.hook_set
    verdict = call._judge()
    if halted := session._halted_answer():
        await call.halt(halted)
    elif verdict.what == "refuse":
        await call._follow(verdict)
    else:
        await call._wait_for(call._make_question(), body["asked_at"])


def _fingerprint(session: Session) -> str:
    """Return a hash of the hooks and rules that judge the session's calls, which is the same in another process.

    Of a Python function it knows the name, not what the function does.
    """
    engine = session._engine
    digests = [origin.digest for origin in getattr(engine, "origins", ())]
    parts = [*digests, repr(session.rules), *map(_hook_text, session._hook_set())]
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _hook_text(hook: Hook) -> str:
    handler = hook.handler
    named = getattr(handler, "__qualname__", None)
    shown = f"{getattr(handler, '__module__', '')}.{named}" if named else _ADDRESS.sub("", repr(handler))
    return "\t".join([shown, *(repr(getattr(hook, name)) for name in _HOOK_PARTS)])


def _is_json(value: Any) -> bool:
    """Say whether a value is the same after it was written as JSON and read."""
    try:
        return same_value(json.loads(json.dumps(value, allow_nan=False)), value)
    except (TypeError, ValueError, RecursionError):
        return False
