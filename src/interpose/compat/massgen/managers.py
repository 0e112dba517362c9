"""MassGen's managers: hooks for all agents, hooks for single agents, and their result for a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import BadHook, UnknownEvent, nearest
from ...hooks import Hooks
from .firing import aggregate, event_of, fire
from .hooks import EngineHook, FunctionHook, PythonCallableHook, declared
from .types import HookResult, HookType

__all__ = ["FunctionHookManager", "GeneralHookManager"]

_CONFIGURABLE = {kind.value: kind for kind in (HookType.PRE_TOOL_USE, HookType.POST_TOOL_USE)}
_KEYS = {"handler", "type", "matcher", "timeout", "fail_closed"}

_ByType = dict[HookType, list[FunctionHook]]


def _no_hooks() -> _ByType:
    return {kind: [] for kind in HookType}


class FunctionHookManager:
    """Hooks by function. It only stores them; the caller of the function executes them."""

    def __init__(self) -> None:
        self.clear_hooks()

    def register_hook(self, function_name: str, hook_type: HookType, hook: FunctionHook) -> None:
        """Add a hook for one function."""
        self._named.setdefault(function_name, _no_hooks())[hook_type].append(hook)

    def register_global_hook(self, hook_type: HookType, hook: FunctionHook) -> None:
        """Add a hook for all functions."""
        self._shared[hook_type].append(hook)

    def get_hooks_for_function(self, function_name: str) -> _ByType:
        """Return the hooks of a function by type, those for all functions first."""
        named = self._named.get(function_name, _no_hooks())
        return {kind: [*self._shared[kind], *named[kind]] for kind in HookType}

    def clear_hooks(self) -> None:
        """Remove every hook."""
        self._named: dict[str, _ByType] = {}
        self._shared = _no_hooks()


class GeneralHookManager:
    """Hooks for all agents and for single ones; ``execute_hooks`` runs them."""

    def __init__(self) -> None:
        self.clear_hooks()

    def register_global_hook(self, hook_type: HookType, hook: FunctionHook) -> None:
        """Add a hook for all agents."""
        self._shared[hook_type].append(hook)
        self._engines.clear()

    def register_agent_hook(
        self, agent_id: str, hook_type: HookType, hook: FunctionHook, override: bool = False
    ) -> None:
        """Add a hook for one agent; with ``override`` the shared hooks of this type do not run for it."""
        self._own.setdefault(agent_id, _no_hooks())[hook_type].append(hook)
        self._engines.clear()
        if override:
            self._override(agent_id, hook_type)

    def get_hooks_for_agent(self, agent_id: str | None, hook_type: HookType) -> list[FunctionHook]:
        """Return the hooks of an agent, the shared ones first; without an agent only the shared ones."""
        shared = [] if (agent_id, hook_type) in self._overrides else self._shared[hook_type]
        return [*shared, *self._own.get(agent_id or "", _no_hooks())[hook_type]]

    async def execute_hooks(
        self,
        hook_type: HookType,
        function_name: str,
        arguments: str,
        context: dict[str, Any],
        tool_output: str | None = None,
    ) -> HookResult:
        """Run the hooks of the agent that match the function; return their result."""
        told = {**context, "hook_type": hook_type.value}
        if tool_output is not None:
            told["tool_output"] = tool_output
        engine = self._engine(context.get("agent_id"), hook_type)
        return aggregate(*await fire(engine, event_of(hook_type), function_name, arguments, told))

    def register_hooks_from_config(self, hooks_config: Mapping[str, Any], agent_id: str | None = None) -> None:
        """Add hooks from a configuration: a list for each type, or ``override`` and ``hooks``. All or none."""
        found = {_kind(name): _members(name, value) for name, value in hooks_config.items() if name != "override"}
        if not agent_id and any(override for override, _ in found.values()):
            raise BadHook("only an agent can override shared hooks", hint="leave override out, or name the agent")
        for kind, (override, hooks) in found.items():
            for hook in hooks:
                if agent_id:
                    self.register_agent_hook(agent_id, kind, hook)
                else:
                    self.register_global_hook(kind, hook)
            if agent_id and override:
                self._override(agent_id, kind)

    def clear_hooks(self) -> None:
        """Remove every hook."""
        self._shared = _no_hooks()
        self._own: dict[str, _ByType] = {}
        self._overrides: set[tuple[str | None, HookType]] = set()
        self._engines: dict[tuple[str | None, HookType], Hooks] = {}

    def _override(self, agent_id: str, hook_type: HookType) -> None:
        self._own.setdefault(agent_id, _no_hooks())
        self._overrides.add((agent_id, hook_type))
        self._engines.clear()

    def _engine(self, agent_id: str | None, hook_type: HookType) -> Hooks:
        """Return the engine with the hooks of one type for one agent; agents without own hooks share one."""
        agent = agent_id if agent_id in self._own else None
        engine = self._engines.get((agent, hook_type))
        if engine is None:
            event = event_of(hook_type)
            configuration: dict[str, Any] = {"hooks": {event: [declared(hook) for hook in self._shared[hook_type]]}}
            if agent is not None:
                own = {"hooks": [declared(hook) for hook in self._own[agent][hook_type]],
                       "override": (agent, hook_type) in self._overrides}  # fmt: skip
                configuration["agents"] = [{"id": agent, "backend": {"hooks": {event: own}}}]
            engine = self._engines[agent, hook_type] = Hooks.from_mapping(configuration, max_hooks_per_point=0)
        return engine


def _kind(name: str) -> HookType:
    if name not in _CONFIGURABLE:
        raise UnknownEvent(f"{name} is not a type of hook", hint=nearest(str(name), _CONFIGURABLE))
    return _CONFIGURABLE[name]


def _members(name: str, value: Any) -> tuple[bool, list[FunctionHook]]:
    """Return whether a type's entry overrides, and its hooks."""
    override = False
    if isinstance(value, Mapping):
        override, value = value.get("override", False), value.get("hooks", [])
    if not isinstance(override, bool):
        raise BadHook(f"{name}.override: {override!r} where true or false is expected")
    if not isinstance(value, list):
        raise BadHook(f"{name}: {type(value).__name__} where a list of hooks is expected")
    return override, [_hook(f"{name}[{index}]", item) for index, item in enumerate(value)]


def _hook(place: str, item: Any) -> FunctionHook:
    if not isinstance(item, Mapping) or not item.get("handler"):
        raise BadHook(f"{place}: a hook without handler", hint="handler: module.function")
    for key in item:
        if key not in _KEYS:
            raise BadHook(f"{place}.{key} is not a key of a hook", hint=nearest(str(key), _KEYS))
    kind = item.get("type") or "python"
    name = f"{kind}_{item['handler']}"
    options = item.get("matcher") or "*", item.get("timeout") or 30, item.get("fail_closed") or False
    if kind == "python":
        return PythonCallableHook(name, item["handler"], *options)
    return EngineHook(name, item["handler"], *options, type=kind)
