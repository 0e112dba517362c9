"""The options of a session, and the old names of two of them, which are read for one release."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypedDict

from ..errors import UsageError, nearest
from ..model import Outcome
from .answers import Question
from .configured_rules import ConfiguredRules
from .permission import Rules

__all__ = ["Approver", "Renamed", "SessionOptions", "check_fields", "reads_old_names"]

Approver = Callable[[Question], Any]
"""Is given a question and returns True, False or a reply such as ``deny("not today")``, or an awaitable of these."""


class SessionOptions(TypedDict, total=False):
    """What ``hooks.session()`` and ``hooks.session_sync()`` take."""

    session_id: str | None
    """The id in every event of the session; a new one if it is not given."""
    cwd: str | os.PathLike[str]
    """The directory that the agent works in; the current one if it is not given."""
    agent_id: str | None
    """The agent that acts; ``main`` if it is not given."""
    agent_type: str | None
    """What kind of agent it is."""
    model: str | None
    """The name of the model, for events that carry it."""
    tools: Sequence[Mapping[str, Any]]
    """Tools of MCP servers for ``SessionStart``: each with ``name``, ``description`` and ``input_schema``."""
    transcript_path: str | os.PathLike[str]
    """The file with the conversation."""
    source: str
    """Why the session starts: ``startup`` (the default), ``resume``, ``clear`` or ``compact``."""
    default: Literal["allow", "ask"]
    """What happens to a tool call that no hook and no rule decides: ``allow`` (the default) or ``ask``."""
    mode: str
    """The permission mode: ``default``, ``acceptEdits``, ``plan`` or ``bypass``."""
    rules: Mapping[str, str] | Rules | ConfiguredRules | None
    """Permission rules such as ``{"Bash(git push *)": "ask"}``; if not given, those that the configuration has now."""
    approver: Approver | None
    """Answers permission questions; without one, they wait as ``questions:`` says, or are answered with no."""
    show: Callable[[str], object]
    """Shows a text to the person."""
    env_file: str | os.PathLike[str] | None
    """A file in which hooks leave shell lines for the session's commands."""
    max_continues: int
    """How often in a row hooks may make an agent continue that wants to stop; 8 if it is not given."""
    on_outcome: Callable[[Outcome], object] | None
    """Is called with every outcome of the session."""
    view: Callable[[Any], Any] | None
    """Returns what hooks see of a tool's input and result, such as ``json_view``; without it they see the objects."""


_OWN_FIELDS = {
    "tool_name": "it is the first argument", "tool_input": "it is the second argument", "tool_use_id": "pass it as id=",
    "id": "pass it as tool_use_id=", "session_id": "set it for the session", "cwd": "set it for the session",
    "agent_id": "set it for the session", "permission_mode": "set session.mode",
}  # fmt: skip


def check_fields(fields: Mapping[str, Any], *options: str) -> None:
    """Raise UsageError for a field of a tool call that is a misspelt option, or a field that the session sets."""
    for name in fields:
        if name in _OWN_FIELDS:
            raise UsageError(f"{name}: not a further field of a tool call", hint=_OWN_FIELDS[name])
        if hint := nearest(name, options):
            raise UsageError(f"{name}: no such option of a tool call", hint=hint)


_MEANT = {"permission_mode": "did you mean mode?", "permissions": "did you mean rules?"}
"""Names that events and configurations have for options, and hints that name the option."""

_RENAMED = {"asker": "approver", "most_keep_goings": "max_continues"}

_P = ParamSpec("_P")


def reads_old_names(init: Callable[Concatenate[Any, _P], None]) -> Callable[Concatenate[Any, _P], None]:
    """Let ``__init__`` be called with the old name of an option."""

    @wraps(init)
    def wrapper(self: Any, /, *arguments: _P.args, **options: _P.kwargs) -> None:
        for old, new in _RENAMED.items():
            if old in options:
                if new in options:
                    raise UsageError(f"{old} is the old name of {new}: only one can be given", hint=f"leave {old} out")
                _warn(old, new)
                options[new] = options.pop(old)
        for name in options.keys() - inspect.signature(init).parameters.keys():
            hint = _MEANT.get(name) or nearest(name, SessionOptions.__annotations__)
            raise UsageError(f"{name}: no such option", hint=hint)
        init(self, *arguments, **options)

    return wrapper


class Renamed:
    """An attribute that has another name now: reading and setting the old one warns and uses the new one."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._old, self._new = name, _RENAMED[name]

    def __get__(self, session: object, owner: type | None = None) -> Any:
        if session is None:
            return self
        _warn(self._old, self._new)
        return getattr(session, self._new)

    def __set__(self, session: object, value: Any) -> None:
        _warn(self._old, self._new)
        setattr(session, self._new, value)


def _warn(old: str, new: str) -> None:
    """Warn at the line outside of this package that used the old name."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "interpose":
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"{old} is called {new} now; the old name is read in this release only", DeprecationWarning, stacklevel=level
    )
