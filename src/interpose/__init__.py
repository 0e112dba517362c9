"""Interpose: a hook engine for AI agents.

A host fires an event before or after something happens; the hooks that match it run, in order, each with a deadline;
the engine returns one outcome that tells the host what to do.
"""

import typing as _typing
from importlib import import_module as _import_module

from .config.declare import HookOptions
from .config.mapping import LoadOptions, SettingOptions
from .engine import Recorder
from .errors import BadEvent, BadHook, ConfigError, InterposeError, TooManyHooks, UnknownEvent, UnknownHook, UsageError
from .event import Event
from .events import EventSpec
from .hooks import Hooks
from .model import Hook, HookError, Ignored, Injection, Outcome, Result
from .replies import Reply, allow, ask, context, deny, inject, modify

if _typing.TYPE_CHECKING:
    from .audit.retention import Retention
    from .audit.store import AuditStore
    from .handlers.processes import ProcessTree, tool_environment
    from .matching.shell import shell_commands
    from .scripts import Commands
    from .session import Answer, Question, Session, SessionOptions, SyncSession
    from .telemetry import TracingOptions

__version__ = "0.1.0"

__all__ = ["Answer", "AuditStore", "BadEvent", "BadHook", "Commands", "ConfigError", "Event", "EventSpec", "Hook",
           "HookError", "HookOptions", "Hooks", "Ignored", "Injection", "InterposeError", "LoadOptions", "Outcome",
           "ProcessTree", "Question", "Recorder", "Reply", "Result", "Retention", "Session", "SessionOptions",
           "SettingOptions", "SyncSession", "TooManyHooks", "TracingOptions", "UnknownEvent", "UnknownHook",
           "UsageError", "allow", "ask", "context", "deny", "inject", "modify", "shell_commands",
           "tool_environment"]  # fmt: skip

_LOADED_WHEN_READ = {
    "Answer": "session", "AuditStore": "audit.store", "Commands": "scripts", "ProcessTree": "handlers.processes",
    "Question": "session", "Retention": "audit.retention", "Session": "session", "SessionOptions": "session",
    "SyncSession": "session", "TracingOptions": "telemetry", "shell_commands": "matching.shell",
    "tool_environment": "handlers.processes",
}  # fmt: skip


def __getattr__(name: str) -> _typing.Any:
    """Load parts that not every host needs when they are first read."""
    if name in _LOADED_WHEN_READ:
        return getattr(_import_module(f"{__name__}.{_LOADED_WHEN_READ[name]}"), name)
    if name == "Row":
        import warnings

        warnings.warn("interpose.Row is called interpose.EventSpec now", DeprecationWarning, stacklevel=2)
        return EventSpec
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
