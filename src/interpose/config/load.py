"""Configuration files to hooks. A file is read whole or refused whole, with every problem and its place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ..errors import ConfigError, Problem
from ..events import Table
from ..wire import BadJson, decode
from .claude import read_settings, without_copies
from .mapping import Configuration, read_mapping

__all__ = ["load_files"]

_MOST_BYTES = 10 * 1024 * 1024
_CLAUDE_FILE = re.compile(r"(^|/)\.claude/settings[^/]*\.json$")


def load_files(table: Table, paths: Iterable[Any], dialect: str | None) -> Configuration:
    """Read configuration files in their order; raise ConfigError with everything that is wrong in any of them."""
    whole = Configuration()
    problems: list[Problem] = []
    for path in paths:
        source = os.path.abspath(os.fspath(path))
        try:
            found = _read(table, source, dialect)
        except ConfigError as error:
            problems.extend(_located(problem, source) for problem in error.problems)
            continue
        whole.hooks.extend(found.hooks)
        whole.scopes.update(found.scopes)
        whole.settings.update(found.settings)
        whole.warnings.extend(found.warnings)
    if problems:
        raise ConfigError(problems)
    whole.hooks = without_copies(whole.hooks)
    return whole


def _located(problem: Problem, source: str) -> Problem:
    return Problem(problem.what, where=f"{source}: {problem.where}" if problem.where else source, hint=problem.hint)


def _read(table: Table, source: str, dialect: str | None) -> Configuration:
    given = _parse(source)
    directory = os.path.dirname(source)
    spoken = dialect or (given.get("dialect") if isinstance(given, dict) else None)
    if spoken is None:
        spoken = "claude" if _CLAUDE_FILE.search(source.replace(os.sep, "/")) else "native"
    if spoken == "claude":
        in_dot_claude = os.path.basename(directory) == ".claude"
        project_dir = os.path.dirname(directory) if in_dot_claude else directory
        return read_settings(table, given, layer="code", source=source, directory=project_dir, project_dir=project_dir)
    if spoken != "native":
        raise ConfigError([Problem(f"there is no dialect {spoken!r}", where="dialect", hint="native or claude")])
    return read_mapping(table, given, source=source, directory=directory)


def _parse(source: str) -> Any:
    if not source.endswith(".json"):
        raise ConfigError([Problem("not a JSON file", hint="name it .json")])
    try:
        with open(source, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {error.strerror}")]) from None
    if len(data) > _MOST_BYTES:
        raise ConfigError([Problem(f"has more than {_MOST_BYTES} bytes")])
    try:
        return decode(data)
    except BadJson as error:
        raise ConfigError([Problem(str(error), hint="nothing of this file was armed")]) from None
