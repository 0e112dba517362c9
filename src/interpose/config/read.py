"""Read one configuration file, in either dialect, to a Configuration with lines and columns in its problems."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from ..errors import ConfigError, Problem
from ..events import Table
from ..handlers.projects import own_project
from ..records import Record
from ..runtime.regex import regex
from . import parse_cache
from .claude import read_settings
from .commands import Trusted
from .files import FileRead
from .mapping import Configuration, read_mapping

__all__ = ["Source", "read_configuration"]

_CLAUDE_FILE = regex(r"(^|/)\.claude/settings[^/]*\.json$")


class Source(Record, kw_only=False):
    """A file to read: its layer, its dialect, and whether it was found or named."""

    path: str
    layer: str = "code"
    dialect: str | None = None
    found: bool = False
    snapshot: str = ""
    """The name of the snapshot that it is run from, for the rules of a fleet."""
    observe: bool = False
    """Whether its hooks are run and not enforced, whatever they say."""


def read_configuration(
    table: Table,
    source: Source,
    file: FileRead,
    *,
    commands: Any = None,
    lines: bool = True,
    read: Callable[[str], bytes] | None = None,
    trusted: Trusted | None = None,
    cache: str = "",
) -> Configuration:
    """Return the content of a file; raise ConfigError with all problems.

    ``read`` returns the content of a script that it names, ``trusted`` says what is run from a snapshot, and ``cache``
    is a directory for the parsed value, if it is not the user's.
    """
    parsed = parse_cache.parse(file, source.path, cache)
    given = parsed.value
    directory = os.path.dirname(file.real_path)
    spoken = source.dialect or (given.get("dialect") if isinstance(given, dict) else None)
    if spoken is None:
        spoken = "claude" if _CLAUDE_FILE.search(source.path.replace(os.sep, "/")) else "native"
    if spoken not in ("native", "claude"):
        raise ConfigError([Problem(f"there is no dialect {spoken!r}", where=parsed.where("dialect", value=True),
                                   hint="native or claude")])  # fmt: skip
    locate = (lambda path: f"{source.path}:{parsed.place(path)[0]}") if lines else None
    try:
        if spoken == "claude":
            around = os.path.dirname(directory) if os.path.basename(directory) == ".claude" else directory
            found = read_settings(table, given, layer=source.layer, source=source.path, directory=around,
                                  folder=directory, project_dir=own_project(directory, source.layer),
                                  locate=locate, read=read, trusted=trusted)  # fmt: skip
        else:
            found = read_mapping(table, given, layer=source.layer, source=source.path, directory=directory,
                                 locate=locate, commands=commands, read=read, trusted=trusted)  # fmt: skip
    except ConfigError as error:
        raise ConfigError([_located(problem, parsed.where) for problem in error.problems]) from None
    found.warnings = [_located(problem, parsed.where) for problem in found.warnings]
    if spoken == "claude":
        found.warnings.sort(key=_position)
    return found


def _position(problem: Problem) -> tuple[int, ...]:
    """Return the line and column of a problem, to sort by."""
    return tuple(int(part) for part in problem.where.rsplit(":", 2)[1:] if part.isdecimal())


def _located(problem: Problem, where: Callable[..., str]) -> Problem:
    """Turn the path of a problem into the line and column of the key."""
    if re.match(r".+:\d+:\d+$", problem.where):
        return problem  # it has a position already, in a script
    path, option = problem.where, problem.what.partition(":")[0]
    if re.fullmatch(r"[A-Za-z]+", option):
        path = f"{path}.{option}"  # the message names an option of the hook
    return Problem(problem.what, where=where(path), hint=problem.hint)
