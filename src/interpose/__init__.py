"""Interpose: a hook engine for AI agents.

A host fires an event before or after something happens; the hooks that match it run, in order, each with a deadline;
the engine returns one outcome that tells the host what to do.
"""

import typing as _typing

from .errors import (
    BadEvent,
    BadHook,
    ConfigError,
    InterposeError,
    TooManyHooks,
    UnknownEvent,
    UnknownHook,
    UsageError,
)
from .event import Event
from .events import Row
from .hooks import Hooks
from .model import Hook, HookError, Outcome, Result
from .replies import Reply, allow, ask, context, deny, inject, modify

if _typing.TYPE_CHECKING:
    from .audit.store import AuditStore
    from .matching.shell import shell_commands
    from .session import Answer, Question, Session, SyncSession

__version__ = "0.1.0"

__all__ = ["Answer", "AuditStore", "BadEvent", "BadHook", "ConfigError", "Event", "Hook", "HookError", "Hooks",
           "InterposeError", "Outcome", "Question", "Reply", "Result", "Row", "Session", "SyncSession",
           "TooManyHooks", "UnknownEvent", "UnknownHook", "UsageError", "allow", "ask", "context", "deny", "inject",
           "modify", "shell_commands"]  # fmt: skip


def __getattr__(name: str) -> _typing.Any:
    """Load what not everybody needs when it is asked for."""
    if name in ("Answer", "Question", "Session", "SyncSession"):
        from . import session

        return getattr(session, name)
    if name == "AuditStore":
        from .audit.store import AuditStore

        return AuditStore
    if name == "shell_commands":
        from .matching.shell import shell_commands

        return shell_commands
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
