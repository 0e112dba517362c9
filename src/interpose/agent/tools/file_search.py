"""Walk through the files of the working directory, with limits; and match paths against patterns."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from .paths import is_private
from .tool import ToolFailed

__all__ = ["Walk", "compiled", "path_pattern", "walked"]

_MAX_FILES = 200_000
_SECONDS = 30.0
_MAX_PATTERN = 4_096

_T = TypeVar("_T")


class Walk:
    """One walk, which ends early when it takes too long or is abandoned; remarks say what was left out."""

    def __init__(
        self,
        root: Path,
        *,
        seconds: float = _SECONDS,
        most: int = _MAX_FILES,
        left_out: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._root = root
        self._left_out = left_out
        self._kept_back = 0
        self._deadline = time.monotonic() + seconds
        self._left = most
        self._abandoned = threading.Event()
        self._early = False
        self.unreadable = 0

    def abandon(self) -> None:
        """End the walk: its caller no longer waits."""
        self._abandoned.set()

    def files(self, start: Path) -> Iterator[Path]:
        """Yield the files below a directory, or the file itself.

        Links that lead out of the working directory are passed over, and so are files that rules keep back.
        """
        if not start.is_dir():
            if self._may_show(start):
                yield start
            return
        ahead = [(start, entry) for entry in self._entries(start)]
        while ahead:
            directory, entry = ahead.pop()
            if self.must_end():
                return
            path = directory / entry.name
            if is_private(path.relative_to(self._root)):
                continue
            if entry.is_dir(follow_symlinks=False):
                ahead += ((path, below) for below in self._entries(path))
            elif self._is_inside(entry) and self._may_show(path):
                yield path

    def _entries(self, directory: Path) -> list[os.DirEntry[str]]:
        """Return what is in a directory, the last name first."""
        try:
            with os.scandir(directory) as found:
                return sorted(found, key=lambda entry: entry.name, reverse=True)
        except OSError:
            self.unreadable += 1
            return []

    def may_read(self, real: Path) -> bool:
        """Return whether a file that a link leads to may be read, by its real path."""
        return real.is_relative_to(self._root) and self._may_show(real)

    def _may_show(self, path: Path) -> bool:
        kept_back = self._left_out(str(path))
        self._kept_back += kept_back
        return not kept_back

    def _is_inside(self, entry: os.DirEntry[str]) -> bool:
        try:
            if not entry.is_file():  # no devices, no pipes, and no links to directories, which could loop
                return False
            return not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(self._root)
        except (OSError, RuntimeError):
            return False

    def must_end(self) -> bool:
        """Count one more file; return whether the walk must end."""
        self._left -= 1
        if self._left < 0 or time.monotonic() > self._deadline or self._abandoned.is_set():
            self._early = True
        return self._early

    def remarks(self) -> list[str]:
        """Return remarks for the model about files that were left out."""
        remarks = ["(there are too many files, and not all were searched: name a path)"] if self._early else []
        if self._kept_back:
            remarks.append(f"(left out by a permission rule: {self._kept_back})")
        if self.unreadable:
            remarks.append(f"(could not be read or is too large: {self.unreadable})")
        return remarks


async def walked(walk: Walk, work: Callable[[], _T]) -> _T:
    """Do the work of a walk in a thread; if the caller is cancelled, the walk ends soon."""
    try:
        return await asyncio.to_thread(work)
    finally:
        walk.abandon()


def compiled(pattern: str, *, ignore_case: bool = False, lines: bool = False) -> Any:
    """Compile a regular expression for bytes with RE2, which takes linear time for every pattern.

    With ``lines`` it matches within lines: ``^`` and ``$`` match at lines, and nothing matches a line feed.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.never_nl = lines
    try:
        return re2.compile(f"(?m){pattern}".encode() if lines else pattern.encode(), options)
    except UnicodeEncodeError:
        raise ToolFailed("the pattern has a lone surrogate in it") from None
    except re2.error as error:
        said = error.args[0] if error.args else error
        why = (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).replace("(?m)", "", 1)
        raise ToolFailed(f"the pattern is not a regular expression: {why} (RE2: no look-around, no \\1)") from None


_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|\{[^{}]*\}|.", re.DOTALL)
_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def path_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a function that matches paths: ``**`` is any directories, ``*`` and ``?`` stay within a name."""
    if len(pattern) > _MAX_PATTERN:
        raise ToolFailed(f"a path pattern of {len(pattern):,} characters: at most {_MAX_PATTERN:,}")
    try:
        expression = compiled(_expression(pattern.removeprefix("./")))
    except ToolFailed:
        raise ToolFailed(f"{pattern} is not a path pattern: **, *, ?, [abc] and {{a,b}}") from None
    return lambda path: expression.fullmatch(os.fsencode(path)) is not None


def _expression(pattern: str) -> str:
    return "".join(_piece(token[0]) for token in _TOKEN.finditer(pattern))


def _piece(token: str) -> str:
    if token in _WILDCARDS:
        return _WILDCARDS[token]
    if token[0] == "[" and len(token) > 2:
        inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^/{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]"
    if token[0] == "{" and len(token) > 2:
        return f"(?:{'|'.join(_expression(choice) for choice in token[1:-1].split(','))})"
    return re.escape(token)
