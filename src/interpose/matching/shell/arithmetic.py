"""Arithmetic of the shell: it evaluates variables, and so runs the command in a value such as ``a[$(id)]``."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ...runtime.regex import regex
from ..programs import INTERPRETERS, SHELLS
from .findings import Findings
from .parsed import ParsedLine
from .words import UnreadKind, written_of

__all__ = ["Arithmetic"]

_NUMBER = regex(r"-?[0-9]*")
_SUBSCRIPT = regex(r"[\[`]|\$\(|\\[0-9xuU]")
_TESTS = frozenset(["[", "[["])
_TEXT_MAKERS = SHELLS | INTERPRETERS.keys() | frozenset([
    "awk", "gawk", "mawk", "nawk", "base32", "base64", "basenc", "curl", "gpg", "http", "jq", "nc", "ncat", "openssl",
    "socat", "tr", "uudecode", "wget", "xh", "xxd",
])  # fmt: skip
"""Programs that can make any text of another, or bring one from elsewhere."""


class Arithmetic:
    """Whether the arithmetic of a line evaluates a variable that may hold a command."""

    def __init__(self) -> None:
        self.counts = False
        """Whether arithmetic evaluates variables."""
        self.holds_text = False
        """Whether a variable may hold more than a number."""
        self.holds_subscript = False
        """Whether a variable is set to a text that arithmetic may run."""

    def note_text(self, parsed: ParsedLine) -> None:
        """Note the sums in a text, and the functions, which may set variables."""
        self.counts |= bool(parsed.counted)
        self.holds_text |= bool(parsed.functions or "$(" in parsed.counted)

    def note_value(self, value: str) -> None:
        """Note the value that a variable is set to."""
        self.holds_text |= not _NUMBER.fullmatch(value)
        self.holds_subscript |= _SUBSCRIPT.search(written_of(value)) is not None

    def judge(self, found: Findings, names: AbstractSet[str]) -> None:
        """Note arithmetic that may run something; ``names`` are those of the programs of the line."""
        if self.counts and self.holds_text:
            kind: UnreadKind = "computed" if self._can_run(found, names) else "arithmetic"
            found.cannot_read("arithmetic evaluates what a variable holds", kind)

    def _can_run(self, found: Findings, names: AbstractSet[str]) -> bool:
        """Return whether a variable may hold a subscript with a command: the line has one, or a program can make it."""
        words = [word for command in found.commands for word in command.parts if word not in _TESTS]
        texts = [one.text for command in found.commands for one in command.redirections]
        has_subscript = self.holds_subscript or any(map(_SUBSCRIPT.search, (*words, *texts)))
        return has_subscript or not names.isdisjoint(_TEXT_MAKERS)
