"""The expression of ``find``: which directories it searches, and whether tests select what it deletes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...matching.shell.words import MANY, ONE
from .rows import Arguments, Found

__all__ = ["SELECTED", "effects_of_find"]

SELECTED = f"selected{MANY}"
"""Stands for the name of a file that tests select."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_VALUES = _set(
    """-amin -anewer -atime -cmin -cnewer -context -ctime -D -files0-from -flags -fstype -gid -group -ilname -iname
    -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -printf
    -regex -regextype -samefile -size -type -uid -used -user -wholename -xattr -xtype -fprint -fprint0 -fls -mnewer
    -newermt -fprintf"""
)
_NARROW = _set(
    """-amin -anewer -atime -cmin -cnewer -ctime -empty -iname -inum -ipath -iregex -iwholename -mmin -mtime -name
    -newer
    -newermt -path -regex -samefile -size -used -wholename -ilname -lname -links -nogroup -nouser -perm"""
)
"""Tests that select some files by name, age or size."""
_EXECUTES = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_WRITES = frozenset(["-fprint", "-fprint0", "-fls", "-fprintf"])
_DEEPEST = 50
"""How deep parentheses are read; what is deeper counts as a deletion."""
_CHANGERS = frozenset(["chmod", "chown", "chgrp"])
_REMOVERS = frozenset(["rm", "unlink", "shred", "srm", "truncate", "rmdir"])


class _Expression:
    """Reads the expression of find: which files are deleted or given to a command, and whether tests select them."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0
        self.deletes: list[bool] = []
        """For each action that deletes, whether a test selects the files."""
        self.changes: list[bool] = []
        """The same of actions that change modes or owners."""
        self.writes: list[str] = []

    def alternatives(self, selected: bool, depth: int = 0) -> bool:
        """Read tests joined by -o up to a closing parenthesis; return whether each of them selects."""
        if depth > _DEEPEST:
            self.deletes.append(False)
            self.at = len(self.words)
        all_select = True
        while True:
            all_select &= self.tests(selected, depth)
            if self.at < len(self.words) and self.words[self.at] in ("-o", "-or", ","):
                self.at += 1
                continue
            return all_select

    def tests(self, selected: bool, depth: int) -> bool:
        """Read tests that all have to hold; return whether one of them selects."""
        narrow = False
        negated = False
        while self.at < len(self.words):
            word = self.words[self.at]
            if word in ("-o", "-or", ",", ")"):
                break
            self.at += 1
            if word in ("!", "-not"):
                negated = not negated
                continue
            if word == "(":
                inner = self.alternatives(selected or narrow, depth + 1)
                self.at += 1
            else:
                inner = self.primary(word, selected or narrow)
            narrow |= inner and not negated
            negated = False
        return narrow

    def primary(self, word: str, selected: bool) -> bool:
        """Read one test or action; return whether it is a test that selects."""
        if word == "-delete":
            self.deletes.append(selected)
        elif word in _EXECUTES:
            end = next((at for at in range(self.at, len(self.words)) if self.words[at] in (";", "+")), len(self.words))
            inner, self.at = self.words[self.at : end], end + 1
            name = os.path.basename(inner[0]) if any("{}" in word for word in inner) else ""
            if name in _REMOVERS:
                self.deletes.append(selected)
            elif name in _CHANGERS:
                self.changes.append(selected)
        elif word in _VALUES:
            value = self.words[self.at] if self.at < len(self.words) else ""
            self.at += 2 if word == "-fprintf" else 1
            if word in _WRITES:
                self.writes.append(value)
            return word in _NARROW and value.strip("*?./[]") != ""
        return word in _NARROW


def _is_given_more(words: list[str]) -> bool:
    """Return whether words are added to the expression; those in place of ``{}`` are directories."""
    replaced = any(ONE in word or "{}" in word for word in words[:-1])
    return words[-1:] == [ONE] and (not replaced or set(words) == {ONE})


def effects_of_find(arguments: Arguments) -> Iterator[Found]:
    """Yield what find deletes and writes; if tests select the files, the target is a pattern in the directory."""
    words = list(arguments.words)
    at = 0
    while at < len(words) and words[at] in ("-H", "-L", "-P", "-E", "-X", "-s", "-x", "-d", "-D", "-f"):
        at += 2 if words[at] in ("-D", "-f") else 1
    end = at
    while end < len(words) and not words[end].startswith(("-", "(", "!", ")", ",")):
        end += 1
    expression = _Expression(words[end:])
    while expression.at < len(expression.words):
        expression.alternatives(False)
        expression.at += 1
    yield from (Found("write-files", path) for path in expression.writes)
    if arguments.command.via[-1:] in (("xargs",), ("parallel",)) and _is_given_more(words):
        yield Found("computed-options")
    roots = words[at:end] or ["."]
    if not all(expression.changes):
        yield from (Found("change-tree", root) for root in roots)
    if expression.deletes:
        selected = all(expression.deletes)
        for root in roots:
            yield Found("delete-files", os.path.join(root, SELECTED) if selected else root)
