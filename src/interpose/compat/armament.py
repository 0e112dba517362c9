"""Armament's ``HookSystem``: register handlers at eleven points, execute a point, get one result.

A handler takes one context: the point's fields, and ``abort(reason)`` and ``modify(key, value)``. It may also answer
``{"abort": True, "reason": ...}`` or ``{"modify": {...}}``, or with the result's words ``aborted`` and ``modified``.
The row of a point says whether it can be aborted or modified; a wish without effect is in ``result.outcome.ignored``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadHook, UnknownEvent, UnknownHook, nearest
from ..event import Event
from ..events import TABLE, EventSpec
from ..hooks import Hooks
from ..model import Hook, Outcome
from ..replies import Reply, describe
from ..runtime.faults import log
from ._adapter import AdaptedHook, Arguments, adapted

__all__ = ["POINTS", "HookContext", "HookSystem", "HookSystemResult", "Registration"]

POINTS = (
    "pre:message",
    "post:message",
    "pre:tool",
    "post:tool",
    "pre:agent:spawn",
    "post:agent:complete",
    "pre:session:phase",
    "post:session:phase",
    "pre:git:write",
    "post:git:write",
    "pre:view:render",
)
_SETTINGS = {"error_behavior": "errorBehavior", "max_hooks_per_point": "maxHooksPerPoint"}
_OPTIONS = {"onError": "on_error"}


class HookContext(Mapping[str, Any]):
    """The context of a handler, as attributes and as a mapping; ``abort`` and ``modify`` count like an answer."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._aborted = False
        self._reason = ""
        self._changes: dict[str, Any] = {}

    def abort(self, reason: str = "") -> None:
        """Abort the action; the handler continues."""
        self._aborted = True
        self._reason = str(reason)

    def modify(self, key: str, value: Any) -> None:
        """Replace a field of the action, for this handler and the hooks after it."""
        self._changes[key] = value
        self._event[self._event.row.words.get(key, key)] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._event, name)

    def __getitem__(self, key: str) -> Any:
        return self._event[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._event)

    def __len__(self) -> int:
        return len(self._event)

    def __repr__(self) -> str:
        return f"HookContext({self._event!r})"


@dataclass(frozen=True, slots=True)
class HookSystemResult:
    """The result of one point. ``outcome`` has the result of every hook."""

    aborted: bool = False
    reason: str | None = None
    modified: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    outcome: Outcome | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Registration:
    """One registered hook, as ``get_all`` and ``get_by_point`` list it."""

    point: str
    name: str | None
    priority: int
    handler: Callable[..., Any]
    enabled: bool
    on_error: str | None


