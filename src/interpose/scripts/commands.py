"""The commands of script lines: ``/log /notify /perms /deny /ask /context /inject``, and those that a host adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import BadHook, nearest
from ..event import Event
from ..records import Record, made_by
from ..replies import STRATEGIES, HookFailed, Reply, ask, clean, context, deny, inject
from ..runtime.faults import is_awaitable
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from .lines import Template, literal

__all__ = ["Commands", "Mistake", "ScriptCommand", "ScriptHost"]

LEVELS = ("debug", "info", "warning", "error")
"""The levels of ``/log``."""

_NAME = regex(r"[A-Za-z][\w:.-]*", re.ASCII)
_NOTIFICATION = "Notification"


class ScriptHost(Record):
    """What commands can use beside their event."""

    permissions: Mapping[str, str] = made_by(factory=dict)
    """For ``/perms check``: a name to ``allow``, ``ask`` or ``deny``."""
    fire: Callable[..., Any] | None = None
    """Fires an event, as ``Hooks.fire`` and ``Hooks.fire_sync`` do."""
    show: Callable[[str], None] | None = None
    """Shows a text to the user."""


class Mistake(NamedTuple):
    """A problem with an argument, found when the script is parsed."""

    argument: int
    what: str
    hint: str


def _nothing_to_check(arguments: Sequence[Template]) -> Mistake | None:
    return None


class ScriptCommand(Record):
    """A command: its arguments and its function."""

    name: str
    run: Callable[[list[str], Event, ScriptHost], Any]
    usage: str = ""
    fewest: int = 0
    most: int | None = None
    """The largest number of arguments; None is any number."""
    check: Callable[[Sequence[Template]], Mistake | None] = _nothing_to_check
    effects: frozenset[str] = frozenset()
    """The rights that it uses: at an event with none of them it has no effect."""
    built_in: bool = False
    """Whether it is built in: it never waits, and takes its arguments as text."""
    awaits: bool = False
    """Whether a call returns a coroutine, as far as that is known."""


class Commands:
    """The commands by name: the built-in ones, which cannot be replaced, and those of the host."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: Mapping[str, ScriptCommand] = _BUILT_IN

    def add(
        self,
        name: str,
        function: Callable[[list[str], Event], Any],
        *,
        usage: str = "",
        fewest: int = 0,
        most: int | None = None,
    ) -> None:
        """Add ``/name``: a sync or async function of the arguments and the event, which answers like any hook."""
        plain = name.removeprefix("/") if isinstance(name, str) else ""
        if not _NAME.fullmatch(plain):
            raise BadHook(f"{name!r} cannot be the name of a command", hint="letters, digits, _ - . and :")
        if plain in self._known:
            raise BadHook(f"there is a command /{plain} already", hint="choose another name")
        if not callable(function):
            raise BadHook(f"/{plain}: {type(function).__name__} cannot be called", hint="give a function")
        if fewest < 0 or (most is not None and most < fewest):
            raise BadHook(f"/{plain}: no line has {fewest} to {most} arguments", hint="fewest is at most most")
        added = ScriptCommand(
            name=plain,
            run=lambda arguments, event, host: function(arguments, event),
            usage=usage,
            fewest=fewest,
            most=most,
            awaits=_is_async(function),
        )
        self._known = {**self._known, plain: added}  # replaced, not changed: a script may be running

    def get(self, name: str) -> ScriptCommand | None:
        """Return a command by its name without the slash."""
        return self._known.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known


def _is_async(function: Any) -> bool:
    import inspect

    call = getattr(type(function), "__call__", None)  # noqa: B004 - not called
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


# The built-in commands.


def _log(arguments: list[str], event: Event, host: ScriptHost) -> None:
    import logging

    level, text = arguments
    if level not in LEVELS:
        raise HookFailed("bad_input", f"/log: {level[:60]!r} is not a level; there are {', '.join(LEVELS)}")
    logging.getLogger("interpose.script").log(getattr(logging, level.upper()), "%s", clean(text))


