"""Words that xargs and parallel give to an interpreter, where they may be its options or its code."""

from __future__ import annotations

from collections.abc import Iterator

from ...matching.shell import ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import MANY, ONE
from .rows import Found

__all__ = ["computed_words"]

_FEEDERS = frozenset({"xargs", "parallel"})
_VALUED = {
    "node": "-r --require --import --loader --experimental-loader -C --conditions -e --eval -p --print",
    "ruby": "-r -e -I -C",
    "perl": "-e -E -I",
    "php": "-r -d -c -z",
    "lua": "-e -l",
    "awk": "-f --file -v -F -i -l",
}
"""Options whose value is the next word."""
_CODE = frozenset("-e -E --eval -p --print -f --file".split())
"""Options with code, after which the program still reads options."""
_AWKS = frozenset("gawk mawk nawk".split())


def computed_words(command: ShellCommand) -> Iterator[Found]:
    """Yield an effect if words that are not known may be options of an interpreter, or what it loads."""
    if not _FEEDERS & set(command.via[-1:]):
        return
    name = program_of(command.name.lower())
    program = "awk" if name in _AWKS else name
    if program not in _VALUED:
        return
    valued = _VALUED[program].split()
    words = iter(command.parts[1:])
    has_code = False
    for word in words:
        unknown = ONE in word or MANY in word
        if unknown and (word.startswith("-") or has_code):
            yield Found("computed-words")
            return
        if word == "--" or not word.startswith("-"):
            return
        has_code = has_code or word in _CODE
        if word in valued:
            value = next(words, "")
            if ONE in value or MANY in value:
                yield Found("computed-words")
                return
