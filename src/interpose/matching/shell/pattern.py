"""Compare the commands of a line with the pattern of a rule, and grade the match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...runtime.regex import regex
from ..grades import Grade
from ..programs import BUILTINS, SUBCOMMAND_WORDS, is_known_program, spellings_of
from .line import Line, ShellCommand, Suspect
from .options import operands_of
from .read import read_line
from .words import MANY, ONE, base_name, is_known

__all__ = ["CommandPattern"]

_DEEPEST = 4
_MOST_COMPARED = 50
_MOST_WORDS = 200

# Redirections, variables and expansions, which change the effect of a command without being one of its words; and
# characters that separate words in one shell and not in another.
_MORE_THAN_WORDS = regex(r"[<>`$(){}\[\]\\\x00-\x08\x0b-\x1f\x7f]|(?:^|[\s;&|])\w+\+?=")
_BLANK_IN_A_WORD = "\0"
_PLAIN_LINE = regex(r"[\w ./:@%,+=^-]+", re.ASCII)
_MARK = regex("[\0\1]")
_CHANGES_WORDS = regex(r"[\"'\\$`{}*?\[\0\1]")
_SEPARATORS = r"[\s,;\"'()\[\]{}=|&!%\\]"
_SYSTEM_PATH = regex(r"/(?:usr/|opt/homebrew/)?(?:local/)?s?bin/[^/]*\Z")
_SUBCOMMAND = regex(r"[a-z][a-z-]+")
_TEST = regex(r"-[a-zA-Z]|!|\(|.* (?:=|==|!=|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef) ")


_GOES_BACK = regex(r"[^./][^/]*/+(?:\./+)*\.\.(?:/|\Z)")


class CommandPattern:
    """The pattern in ``Bash(…)``: the text of a command, in which ``*`` is any text, also blanks and slashes."""

    __slots__ = ("_exact", "_first", "_first_is_whole", "_is_beginning", "_options", "_rough", "_spellings", "_words")

    def __init__(self, pattern: str) -> None:
        # The words of a command have no quotes, so a pattern with quotes is also tried without them.
        unquoted = " ".join(pattern.replace('"', "").replace("'", "").split())
        self._spellings = [_pieces(spelling) for spelling in dict.fromkeys((pattern, unquoted))]
        self._exact = _pieces(_word_by_word(pattern))
        self._is_beginning = re.search(r"[^\s:]\*", pattern) is not None  # as in rm -r build*
        literal, star, _ = unquoted.removesuffix(":*").partition("*")
        words = literal.split()
        self._first_is_whole = bool(words) and (len(words) > 1 or not star or literal.endswith(" "))
        self._first = base_name(words[0]) if words else ""
        if star and words and not literal.endswith(" "):
            words.pop()  # git pu*: only its beginning is known
        self._words = [word for word in words if not word.startswith("-")]
        self._rough = _rough(self._words) if self._first else None
        self._options = _RuleOptions(unquoted) if re.search(r"(?:^| )-", unquoted) else None

    def grade_line(self, text: str) -> Grade | None:
        """Return how certain it is that a command line runs such a command; None if it does not."""
        if self._first and self._is_elsewhere(text):
            return None
        line = read_line(text)
        possible = False
        for command in line.commands:
            grade = self._grade(command.parts) if command.parts else None
            if grade == "certain" and command.grade == "certain":
                return "certain"
            possible = possible or grade is not None
        if possible or self._suspects_any(line.suspects, 0) or (line.opaque and self._occurs(text)):
            return "possible"
        return "opaque" if line.opaque else None

    def matches_line(self, text: str) -> bool:
        """Return whether a command line runs such a command, or may run it."""
        return self.grade_line(text) is not None

    def covers_line(self, text: str) -> bool:
        """Return whether a command line certainly runs only such commands."""
        if _MORE_THAN_WORDS.search(text):
            return False
        line = read_line(text)
        return (
            line.is_simple
            and bool(line.commands)
            and not line.opaque
            and all(self._is(command) for command in line.commands)
        )

    def _is_elsewhere(self, text: str) -> bool:
        """Return at once for a plain line of a known program that does not have the rule's first word."""
        return _first_of_plain(text) and self._first not in text

    def _is(self, command: ShellCommand) -> bool:
        """Compare word by word: a blank of the pattern separates words, and only a star matches across words."""
        if self._is_beginning and any(map(_GOES_BACK.search, command.parts)):
            return False  # build/../other begins like build, and is another place
        return command.grade == "certain" and all(map(is_known, command.parts)) and self._is_exact(command.parts)

    def _is_exact(self, parts: Sequence[str]) -> bool:
        return _is_like(" ".join(part.replace(" ", _BLANK_IN_A_WORD) for part in parts), *self._exact)

    # Commands.

    def _grade(self, parts: Sequence[str]) -> Grade | None:
        """Compare a command as written, without its global options, and with its options in any spelling."""
        first = base_name(parts[0])
        if self._first and is_known(first) and not self._may_be_first(first):
            return None
        surest: Grade | None = None
        for variant, sure in _variants(first, parts, self._words):
            grade = self._compare(variant)
            if grade is None and self._options is not None:
                grade = self._options.compare(variant)
            if grade == "certain" and sure:
                return grade
            surest = surest or ("possible" if grade else None)
        return surest

    def _may_be_first(self, name: str) -> bool:
        return name == self._first if self._first_is_whole else name.startswith(self._first)

    def _compare(self, parts: Sequence[str]) -> Grade | None:
        line = " ".join(parts)
        names = (line, line[len(parts[0]) - len(base_name(parts[0])) :])
        if not _MARK.search(line):
            if any(_is_like(line, *spelling) for spelling in self._spellings):
                return "certain" if all(" " not in part for part in parts) or self._is_exact(parts) else "possible"
            if "/" not in parts[0] or not any(_is_like(names[1], *spelling) for spelling in self._spellings):
                return None
            return self._grade_path(parts)
        if base_name(parts[0])[:1] in (ONE, MANY):
            return self._compare_unnamed(parts)
        best: Grade | None = None
        for one in dict.fromkeys(names if is_known(parts[0]) else names[1:]):
            for spelling in self._spellings:
                if all(_is_like(filled, *spelling) for filled in _filled(one)):
                    return (
                        "certain"
                        if is_known(parts[0]) and parts[0][:1] != "."
                        else self._grade_path(parts) and "possible"
                    )
                if _may_be_like(one, *spelling):
                    best = "possible"
        return best

    def _grade_path(self, parts: Sequence[str]) -> Grade | None:
        """Grade a program that has the rule's name and stands in some directory: ``bin/test`` is not ``test``."""
        if _SYSTEM_PATH.match(parts[0]):
            return "certain"
        if len(self._words) < 2 and base_name(parts[0]) in SUBCOMMAND_WORDS and not _is_run(parts, ()):
            return None
        return "certain" if parts[0].startswith("/") else "possible"

    def _compare_unnamed(self, parts: Sequence[str]) -> Grade | None:
        """Compare a command whose program is unknown by the words after it."""
        if len(self._words) < 2:
            return None
        known = [word for word in parts[1:] if is_known(word)]
        return "possible" if self._words[1] in known else None

    # What may be run.

    def _suspects_any(self, suspects: Iterable[Suspect], depth: int) -> bool:
        if not self._first:
            return False  # a rule that begins with a star matches the whole command anyway
        read = 0
        for suspect in suspects:
            if not suspect.text:
                if self._suspects_words(suspect):
                    return True
            elif self._first in suspect.text or _CHANGES_WORDS.search(suspect.text):
                read += 1
                if read > _MOST_COMPARED or depth > _DEEPEST or self._suspects_text(suspect.text, depth):
                    return True
        return False

    def _suspects_words(self, suspect: Suspect) -> bool:
        words, compared = suspect.words, 0
        for at, word in enumerate(words):
            value = word.partition("=")[2] if "=" in word else word
            first = base_name(value)
            if not is_known(first) or not self._may_be_first(first) or (value != word and value[:1] == "."):
                continue
            compared += 1
            candidate = (value, *words[at + 1 : at + _MOST_WORDS], *([MANY] if len(words) > at + _MOST_WORDS else ()))
            if compared > _MOST_COMPARED:
                return True
            if self._grade(candidate) and (suspect.runs or len(self._words) > 1 or _is_run(candidate, words[:at])):
                return True
        return False

    def _suspects_text(self, text: str, depth: int) -> bool:
        if self._occurs(text):
            return True
        line = _read_suspect(text)
        named = (command.parts for command in line.commands if _MARK.sub("", "".join(command.parts[:1])))
        return any(map(self._grade, named)) or self._suspects_any(line.suspects, depth + 1)

    def _occurs(self, text: str) -> bool:
        """Return whether the rule's words stand in a text where a command may begin."""
        if self._rough is None or not all(base_name(word) in text for word in self._words):
            return False
        return self._rough.search(text) is not None


