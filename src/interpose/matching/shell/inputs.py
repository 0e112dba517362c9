"""What the programs of a line read: from pipes, files and here-documents, and who runs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from ...runtime.regex import regex
from ..programs import READS_DATA
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .files import LineFiles
from .findings import Findings
from .line import Suspect
from .parsed import ParsedLine
from .texts import literal_text, printed_file, reads_data, texts_of
from .words import RawCommand, base_name, is_known, names_in

__all__ = ["LineInputs"]

_MOST_PIPES = 3_000
_MOST_FED = 100
_FEEDS = regex(r"(?<!\|)\|(?!\|)|<|>\(|\bcoproc\b")
_SQL_PROGRAMS = frozenset(["psql", "sqlite3"])
# It is compiled on first use, which takes long.
_SQL_COMMAND = r"(?im)[\\\\!|]|^\s*\.\w|\bprogram\b|load_extension|edit\(|readfile|writefile"

TextRunner = Callable[[str, Context, str], int]
"""Reads a text that a program runs, which has the name."""


class LineInputs:
    """What the commands of a line read."""

    def __init__(self, found: Findings, files: LineFiles) -> None:
        self.found = found
        self.files = files
        self.hungry: dict[int, tuple[str, Context]] = {}
        """The shells that run what they read, by place."""
        self.descriptors: dict[str, str] = {}  # the files that exec has opened
        self.is_fed = False  # the line has a pipe, a here-document, a process substitution or a coprocess

    def note_text(self, text: str) -> None:
        """Note whether a text has something that programs read."""
        self.is_fed |= _FEEDS.search(text) is not None

    def follow_descriptors(self, raw: RawCommand) -> None:
        """Note the files that exec opens, and put them where a later redirection names their descriptors."""
        for at, one in enumerate(raw.redirections):
            number = next((f"{{{name}}}" for name in names_in([one.target])), one.target.rstrip("-"))
            opened = self.descriptors.get(number) if one.operator in (">&", "<&") else None
            if opened:
                raw.redirections[at] = one._replace(target=opened)
        if raw.words == ["exec"]:
            self.descriptors |= {one.descriptor: one.target for one in raw.redirections if one.descriptor}

    def follow_redirections(self, raw: RawCommand, role: int, run_text: TextRunner) -> None:
        """Follow the files and here-documents that a command reads."""
        inputs = [one for one in raw.redirections if one.is_input and one.target != "/dev/null"]
        name = base_name(raw.words[0]) if raw.words else "it"
        if not inputs or role == INPUT_IGNORED or name in READS_DATA:
            return
        if not is_known(name):
            role = min(role, INPUT_SUSPECT)  # that it is not known is noted already
        self.found.suspects += [Suspect(name, text=one.text) for one in inputs if one.text]
        if role == INPUT_RUN and not (len(inputs) == 1 and self._feed(raw, name, inputs[0].text, run_text)):
            path = inputs[0].target
            is_file = not inputs[0].text and is_known(path) and not path.startswith(("/dev/", "/proc/"))
            self._run_input(name, "what it reads", path if is_file else None)

    def follow_pipes(
        self, parsed: ParsedLine, roles: Sequence[int], functions: AbstractSet[str], run_text: TextRunner
    ) -> None:
        """Follow what the commands of a text write into pipes; each has its role."""
        feeds_function = bool(functions) and any(
            raw.words and raw.words[0] in functions
            for _, middle, last in parsed.pipes
            for raw in parsed.commands[middle : min(last, middle + _MOST_FED)]
        )
        fed = dict[int, int]()  # where a pipeline begins, and how far its texts have been noted
        for first, middle, last in parsed.pipes[:_MOST_PIPES]:
            readers = list(zip(parsed.commands[middle:last], roles[middle:last], strict=True))
            role = max((one for raw, one in readers if not reads_data(raw)), default=INPUT_IGNORED)
            if feeds_function:
                role = max(roles)
            if role == INPUT_IGNORED:
                continue
            for raw in parsed.commands[max(first, fed.get(first, 0)) : middle]:
                self.found.suspects += [Suspect("a pipe", text=text) for text in texts_of(raw)]
            fed[first] = middle
            if role == INPUT_RUN:
                self._pipe(parsed.commands[first:middle], [raw for raw, one in readers if one == INPUT_RUN], run_text)

    def _pipe(self, writers: Sequence[RawCommand], readers: Sequence[RawCommand], run_text: TextRunner) -> None:
        """Read what commands write into a pipe to others that run it."""
        name = base_name(readers[0].words[0]) if readers and readers[0].words else "a function"
        text = literal_text(writers) if len(readers) == 1 else ""
        if is_known(name) and not (text and self._feed(readers[0], name, text, run_text)):
            self._run_input(name, "what it reads from a pipe", printed_file(writers) or None)

    def _run_input(self, name: str, what: str, path: str | None) -> None:
        """Note that a program runs what it reads: a file if there is a path."""
        if path is not None:
            self.files.ran.append((name, path))
        self.found.cannot_read(f"{name} runs {what}", "input" if path is None else "file")

    def _feed(self, raw: RawCommand, name: str, text: str, run_text: TextRunner) -> bool:
        """Read a text that is given to a program to run; return whether that says all that it runs."""
        if not text:
            return False
        if name in _SQL_PROGRAMS:
            return is_known(text) and not re.search(_SQL_COMMAND, text)
        if raw.place not in self.hungry:
            return False
        shell, context = self.hungry.pop(raw.place)
        run_text(text, context, shell)
        return True

    def judge(self) -> None:
        """Note a shell that may run what it reads, if nothing else of the line is unread."""
        if self.hungry and self.is_fed and not self.found.opaque:
            self.found.cannot_read(f"{next(iter(self.hungry.values()))[0]} runs what it reads", "input")
