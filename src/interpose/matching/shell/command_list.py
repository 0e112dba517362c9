"""A list of commands while it is read: the command whose words are collected, its pipeline, where a command begins."""

from __future__ import annotations

import re

from ...runtime.regex import regex
from .parsed import IN_TEST, ParsedLine
from .words import MANY, RawCommand, Unsure, brace_words, is_known, value_of

__all__ = ["KEYWORDS", "RESERVED", "CommandList"]

_MOST_COMMANDS = 3_000

_OPENERS = frozenset(["{", "if", "while", "until"])
_CLOSERS = frozenset(["}", "fi", "done"])
_BETWEEN = frozenset(["then", "elif", "else", "do", "!", "time", "coproc"])
RESERVED = _OPENERS | _CLOSERS | _BETWEEN
"""The reserved words after which a command may begin, and those that close what they open."""
KEYWORDS = RESERVED | {"case", "esac", "for", "select", "function"}
"""All reserved words."""

_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGNMENT = regex(r"([A-Za-z_]\w*)(\[.*?\])?\+?=", re.ASCII | re.DOTALL)
_OPEN_SUBSCRIPT = regex(r"[A-Za-z_]\w*\[[^\]]*\Z", re.ASCII)


class _Nesting:
    """A list of commands inside braces, ``if`` and the like: where its pipeline and the current stage begin."""

    __slots__ = ("piped", "pipeline", "stage")

    def __init__(self, at: int) -> None:
        self.pipeline = self.stage = at
        self.piped = False


class CommandList:
    """Collects the words of the current command, and knows where a command may begin."""

    def __init__(self, parsed: ParsedLine, doubt: str) -> None:
        self.parsed = parsed
        self.levels = [_Nesting(len(parsed.commands))]
        self.doubt = doubt
        self.command = RawCommand()
        self.kind = ""  # for, select, function: the head that is being read
        self.timed = False
        self.is_coprocess = False  # the word before was coproc
        self.forked: list[str] | None = None  # after &>: bash redirects, other shells end the command
        self.group = (0, 0)  # the commands of the compound command that has just ended
        self.descriptor = ""

    @property
    def is_test(self) -> bool:
        """Whether this is ``[[ … ]]``."""
        return self.command.words[:1] == ["[["] and self.command.words[-1] != "]]"

    @property
    def begins(self) -> bool:
        """Whether a command may begin here."""
        return not self.command.words and not self.kind

    @property
    def goes_on(self) -> bool:
        """Whether a pipe stands last, so that the next line goes on with it."""
        return self.levels[-1].piped and self.begins and self.group[0] >= self.group[1]

    def add(self, word: str) -> None:
        """Add a word to the current command: all words that its braces stand for."""
        if type(word) is str:
            self.command.words.append(word)
            return
        made = brace_words(word, self.parsed.braces_left)
        self.parsed.braces_left -= len(made) - 1
        self.command.words += made

    def assign(self, written: str, word: str) -> bool:
        """Add an assignment to the current command; return whether the word, as it is written, is one."""
        if "[" in written and _OPEN_SUBSCRIPT.match(written):
            raise Unsure("a blank within a subscript")
        assignment = _ASSIGNMENT.match(written) if "=" in written else None
        if assignment is None:
            return False
        name, subscript = assignment.group(1), assignment.group(2)
        if subscript and not subscript[1:-1].isdigit():
            self.parsed.counted.update(_NAME.findall(subscript))
        if subscript or assignment.group().endswith("+="):
            self.parsed.changed.add(name)
        self.parsed.assigned.add(name)
        self.command.assigned.append((name, value_of(word)))
        return True

    def define(self, name: str) -> None:
        """Note a function whose body follows; what was read of the current command is its head."""
        self.parsed.is_simple = False
        self.parsed.functions.add(name if is_known(name) else "")
        self.parsed.steps.append(f"function {name}")
        self.command, self.kind = RawCommand(), ""

    def doubt_test(self) -> None:
        """Doubt what follows: it stands in ``[[ … ]]``."""
        self.doubt = self.doubt or IN_TEST

    def end_command(self) -> None:
        """Finish the current command."""
        command, self.command = self.command, RawCommand()
        if self.kind in ("for", "select"):
            self._end_head(command)
        self.kind, self.timed = "", False
        if command.words or command.assigned or command.redirections:
            at = self._append(command, self.doubt)
            if at > _MOST_COMMANDS:
                raise Unsure("more than 3,000 commands")
            if not command.words and not command.assigned and self.group[0] < self.group[1]:
                self.parsed.pipes.append((at, *self.group))  # done < file: the redirection is the group's
            if self.forked:
                other = RawCommand()
                other.words = self.forked
                self._append(other, "shells differ in what follows &>")
        self.forked, self.group = None, (0, 0)
        if command.words and command.words[-1] == "]]":
            self.doubt = self.doubt.removesuffix(IN_TEST)

    def _end_head(self, command: RawCommand) -> None:
        """Make the head of a loop over words a command that sets the variable to each of them."""
        name = command.words[0] if command.words else ""
        is_list = command.words[1:2] == ["in"]
        command.assigned += [(name, value) for value in (command.words[2:] if is_list else [MANY])]
        self.parsed.assigned.add(name)
        self.parsed.changed.update(() if is_list else command.words)
        command.words, command.loops = [], True

    def _append(self, command: RawCommand, doubt: str) -> int:
        """Add a command to those of the text; return its place."""
        command.place = at = len(self.parsed.commands)
        command.doubt = doubt
        self.parsed.commands.append(command)
        self.parsed.steps.append(at)
        return at

    def separate(self, *, piped: bool = False) -> None:
        """Finish the current stage of the pipeline, and unless it is piped on, the pipeline."""
        self.end_command()
        level, now = self.levels[-1], len(self.parsed.commands)
        if level.piped and level.stage < now:
            self.parsed.pipes.append((level.pipeline, level.stage, now))
        level.stage, level.piped = now, piped
        if not piped:
            level.pipeline = now

    def reserved(self, word: str) -> None:
        """Pass a reserved word."""
        if word in _OPENERS:
            self.levels.append(_Nesting(len(self.parsed.commands)))
        elif word in _CLOSERS:
            self._close()
        elif word in ("then", "elif", "else", "do"):
            self.separate()
        self.parsed.steps += [word] if word != "time" else []
        self.timed = word == "time"
        self.is_coprocess = word == "coproc"

    def _close(self) -> None:
        """Leave a compound command."""
        self.separate()
        if len(self.levels) > 1:
            self.levels.pop()
        self.group = (self.levels[-1].stage, len(self.parsed.commands))
