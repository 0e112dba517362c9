"""Parse the text of a ``.arma`` file to lines. All problems are reported at once; one problem refuses the file."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ..errors import BadHook, ConfigError, Problem, UnknownEvent, nearest
from ..events import EventSpec, Table
from ..matching import check_matcher, compile_matcher
from ..replies import clean
from ..runtime.regex import regex
from .commands import Commands, ScriptCommand
from .lines import Reference, ScriptLine
from .tokenizer import Argument, bare_word, read_arguments

__all__ = ["LONGEST_LINE", "MOST_BYTES", "MOST_LINES", "MOST_PROBLEMS", "doubts", "parse"]

MOST_BYTES = 1024 * 1024
MOST_LINES = 10_000
LONGEST_LINE = 10_000
MOST_PROBLEMS = 1_000
"""After so many problems parsing stops: the file is probably not a script."""

_KEYWORD = "hook"
_SHAPE = "a line is: hook POINT[:SUBJECT] /command arguments"
_WITHOUT_MEANING = regex(r"""["'$\\]""")
_WITHOUT_PARTS = {"text": "text", "text|null": "text", "number": "a number", "flag": "true or false"}


def parse(text: str, *, source: str, table: Table, commands: Commands) -> list[ScriptLine]:
    """Return the lines of a script; raise ConfigError with all problems."""
    script = _ArmaReader(source, table, commands)
    script.read(text.removeprefix("\ufeff"))
    if script.problems:
        raise ConfigError(script.problems)
    return script.lines


class _ArmaReader:
    def __init__(self, source: str, table: Table, commands: Commands) -> None:
        self.source = source
        self.table = table
        self.commands = commands
        self.lines: list[ScriptLine] = []
        self.problems: list[Problem] = []

    def read(self, text: str) -> None:
        if len(text) > MOST_BYTES or len(text.encode("utf-8", "replace")) > MOST_BYTES:
            self.problems.append(Problem(f"has more than {MOST_BYTES} bytes", where=self.source, hint="split it"))
            return
        # Not splitlines(): it also splits at characters that editors do not show as line breaks.
        texts = text.split("\n")
        for number, line in enumerate(islice(texts, MOST_LINES), 1):
            self.problems += _LineReader(self, number, line.removesuffix("\r")).read()
            if len(self.problems) >= MOST_PROBLEMS:
                place = f"{self.source}:{number}:1"
                self.problems[MOST_PROBLEMS:] = [Problem("too many problems to go on", where=place, hint=_SHAPE)]
                return
        # A newline at the end does not begin a line.
        if len(texts) > MOST_LINES + (not texts[-1]):
            place = f"{self.source}:{MOST_LINES + 1}:1"
            self.problems.append(Problem(f"has more than {MOST_LINES} lines", where=place, hint="split it"))


