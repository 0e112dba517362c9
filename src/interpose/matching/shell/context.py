"""How a command was reached, and what it does with what it reads."""

from __future__ import annotations

from collections.abc import Sequence

from ...runtime.named_tuples import NamedTuple
from ..grades import Grade
from .flow import NO_STATE, State, join_directory
from .parsed import ParsedLine
from .words import RawCommand, written_of

__all__ = ["INPUT_IGNORED", "INPUT_RUN", "INPUT_SUSPECT", "Context"]

# What a command does with what it reads.
INPUT_IGNORED, INPUT_SUSPECT, INPUT_RUN = 0, 1, 2


class Context(NamedTuple):
    """How a command was reached."""

    via: tuple[str, ...]
    grade: Grade
    why: str
    depth: int
    raw: RawCommand
    parsed: ParsedLine
    elsewhere: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    """The variables that programs such as ``env`` set for it."""
    directories: tuple[str, ...] = ("",)
    state: State = NO_STATE
    positional: Sequence[str] = ()
    """The values of ``$0``, ``$1`` …"""
    adds: bool = False
    """Whether the program that runs a text adds words to it, for which ``MANY`` stands at its end."""

    def inside(self, program: str, why: str = "") -> Context:
        """Return the context of a command that another one runs."""
        grade: Grade = "possible" if why else self.grade
        return self._replace(via=(*self.via, program), depth=self.depth + 1, grade=grade, why=why or self.why)

    def moved(self, directory: str | None) -> Context:
        """Return the context of a command that a program runs in another directory."""
        if directory is None:
            return self
        found = tuple(join_directory(one, written_of(directory)) for one in self.directories)
        return self._replace(directories=tuple(dict.fromkeys(found)))
