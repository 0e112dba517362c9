"""Tables of programs: which options there are, which words are files, and which commands do what.

A table is a dict of ``Program`` by name. Its rows are tried in order; the first whose subcommand and condition hold
says what the command does. The notation:

- options: ``"f,force m=,message= v"``: all spellings of one option, ``=`` after one with a value, ``=?`` after one
  whose value is optional.
- sub: ``"stash drop|stash clear"``: the words before the operands; alternatives with a bar, ``*`` for any text.
- when: texts of which one has to hold; each consists of words that all have to hold:
  ``-f`` the option is given in any spelling; ``!-n`` it is not; ``--prune=now`` its value matches the glob;
  ``#>=1``, ``#==0`` the number of operands; ``1:GLOB`` the first operand, ``*:GLOB`` any operand or option as written;
  ``--`` the word is given. Alternatives of a glob have a bar.
- does: ``"delete-files:all"``, ``"read-files:notlast write-files:last"``: kinds, each with the words that are its
  targets: ``all first last notfirst notlast after-dashes none`` or ``value:OPTION``; nothing means no target.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from ...matching.shell import Command
from ...matching.shell.words import MANY, ONE

__all__ = ["RUNS", "Arguments", "Found", "Program", "Row", "apply_rows", "parse"]

RUNS = "run-line"
"""The kind of a target that is a command line which is run: its effects are read in turn."""


class Found(NamedTuple):
    """A kind of effect that a row has, with its target as it is written."""

    kind: str
    target: str = ""
    values: tuple[str, ...] = ()


class Arguments(NamedTuple):
    """The words of a command, parsed with the options of a row or program."""

    program: str
    words: tuple[str, ...]
    """All words after the program."""
    options: dict[str, list[str]]
    """The values by the first spelling of each option; of a flag, an empty text each time."""
    operands: list[str]
    dashes: int | None
    """How many operands stand before ``--``; None if there is none."""
    command: Command
    texts: tuple[str, ...] = ()
    """What the command reads: here-documents, and what is written into a pipe to it, as far as the line shows it."""

    def has(self, *names: str) -> bool:
        """Return whether one of these options is given."""
        return any(name in self.options for name in names)

    def value(self, name: str) -> str | None:
        """Return the last value of an option; None if it is not given."""
        return self.options[name][-1] if name in self.options else None


class Row(NamedTuple):
    """One thing that a program may do."""

    does: str = ""
    when: tuple[str, ...] | str = ()
    sub: str = ""
    options: str = ""
    """The options of this subcommand, beside those of the program."""
    also: bool = False
    """Whether the rows after it are tried too."""


class Program(NamedTuple):
    """What is known of a program."""

    rows: tuple[Row, ...] = ()
    options: str = ""
    globals: str = ""
    """The options that may stand before the subcommand."""
    aka: str = ""
    """Other names, separated by blanks; ``*`` stands for any text."""
    effects: Callable[[Arguments], Iterable[Found]] | None = None
    """Reads what rows cannot say; its effects are added to those of the rows."""
    environment: str = ""
    """The options whose values may say which environment it is, by first spelling, separated by blanks."""


@cache
def _spec(text: str) -> tuple[dict[str, str], frozenset[str], frozenset[str]]:
    """Return the first spelling of each spelling, and the spellings with a value and with an optional value."""
    first: dict[str, str] = {}
    valued, optional = set(), set()
    for entry in text.split():
        spellings = entry.split(",")
        plain = [one.rstrip("=?") for one in spellings]
        for one, name in zip(spellings, plain, strict=True):
            first[name] = plain[0]
            if one.endswith("=?"):
                optional.add(name)
            elif one.endswith("="):
                valued.add(name)
    return first, frozenset(valued), frozenset(optional)


def parse(program: str, words: Iterable[str], spec: str, command: Command) -> Arguments:
    """Parse words as getopt would: combined letters, values in the same word or the next, shortened long names."""
    given = tuple(words)
    options: dict[str, list[str]] = {}
    operands: list[str] = []
    dashes: int | None = None
    rest = iter(given)
    for word in rest:
        if dashes is not None or not _is_option(word):
            operands.append(word)
        elif word == "--":
            dashes = len(operands)
        else:
            for name, value in _options(word, rest, spec):
                options.setdefault(name, []).append(value)
    return Arguments(program, given, options, operands, dashes, command)


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _options(word: str, rest: Iterator[str], spec: str) -> Iterator[tuple[str, str]]:
    first, valued, optional = _spec(spec)
    name, equals, value = word.lstrip("-").partition("=")
    if word.startswith("--") or (len(name) > 1 and name in first):
        full = name if name in first else next((one for one in first if len(one) > 1 and one.startswith(name)), name)
        if not equals and full in valued:
            value = next(rest, "")
        yield first.get(full, full), value
        return
    letters = word[1:]
    for at, letter in enumerate(letters):
        key = first.get(letter, letter)
        if letter in valued:
            yield key, letters[at + 1 :].removeprefix("=") or next(rest, "")
            return
        if letter in optional:
            yield key, letters[at + 1 :]
            return
        yield key, ""


def apply_rows(name: str, program: Program, command: Command, texts: tuple[str, ...] = ()) -> Iterator[Found]:
    """Yield what the rows of a program, and its function, say of a command that reads these texts."""
    words = tuple(command.parts[1:])
    leading, rest = _leading(words, program.globals) if program.globals else ((), words)
    before = parse(name, leading, program.globals, command)
    if _asks_for_help(rest):
        return
    for row in program.rows:
        spec = f"{row.options} {program.options} {program.globals}"
        for after in _after(rest, row.sub):
            arguments = parse(name, after, spec, command)
            for key, values in before.options.items():
                arguments.options.setdefault(key, values)
            when = (row.when,) if isinstance(row.when, str) else row.when
            if not when or any(_holds(condition, arguments, _spec(spec)[0]) for condition in when):
                yield from _targets(row.does, arguments, _environment(program, arguments))
                if not row.also:
                    break
        else:
            continue
        break
    if program.effects is not None:
        arguments = parse(name, rest, f"{program.options} {program.globals}", command)
        for key, values in before.options.items():
            arguments.options.setdefault(key, values)
        yield from program.effects(arguments._replace(texts=texts))


def _leading(words: tuple[str, ...], spec: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the options before the subcommand from the rest."""
    first, valued, _ = _spec(spec)
    at = 0
    while at < len(words) and _is_option(words[at]) and words[at] != "--":
        name, equals, _ = words[at].lstrip("-").partition("=")
        takes = name in valued if words[at].startswith("--") or name in first else words[at][-1:] in valued
        at += 2 if takes and not equals else 1
    return words[:at], words[at:]


