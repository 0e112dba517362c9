"""Interpose: a hook engine for AI agents.

A host fires an event before or after something happens; the hooks that match it run, in order, each with a deadline;
the engine returns one outcome that tells the host what to do.
"""

import typing as _typing
from importlib import import_module as _import_module

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
    from .config.options import HookOptions, LoadOptions, SettingOptions
    from .errors import CallChanged
    from .handlers.mcp_client import McpConnection, McpFailed, load_mcp_package
    from .handlers.mcp_servers import McpServer
    from .handlers.processes import ProcessTree, tool_environment
    from .matching.shell import shell_commands
    from .person.permission import Permission
    from .questions import Questions
    from .scripts import Commands
    from .session.answers import Answer, Question
    from .session.approval import Approval, later
    from .session.calls import BegunTool
    from .session.json_view import CannotShow, json_view
    from .session.messages import BegunMessage
    from .session.options import SessionOptions
    from .session.session import Session
    from .session.sessions import Sessions
    from .session.subagents import BegunAgent
    from .session.sync_session import BlockingAgent, BlockingMessage, BlockingTool, SyncSession
    from .telemetry import TracingOptions

__version__ = "0.1.0"

__all__ = ["Answer", "Approval", "AuditStore", "BadEvent", "BadHook", "BegunAgent", "BegunMessage", "BegunTool",
           "BlockingAgent", "BlockingMessage", "BlockingTool", "CallChanged", "CannotShow", "Commands", "ConfigError",
           "Event", "EventSpec", "Hook", "HookError", "HookOptions", "Hooks", "Ignored", "Injection", "InterposeError",
           "LoadOptions", "McpConnection", "McpFailed", "McpServer", "Outcome", "Permission", "ProcessTree",
           "Question", "Questions", "Recorder", "Reply", "Result", "Retention", "Session", "SessionOptions",
           "Sessions", "SettingOptions", "SyncSession", "TooManyHooks", "TracingOptions", "UnknownEvent",
           "UnknownHook", "UsageError", "allow", "ask", "context", "deny", "inject", "json_view", "later",
           "load_mcp_package", "modify", "shell_commands", "tool_environment"]  # fmt: skip

_LOADED_WHEN_READ = {
    "Answer": "session", "Approval": "session", "AuditStore": "audit.store", "BegunAgent": "session",
    "BegunMessage": "session", "BegunTool": "session", "BlockingAgent": "session", "BlockingMessage": "session",
    "BlockingTool": "session", "CallChanged": "errors", "CannotShow": "session.json_view", "Commands": "scripts",
    "HookOptions": "config.options", "LoadOptions": "config.options", "SettingOptions": "config.options",
    "McpConnection": "handlers.mcp_client", "McpFailed": "handlers.mcp_client", "McpServer": "handlers.mcp_servers",
    "Permission": "person.permission", "ProcessTree": "handlers.processes", "Question": "session",
    "Questions": "questions", "Retention": "audit.retention", "Session": "session", "SessionOptions": "session",
    "Sessions": "session.sessions", "SyncSession": "session", "TracingOptions": "telemetry",
    "json_view": "session.json_view", "later": "session", "load_mcp_package": "handlers.mcp_client",
    "shell_commands": "matching.shell", "tool_environment": "handlers.processes",
}  # fmt: skip


def __getattr__(name: str) -> _typing.Any:
    """Load parts that not every host needs when they are first read."""
    if name in _LOADED_WHEN_READ:
        return getattr(_import_module(f"{__name__}.{_LOADED_WHEN_READ[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
