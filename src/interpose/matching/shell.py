"""Match a shell's command line: which commands it runs, and whether one of them matches a pattern."""

from __future__ import annotations

import re
from functools import lru_cache

from .shell_reader import read_commands
from .shell_words import SimpleCommand, Unsure, Word
from .shell_wrappers import inside

__all__ = ["CommandPattern", "SimpleCommand", "Word", "shell_commands"]

_LONGEST = 100_000
_DEEPEST = 10
_MOST_COMMANDS = 3_000

# Redirections, variables and expansions, which change the effect of a command without being one of its words; and
# characters that separate words in one shell and not in another.
_MORE_THAN_WORDS = re.compile(r"[<>`$(){}\[\]\\\x00-\x08\x0b-\x1f\x7f]|(?:^|[\s;&|])\w+\+?=")
_BLANK_IN_A_WORD = "\0"


@lru_cache(maxsize=32)  # every rule at an event reads the same line
def shell_commands(text: str) -> tuple[SimpleCommand, ...] | None:
    """Return every simple command that a command line would run, also through ``sudo``, ``sh -c`` and other wrappers.

    None if that is unknown: the text is too long or too deep, is not a shell's, or is computed while the line runs.
    """
    if len(text) > _LONGEST or "\0" in text:
        return None
    try:
        text.encode()
        return tuple(_all_commands(text))
    except (Unsure, UnicodeEncodeError):
        return None


def _all_commands(text: str) -> list[SimpleCommand]:
    found: list[SimpleCommand] = []
    ahead: list[tuple[SimpleCommand | str, int]] = [(text, 0)]
    unread = 2 * _LONGEST  # eval eval eval … reads the same text again and again
    while ahead:
        item, depth = ahead.pop()
        unread -= len(item) if isinstance(item, str) else 0
        if depth > _DEEPEST or len(found) > _MOST_COMMANDS or unread < 0:
            raise Unsure
        if isinstance(item, str):
            ahead += [(command, depth) for command in reversed(read_commands(item))]
        elif item:
            found.append(item)
            ahead += [(inner, depth + 1) for inner in inside(item)]
    return found


class CommandPattern:
    """The pattern in ``Bash(…)``: the text of a command, in which ``*`` is any text, also blanks and slashes."""

    __slots__ = ("_exact", "_spellings")

    def __init__(self, pattern: str) -> None:
        # The words of a command have no quotes, so a pattern with quotes is also tried without them.
        unquoted = " ".join(pattern.replace('"', "").replace("'", "").split())
        self._spellings = [_pieces(spelling) for spelling in dict.fromkeys((pattern, unquoted))]
        self._exact = _pieces(_word_by_word(pattern))

    def matches_line(self, text: str) -> bool:
        """Return whether a command line runs such a command, or may run it."""
        commands = shell_commands(text)
        return commands is None or any(self._matches(command) for command in commands)

    def covers_line(self, text: str) -> bool:
        """Return whether a command line certainly runs only such commands."""
        commands = None if _MORE_THAN_WORDS.search(text) else shell_commands(text)
        return bool(commands) and all(self._is(command) for command in commands or ())

    def _is(self, command: SimpleCommand) -> bool:
        """Compare word by word: a blank of the pattern separates words, and only a star matches across words."""
        line = " ".join(word.text.replace(" ", _BLANK_IN_A_WORD) for word in command)
        return all(word.known for word in command) and _is_like(line, *self._exact)

    def _matches(self, command: SimpleCommand) -> bool:
        """Compare a command's words up to the first unknown one; after it everything is possible."""
        known = next((at for at, word in enumerate(command) if not word.known), len(command))
        if known == 0:
            return True
        texts = [word.text for word in command[: known + 1]]
        base = texts[0].rpartition("/")[2]
        names = dict.fromkeys((texts[0], base))
        lines = [" ".join([name, *texts[1:]]) for name in names]
        if known == len(command):
            return any(_is_like(line, *spelling) for line in lines for spelling in self._spellings)
        if not texts[-1]:  # a word that may be empty and vanish
            lines_without = [line[:-1] for line in lines]
            if any(_is_like(line, *spelling) for line in lines_without for spelling in self._spellings):
                return True
        return any(_may_begin(line, pieces) for line in lines for pieces, _ in self._spellings)


def _word_by_word(pattern: str) -> str:
    """Return a pattern in which a blank inside quotes differs from one between words."""
    if not any(quote in pattern for quote in "'\""):
        return pattern
    import shlex

    try:
        return " ".join(word.replace(" ", _BLANK_IN_A_WORD) for word in shlex.split(pattern))
    except ValueError:  # a quote that is not closed: no command has one
        return pattern


def _pieces(pattern: str) -> tuple[list[str], str | None]:
    """Split at the stars; also return the pattern without arguments, for ``git push *`` and ``git push:*``."""
    if pattern.endswith(":*"):
        pattern = pattern[:-2] + " *"
    return pattern.split("*"), pattern[:-2] if pattern.endswith(" *") else None


def _is_like(line: str, pieces: list[str], bare: str | None) -> bool:
    if bare is not None and _is_like(line, bare.split("*"), None):
        return True
    first, *middle = pieces
    if not middle:
        return line == first
    last = middle.pop()
    if len(line) < len(first) + len(last) or not line.startswith(first) or not line.endswith(last):
        return False
    at, end = len(first), len(line) - len(last)
    for piece in middle:
        found = line.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _may_begin(line: str, pieces: list[str]) -> bool:
    """Return whether a text that the pattern matches can begin with this one."""
    return pieces[0].startswith(line) or (len(pieces) > 1 and line.startswith(pieces[0]))
