"""Tables of files by label: which file is a lock file, a start file, the settings of an agent.

A table is made from texts of patterns, separated by blanks: ``.claude/settings.json`` at any depth, ``~/.bashrc`` in a
home, ``/etc/crontab`` from the root. A slash at the end means the folder and everything below it. ``*`` stands for any
text within a name, ``?`` for one character. Case is ignored.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ..matching.globs import has_wildcards
from ..matching.shell.words import MANY, ONE
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex

__all__ = ["FileTable"]

_GENERIC = frozenset({
    ".config", ".local", "state", "share", "etc", "library", "lib", "bin", ".github", ".vscode", ".git", "hooks",
    "home", ".cache", "documents", ".venv",
})  # fmt: skip
"""Names that say little: a path of which only these are known means no file of a table."""
_DEEPEST = 8
_MARKS = regex(f"[{ONE}{MANY}]+")


class _Pattern(NamedTuple):
    label: str
    parts: tuple[str, ...]
    begin: str
    """``/`` from the root, ``~`` in a home, or empty: at any depth."""
    is_folder: bool
    telling: int
    """The place of the name that tells the file from others."""


class FileTable:
    """Patterns of files by label."""

    def __init__(self, entries: dict[str, str]) -> None:
        self._patterns = [_pattern(label, one) for label, text in entries.items() for one in text.lower().split()]

    @cached_property
    def _by_first(self) -> dict[str, list[_Pattern]]:
        """The patterns by their first name, without those that begin with a wildcard."""
        found: dict[str, list[_Pattern]] = {}
        for pattern in self._patterns:
            if not has_wildcards(pattern.parts[0]):
                found.setdefault(pattern.parts[0], []).append(pattern)
        return found

    @cached_property
    def _by_name(self) -> tuple[re.Pattern[str], list[_Pattern]]:
        """The patterns that are a file's name with a wildcard at its beginning, as one expression."""
        patterns = [one for one in self._patterns if has_wildcards(one.parts[0])]
        regexes = (f"(?P<p{at}>{fnmatch.translate(one.parts[0])})" for at, one in enumerate(patterns))
        return re.compile("|".join(regexes) or "(?!)"), patterns

    def label_of(self, path: str, home: str) -> str:
        """Return the label of a pattern that means an absolute path; an empty text if there is none."""
        parts = [part for part in path.casefold().split("/") if part]
        below_home = _below_home(parts, home)
        for at, part in enumerate(parts):
            for pattern in self._by_first.get(part, ()):
                if _begins(pattern, at, below_home) and _fits(pattern, parts, at):
                    return pattern.label
        if not parts:
            return ""
        expression, patterns = self._by_name
        found = expression.match(parts[-1])
        return patterns[int((found.lastgroup or "p0")[1:])].label if found else ""

    def may_mean(self, path: str, home: str, *, whole: bool = False) -> str:
        """Return the label of a pattern that may mean a path with unknown parts; an empty text if there is none.

        At least two characters of the name that tells the file from others have to be known; with ``whole`` the path
        is deleted or moved with what is in it, and one is enough.
        """
        parts = [part for part in path.casefold().split("/") if part]
        below_home = 1 if path.startswith(("~/", ONE, MANY)) else _below_home(parts, home)
        enough = 1 if whole else 2
        for at in range(max(0, len(parts) - _DEEPEST), len(parts)):
            known = _MARKS.sub("", parts[at])
            if not known:
                continue
            for pattern in self._by_first.get(parts[at], ()) if known == parts[at] else self._patterns:
                telling = at + pattern.telling
                if telling < len(parts) and _known(parts[telling]) < enough:
                    continue
                if telling >= len(parts) and not (whole and _known(parts[-1]) >= enough):
                    continue
                if _begins(pattern, at, below_home) and _may_fit(pattern, parts, at):
                    return pattern.label
        return ""

    def below(self, folders: Sequence[str], home: str) -> Iterator[tuple[str, str]]:
        """Yield the label and the path of each file of the table that exists directly in one of these folders."""
        for folder in dict.fromkeys(folders):
            for first, patterns in self._by_first.items():
                if not os.path.lexists(os.path.join(folder, first)):
                    continue
                for pattern in patterns:
                    whole = os.path.join(folder, *pattern.parts)
                    if pattern.begin != "/" and (pattern.begin == "" or folder == home) and os.path.lexists(whole):
                        yield pattern.label, whole

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, each once."""
        return tuple(dict.fromkeys(pattern.label for pattern in self._patterns))

    @cached_property
    def parents(self) -> frozenset[str]:
        """The names, with a dot, of the folders that patterns begin with and that hold little else."""
        return frozenset(
            pattern.parts[0]
            for pattern in self._patterns
            if not pattern.begin
            and len(pattern.parts) > 1
            and pattern.parts[0][0] == "."
            and pattern.parts[0] not in _GENERIC
        )


def _pattern(label: str, text: str) -> _Pattern:
    begin = "/" if text.startswith("/") else "~" if text.startswith("~/") else ""
    parts = tuple(text.removeprefix("~").strip("/").split("/"))
    telling = next((at for at, name in enumerate(parts) if name not in _GENERIC), len(parts) - 1)
    return _Pattern(label, parts, begin, text.endswith("/"), telling)


def _below_home(parts: list[str], home: str) -> int:
    """Return how many parts of a path lead to a home; 0 if it is in none."""
    own = [part for part in home.casefold().split("/") if part]
    if own and parts[: len(own)] == own:
        return len(own)
    if parts[:1] in (["home"], ["users"]) and len(parts) > 2:
        return 2
    return 1 if parts[:1] == ["root"] else 2 if parts[:2] == ["var", "root"] else 0


def _begins(pattern: _Pattern, at: int, below_home: int) -> bool:
    """Return whether a pattern may begin at a part of a path."""
    if pattern.begin == "/":
        return at == 0
    return pattern.begin == "" or (below_home > 0 and at == below_home)


def _fits(pattern: _Pattern, parts: list[str], at: int) -> bool:
    end = at + len(pattern.parts)
    if len(parts) < end or (len(parts) > end and not pattern.is_folder):
        return False
    return all(map(_same, pattern.parts, parts[at:end]))


def _same(pattern: str, name: str) -> bool:
    return pattern == name or (has_wildcards(pattern) and fnmatch.fnmatchcase(name, pattern))


def _may_fit(pattern: _Pattern, parts: list[str], at: int) -> bool:
    """Compare with a path in which marks stand for any text; one in its last part may stand for more names."""
    rest = parts[at:]
    if len(rest) > len(pattern.parts) and not pattern.is_folder:
        return False
    if len(rest) < len(pattern.parts) and _MARKS.search(rest[-1]) is None:
        return False
    wanted = list(pattern.parts[: len(rest)])
    if len(rest) < len(pattern.parts):
        wanted[-1] = "/".join(pattern.parts[len(rest) - 1 :])
        return all(map(_may_be, wanted, rest)) or all(map(_may_be, pattern.parts, rest))
    return all(map(_may_be, wanted, rest))


def _may_be(pattern: str, name: str) -> bool:
    """Return whether a name with marks may be the one of a pattern."""
    pieces = _MARKS.split(name)
    if len(pieces) == 1:
        return _same(pattern, name)
    if has_wildcards(pattern):
        begin = pattern.partition("*")[0].partition("?")[0]
        return bool(begin and pieces[0]) and (begin.startswith(pieces[0]) or pieces[0].startswith(begin))
    if not pattern.startswith(pieces[0]) or not pattern.endswith(pieces[-1]):
        return False
    at = len(pieces[0])
    for piece in pieces[1:]:
        at = pattern.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _known(part: str) -> int:
    """Return how many characters of a name are known; the ending of one with unknown parts says nothing."""
    return len(part) if _MARKS.search(part) is None else len(_MARKS.sub("", re.sub(r"(?<=.)\.[^.]*\Z", "", part)))
