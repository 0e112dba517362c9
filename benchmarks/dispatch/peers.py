"""The peers, one adapter each, and the floors: what the same work costs without an engine.

Each is given one hook to register `count` times, for the tool that is then fired. `reads` is the hook that is
measured: it looks at the tool's input and does nothing else. `reports` makes one that says what it saw, to
prove before measuring that the hooks are really called. Every `run` spells out its own loop: in a shared one
the types of all engines would meet in one place, and the interpreter is slower there.
"""

import asyncio
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import Hooks as PydanticHooks
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RunUsage
from strands.hooks import BeforeToolCallEvent, HookEvent, HookRegistry

Hook = Callable[..., Any]
Report = Callable[[Any], None]

TOOL = "Bash"
TOOL_INPUT = {"command": "ls"}
DEADLINE = 30


# --- Floors -------------------------------------------------------------------------------------------------


class Nothing:
    """A call with the same keywords that does nothing: no event, no hooks, no outcome."""

    async def fire(self, event: str, /, **fields: object) -> None:
        return None

    async def run(self, loops: int) -> None:
        nothing = self
        for _ in range(loops):
            await nothing.fire("PreToolUse", tool_name=TOOL, tool_input=TOOL_INPUT)


class EmptyCoroutine:
    """Awaiting a coroutine that does nothing, the least that anything asynchronous costs."""

    async def run(self, loops: int) -> None:
        async def empty() -> None:
            pass

        for _ in range(loops):
            await empty()


class AtOnce:
    """Many coroutines under way together that let go of the event loop once: a crowd in asyncio alone."""

    def __init__(self, size: int) -> None:
        self.size = size

    async def run(self, loops: int) -> None:
        async def reads(tool_input: object) -> None:
            _ = tool_input
            await asyncio.sleep(0)

        for _ in range(loops):
            await asyncio.gather(*[reads(TOOL_INPUT) for _ in range(self.size)])


# --- Strands ------------------------------------------------------------------------------------------------


@dataclass
class _LeanToolEvent(HookEvent):
    tool_use: dict[str, Any]


class Strands:
    """Strands' registry with an event of the two fields that a hook needs, made anew for each firing.

    No deadline, no matcher, no copy of the input, no record of who ran. Its own event for tool calls has five
    fields and costs more (`StrandsToolEvent`); limits hold against this, the least that Strands can cost.
    """

    event: type[Any] = _LeanToolEvent

    @staticmethod
    async def reads(event: Any) -> None:
        _ = event.tool_use["input"]

    @staticmethod
    def reports(report: Report) -> Hook:
        async def hook(event: Any) -> None:
            report(event.tool_use["input"])

        return hook

    def __init__(self, hook: Hook, count: int) -> None:
        self.registry = HookRegistry()
        self.agent: Any = object()
        self.tool_use: Any = {"toolUseId": "1", "name": TOOL, "input": TOOL_INPUT}
        for _ in range(count):
            self.registry.add_callback(self.event, hook)

    async def run(self, loops: int) -> None:
        registry, agent, tool_use = self.registry, self.agent, self.tool_use
        event = self.event
        for _ in range(loops):
            await registry.invoke_callbacks_async(event(agent=agent, tool_use=tool_use))


class StrandsToolEvent(Strands):
    """The same with the event that Strands' own executor makes before each tool call."""

    event = BeforeToolCallEvent

    async def run(self, loops: int) -> None:
        registry, agent, tool_use = self.registry, self.agent, self.tool_use
        event = self.event
        state: dict[str, Any] = {}
        for _ in range(loops):
            await registry.invoke_callbacks_async(
                event(agent=agent, selected_tool=None, tool_use=tool_use, invocation_state=state)
            )


# --- pydantic-ai --------------------------------------------------------------------------------------------


class PydanticAI:
    """pydantic-ai's hooks before a tool call, for the one tool, each with a timeout. No record of who ran."""

    timeout: float | None = DEADLINE

    @staticmethod
    async def reads(_context: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        return args

    @staticmethod
    def reports(report: Report) -> Hook:
        async def hook(_context: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            report(args)
            return args

        return hook

    def __init__(self, hook: Hook, count: int) -> None:
        self.hooks: PydanticHooks[None] = PydanticHooks()
        for _ in range(count):
            self.hooks.on.before_tool_execute(tools=[TOOL], timeout=self.timeout)(hook)

    async def run(self, loops: int) -> None:
        hooks = self.hooks
        context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        call, definition = ToolCallPart(TOOL, TOOL_INPUT), ToolDefinition(name=TOOL)
        for _ in range(loops):
            await hooks.before_tool_execute(context, call=call, tool_def=definition, args=TOOL_INPUT)


class PydanticAIUntimed(PydanticAI):
    """The same hooks without a timeout."""

    timeout = None


class PydanticAISync(PydanticAI):
    """The same with hooks that are plain functions: each runs in a worker thread."""

    @staticmethod
    def reads(_context: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        return args

    @staticmethod
    def reports(report: Report) -> Hook:
        def hook(_context: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            report(args)
            return args

        return hook


# --- MassGen ------------------------------------------------------------------------------------------------


def _massgen_hooks() -> Any:
    """MassGen's hooks module, as published, without the packages around it.

    Their `__init__` modules import every model client that MassGen knows, none of which its hooks need.
    """
    found = find_spec("massgen")
    if found is None or found.origin is None:
        raise ImportError("massgen is not installed")
    home = Path(found.origin).parent
    for package in ("massgen", "massgen.utils", "massgen.mcp_tools"):
        module = ModuleType(package)
        module.__path__ = [str(home.joinpath(*package.split(".")[1:]))]
        sys.modules[package] = module
    return importlib.import_module("massgen.mcp_tools.hooks")


_massgen = _massgen_hooks()


class MassGen:
    """MassGen's manager as its backends call it: input as JSON text, one timeout and one record per hook.

    Nothing listens to its log, which in MassGen's own runs something does.
    """

    @staticmethod
    async def reads(event: Any) -> None:
        _ = event.tool_input

    @staticmethod
    def reports(report: Report) -> Hook:
        async def hook(event: Any) -> None:
            report(event.tool_input)

        return hook

    def __init__(self, hook: Hook, count: int) -> None:
        self.manager = _massgen.GeneralHookManager()
        for number in range(count):
            self.manager.register_global_hook(
                _massgen.HookType.PRE_TOOL_USE,
                _massgen.PythonCallableHook(f"hook-{number}", hook, matcher=TOOL, timeout=DEADLINE),
            )

    async def run(self, loops: int) -> None:
        manager, before = self.manager, _massgen.HookType.PRE_TOOL_USE
        arguments = '{"command": "ls"}'
        for _ in range(loops):
            context = {"hook_type": "PreToolUse", "session_id": "1", "orchestrator_id": "1", "agent_id": "1"}
            await manager.execute_hooks(before, TOOL, arguments, context)


class MassGenSync(MassGen):
    """The same with hooks that are plain functions: each runs in the event loop's executor."""

    @staticmethod
    def reads(event: Any) -> None:  # type: ignore[override]
        _ = event.tool_input

    @staticmethod
    def reports(report: Report) -> Hook:
        def hook(event: Any) -> None:
            report(event.tool_input)

        return hook