class _RuleOptions:
    """A rule that names options: ``rm -rf *``."""

    __slots__ = ("is_open", "key", "operands", "options")

    def __init__(self, pattern: str) -> None:
        words = pattern.removesuffix(":*").split()
        self.is_open = bool(words) and (words[-1] == "*" or pattern.endswith(":*"))
        if words and words[-1] == "*":
            words.pop()
        self.key, rest = _key_of(words)
        parsed = None if "*" in " ".join(words) else _options_and_operands(self.key, rest)
        self.options: frozenset[str] | None = parsed and parsed[0]
        self.operands: list[str] = parsed[1] if parsed else []

    def compare(self, parts: Sequence[str]) -> Grade | None:
        """Compare the options as a set, whatever their spelling and order."""
        if self.options is None or not all(is_known(word) for word in parts[: len(self.key.split())]):
            return None
        words = [base_name(parts[0]), *parts[1:]]
        key, rest = _key_of(words)
        if key != self.key:
            return None
        known = [word for word in rest if is_known(word)]
        parsed = _options_and_operands(key, known)
        if parsed is None:
            return None
        options, operands = parsed
        if self.is_open:
            matches = self.options <= options and operands[: len(self.operands)] == self.operands
        else:
            matches = self.options == options and operands == self.operands
        return ("certain" if len(known) == len(rest) or self.is_open else "possible") if matches else None


