"""What one line runs, what it may run, and what of it cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...runtime.regex import regex
from ..programs import KNOWN, TEXT_OPTIONS
from .line import Pipe, ShellCommand, Suspect
from .texts import is_text
from .words import Unread, UnreadKind

__all__ = ["Findings"]

_MESSAGE_LETTERS = regex(r"-[a-zA-Z]*m")  # git commit -am TEXT


class Findings:
    """Collects what has been found in a line."""

    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.suspects: list[Suspect] = []
        self.pipes: list[Pipe] = []
        self.opaque: list[Unread] = []

    def cannot_read(self, what: str, kind: UnreadKind = "computed") -> None:
        """Note something that the line runs and that cannot be read."""
        self.opaque.append(Unread(what, kind))

    def suspect(self, program: str, read: Callable[[], object]) -> None:
        """Read commands that the line names and does not run: they are only suspect."""
        commands, unread = len(self.commands), len(self.opaque)
        read()
        self.suspects += [Suspect(program, one.parts, runs=True) for one in self.commands[commands:] if one.parts]
        del self.commands[commands:], self.opaque[unread:]

    def suspect_texts(self, name: str, arguments: Sequence[str], *, runs: bool = False) -> None:
        """Note the arguments that are more than a word."""
        after_text = False
        for word in arguments:
            option, equals, value = word.partition("=")
            is_data = word[:1] in ("{", "[") and word[-1:] in ("}", "]") and name in KNOWN
            if not after_text and not (equals and option in TEXT_OPTIONS) and not is_data and is_text(word):
                self.suspects.append(Suspect(name, text=value if equals and option[:1] == "-" else word, runs=runs))
            after_text = word in TEXT_OPTIONS or (name == "git" and bool(_MESSAGE_LETTERS.fullmatch(word)))
