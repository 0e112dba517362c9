"""Here-documents: the texts below a line that its commands read."""

from __future__ import annotations

from ...runtime.named_tuples import NamedTuple
from .expansions import NestedCommands
from .source import ShellSource
from .words import RawCommand, Redirection, Unsure

__all__ = ["HereDocument", "HereDocuments"]

_LONGEST_DELIMITER = 1_000


class HereDocument(NamedTuple):
    """A here-document whose text is not reached yet."""

    command: RawCommand
    end: str
    operator: str
    expands: bool


class HereDocuments:
    """The here-documents whose texts begin after the current line."""

    def __init__(self, source: ShellSource, commands: NestedCommands) -> None:
        self.source = source
        self.commands = commands
        self.waiting: list[HereDocument] = []

    def read(self) -> None:
        """Read the texts that begin here; one without its last line ends with the whole text."""
        waiting, self.waiting = self.waiting, []
        for document in waiting:
            body = self._read_body(document)
            if document.expands:
                body, commands = self.commands.read_document(body)
                document.command.substituted.append(commands)
            document.command.redirections.append(Redirection(document.operator, document.end, body))

    def _read_body(self, document: HereDocument) -> str:
        """Return the text of a here-document, and pass its last line."""
        text, at = self.source.text, self.source.at
        began = at
        before = ""  # the lines that go on after a backslash
        while at <= len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            row = text[at:end]
            is_end = (row.lstrip("\t") if document.operator == "<<-" else row) == document.end
            if before and (is_end or (before + row).lstrip("\t") == document.end):
                raise Unsure("a here-document whose end follows a backslash")
            if is_end:
                self.source.at = min(len(text), end + 1)
                return text[began:at]
            goes_on = document.expands and (len(row) - len(row.rstrip("\\"))) % 2 == 1
            before = (before + row[:-1])[:_LONGEST_DELIMITER] if goes_on else ""
            at = end + 1
        self.source.at = len(text)
        return text[began:]
