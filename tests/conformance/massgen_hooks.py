"""Hooks and managers of MassGen that its tests share, and short words to run them."""

import asyncio
import json
from typing import Any

from interpose.compat.massgen import (
    FunctionHook,
    GeneralHookManager,
    HookResult,
    HookType,
    PythonCallableHook,
)

PRE, POST = HookType.PRE_TOOL_USE, HookType.POST_TOOL_USE


def execute(hook: FunctionHook, name: str = "tool", arguments: str = "{}", context: Any = None) -> HookResult:
    return asyncio.run(hook.execute(name, arguments, context))


def execute_hooks(
    manager: GeneralHookManager,
    kind: HookType = PRE,
    name: str = "tool",
    arguments: str = "{}",
    context: Any = None,
    **more: Any,
) -> HookResult:
    return asyncio.run(manager.execute_hooks(kind, name, arguments, context or {}, **more))


def manager_of(*handlers: Any, kind: HookType = PRE, **options: Any) -> GeneralHookManager:
    """A manager with a hook for each handler, named first, second, third."""
    manager = GeneralHookManager()
    for name, handler in zip(("first", "second", "third"), handlers, strict=False):
        manager.register_global_hook(kind, PythonCallableHook(name, handler, **options))
    return manager


def named(name: str) -> PythonCallableHook:
    return PythonCallableHook(name, lambda _: None)


def breaks(_):
    raise RuntimeError("hook crashed")


async def hangs(_):
    await asyncio.Event().wait()


def injects(content: str, strategy: str | None = None):
    said = {"content": content} if strategy is None else {"content": content, "strategy": strategy}
    return lambda _: HookResult(inject=said)


def specific(**said: str) -> dict[str, Any]:
    """An answer in the words of the Claude Agent SDK."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


class Older(FunctionHook):
    """A permission hook as it was written before the framework: no matcher, old-style results."""

    async def execute(self, function_name, arguments, context=None, **kwargs):
        if "secret" in arguments:
            return HookResult(allowed=False, metadata={"reason": f"{function_name} may not"})
        return HookResult(modified_args=json.dumps({"seen": json.loads(arguments)}))
