"""Answers of hooks as Claude Code reads them, and short words to have them read."""

import json
from typing import Any

from interpose import Reply
from interpose.decide import on_failure, weigh
from interpose.dialects import claude
from interpose.events import TABLE, EventSpec
from interpose.model import Hook, HookEffect
from interpose.replies import Ended, Failure

PRE = "PreToolUse"
CLIENTS = [name for name in TABLE if ":" not in name]


def row_of(event: str) -> EventSpec:
    return TABLE[event]


def ended(stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Ended:
    if isinstance(stdout, dict):
        stdout = json.dumps(stdout)
    return Ended(stdout=stdout.encode() if isinstance(stdout, str) else stdout, status=status, stderr=stderr, **more)


def read(event: str, stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Reply | Failure:
    blocks = more.pop("blocks", False)
    return claude.read(row_of(event), ended(stdout, status, stderr, **more), blocks=blocks)


def reply(event: str, stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Reply:
    found = read(event, stdout, status, stderr, **more)
    assert isinstance(found, Reply), found
    return found


def failure(event: str, stdout: Any = b"", status: int = 0, stderr: str = "", **more: Any) -> Failure:
    found = read(event, stdout, status, stderr, **more)
    assert isinstance(found, Failure), found
    return found


def specific(event: str = PRE, **said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


def permission(decision: str, reason: str = "") -> dict[str, Any]:
    return specific(permissionDecision=decision, permissionDecisionReason=reason)


def what_happens(event: str, found: Reply | Failure) -> HookEffect:
    """What the engine makes of it for a hook that was declared in this dialect."""
    row = row_of(event)
    if isinstance(found, Reply):
        return weigh(row, found)
    return on_failure(row, Hook(row=row, handler="x", on_error="log"), found, "log") or HookEffect()


ALLOWING, DENYING = permission("allow"), permission("deny", "own")

FAILED = 'failed; blocking because onFailure is "block"'
