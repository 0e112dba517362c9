"""A hook as people write it, in code or in a file, to a Hook. Every option is checked here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from ..dialects import NAMES as DIALECTS
from ..dialects import dialect as find_dialect
from ..errors import BadHook, Problem, nearest
from ..events import EventSpec, Table
from ..handlers import Handler
from ..handlers.python import LazyFunction, ModulePlace, is_async, label_of, source_of, unified
from ..matching import check_matcher, compile_condition, compile_matcher, doubt_matcher
from ..matching.written import as_written
from ..model import Binding, Hook
from ..records import replace
from ..registry import LAYERS
from ..replies import HookFailed, clean
from .commands import COMMAND_OPTIONS, Trusted, make_command
from .kinds import JUDGES, KINDS, ConfigPlace, kind_of, make_binding

__all__ = ["ERROR_BEHAVIORS", "UNITS", "declare", "doubt_about", "duration", "seconds",
           "warn_of_doubt"]  # fmt: skip

_LONGEST_LABEL = 60
_LONGEST = 10 * 365 * 24 * 3600.0

ERROR_BEHAVIORS = ("log", "skip", "abort")


def declare(
    table: Table,
    event: str,
    handler: Any,
    *,
    type: str | None = None,
    name: str | None = None,
    matcher: str | None = None,
    if_: str | Sequence[str] | None = None,
    priority: int = 100,
    timeout: float | None = None,
    on_error: str | None = None,
    enabled: bool = True,
    enforce: bool = True,
    locked: bool = False,
    parallel: bool = False,
    async_: bool = False,
    once: bool = False,
    inline: bool = False,
    scope: str | None = None,
    layer: str = "code",
    source: str = "",
    description: str = "",
    directory: str = "",
    types: tuple[str, ...] = (),
    dialect: str = "native",
    project_dir: str = "",
    on_failure_blocks: bool = False,
    isolate: str | None = None,
    hooks_dir: str = "",
    trusted: Trusted | None = None,
    servers: Mapping[str, Any] | None = None,
    **target_options: Any,
) -> Hook:
    """Return the hook that these options describe, or say what is wrong with them."""
    row, suffix = table.find(event)
    matcher = _matcher(row, matcher, suffix)
    if dialect != "claude" and row.subject == "tool_name":
        check_matcher(matcher)
    _check_choice("onError", on_error, (None, *ERROR_BEHAVIORS))
    _check_choice("layer", layer, LAYERS)
    _check_type("name", name, str, optional=True)
    _check_type("description", description, str)
    _check_type("scope", scope, str, optional=True)
    flags = {"enabled": enabled, "enforce": enforce, "locked": locked, "parallel": parallel, "async": async_,
             "once": once, "inline": inline}  # fmt: skip
    for option, value in flags.items():
        _check_type(option, value, bool)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise BadHook(f"priority: {priority!r} is not a whole number", hint="lower runs earlier; the default is 100")
    if inline and isolate is not None:
        raise BadHook("isolate: an inline hook runs in the caller's task", hint="leave out one of them")
    if inline and (async_ or parallel):
        raise BadHook("inline: such a hook runs in the caller's task", hint="leave out async and parallel")
    _check_choice("dialect", dialect, DIALECTS)
    # In the client a rule is about the one tool that it names.
    condition = compile_condition(if_, family=dialect != "claude")
    if condition is not None and "tool_name" not in row.fields:
        raise BadHook(f"if: {row.name} has no tool to compare {if_!r} with", hint="use a matcher, or another event")
    if unknown := target_options.keys() - _TARGET_OPTIONS:
        from .options import HookOptions

        raise BadHook(
            f"{', '.join(sorted(unknown))}: no such option", hint=nearest(min(unknown), HookOptions.__annotations__)
        )
    guard = locked or on_failure_blocks or on_error == "abort"
    guard = guard or (trusted is not None and trusted.guards and on_error is None and dialect != "claude")
    if type == "command" or target_options.get("command") is not None:
        _check_command(type, types, isolate, inline)
        _check_stray(target_options, COMMAND_OPTIONS, "a command has no such option")
        kind = "command"
        command = make_command(
            handler, directory=directory, dialect=dialect, project_dir=project_dir, hooks_dir=hooks_dir,
            trusted=trusted, guard=guard, **{name: target_options[name] for name in COMMAND_OPTIONS
                                             if name in target_options},
        )  # fmt: skip
        binding = Binding(target=command)
        shown = target_options.get("command") or handler
        handler = shown if isinstance(shown, str) else " ".join(shown)
    elif (served := kind_of(type, target_options)) is not None:
        _check_served(served, isolate, inline)
        place = ConfigPlace(
            dialect=dialect, directory=directory, project_dir=project_dir, hooks_dir=hooks_dir, trusted=trusted,
            guard=guard, servers=servers or {},
        )  # fmt: skip
        kind = served
        binding, handler = make_binding(served, row, handler, target_options, place)
        timeout = timeout or getattr(binding.target, "timeout", None)
    else:
        _check_stray(target_options, (), "only a command has that", "add type: command, or leave it out")
        where = ModulePlace(directory) if trusted is None else ModulePlace(trusted.folder(guard=True), first=True)
        kind, binding = _handler(type, handler, where, types, dialect, isolate)
    if dialect == "claude":
        on_error = "abort" if on_failure_blocks and row.claude.failure_blocks else "log"
        if binding.read is None:
            binding = replace(binding, read=find_dialect("claude", blocks=on_failure_blocks).read)
        parallel = True
    return Hook(
        row=row,
        handler=handler,
        type=kind,
        name=name or None,
        label=clean(name or (label_of(handler) if callable(handler) else _shown(kind, str(handler)))),
        matcher=matcher or "",
        matches=_matches(dialect, matcher),
        condition=None if condition is None else condition.text,
        judge=None if condition is None else condition.grade,
        priority=priority,
        timeout=seconds("timeout", timeout),
        on_error=on_error,
        enabled=enabled,
        enforce=enforce,
        locked=locked,
        parallel=parallel,
        background=async_,
        once=once,
        inline=inline,
        scope=scope,
        layer=layer,
        source=source or (source_of(handler) if callable(handler) else ""),
        description=description,
        dialect=dialect,
        rewrites_in_group=dialect == "claude",
        binding=binding,
    )


def doubt_about(hook: Hook, where: str = "") -> Problem | None:
    """Return what is doubtful about a hook although it can be made; None if nothing is."""
    of_tools = hook.dialect != "claude" and hook.row.subject == "tool_name"
    return doubt_matcher(hook.matcher, where) if of_tools else None


def warn_of_doubt(hook: Hook) -> None:
    """Warn of what is doubtful about a hook that a program registers."""
    if doubt := doubt_about(hook):
        import warnings

        warnings.warn(str(doubt), stacklevel=3)


_TARGET_OPTIONS = frozenset(COMMAND_OPTIONS).union(*KINDS.values())
"""The options of a hook that say what it runs, beside its handler."""


def _check_stray(given: Mapping[str, Any], own: Sequence[str], what: str, hint: str = "leave it out") -> None:
    """Refuse the first option that a hook of this kind does not have."""
    if stray := sorted(option for option, value in given.items() if value is not None and option not in own):
        of = [kind for kind, options in KINDS.items() if stray[0] in options]
        if of and not own:
            what, hint = f"only a hook of type {' or '.join(of)} has that", f"add {KINDS[of[0]][0]}:, or leave it out"
        raise BadHook(f"{_SPELLED.get(stray[0], stray[0])}: {what}", hint=hint)


_SPELLED = {"allowed_env_vars": "allowedEnvVars", "continue_on_block": "continueOnBlock"}


def _check_served(kind: str, isolate: str | None, inline: bool) -> None:
    """Refuse what a hook that is run by a server or asks a model cannot have beside it."""
    if isolate is not None or inline:
        raise BadHook(f"{'inline' if inline else 'isolate'}: a hook of type {kind} runs no function here",
                      hint="leave it out")  # fmt: skip


def _check_command(kind: str | None, types: tuple[str, ...], isolate: str | None, inline: bool) -> None:
    """Refuse what a hook that runs a command cannot have beside it."""
    if kind not in (None, "command", "python", *types, *KINDS, *_CANNOT_RUN):
        _unknown_type(str(kind), types)
    if kind not in (None, "command"):
        raise BadHook(f"command: a hook of type {kind} has none", hint="leave out type or command")
    if isolate is not None:
        raise BadHook("isolate: a command runs in a process of its own anyway", hint="see isolation")
    if inline:
        raise BadHook("inline: a command cannot run in the caller's task", hint="leave it out")


def _shown(kind: str, handler: str) -> str:
    """Return what a hook without a name is called: a prompt may be long."""
    text = " ".join(handler.split()) if kind in JUDGES else handler
    return text if kind not in JUDGES or len(text) <= _LONGEST_LABEL else f"{text[:_LONGEST_LABEL]}…"


def _handler(
    kind: str | None, handler: Any, where: ModulePlace, types: tuple[str, ...], dialect: str, isolate: str | None
) -> tuple[str, Binding]:
    """Return the type of a hook that runs no command, and what it is bound to."""
    if kind in types:
        return str(kind), Binding()  # its handler knows what to run
    if dialect == "claude" and kind in _CANNOT_RUN:
        return str(kind), Binding(call=partial(_cannot_run, str(kind)))
    if kind not in (None, "python"):
        _unknown_type(kind, types)
    if isinstance(handler, str):
        if "/" in handler or handler.endswith((".py", ".sh")):
            raise BadHook(f"handler: {handler!r} is a path", hint="name a Python function, or add type: command")
        own = _isolated(isolate, handler, where)
        return "python", Binding(call=LazyFunction(handler, where), handler=own)
    if not callable(handler):
        raise BadHook(f"handler: {as_written(handler)} cannot be called", hint="give a function, or its name as text")
    own = _isolated(isolate, handler, where)
    awaits = own is None and is_async(handler)
    return "python", Binding(call=unified(handler, label_of(handler)), handler=own, awaits=awaits)


def _unknown_type(kind: str, types: tuple[str, ...]) -> NoReturn:
    known = [*dict.fromkeys(("python", "command", *KINDS, *types))]
    raise BadHook(f"type: {kind!r} is not a kind of handler",
                  hint=nearest(str(kind), known) or f"there is {', '.join(known)}")  # fmt: skip


def _isolated(isolate: str | None, handler: Any, where: ModulePlace) -> Handler | None:
    """Return the handler that runs a callable in a process of its own, if ``isolate`` asks for that."""
    _check_choice("isolate", isolate, (None, "process"))
    if isolate is None:
        return None
    from ..handlers.isolated import IsolatedHandler

    return IsolatedHandler(handler, where)


_CANNOT_RUN = ("powershell",)
"""Kinds of handlers that Claude Code has and we cannot run: they load, and fail when their turn comes."""


def _cannot_run(kind: str, event: Any) -> None:
    raise HookFailed("handler_type", f"hooks of type {kind} cannot be run here")


def _matches(dialect: str, matcher: str | None) -> Callable[[str], bool] | None:
    if dialect == "claude":
        from ..matching import compile_claude_matcher

        return compile_claude_matcher(matcher)
    return compile_matcher(matcher)


def _matcher(row: EventSpec, matcher: str | None, suffix: str | None) -> str | None:
    matcher = _text("matcher", matcher)
    if suffix is not None:
        if matcher not in (None, "", suffix):
            raise BadHook(f"{row.name}:{suffix} names a matcher already, and so does matcher: {matcher!r}",
                          hint="leave one of them out")  # fmt: skip
        return suffix
    if matcher and matcher != "*" and row.subject is None:
        raise BadHook(f"{row.name} has nothing that a matcher could be compared with", hint="leave matcher out")
    return matcher


def seconds(option: str, value: Any) -> float | None:
    """Return a time in seconds; 0 means not set."""
    if value is None:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value < _LONGEST:
        raise BadHook(
            f"{option}: {value!r} is not a time in seconds", hint="a number without a unit, such as 5; 0 means not set"
        )
    return float(value) or None


def _check_choice(option: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices or isinstance(value, bool):
        known = [str(choice) for choice in choices if choice is not None]
        raise BadHook(f"{option}: {value!r} is not a choice",
                      hint=nearest(str(value), known) or f"choose {', '.join(known)}")  # fmt: skip


def _check_type(option: str, value: Any, wanted: type, *, optional: bool = False) -> None:
    if not (optional and value is None) and not isinstance(value, wanted):
        words = {str: "text", bool: "true or false"}[wanted]
        raise BadHook(f"{option}: {as_written(value)} where {words} is expected")


def _text(option: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadHook(f"{option}: {as_written(value)} where text is expected")
    return value


UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration(key: str, value: Any) -> float:
    """Read ``5s``, ``250ms``, ``2m`` or a number of seconds."""
    if isinstance(value, str):
        number = value.strip().rstrip("smh")
        unit = value.strip()[len(number) :]
        try:
            return seconds(key, float(number) * UNITS[unit]) or 0.0
        except (ValueError, KeyError):
            raise BadHook(f"{key}: {value!r} is not a duration", hint="write 5s, 250ms or 2m") from None
    return seconds(key, value) or 0.0
