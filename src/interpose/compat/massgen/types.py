"""The types of MassGen's hooks: HookType, HookEvent, HookResult."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Self

from ...model import Outcome

__all__ = ["HookEvent", "HookResult", "HookType"]


class HookType(Enum):
    """When a hook runs; the first two are older names for the same moments."""

    PRE_CALL = "pre_call"
    POST_CALL = "post_call"
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"


@dataclass
class HookEvent:
    """A tool call as a hook gets it; ``tool_output`` is set after the tool ran."""

    hook_type: str
    session_id: str
    orchestrator_id: str
    agent_id: str | None
    timestamp: datetime
    tool_name: str
    tool_input: dict[str, Any]
    tool_output: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, the time in ISO 8601."""
        return {**_shallow(self), "timestamp": self.timestamp.isoformat()}

    def to_json(self) -> str:
        """Return it as JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the event that ``to_dict`` wrote."""
        return cls(**{**data, "timestamp": datetime.fromisoformat(data["timestamp"])})


@dataclass
class HookResult:
    """The result of one hook or of all hooks. ``allowed`` and ``decision`` always agree about a deny."""

    allowed: bool = True
    metadata: dict[str, Any] = field(default_factory=dict)
    modified_args: str | None = None
    decision: Literal["allow", "deny", "ask"] = "allow"
    reason: str | None = None
    updated_input: dict[str, Any] | None = None
    inject: dict[str, Any] | None = None
    hook_errors: list[str] = field(default_factory=list)
    hook_name: str | None = None
    hook_type: str | None = None
    execution_time_ms: float | None = None
    executed_hooks: list[dict[str, Any]] = field(default_factory=list)
    outcome: Outcome | None = field(default=None, compare=False, repr=False)
    """The engine's outcome, with everything that MassGen has no field for."""

    def __post_init__(self) -> None:
        if not self.allowed:
            self.decision = "deny"
        elif self.decision == "deny":
            self.allowed = False

    @classmethod
    def allow(cls) -> Self:
        """Return a result that allows the call."""
        return cls()

    @classmethod
    def deny(cls, reason: str | None = None) -> Self:
        """Return a result that denies the call."""
        return cls(allowed=False, reason=reason)

    @classmethod
    def ask(cls, reason: str | None = None) -> Self:
        """Return a result that asks a person; ``allowed`` stays True."""
        return cls(decision="ask", reason=reason)

    def add_error(self, error: str) -> None:
        """Add a failure that did not deny the call."""
        self.hook_errors.append(error)

    def has_errors(self) -> bool:
        """Say whether there is a failure."""
        return bool(self.hook_errors)

    def add_executed_hook(
        self,
        hook_name: str,
        hook_type: str,
        decision: str,
        reason: str | None = None,
        execution_time_ms: float | None = None,
        injection_preview: str | None = None,
        injection_content: str | None = None,
    ) -> None:
        """Add a hook that ran."""
        run = {name: value for name, value in locals().items() if name != "self"}
        self.executed_hooks.append(run)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, without the engine's outcome."""
        said = _shallow(self)
        del said["outcome"]
        return said

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the result that a mapping describes; unknown keys are ignored."""
        known = {item.name for item in fields(cls)} - {"outcome"}
        return cls(**{name: value for name, value in data.items() if name in known})


def _shallow(value: HookEvent | HookResult) -> dict[str, Any]:
    return {item.name: getattr(value, item.name) for item in fields(value)}
