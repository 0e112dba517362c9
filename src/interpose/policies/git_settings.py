"""Read git's settings from its files: those of the system, the user and a repository, with the files they include."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator

from ..runtime.regex import regex

__all__ = ["read_settings", "text_of"]

_LARGEST = 4 << 20
_MOST_FILES = 40
_SECTION = regex(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = regex(r"\s*([A-Za-z][\w-]*)\s*(?:=(.*))?\Z", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}


def text_of(path: str, most: int = _LARGEST) -> str:
    """Return the beginning of the text of a file; empty if it cannot be read."""
    try:
        if not os.path.isfile(path):  # a pipe would wait
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except (OSError, ValueError):
        return ""


def read_settings(git_dir: str = "", common: str = "", branch: str = "") -> dict[str, list[str]]:
    """Return all values of each setting by name, the one that holds last: ``branch.topic.merge``.

    Without a repository, those of the system and of the user.
    """
    reader = _GitConfigReader(git_dir, branch)
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    own = (os.path.join(config, "git/config"), os.path.expanduser("~/.gitconfig"))
    given = os.environ.get("GIT_CONFIG_GLOBAL")
    files = [os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig", *((given,) if given else own)]
    if git_dir:
        files += [os.path.join(common or git_dir, "config"), os.path.join(git_dir, "config.worktree")]
    for path in files:
        reader.read(path)
    return reader.found


class _GitConfigReader:
    """Reads files of settings, one after the other."""

    def __init__(self, git_dir: str, branch: str) -> None:
        self.found: dict[str, list[str]] = {}
        self._git_dir = git_dir
        self._branch = branch
        self._left = _MOST_FILES

    def read(self, path: str, seen: tuple[str, ...] = ()) -> None:
        """Read a file, and those that it includes where it does."""
        if self._left <= 0 or path in seen:
            return
        self._left -= 1
        for section, name, value in _settings_in(text_of(path)):
            self.found.setdefault(section + name, []).append(value)
            if name == "path" and (section == "include." or section.startswith("includeif.")):
                condition = section.removeprefix("includeif.").removesuffix(".")
                if section == "include." or self._may_hold(condition, path):
                    other = os.path.join(os.path.dirname(path), os.path.expanduser(value))
                    self.read(other, (*seen, path))

    def _may_hold(self, condition: str, path: str) -> bool:
        """Return whether a condition holds, or may: that of the repository's place and of the branch are compared."""
        kind, _, pattern = condition.partition(":")
        if kind == "onbranch":
            return fnmatch.fnmatchcase(self._branch, f"{pattern}*" if pattern.endswith("/") else pattern)
        if kind not in ("gitdir", "gitdir/i"):
            return True
        pattern = os.path.expanduser(pattern)
        if pattern.startswith("./"):
            pattern = os.path.join(os.path.dirname(path), pattern[2:])
        elif not os.path.isabs(pattern):
            pattern = f"*/{pattern}"
        pattern = f"{pattern}*" if pattern.endswith("/") else pattern
        places = {self._git_dir, os.path.realpath(self._git_dir)} if self._git_dir else set()
        return any(fnmatch.fnmatchcase(place.lower(), pattern.lower()) for place in places)


def _settings_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the section with a dot, the name and the value of each setting of a file."""
    section = ""
    for line in _whole_lines(text):
        rest = line
        if head := _SECTION.match(line):
            name = re.sub(r"\\(.)", r"\1", head[2] or "")
            section = f"{head[1].lower()}.{name}." if head[2] is not None else f"{head[1].lower()}."
            rest = line[head.end() :]
        if setting := _SETTING.match(rest):
            yield section, setting[1].lower(), "true" if setting[2] is None else _value(setting[2])


def _whole_lines(text: str) -> Iterator[str]:
    """Yield the lines; one that ends in a backslash goes on in the next."""
    begun: list[str] = []
    for line in text.split("\n"):
        part = line.removesuffix("\r")
        if (len(part) - len(part.rstrip("\\"))) % 2:
            begun.append(part[:-1])
            continue
        yield "".join([*begun, part])
        begun = []
    yield "".join(begun)


def _value(text: str) -> str:
    """Return a value without its quotes and the comment after it."""
    if not any(letter in text for letter in '"\\#;'):
        return text.strip()
    found: list[str] = []
    kept, quoted, at = 0, False, 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == '"':
            quoted = not quoted
            continue
        if letter in "#;" and not quoted:
            break
        if letter == "\\" and at < len(text):
            letter = _ESCAPED.get(text[at], text[at])
            at += 1
        elif letter in " \t" and not quoted:
            if found:
                found.append(letter)
            continue
        found.append(letter)
        kept = len(found)
    return "".join(found[:kept])
