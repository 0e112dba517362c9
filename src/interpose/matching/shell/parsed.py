"""What the reader finds in a text: its simple commands, and how they follow each other."""

from __future__ import annotations

from collections.abc import Mapping

from .words import RawCommand, Unread

__all__ = ["ARRAY_ELEMENT", "CLOSERS", "CLOSER_OF", "IN_ARITHMETIC", "IN_TEST", "ParsedLine"]

# Why a command may be none.
ARRAY_ELEMENT = "it is an element of an array"
IN_ARITHMETIC = "it stands in arithmetic"
IN_TEST = "it stands in [[ ]]"

CLOSER_OF: Mapping[str, str] = {
    "{": "}", "(": ")", "$(": ")", "if": "fi", "while": "done", "until": "done", "for": "done", "case": "esac",
}  # fmt: skip
"""The steps that open a compound command, each with the step that closes it."""
CLOSERS = frozenset(CLOSER_OF.values())

_MOST_BRACES = 2_000


class ParsedLine:
    """What a text holds: its simple commands, which of them feed which, and what could not be read."""

    def __init__(self) -> None:
        self.commands: list[RawCommand] = []
        self.pipes: list[tuple[int, int, int]] = []
        """Commands first … middle feed the commands middle … last."""
        self.opaque: list[Unread] = []
        self.functions: set[str] = set()
        self.assigned: set[str] = set()
        self.used: set[str] = set()
        """The variables of directories that begin a word."""
        self.is_simple = True
        self.counted: set[str] = set()
        """The variables that arithmetic evaluates."""
        self.changed: set[str] = set()
        """The variables that are changed otherwise than by a plain assignment."""
        self.braces_left = _MOST_BRACES
        """How many words braces may still make."""
        self.splits = False
        """Whether words may be split at other characters than blanks."""
        self.steps: list[int | str] = []
        """The commands by number, between them operators and reserved words: how the commands follow each other.

        ``(`` and ``$(`` to ``)`` are a subshell and a substitution; ``function NAME`` stands before a body.
        """
