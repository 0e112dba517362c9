"""Make hooks of script lines: those of ``.arma`` files, and single lines in a configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import BadHook, ConfigError, Problem
from ..events import Table
from ..model import Hook
from .declare import declare

__all__ = ["PRIORITY", "ScriptReader"]

PRIORITY = 50
"""The default priority of script lines: before that of other hooks."""


class ScriptReader:
    """Reads script lines. The language is loaded with the first one."""

    def __init__(self, table: Table, commands: Any = None, read: Callable[[str], bytes] | None = None) -> None:
        self._table = table
        self._given = commands
        self._read = read or _read

    def hooks_of_file(self, path: str, layer: str) -> list[Hook]:
        """Return a hook for each line of a file; raise ConfigError with all problems."""
        whole = f"{path}:1:1"  # with a line and a column, or it would be taken for a key of the configuration
        try:
            text = self._read(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError([Problem(f"byte {error.start} is not UTF-8", where=whole)]) from None
        except ConfigError as error:
            raise ConfigError(
                [Problem(problem.what, where=whole, hint=problem.hint) for problem in error.problems]
            ) from None
        return [
            declare(self._table, line.event, line, type="script", types=("script",), priority=PRIORITY, layer=layer,
                    source=line.where)
            for line in self._parse(text, path)
        ]  # fmt: skip

    def line(self, event: str, text: Any) -> Any:
        """Return the parsed line of a hook of type ``script``."""
        if not isinstance(text, str) or "\n" in text:
            raise BadHook("handler: a script hook has one line", hint='such as handler: /deny "not today"')
        try:
            (line,) = self._parse(f"hook {event} {text}", "")
        except ConfigError as error:
            raise BadHook(f"handler: {error.problem.what}", hint=error.problem.hint) from None
        except ValueError:
            raise BadHook("handler: a script hook has one line", hint='such as handler: /deny "not today"') from None
        return line

    def _parse(self, text: str, source: str) -> list[Any]:
        from ..scripts import Commands, parse

        if self._given is None:
            self._given = Commands()
        return parse(text, source=source, table=self._table, commands=self._given)


def _read(path: str) -> bytes:
    from .files import read

    return read(path, found=False).data
