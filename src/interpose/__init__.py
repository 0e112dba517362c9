"""Interpose: a hook engine for AI agents.

A host fires an event before or after something happens; the hooks that match it run, in order, each with a deadline;
the engine returns one outcome that tells the host what to do.
"""

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
from .events import Row
from .hooks import Hooks
from .model import Hook, HookError, Outcome, Result
from .payload import Event
from .replies import Reply, allow, ask, context, deny, inject, modify

__version__ = "0.1.0"

__all__ = [
    "BadEvent",
    "BadHook",
    "ConfigError",
    "Event",
    "Hook",
    "HookError",
    "Hooks",
    "InterposeError",
    "Outcome",
    "Reply",
    "Result",
    "Row",
    "TooManyHooks",
    "UnknownEvent",
    "UnknownHook",
    "UsageError",
    "allow",
    "ask",
    "context",
    "deny",
    "inject",
    "modify",
]
