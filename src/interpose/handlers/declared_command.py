"""The command of a hook, as declared, and what its declaration is checked with. The handler is loaded when one runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..event import Event
from ..model import Hook
from ..records import Record, made_by
from ..replies import HookFailed
from ._encoded import encoded_event

__all__ = ["ISOLATIONS", "Command", "Isolation", "can_be_passed", "command_of", "current_interpreter", "program_of"]

Isolation = Literal["group", "tree", "namespace"]
ISOLATIONS: tuple[Isolation, ...] = ("group", "tree", "namespace")


class Command(Record):
    """The command of a hook, as declared; its paths were resolved then."""

    path: str
    argv: Sequence[str]
    given: tuple[str, ...] = ()
    """The line for the shell, or the words, as they were written."""
    is_line: bool = False
    dialect: str
    write: Callable[[Event], Mapping[str, Any]]
    """Writes an event in the command's dialect."""
    variables: Callable[[Event], Mapping[str, str]]
    """Returns the environment variables for an event."""
    env: Mapping[str, str] = made_by(factory=dict)
    passed: tuple[str, ...] = ()
    inherit: bool = False
    without: tuple[str, ...] = ()
    """Prefixes of the variables that are not inherited."""
    all_given: bool = False
    """Whether it may get variables that only the settings of an agent have set; a guard does not."""
    cwd: str | None = None
    real_cwd: str | None = None
    """The real path of ``cwd`` when the hook was declared; it must not change."""
    project: Callable[[object], str] = str
    """Returns the project of an event in this directory."""
    placed: Callable[[str], tuple[str, Sequence[str]]] | None = None
    """Returns the path and the words for a project; None if they do not name it."""
    fallback_cwds: tuple[str, ...] = ()
    """Where to run, after the project, if the event's directory is gone; if empty, the hook fails then."""
    isolation: str | None = None
    keep: bool = False
    warm: bool = False

    def directory(self, event: Event) -> str | None:
        """Return the directory to run in, or None for the host's own."""
        if self.cwd is not None:
            if os.path.isdir(self.cwd) and os.path.realpath(self.cwd) != self.real_cwd:
                raise HookFailed("cwd_changed", f"the directory to run in has changed since the hook was "
                                                f"declared: {self.cwd!a}")  # fmt: skip
            return self.real_cwd
        given = dict.get(event, "cwd")
        if not isinstance(given, str) or not given:
            return None  # the host has named none
        if self.fallback_cwds and not os.path.isdir(given):
            return next(filter(os.path.isdir, (self.project(given), *self.fallback_cwds)), "/")
        try:
            if can_be_passed(given):
                return os.path.abspath(given)
        except OSError:  # a relative path, and the host's own directory is gone
            pass
        raise HookFailed("cwd_missing", f"the directory to run in does not exist: {given[:200]!a}")

    def words(self, cwd: object) -> tuple[str, Sequence[str]]:
        """Return the path and the words to run for an event in this directory."""
        return (self.path, self.argv) if self.placed is None else self.placed(self.project(cwd))

    def encoded(self, event: Event) -> bytes:
        """Return the event as bytes for this command."""
        return encoded_event(event, self.dialect, self.write)


def command_of(hook: Hook) -> Command | None:
    """Return the command of a hook; None if it runs something else."""
    target = hook.binding.target
    return target if isinstance(target, Command) else None


def program_of(hook: Hook) -> Command | None:
    """Return the program that a hook starts: its command, or that of its MCP server."""
    target = hook.binding.target
    found = getattr(target, "program", target)
    return found if isinstance(found, Command) else None


def current_interpreter() -> str:
    """Return the interpreter for scripts that name none."""
    return sys.executable or "python3"


def can_be_passed(text: str) -> bool:
    """Say whether text can be an argument or a variable of a process: without NUL and lone surrogates."""
    try:
        return b"\0" not in text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