def _key_of(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the key of a command in the table of spellings, and the words after it."""
    for count in (3, 2, 1):
        key = " ".join(words[:count])
        if spellings_of(key) is not None:
            return key, list(words[count:])
    return "", []


def _options_and_operands(key: str, words: Sequence[str]) -> tuple[frozenset[str], list[str]] | None:
    table = spellings_of(key) if key else None
    if table is None:
        return None
    first, valued = table
    options, operands, at = set[str](), list[str](), 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        name = word.lstrip("-").partition("=")[0]
        if word.startswith("--") or name in first:
            name = _whole_name(name, first)
            options.add(first.get(name, name))
            at += name in valued and "=" not in word
            continue
        for place, letter in enumerate(word[1:], 2):
            options.add(first.get(letter, letter))
            if letter in valued:
                at += place == len(word)
                break
    return frozenset(options), operands


def _whole_name(name: str, first: dict[str, str]) -> str:
    """Return the long option that a shortened one stands for: ``--recurs`` for ``--recursive``."""
    if name in first or len(name) < 2:
        return name
    longer = [one for one in first if one.startswith(name)]
    return longer[0] if len({first[one] for one in longer}) == 1 else name


def _variants(first: str, parts: Sequence[str], words: list[str]) -> Iterable[tuple[Sequence[str], bool]]:
    """Yield a command as it is, and without the options between the program and its subcommand."""
    yield parts, True
    if len(words) > 1 and len(parts) > 2 and parts[1][:1] in ("-", ONE, MANY):
        at, sure = operands_of(first, parts[1:])
        if at:
            yield (parts[0], *parts[1 + at :]), sure and not any(MANY in word for word in parts[1 : 1 + at])
        if not sure or any(MANY in word for word in parts[1 : 1 + at]):  # an option that is not known may have a value
            after = 1
            while after < len(parts) and parts[after][:1] in ("-", ONE, MANY):
                after += 1
                yield (parts[0], *parts[after:]), False
                yield (parts[0], *parts[after + 1 :]), False
                if after > 8:
                    break


@lru_cache(maxsize=32)
def _read_suspect(text: str) -> Line:
    """Read a text that may be a command line; a text that cannot be read has no commands."""
    marked = text.replace(ONE, "$x").replace(MANY, "$x")
    line = read_line.__wrapped__(marked)
    return line if line.is_whole else Line(text, line.commands)


def _is_run(candidate: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether words after an unknown program look like a command of one word, not like a subcommand.

    ``mytool test`` and ``mytool test ./...`` have a subcommand; ``wrapper rm -rf x`` runs a command.
    """
    if len(candidate) == 1:
        return False
    name, arguments = base_name(candidate[0]), " ".join(candidate[1:])
    if name == "test":
        return _TEST.match(arguments) is not None
    return name not in SUBCOMMAND_WORDS and not any(map(_SUBCOMMAND.fullmatch, before[:1]))


def _rough(words: list[str]) -> re.Pattern[str] | None:
    """Return a search for the rule's words in a text that is not read as a command line."""
    if not words:
        return None
    first, *rest = (re.escape(base_name(word)) for word in words)
    if rest:
        gap = rf"{_SEPARATORS}++(?:-[^\n;|&]{{0,40}}?(?<={_SEPARATORS}))?"
        return re.compile(rf"(?<![\w.-]){first}" + "".join(rf"{gap}{word}(?![\w-])" for word in rest))
    runners = r"(?:sudo|exec|env|xargs|nohup|command|spawn|run|shell|-c|-e|-x) +"
    return re.compile(
        rf"(?:^|[\n;&|(){{}}!`'\"=,\[]|{runners})\s*(?:/(?:usr/)?(?:local/)?s?bin/)?{first}(?=[\s'\";&|()`]|$)"
    )


@lru_cache(maxsize=64)
def _first_of_plain(text: str) -> bool:
    """Return whether a line is plain words, of a program whose words are known."""
    if _PLAIN_LINE.fullmatch(text) is None:
        return False
    first = text.split(None, 1)[0] if text.strip() else ""
    return is_known_program(first) and first not in _LOOKED_INTO


_LOOKED_INTO = BUILTINS | {"git", "docker", "podman"}


def _word_by_word(pattern: str) -> str:
    """Return a pattern in which a blank inside quotes differs from one between words."""
    if not any(quote in pattern for quote in "'\""):
        return pattern
    import shlex

    try:
        return " ".join(word.replace(" ", _BLANK_IN_A_WORD) for word in shlex.split(pattern))
    except ValueError:  # a quote that is not closed: no command has one
        return pattern


def _pieces(pattern: str) -> tuple[list[str], str | None]:
    """Split at the stars; also return the pattern without arguments, for ``git push *`` and ``git push:*``."""
    if pattern.endswith(":*"):
        pattern = pattern[:-2] + " *"
    return pattern.split("*"), pattern[:-2] if pattern.endswith(" *") else None


def _is_like(line: str, pieces: list[str], bare: str | None) -> bool:
    if bare is not None and _is_like(line, bare.split("*"), None):
        return True
    first, *middle = pieces
    if not middle:
        return line == first
    last = middle.pop()
    if len(line) < len(first) + len(last) or not line.startswith(first) or not line.endswith(last):
        return False
    at, end = len(first), len(line) - len(last)
    for piece in middle:
        found = line.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _filled(line: str) -> tuple[str, str]:
    """Return a line with something for its unknown parts, and with nothing for them."""
    empty = re.sub(" *[\1]+(?= |$)", "", line)
    return _MARK.sub("\2", line), _MARK.sub("", empty)


def _may_be_like(line: str, pieces: list[str], bare: str | None) -> bool:
    """Return whether some text in place of the unknown parts makes the pattern match."""
    if bare is not None and _may_be_like(line, bare.split("*"), None):
        return True
    known = _MARK.split(line)
    if len(pieces) == 1:
        return _is_like(pieces[0], known, None) or (MANY in line and _is_like(pieces[0], _vanishing(line), None))
    head, tail = known[0], known[-1]
    first, last = pieces[0], pieces[-1]
    return _same_beginning(head, first) and _same_beginning(tail[::-1], last[::-1])


def _vanishing(line: str) -> list[str]:
    return re.split(" ?[\0\1]+", line)


def _same_beginning(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