def _notify(arguments: list[str], event: Event, host: ScriptHost) -> Any:
    """Show a text and fire Notification; at Notification itself the text is only shown."""
    text = arguments[0]
    broken = _show(host, text)
    if host.fire is None or event.row.name == _NOTIFICATION:
        return _answer(None, broken)
    whose = {name: event[name] for name in ("session_id", "agent_id") if event.get(name)}
    fired = host.fire(_NOTIFICATION, message=text, notification_type="script", **whose)
    return _answer_later(fired, broken) if is_awaitable(fired) else _answer(fired, broken)


def _show(host: ScriptHost, text: str) -> Exception | None:
    """Show a text and return the error, if any: Notification is fired even if the terminal is gone."""
    try:
        if host.show is not None:
            host.show(clean(text))
    except Exception as error:
        return error
    return None


async def _answer_later(fired: Any, broken: Exception | None) -> Reply | None:
    return _answer(await fired, broken)


def _answer(outcome: Any, broken: Exception | None) -> Reply | None:
    """Return the context and the messages of the hooks of Notification."""
    if broken is not None:
        raise broken
    said = Reply(
        context=tuple(getattr(outcome, "context", ())),
        messages=tuple(getattr(outcome, "messages", ())),
    )
    return said if said.context or said.messages else None


def _perms(arguments: list[str], event: Event, host: ScriptHost) -> Reply | None:
    name = arguments[1]
    shown = clean(name)[:200]
    match host.permissions.get(name):
        case "allow":
            return None  # no objection; only a user or a permission rule grants
        case "ask":
            return ask(f"permission {shown} must be asked for")
        case "deny":
            return deny(f"permission {shown} is denied")
        case None:
            return deny(f"permission {shown} is not known")
        case other:
            return deny(f"permission {shown} is {other!r:.60}, which is not allow, ask or deny")


def _inject(arguments: list[str], event: Event, host: ScriptHost) -> Reply:
    *strategy, text = arguments
    if not set(strategy) <= set(STRATEGIES):
        raise HookFailed("bad_input", f"/inject: {strategy[0][:60]!r}; strategies are {', '.join(STRATEGIES)}")
    return inject(text, *strategy)


def _check_level(arguments: Sequence[Template]) -> Mistake | None:
    return _one_of(arguments[0], LEVELS, "a level", "levels are")


def _check_perms(arguments: Sequence[Template]) -> Mistake | None:
    if literal(arguments[0]) == "check":
        return None
    return Mistake(0, "/perms can only check", "write /perms check NAME")


def _check_strategy(arguments: Sequence[Template]) -> Mistake | None:
    return _one_of(arguments[0], STRATEGIES, "a strategy", "strategies are") if len(arguments) == 2 else None


def _one_of(given: Template, known: Sequence[str], what: str, these_are: str) -> Mistake | None:
    """Check a first argument with few choices; one with a reference is checked when the hook runs."""
    text = literal(given)
    if text is None or text in known:
        return None
    return Mistake(0, f"{text[:60]!r} is not {what}", nearest(text, known) or f"{these_are} {', '.join(known)}")


def _text_command(name: str, make: Callable[[str], Reply], effects: str) -> ScriptCommand:
    return ScriptCommand(
        name=name, run=lambda arguments, event, host: make(arguments[0]), usage="TEXT", fewest=1, most=1,
        effects=frozenset(effects.split(", ")), built_in=True,
    )  # fmt: skip


_BUILT_IN: Mapping[str, ScriptCommand] = {
    command.name: command
    for command in (
        ScriptCommand(name="log", run=_log, usage="LEVEL TEXT", fewest=2, most=2, check=_check_level, built_in=True),
        ScriptCommand(name="notify", run=_notify, usage="TEXT", fewest=1, most=1, built_in=True),
        ScriptCommand(name="perms", run=_perms, usage="check NAME", fewest=2, most=2, check=_check_perms,
                effects=frozenset({"deny", "keep going"}), built_in=True),
        _text_command("deny", deny, "deny, keep going"),
        _text_command("ask", ask, "ask, deny"),
        _text_command("context", context, "context"),
        ScriptCommand(name="inject", run=_inject, usage="[STRATEGY] TEXT", fewest=1, most=2, check=_check_strategy,
                effects=frozenset({"inject"}), built_in=True),
    )
}  # fmt: skip