class HookSystem:
    """Hooks at the eleven points. Settings: ``errorBehavior``, ``timeout`` (ms), ``maxHooksPerPoint``."""

    def __init__(self, settings: Mapping[str, Any] | None = None, **more: Any) -> None:
        given = {_SETTINGS.get(key, key): value for key, value in {**(settings or {}), **more}.items()}
        _only("setting", given, {"errorBehavior", "timeout", "maxHooksPerPoint"})
        self._hooks = Hooks.from_mapping({"hooks": given})

    def register(
        self, point: str, handler: Callable[..., Any], options: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """Add a handler at a point. Options: ``priority`` (lower first, 100), ``name``, ``onError``."""
        given = {_OPTIONS.get(key, key): value for key, value in {**(options or {}), **more}.items()}
        _only("option", given, {"priority", "name", "on_error"})
        given = {key: value for key, value in given.items() if value is not None}
        self._hooks.register(
            _checked(point), adapted(handler, 1, _make_arguments, _read_answer, on_error=_on_error), **given
        )

    def unregister(self, name: str) -> None:
        """Remove every hook with this name, if there is one."""
        try:
            self._hooks.unregister(name)
        except UnknownHook:
            return

    def enable(self, name: str) -> None:
        """Enable every hook with this name."""
        self._hooks.enable(name)

    def disable(self, name: str) -> None:
        """Disable every hook with this name; it stays registered and keeps its place."""
        self._hooks.disable(name)

    def is_enabled(self, name: str) -> bool:
        """Say whether a hook with this name is registered and enabled."""
        try:
            return self._hooks.is_enabled(name)
        except UnknownHook:
            return False

    def get_all(self) -> list[Registration]:
        """Return every hook, in the order of registration."""
        return [_registration(hook) for hook in sorted(self._hooks, key=lambda hook: hook.sequence)]

    def get_by_point(self, point: str) -> list[Registration]:
        """Return the hooks of one point, in the order in which they run."""
        return sorted((hook for hook in self.get_all() if hook.point == point), key=lambda hook: hook.priority)

    isEnabled = is_enabled  # noqa: N815 - the original's spelling
    getAll = get_all  # noqa: N815 - the original's spelling
    getByPoint = get_by_point  # noqa: N815 - the original's spelling

    async def execute(self, point: str, context: Mapping[str, Any] | None = None) -> HookSystemResult:
        """Run the hooks of a point. Never raises: an error aborts a point that can be aborted."""
        try:
            outcome = await self._hooks.fire(_checked(point), **dict(context or {}))
        except Exception as error:
            log("error", "%s cannot be executed: %s", point, error)
            row = TABLE.get(point)
            return HookSystemResult(aborted=row is None or "deny" in row.can, reason=str(error))
        return _result(TABLE[point], outcome)


def _checked(point: str) -> str:
    """Return the point if it is one of the eleven, with or without a suffix such as ``pre:tool:shell``."""
    if isinstance(point, str) and any(point == known or point.startswith(f"{known}:") for known in POINTS):
        return point
    raise UnknownEvent(
        f"{point} is not a hook point", hint=nearest(str(point), POINTS) or f"points are {', '.join(POINTS)}"
    )


def _only(what: str, given: Mapping[str, Any], known: set[str]) -> None:
    for key in given:
        if key not in known:
            raise BadHook(f"no {what} is called {key}", hint=nearest(str(key), known) or f"there are {sorted(known)}")


def _point(row: EventSpec) -> str:
    return row.aliases[0] if row.aliases else row.name


def _registration(hook: Hook) -> Registration:
    point = f"{_point(hook.row)}:{hook.matcher}" if hook.matcher else _point(hook.row)
    handler: AdaptedHook = hook.handler
    return Registration(point, hook.name, hook.priority, handler.handler, hook.enabled, hook.on_error)


def _make_arguments(event: Event) -> Arguments:
    return (HookContext(event),)


def _read_answer(_: Event, arguments: Arguments, answer: Any) -> Any:
    """Combine the calls of ``abort`` and ``modify`` with the answer."""
    context: HookContext = arguments[0]
    if isinstance(answer, Reply):
        return _reply_of(context) + answer if context._aborted or context._changes else answer
    if answer is not None and not isinstance(answer, Mapping):
        return answer  # the engine refuses it
    said = {} if answer is None else _translated(answer)
    if context._aborted:
        said["abort"] = True
        said["reason"] = said.get("reason") or context._reason
    if context._changes and isinstance(said.get("modify", {}), Mapping):
        said["modify"] = {**context._changes, **said.get("modify", {})}
    return said or None


def _on_error(arguments: Arguments, error: Exception) -> Any:
    """Keep an abort that was requested before the handler raised."""
    context: HookContext = arguments[0]
    if not context._aborted:
        raise error
    return Reply(decision="deny", reason=context._reason, problem=describe(error))


def _reply_of(context: HookContext) -> Reply:
    return Reply(
        decision="deny" if context._aborted else None,
        reason=context._reason,
        changes=context._changes,
    )


def _translated(answer: Mapping[str, Any]) -> dict[str, Any]:
    said = dict(answer)
    output = said.pop("output", None)
    if output is not None:
        said["extra"] = {"output": output}
    aborts = [said.pop(key) for key in ("abort", "aborted") if key in said]
    if aborts:
        # Anything but a clear no goes to the engine, which refuses what it cannot read.
        said["abort"] = next((value for value in aborts if value is not None and value is not False), False)
        if not said.get("reason") and isinstance(output, str):
            said["reason"] = output
    changes = [value for value in (said.pop("modified", None), said.pop("modify", None)) if value is not None]
    if changes:
        wrong = [value for value in changes if not isinstance(value, Mapping)]
        said["modify"] = wrong[0] if wrong else {key: value for given in changes for key, value in given.items()}
    return said


def _result(row: EventSpec, outcome: Outcome) -> HookSystemResult:
    words = {name: word for word, name in row.words.items()}
    modified = {}
    for result in outcome.results:
        if result.reply is None or result.decision == "deny" or not result.enforced:
            continue
        for key in result.reply.changes:
            name = row.words.get(key, key)
            if name in row.modifies:
                modified[words.get(name, name)] = outcome.input[name]
    reason = outcome.reason or None
    output = outcome.extra.get("output", reason if outcome.denied else None)
    return HookSystemResult(outcome.denied, reason, modified, output, outcome)
