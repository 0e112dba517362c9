"""MassGen's hooks as classes: write ``execute`` of a PatternHook, or give a PythonCallableHook a function.

The engine does the matching, holds the deadline and decides what a failure means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ...config.declare import declare
from ...events import TABLE
from ...hooks import Hooks
from ...matching import compile_matcher
from .._adapter import adapted
from .firing import event_of, fire, function_arguments, hook_arguments, reply, single
from .types import HookResult

__all__ = ["EngineHook", "FunctionHook", "PatternHook", "PythonCallableHook", "declared"]


class FunctionHook(ABC):
    """A hook on function calls."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    async def execute(
        self, function_name: str, arguments: str, context: dict[str, Any] | None = None, **kwargs: Any
    ) -> HookResult:
        """Judge a call: the function's name, its arguments as JSON text, and the host's context."""


class PatternHook(FunctionHook):
    """A hook for the tools that its matcher names: globs, several separated by ``|``. ``timeout`` in seconds."""

    def __init__(self, name: str, matcher: str = "*", timeout: float = 30) -> None:
        super().__init__(name)
        self.matcher = matcher
        self.timeout = timeout
        self._matches = compile_matcher(matcher)

    def matches(self, tool_name: str) -> bool:
        """Say whether the matcher matches a tool."""
        return self._matches is None or self._matches(tool_name)


class EngineHook(PatternHook):
    """A hook that the engine runs directly. With ``fail_closed`` its failure denies the call."""

    def __init__(
        self, name: str, handler: Any, matcher: str, timeout: float, fail_closed: bool, *, type: str = "python"
    ) -> None:
        super().__init__(name, matcher, timeout)
        self.fail_closed = fail_closed
        self.runs = {"handler": handler, "type": type}
        alone = [_with_options(self, self.runs)]
        self._alone = Hooks.from_mapping({"hooks": {"PreToolUse": alone, "PostToolUse": alone}})

    async def execute(
        self, function_name: str, arguments: str, context: dict[str, Any] | None = None, **kwargs: Any
    ) -> HookResult:
        """Run this hook alone, if its matcher matches the tool, and return its result."""
        event = event_of((context or {}).get("hook_type"))
        outcome, _ = await fire(self._alone, event, function_name, arguments, context or {})
        return single(outcome)


class PythonCallableHook(EngineHook):
    """A function of a HookEvent, or the name of one, imported at its first call.

    It returns a HookResult, a mapping or None. A name that cannot be imported denies every call.
    """

    def __init__(
        self,
        name: str,
        handler: str | Callable[..., Any],
        matcher: str = "*",
        timeout: float = 30,
        fail_closed: bool = False,
    ) -> None:
        # The engine parses and imports the name.
        function = declare(TABLE, "PreToolUse", handler).binding.call if isinstance(handler, str) else handler
        super().__init__(
            name, adapted(function, 1, function_arguments, reply, name=name), matcher, timeout, fail_closed
        )


def declared(hook: FunctionHook) -> dict[str, Any]:
    """Return a hook as an entry of the engine's configuration."""
    if isinstance(hook, EngineHook) and type(hook).execute is EngineHook.execute:
        return _with_options(hook, hook.runs)
    return _with_options(hook, {"handler": adapted(hook.execute, 3, hook_arguments, reply, name=hook.name)})


def _with_options(hook: FunctionHook, runs: dict[str, Any]) -> dict[str, Any]:
    return {
        **runs,
        "matcher": getattr(hook, "matcher", None),
        "timeout": getattr(hook, "timeout", None),
        "onError": "abort" if getattr(hook, "fail_closed", False) else None,
    }