class _LineReader:
    """Parses one line."""

    def __init__(self, script: _ArmaReader, number: int, text: str) -> None:
        self.script = script
        self.number = number
        self.text = text
        self.found: list[tuple[int, Problem]] = []

    def wrong(self, column: int, what: str, hint: str) -> None:
        place = f"{self.script.source}:{self.number}:{column}"
        self.found.append((column, Problem(what, where=place, hint=hint)))

    def read(self) -> list[Problem]:
        """Parse the line and add it to the script; return its problems from left to right."""
        if len(self.text) > LONGEST_LINE:
            self.wrong(LONGEST_LINE + 1, f"the line has more than {LONGEST_LINE} characters", "shorten it")
        elif clean(self.text) != self.text:
            # Invisible characters could make a line look different from what it is.
            at = next((at for at, mark in enumerate(self.text) if clean(mark) != mark), 0)
            self.invisible(at)
        else:
            self.hook()
        return [problem for _, problem in sorted(self.found, key=lambda found: found[0])]

    def invisible(self, at: int) -> None:
        self.wrong(at + 1, f"the invisible character U+{ord(self.text[at]):04X}", "remove it")

    def has_invisible(self, word: str, at: int) -> bool:
        """Report a special blank or a character without width in a name: it would match nothing."""
        found = next((index for index, mark in enumerate(word) if not mark.isprintable()), None)
        if found is not None:
            self.invisible(at + found)
        return found is not None

    def hook(self) -> None:
        keyword, begin = bare_word(self.text, 0)
        event, event_at = bare_word(self.text, begin + len(keyword))
        name, name_at = bare_word(self.text, event_at + len(event))
        if not keyword or self.has_invisible(keyword, begin) or self.has_invisible(event, event_at):
            return
        if keyword != _KEYWORD:
            self.wrong(begin + 1, f"a line begins with hook, not {_short(keyword)}",
                       nearest(keyword, [_KEYWORD]) or _SHAPE)  # fmt: skip
            return
        if not event or event.startswith("/"):
            self.wrong(event_at + 1, "an event is missing here", _SHAPE)
            return
        row = self.row(event, event_at + 1)
        command = self.command(name, name_at + 1)
        if not name.startswith("/"):
            return  # the beginning of its arguments is unknown
        before = len(self.found)
        words = read_arguments(self.text, name_at + len(name), self.wrong)
        if command is not None and len(self.found) == before:  # with unreadable arguments the number is unknown
            self.arguments(command, words, name_at + 1)
        if row is not None:
            self.references(row, words)
        if self.found or command is None:
            return
        arguments = tuple(word.template for word in words)
        line = ScriptLine(
            event, command.name, arguments, self.number, begin + 1, self.text.strip(" \t"), self.script.source
        )
        self.script.lines.append(line)

    def row(self, event: str, column: int) -> EventSpec | None:
        try:
            row, subject = self.script.table.find(event)
        except UnknownEvent as error:
            points = [known for known in self.script.table.spellings() if ":" in known and ":" in event]
            self.wrong(column, f"{_short(event)} is not an event", nearest(event, points) or error.problem.hint)
            return None
        if subject is not None:
            self.subject(row, subject, column + len(event) - len(subject))
        return row

    def subject(self, row: EventSpec, subject: str, column: int) -> None:
        """Refuse a subject that would compile and match nothing: the guard would never run."""
        found = _WITHOUT_MEANING.search(subject)
        if found and not subject.startswith("re:"):
            self.wrong(column + found.start(), f"{found[0]} has no meaning in a subject",
                       "a subject is a name, names with |, a glob, or re: and a regular expression")  # fmt: skip
            return
        try:
            if row.subject == "tool_name":
                check_matcher(subject)
            compile_matcher(subject)
        except BadHook as error:
            self.wrong(column, error.problem.what, error.problem.hint)

    def command(self, name: str, column: int) -> ScriptCommand | None:
        if not name:
            self.wrong(column, "a command is missing here", _SHAPE)
        elif not name.startswith("/"):
            known = name in self.script.commands
            self.wrong(column, f"a command begins with /, and {_short(name)} does not",
                       f"write /{name}" if known else "nothing goes between an event and its command")  # fmt: skip
        else:
            command = self.script.commands.get(name[1:])
            if command is not None:
                return command
            known_names = [f"/{known}" for known in self.script.commands]
            self.wrong(column, f"{_short(name)} is not a command",
                       nearest(name, known_names) or f"there are {', '.join(known_names)}")  # fmt: skip
        return None

    def references(self, row: EventSpec, words: list[Argument]) -> None:
        for word in words:
            for part in word.template:
                if isinstance(part, Reference):
                    self.reference(row, part)

    def reference(self, row: EventSpec, reference: Reference) -> None:
        if reference.name not in row.known:
            self.wrong(reference.column, f"{row.name} has no field {_short(reference.name)}",
                       nearest(reference.name, row.known) or f"it has {', '.join(row.fields)}")  # fmt: skip
            return
        kind = _WITHOUT_PARTS.get(row.fields[row.words.get(reference.name, reference.name)].kind)
        if reference.path and kind is not None:
            after = ".".join(reference.path)
            self.wrong(reference.column, f"{reference.name} is {kind} and has no fields",
                       f"write ${{{reference.name}}}.{_short(after)} for text after it")  # fmt: skip

    def arguments(self, command: ScriptCommand, words: list[Argument], column: int) -> None:
        given, most = len(words), command.most
        if given < command.fewest or (most is not None and given > most):
            where = words[most].column if most is not None and given > most else column
            usage = f"/{command.name} {command.usage}".rstrip()
            self.wrong(where, f"/{command.name} takes {_count(command)}, and here {_are(given)}",
                       f"write {usage}; put text with blanks in quotes")  # fmt: skip
        elif mistake := command.check([word.template for word in words]):
            self.wrong(words[mistake.argument].column, mistake.what, mistake.hint)


def _count(command: ScriptCommand) -> str:
    fewest, most = command.fewest, command.most
    if most is None:
        return f"at least {_plural(fewest)}"
    return _plural(most) if fewest == most else f"{fewest} to {_plural(most)}"


def _plural(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is none" if number == 0 else "is 1" if number == 1 else f"are {number}"


def _short(word: str) -> str:
    return word if len(word) <= 60 else f"{word[:60]}…"


def doubts(lines: Iterable[ScriptLine], *, table: Table, commands: Commands) -> list[Problem]:
    """Return a warning for every line whose command has no effect at its event."""
    found = []
    for line in lines:
        row, _ = table.find(line.event)
        command = commands.get(line.command)
        if command is None or not command.effects or command.effects & row.can:
            continue
        rights = f"a hook may {', '.join(sorted(row.can))} there" if row.can else "a hook can only observe there"
        found.append(Problem(f"/{line.command} cannot take effect at {row.name}", where=line.where, hint=rights))
    return found
