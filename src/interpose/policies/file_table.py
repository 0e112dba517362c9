"""Tables of files by label: which file is a lock file, a start file, the settings of an agent.

A table is made from texts of patterns, separated by blanks: ``.claude/settings.json`` at any depth, ``~/.bashrc`` in a
home, ``/etc/crontab`` from the root. A slash at the end means the folder and everything below it. ``*`` stands for any
text within a name, ``?`` for one character. Case is ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..matching.globs import has_wildcards
from ..matching.shell.words import MANY, ONE

__all__ = ["FileTable"]

_HOMES = ("/home/[^/]+", "/users/[^/]+", "/root", "/var/root")
_GENERIC = frozenset({
    ".config", ".local", "state", "share", "etc", "library", "lib", "bin", ".github", ".vscode", ".git", "hooks",
    "home", ".cache", "application?support", "documents",
})  # fmt: skip
"""Names that say little: a path of which only these are known means no file of a table."""
_MOST_MARKS = 8
_DEEPEST = 8
_MARKS = re.compile("[\0\1]+")


class FileTable:
    """Patterns of files by label."""

    __slots__ = ("_entries",)

    def __init__(self, entries: dict[str, str]) -> None:
        self._entries = tuple((label, pattern) for label, text in entries.items() for pattern in text.lower().split())

    def label_of(self, path: str, home: str) -> str:
        """Return the label of the first pattern that means an absolute path; an empty text if there is none."""
        found = _compiled(self._entries, home).search(path.casefold())
        return self._entries[int((found.lastgroup or "p0")[1:])][0] if found else ""

    def may_mean(self, path: str, home: str, *, whole: bool = False) -> str:
        """Return the label of a pattern that may mean a path with unknown parts; an empty text if there is none.

        At least two characters of the name that tells the file from others have to be known; with ``whole`` the path
        is deleted or moved with what is in it, and one is enough.
        """
        text = path.casefold()
        if text.count(ONE) + text.count(MANY) > _MOST_MARKS:
            text = text[: min(at for at in (text.find(ONE), text.find(MANY)) if at >= 0) + 1]
        for tail in _tails(text, home.casefold()):
            known = [_known(part) for part in tail.removeprefix("~/").strip("/").split("/")]
            expression = re.compile(".*".join(map(re.escape, _MARKS.split(tail))), re.DOTALL)
            for label, pattern in self._entries:
                if _is_near(pattern, known, whole) and any(map(expression.fullmatch, _samples(pattern, tail))):
                    return label
        return ""

    def below(self, folders: Sequence[str], home: str) -> Iterator[tuple[str, str]]:
        """Yield the label and the path of each file of the table that exists directly in one of these folders."""
        for label, pattern in self._entries:
            plain = pattern.strip("/")
            if has_wildcards(plain) or pattern.startswith("/"):
                continue
            for folder in [home] if plain.startswith("~/") else folders:
                whole = os.path.join(folder, plain.removeprefix("~/"))
                if os.path.lexists(whole):
                    yield label, whole

    def parents(self) -> frozenset[str]:
        """Return the names of the folders that patterns begin with and that hold nothing else of note."""
        firsts = (pattern.split("/") for _, pattern in self._entries if not pattern.startswith(("/", "~")))
        return frozenset(parts[0] for parts in firsts if len(parts) > 1 and parts[0] not in _GENERIC)


@lru_cache(maxsize=64)
def _compiled(entries: tuple[tuple[str, str], ...], home: str) -> re.Pattern[str]:
    homes = "|".join((*_HOMES, re.escape(home.casefold())))
    parts = []
    for index, (_, pattern) in enumerate(entries):
        body = _regex(pattern.strip("/").removeprefix("~/"))
        begin = r"\A/" if pattern.startswith("/") else rf"\A(?:{homes})/" if pattern.startswith("~/") else "/"
        parts.append(f"(?P<p{index}>{begin}{body}" + (r"(?:/.*)?" if pattern.endswith("/") else "") + r"\Z)")
    return re.compile("|".join(parts), re.DOTALL)


def _regex(glob: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(mark) or re.escape(mark) for mark in glob)


def _tails(path: str, home: str) -> Iterator[str]:
    """Yield the ends of a path that may be what a pattern says, with ``~/`` or ``/`` where the beginning is known."""
    if path.startswith(home + "/"):
        yield "~" + path[len(home) :]
    elif path.startswith(("~/", ONE + "/", MANY + "/")):
        yield "~" + path[1:]
    if path.startswith("/"):
        yield path
    parts = path.split("/")
    for at in range(max(1, len(parts) - _DEEPEST), len(parts)):
        if not _is_wholly_unknown(parts[at]):
            yield "/".join(parts[at:])


def _known(part: str) -> int:
    """Return how many characters of a name are known; the ending of one with unknown parts says nothing."""
    return len(part) if _MARKS.search(part) is None else len(_MARKS.sub("", re.sub(r"(?<=.)\.[^.]*\Z", "", part)))


def _is_wholly_unknown(part: str) -> bool:
    """Return whether nothing is known of a name."""
    return not _MARKS.sub("", part)


def _is_near(pattern: str, known: list[int], whole: bool) -> bool:
    """Return whether enough is known of the name that tells the pattern's file from others."""
    names = pattern.strip("/").removeprefix("~/").split("/")
    at = next((at for at, name in enumerate(names) if name not in _GENERIC), len(names) - 1)
    return at < len(known) and known[at] >= (1 if whole else 2)


def _samples(pattern: str, tail: str) -> tuple[str, ...]:
    """Return paths that a pattern means, written as the tail is."""
    if pattern.startswith("~/") != tail.startswith("~/") or (tail.startswith("/") != pattern.startswith("/")):
        return ()
    plain = pattern.rstrip("/").replace("*", "x").replace("?", "x")
    return (plain, f"{plain}/x") if pattern.endswith("/") else (plain,)
