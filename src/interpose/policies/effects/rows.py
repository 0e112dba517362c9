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
  targets: ``all first last notfirst notlast after-dashes`` or ``value:OPTION``, ``each`` for all operands or none,
  ``words`` for all of them as one target, ``here`` for the directory; nothing means no target. Where words cannot say
  it, a function of the arguments yields what is found.

In words, ``ONE`` stands for a text that is unknown and ``MANY`` for any number of words. A target that comes from a
pattern such as ``build/*`` has ``MANY`` in place of the wildcards, and ``ONE`` for everything else that is unknown.
"""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from ...matching.shell import ShellCommand
from ...matching.shell.words import MANY, ONE, MarkedWord, written_of
from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex

__all__ = ["RUNS", "Arguments", "Found", "Program", "Row", "apply_rows", "line_of", "parse", "written"]

RUNS = "run-line"
"""The kind of a target that is a command line which is run: its effects are read in turn."""


_UNKNOWN = "${UNKNOWN}"


def line_of(words: Iterable[str]) -> str:
    """Return words as a command line; a variable stands for what is unknown."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    parts = word.replace(MANY, ONE).split(ONE)
    return f'"{_UNKNOWN}"'.join(shlex.quote(part) if part else "" for part in parts) or "''"


_EDITORS = ("EDITOR", "VISUAL", "SUDO_EDITOR", "GIT_EDITOR", "KUBE_EDITOR")


class Found(NamedTuple):
    """A kind of effect that a row has, with its target as it is written."""

    kind: str
    target: str = ""
    values: tuple[str, ...] = ()
    directory: str = ""
    """Where it happens, relative to the directory of the command: the value of ``git -C``."""


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
    command: ShellCommand
    texts: tuple[str, ...] = ()
    """What the command reads: here-documents, and what a pipe brings; ``ONE`` is what the line does not show."""

    def has(self, *names: str) -> bool:
        """Return whether one of these options is given."""
        return any(name in self.options for name in names)

    def value(self, name: str) -> str | None:
        """Return the last value of an option; None if it is not given."""
        return self.options[name][-1] if name in self.options else None

    @property
    def waits_for_person(self) -> bool:
        """Whether a program that starts an editor or asks a question gets its answers from nothing in the line."""
        has_editor = any(name in _EDITORS for name, _ in self.command.assigned)
        return not (self.texts or self.command.redirections or has_editor)


class Row(NamedTuple):
    """One thing that a program may do."""

    does: str | Callable[[Arguments], Iterable[Found]] = ""
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
    directory: Callable[[Arguments], str] | None = None
    """Returns where the program works, relative to the directory of the command; empty if it is the same."""
    dashed: bool = False
    """Whether ``NAME-SUB`` is another spelling of ``NAME SUB``; ``aka`` has ``NAME-*`` then."""
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


def parse(program: str, words: Iterable[str], spec: str, command: ShellCommand) -> Arguments:
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
                options.pop(_negated(name, spec), None)
    return Arguments(program, given, options, operands, dashes, command)


def _negated(name: str, spec: str) -> str:
    """Return the option that ``--no-NAME`` takes back; empty if it is an option of its own."""
    first = _spec(spec)[0]
    return first.get(name.removeprefix("no-"), "") if name.startswith("no-") and name not in first else ""


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _options(word: str, rest: Iterator[str], spec: str) -> Iterator[tuple[str, str]]:
    first, valued, optional = _spec(spec)
    name, equals, value = word.lstrip("-").partition("=")
    if word.startswith("--") or (len(name) > 1 and name in first):
        full = _long_name(name, first)
        if not equals and full in valued:
            value = next(rest, "")
        yield first.get(full, full), value
        return
    letters = word[1:]
    for at, letter in enumerate(letters):
        key = first.get(letter, letter)
        if letter in valued:
            value = letters[at + 1 :]
            yield key, value.removeprefix("=") or value or next(rest, "")
            return
        if letter in optional:
            yield key, letters[at + 1 :]
            return
        yield key, ""


_WILDCARD = regex(r"[*?]+|\[[^]]*\]")


def written(word: str) -> str:
    """Return a word with its tilde: ``~/x``; MANY stands for a wildcard in it, and ONE for what is unknown."""
    found = written_of(word)
    if not isinstance(word, MarkedWord):
        found = found.replace(MANY, ONE)
        return f"./{found}" if found[:1] == "~" else found
    found = found.replace(MANY, ONE)
    # In a URL, a question mark and brackets are no wildcards: no file has such a name.
    return found if "://" in found else _WILDCARD.sub(MANY, found)


def _long_name(name: str, first: dict[str, str]) -> str:
    """Return the option that a long name stands for; it may be shortened."""
    if len(name) > 1 and name in first:
        return name
    return next((one for one in first if len(one) > 1 and one.startswith(name)), name)


def apply_rows(name: str, program: Program, command: ShellCommand, texts: tuple[str, ...] = ()) -> Iterator[Found]:
    """Yield what the rows of a program, and its function, say of a command that reads these texts."""
    words = tuple(written(word) for word in command.parts[1:])
    if program.dashed and command.name.lower().startswith(f"{name}-"):
        words = (command.name[len(name) + 1 :], *words)
    leading, rest = _leading(words, program.globals) if program.globals else ((), words)
    before = parse(name, leading, program.globals, command)
    if before.has("help", "version") or rest[:1] in (("help",), ("--help",), ("--version",)):
        return
    first = rest[0] if rest and not _is_option(rest[0]) and rest[0] not in (ONE, MANY) else None
    for row in program.rows:
        if first is not None and not _can_begin(row.sub, first):
            continue
        spec = f"{row.options} {program.options} {program.globals}"
        after, sure = _after(rest, row.sub, spec)
        if after is None:
            continue
        arguments = _with_globals(parse(name, after, spec, command), before)._replace(texts=texts)
        if _asks_for_help(arguments, spec):
            return
        when = (row.when,) if isinstance(row.when, str) else row.when
        if _row_holds(when, arguments, spec, sure):
            yield from _placed(_effects(row, arguments, program), program, before)
            if not row.also:
                break
    if program.effects is not None:
        spec = f"{program.options} {program.globals}"
        arguments = _with_globals(parse(name, rest, spec, command), before)
        if not (program.options and _asks_for_help(arguments, spec)):
            yield from _placed(program.effects(arguments._replace(texts=texts)), program, before)


def _placed(found: Iterable[Found], program: Program, before: Arguments) -> Iterator[Found]:
    """Yield what is found, with the directory in which the program works."""
    if program.directory is None:
        yield from found
        return
    place = program.directory(before)
    yield from (one._replace(directory=place) for one in found)


def _with_globals(arguments: Arguments, before: Arguments) -> Arguments:
    for key, values in before.options.items():
        arguments.options[key] = [*values, *arguments.options.get(key, ())]
    return arguments


def _effects(row: Row, arguments: Arguments, program: Program) -> Iterator[Found]:
    if callable(row.does):
        yield from row.does(arguments)
    else:
        yield from _targets(row.does, arguments, _environment(program, arguments))


def _row_holds(when: tuple[str, ...], arguments: Arguments, spec: str, sure: bool) -> bool:
    """Return whether a row applies; if its subcommand is unknown, only by an option or a word that it asks for."""
    if not when:
        return sure
    first = _spec(spec)[0]
    return any(_holds(one, arguments, first) for one in when if sure or _asks_for_a_word(one))


def _asks_for_a_word(condition: str) -> bool:
    return any(term[:1] == "-" or term[1:2] == ":" for term in condition.split())


def _leading(words: tuple[str, ...], spec: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the options before the subcommand from the rest."""
    first, valued, _ = _spec(spec)
    at = 0
    while at < len(words) and _is_option(words[at]) and words[at] != "--":
        at += 2 if _takes_next(words[at], first, valued) else 1
    return words[:at], words[at:]


def _takes_next(word: str, first: dict[str, str], valued: frozenset[str]) -> bool:
    """Return whether the value of an option is the next word."""
    name, equals, _ = word.lstrip("-").partition("=")
    if equals:
        return False
    if word.startswith("--") or name in first:
        return _long_name(name, first) in valued
    at = next((at for at, letter in enumerate(name) if letter in valued), None)
    return at is not None and at == len(name) - 1


def _asks_for_help(arguments: Arguments, spec: str) -> bool:
    """Return whether ``--help`` is given as an option; after an option that may take it as a value, it is not."""
    at = next((at for at, word in enumerate(arguments.words) if word in ("--help", "-h")), None)
    if at is None or "help" not in arguments.options:
        return False
    before = arguments.words[at - 1] if at else ""
    first, valued, optional = _spec(spec)
    name = before.lstrip("-")
    return not _is_option(before) or "=" in before or (name in first and name not in valued and name not in optional)


@lru_cache(maxsize=4096)
def _can_begin(sub: str, word: str) -> bool:
    """Return whether a subcommand can begin with a word: most rows of a program are left out by it."""
    return not sub or any(_same(one.split()[0], word) for one in sub.split("|"))


def _after(words: tuple[str, ...], sub: str, spec: str) -> tuple[tuple[str, ...] | None, bool]:
    """Return the words after a subcommand, None if it is another; and whether the subcommand is known.

    Options may stand between the words of a subcommand.
    """
    if not sub:
        return words, True
    first, valued, _ = _spec(spec)
    for alternative in sub.split("|"):
        left, kept, sure = alternative.split(), [], True
        at = 0
        while left and at < len(words):
            word = words[at]
            at += 1
            if _is_option(word):
                kept.append(word)
                if at < len(words) and _takes_next(word, first, valued):
                    kept.append(words[at])
                    at += 1
            elif _same(left[0], word):
                sure = sure and word not in (ONE, MANY)
                left.pop(0)
            else:
                break
        if not left:
            return (*kept, *words[at:]), sure
    return None, False


def _same(pattern: str, word: str) -> bool:
    """Compare a word of a subcommand; one that is unknown may be any."""
    return word == pattern or word in (ONE, MANY) or ("*" in pattern and fnmatch.fnmatchcase(word, pattern))


_COUNT = regex(r"#(>=|==|<=)(\d+)")


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
        "each": operands or [""],
        "here": ["."],
        "words": [" ".join(operands)],
        "first": operands[:1],
        "last": operands[-1:],
        "notfirst": operands[1:],
        "notlast": operands[:-1],
        "after-dashes": operands if dashes is None else operands[dashes:],
    }
    return ranges[role]
