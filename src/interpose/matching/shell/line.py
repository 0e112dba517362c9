"""What a command line would run, as far as it can be read: the public form."""

from __future__ import annotations

from typing import Any

from ...runtime.named_tuples import NamedTuple
from ..grades import Grade
from .words import Redirection, SimpleCommand, Unread, base_name, is_known, word_of

__all__ = ["Line", "Pipe", "ShellCommand", "Suspect"]


class ShellCommand(NamedTuple):
    """A simple command that a line runs, or may run; one of redirections or assignments alone has no words."""

    parts: tuple[str, ...]
    """Its words, in which ``ONE`` and ``MANY`` stand for what is unknown; ``written_of`` tells more of such a word."""
    grade: Grade = "certain"
    via: tuple[str, ...] = ()
    """The programs that run it, the outermost first: ``("sudo", "sh -c")``."""
    why: str = ""
    """Why it is not certain."""
    redirections: tuple[Redirection, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    """The variables that are set for it, by the line or by a program such as ``env``."""
    place: int = 0
    """The number of the command in the line that it stands in; see ``Line.pipes``."""
    directories: tuple[str, ...] = ("",)
    """The directories in which it may run, relative to that of the line; ``ONE`` stands for an unknown one."""
    variables: tuple[str, ...] = ()
    """The names of the variables whose values its words and redirections contain."""
    substituted: tuple[tuple[int, int], ...] = ()
    """The ranges of the places of the commands in its substitutions."""

    @property
    def words(self) -> SimpleCommand:
        """The words, each with what is known of it."""
        return tuple(word_of(part) for part in self.parts)

    @property
    def name(self) -> str:
        """The program's name without its directory; empty if it is unknown."""
        name = base_name(self.parts[0]) if self.parts else ""
        return name if is_known(name) else ""


class Suspect(NamedTuple):
    """Arguments of a program that may run them: words, one of which may be a command's first, or a text."""

    program: str
    words: tuple[str, ...] = ()
    text: str = ""
    runs: bool = False
    """Whether the program is known to run a command."""


class Pipe(NamedTuple):
    """Commands whose output others read: those at the places first … middle feed those at middle … last."""

    first: int
    middle: int
    last: int


class Line(NamedTuple):
    """A command line as it was read."""

    text: str
    commands: tuple[ShellCommand, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    pipes: tuple[Pipe, ...] = ()
    opaque: tuple[Unread, ...] = ()
    """What the line runs that cannot be read, or why it cannot be read."""
    is_whole: bool = True
    """Whether the line was read to its end; else there may be more commands."""
    is_simple: bool = True
    """Whether the line is only commands: no loop over words, no function, no coprocess."""
    is_fork_bomb: bool = False
    """Whether it starts processes without end: a function that calls itself twice, a loop that starts jobs."""

    def to_dict(self) -> dict[str, Any]:
        """Return the line as JSON."""
        return {
            "line": self.text,
            "commands": [
                {
                    "words": [word.text if word.known else f"{word.text}…" for word in command.words],
                    "grade": command.grade,
                    "via": list(command.via),
                    "why": command.why,
                    "redirections": [f"{entry.operator}{word_of(entry.target).text}" for entry in command.redirections],
                }
                for command in self.commands
            ],
            "suspects": [
                {"program": one.program, "may_run": [word_of(word).text for word in one.words] or one.text}
                for one in self.suspects
            ],
            "opaque": list(self.opaque),
        }
