"""A tool call as policies see it: its command lines, its effects, and where its files are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

from ..matching.paths import names_of
from ..matching.shell import Line, ShellCommand, Unread, read_line
from ..matching.shell.words import is_known
from ..matching.tool_inputs import COMMANDS, TooMuch, limited_values, plain_key
from .effects import (
    Edit,
    Effect,
    edits_of_input,
    effects_of_input,
    effects_of_line,
    effects_of_query,
    is_patch_tool,
    say,
    unread,
)
from .effects.downloads import is_well_known_installer
from .effects.output import consumed_commands
from .effects.rows import written
from .effects.service_tools import effects_of_service
from .effects.tool_lines import directory_of_input, is_shell_tool, lines_of_input
from .git_aliases import lines_of_aliases

__all__ = ["SETTERS", "Call", "PlaceKind", "host_name_of"]

_LONGEST = 4_096

PlaceKind = Literal["unknown", "root", "inside", "temporary", "outside"]
"""``root`` is ``/``, the home, the project or a directory above one of them. ``inside`` is below the project."""

SETTERS = ("read", "mapfile", "readarray", "getopts", "printf", "select", "find", "xargs", "eval", "source", ".")
"""Commands that may set a variable to a text that the line chooses."""
_ELSEWHERE = ("docker", "docker-compose", "kubectl", "nerdctl", "oc", "podman", "podman-compose", "ssh", "vagrant")
"""Programs that run a command in a container or on another machine."""


def host_name_of(fields: Mapping[str, Any]) -> str:
    """Return the host's own name of a tool, which says what server it belongs to; rules may know it by another."""
    name = fields.get("host_tool_name") or fields.get("tool_name")
    return name if isinstance(name, str) else ""


class Call:
    """A call of a tool: its name, its input, its directory, and what it does as far as that can be read."""

    def __init__(self, fields: Mapping[str, Any], project: str | Callable[[], str] = "") -> None:
        name, given, cwd = fields.get("tool_name"), fields.get("tool_input"), fields.get("cwd")
        self.fields = fields
        self.tool = name if isinstance(name, str) else ""
        self.own_name = host_name_of(fields)
        self.input: Mapping[str, Any] = given if isinstance(given, Mapping) else {"command": given} if given else {}
        self._started_in = os.path.abspath(cwd) if isinstance(cwd, str) and cwd and "\0" not in cwd else os.getcwd()
        self.home = os.path.expanduser("~")
        self._project = project
        self._names: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, str] = {}

    @cached_property
    def project(self) -> str:
        """The project that the call belongs to; looked for when a policy asks, since that takes longer than judging."""
        return (self._project() if callable(self._project) else self._project) or self._started_in

    @cached_property
    def cwd(self) -> str:
        """The directory in which the tool works: that of the event, or the one that the tool's input names."""
        return directory_of_input(self.input, self._started_in, runs_lines=bool(self._given))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The command lines that the tool is given, and those that aliases of git in them stand for."""
        return (*self._given, *lines_of_aliases(self._given, self.cwd, self.home))

    @cached_property
    def _given(self) -> tuple[Line, ...]:
        """The command lines that the tool is given."""
        if is_patch_tool(self.tool):  # whose command is a patch
            return ()
        return tuple(read_line(text) for text in dict.fromkeys(lines_of_input(self.tool, self.input)))

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """What the call does: the effects of its lines, and those of a tool for files, the web or databases."""
        found = [effect for line in self.lines for effect in effects_of_line(line, self.cwd, self.home)]
        tool = effects_of_input(self.tool, self.input, self.cwd)
        service = effects_of_service(self.tool, self.input, self.cwd)
        return (*found, *tool, *effects_of_query(self.tool, self.input), *service)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """What a tool for files writes, as far as its input says."""
        return edits_of_input(self.tool, self.input)

    @cached_property
    def unreadable(self) -> tuple[Unread, ...]:
        """Why a line of it cannot be read, or not all of it; each reason has a kind. A known installer is read."""
        lines = [line for line in self.lines if not is_well_known_installer(line)]
        reasons = [reason for line in lines for reason in unread(line)]
        reasons += (Unread(say(effect)) for effect in self.of("computed-code"))
        if not self.lines and is_shell_tool(self.tool) and any(plain_key(key) in COMMANDS for key in self.input):
            reasons.append(Unread("the command is no text", "broken"))
        if self._has_too_much:
            reasons.append(Unread("the input has too many values", "broken"))
        return tuple(dict.fromkeys(reasons))

    @cached_property
    def consumed(self) -> frozenset[str]:
        """The commands whose output the line itself consumes, as effects name them: nothing of it is shown."""
        return frozenset[str]().union(*map(consumed_commands, self.lines))

    def of(self, *kinds: str) -> Iterator[Effect]:
        """Yield the effects of these kinds."""
        return (effect for effect in self.effects if effect.kind in kinds)

    def commands_of(self, effect: Effect) -> list[tuple[Line, ShellCommand]]:
        """Return the commands of the lines that have an effect, each with its line."""
        return self._commands.get((effect.program, effect.command), [])

    @cached_property
    def _commands(self) -> dict[tuple[str, str], list[tuple[Line, ShellCommand]]]:
        """The commands of the lines with their lines, by program and text."""
        found: dict[tuple[str, str], list[tuple[Line, ShellCommand]]] = {}
        for line in self.lines:
            for command in line.commands:
                text = " ".join(map(written, command.parts))
                found.setdefault((command.name, text), []).append((line, command))
        return found

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return the absolute paths that a file has, as written and with links followed; each is looked up once."""
        if path not in self._names:
            self._names[path] = names_of(path, self.cwd)
        return self._names[path]

    def _real(self, folder: str) -> str:
        """Return a folder with its links followed."""
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return self._folders[folder]

    def is_elsewhere(self, effect: Effect) -> bool:
        """Return whether the commands that have an effect run in a container or on another machine."""
        found = [command for _, command in self.commands_of(effect)]
        return bool(found) and all(any(one.split()[0] in _ELSEWHERE for one in command.via) for command in found)

    def place_of(self, path: str) -> PlaceKind:
        """Return where a file of an effect is; links are followed, except that of the last part."""
        if not path or not is_known(path) or len(path) > _LONGEST:
            return "unknown"
        folder, name = os.path.split(os.path.join(self.cwd, path))
        if name in (".", ".."):
            resolved = self._real(os.path.join(folder, name))
        else:  # ``link/..`` is above the directory that the link leads to, so it is not removed as text
            resolved = os.path.join(self._real(folder), name) if name else self._real(folder)
        project, home = self._roots
        if any(_holds(resolved, root) for root in (project, home)):
            return "root"
        if project not in (os.sep, home) and _holds(project, resolved):
            return "inside"
        if any(_holds(folder, resolved) and folder != resolved for folder in temporary_directories()):
            return "temporary"
        return "outside"

    @cached_property
    def _roots(self) -> tuple[str, str]:
        """The project and the home, resolved."""
        return os.path.realpath(self.project), os.path.realpath(self.home)

    @cached_property
    def _has_too_much(self) -> bool:
        try:
            return not all(True for _ in limited_values(self.input))
        except TooMuch:
            return True


def temporary_directories() -> tuple[str, ...]:
    """Return the directories for temporary files, resolved."""
    given = ("/tmp", "/var/tmp", os.environ.get("TMPDIR", ""))  # noqa: S108 - they are compared, not used
    return tuple(dict.fromkeys(os.path.realpath(one) for one in given if os.path.isabs(one)))


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