def _asks_for_help(words: tuple[str, ...]) -> bool:
    return words[:1] in (("help",), ("--help",), ("--version",)) or words[-1:] == ("--help",)


def _after(words: tuple[str, ...], sub: str) -> Iterator[tuple[str, ...]]:
    """Yield the words after a subcommand, if they begin with it; options may stand between its words."""
    if not sub:
        yield words
        return
    for alternative in sub.split("|"):
        wanted = alternative.split()
        left, kept = list(wanted), []
        for word in words:
            if left and not word.startswith("-"):
                if not _same(left[0], word):
                    break
                left.pop(0)
            else:
                kept.append(word)
        if not left:
            yield tuple(kept)
            return


def _same(pattern: str, word: str) -> bool:
    """Compare a word of a subcommand; one that is unknown may be any."""
    return word in (ONE, MANY) or fnmatch.fnmatchcase(word, pattern)


_COUNT = re.compile(r"#(>=|==|<=)(\d+)")


def _holds(condition: str, arguments: Arguments, first: dict[str, str]) -> bool:
    for term in condition.split():
        refused = term.startswith("!")
        if _term(term.removeprefix("!"), arguments, first) == refused:
            return False
    return True


def _term(term: str, arguments: Arguments, first: dict[str, str]) -> bool:
    operands = arguments.operands
    if term == "--":
        return arguments.dashes is not None
    if found := _COUNT.fullmatch(term):
        number, wanted = len(operands), int(found[2])
        # A word that stands for any number of words may be enough of them.
        if found[1] == ">=":
            return number >= wanted
        return number <= wanted if found[1] == "<=" else number == wanted
    if term[:2] in ("1:", "*:"):
        given = operands[:1] if term[0] == "1" else [*operands, *(one for one in arguments.words if one[:1] == "-")]
        return any(_matches(one, term[2:]) for one in given)
    name, equals, glob = term.lstrip("-").partition("=")
    values = arguments.options.get(first.get(name, name))
    return values is not None and (not equals or any(_matches(one, glob) for one in values))


def _matches(text: str, globs: str) -> bool:
    """Compare with globs; a text that is wholly unknown matches, since it may be any."""
    return text in (ONE, MANY) or any(fnmatch.fnmatchcase(text, glob) for glob in globs.split("|"))


def _environment(program: Program, arguments: Arguments) -> tuple[str, ...]:
    values = [value for name in program.environment.split() for value in arguments.options.get(name, ())]
    return (*values, *(value for _, value in arguments.command.assigned))


def _targets(does: str, arguments: Arguments, values: tuple[str, ...]) -> Iterator[Found]:
    for entry in does.split():
        kind, colon, role = entry.partition(":")
        if not colon:
            yield Found(kind, "", values)
            continue
        for target in _role(role, arguments):
            yield Found(kind, target, values)


def _role(role: str, arguments: Arguments) -> list[str]:
    operands, dashes = arguments.operands, arguments.dashes
    if role.startswith("value:"):
        return arguments.options.get(role.removeprefix("value:"), [])
    ranges = {
        "all": operands,
        "first": operands[:1],
        "last": operands[-1:],
        "notfirst": operands[1:],
        "notlast": operands[:-1],
        "after-dashes": operands if dashes is None else operands[dashes:],
    }
    return ranges[role]
