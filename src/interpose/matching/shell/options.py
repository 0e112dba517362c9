"""Options of programs: where the operands begin, and what stands before them."""

from __future__ import annotations

from collections.abc import Sequence

from ...runtime.regex import regex
from ..programs import GLOBAL_OPTIONS, WRAPPERS, options_of
from .words import MANY, ONE

__all__ = ["keys_of", "operands_of", "parse_options", "program_of"]

_VERSIONED = regex(
    r"(python|pip|pypy|perl|ruby|gcc|g\+\+|clang|clang\+\+|php|lua|node|tclsh|wish|bash|ksh|vim|not|java)-?[0-9][0-9.]*"
)


def program_of(name: str) -> str:
    """Return the name that the tables have for a program: ``python`` for ``python3.11``."""
    if name.startswith("ld-") and ".so" in name:
        return "ld.so"
    versioned = _VERSIONED.fullmatch(name)
    return versioned.group(1) if versioned else name


def operands_of(name: str, words: Sequence[str]) -> tuple[int, bool]:
    """Return where the words after a program's global options begin, and whether all those options are known."""
    at, _, sure = parse_options(words, GLOBAL_OPTIONS.get(name, ""))
    return at, sure


def keys_of(name: str, arguments: Sequence[str]) -> list[tuple[str, int]]:
    """Return the keys under which a wrapper may stand in the table, and how many arguments they include."""
    keys = [(name, 0)]
    if arguments and name in _WITH_SUBCOMMANDS:
        at, _ = operands_of(name, arguments)
        words = [name, *arguments[at : at + 2]]
        keys = [(" ".join(words[:3]), at + 2), (" ".join(words[:2]), at + 1), *keys]
    return keys


_WITH_SUBCOMMANDS = frozenset(key.partition(" ")[0] for key in WRAPPERS if " " in key)


def parse_options(
    words: Sequence[str], spec: str, *, dash: bool = False, until: tuple[str, ...] = ()
) -> tuple[int, dict[str, str], bool]:
    """Return where the operands begin, the options before them, and whether all of these are known.

    An option of ``until`` is the last one.
    """
    flags, valued = options_of(spec)
    at, found, sure = 0, dict[str, str](), True
    while at < len(words) and not any(name in found for name in until):
        option = words[at]
        if option[:1] in (ONE, MANY):
            sure = sure and MANY not in option
            break
        if not option.startswith("-") or (option == "-" and not dash):
            break
        at += 1
        if option == "--":
            break
        if option.startswith("--") or (option[1:] in valued and len(option) > 2):
            name, equals, value = option.lstrip("-").partition("=")
            if name in valued and not equals:
                value = words[at] if at < len(words) else MANY
                at += 1
            elif name not in flags and name not in valued:
                sure = False
            found[name] = value
        else:
            known, at = _letters(option[1:], flags, valued, words, at, found)
            sure = sure and known
    return at, found, sure


def _letters(
    cluster: str, flags: frozenset[str], valued: frozenset[str], words: Sequence[str], at: int, found: dict[str, str]
) -> tuple[bool, int]:
    """Read single-letter options written together; return whether they are known, and where the next word is."""
    for place, letter in enumerate(cluster):
        rest = cluster[place + 1 :]
        if letter in valued:
            found[letter] = rest or (words[at] if at < len(words) else MANY)
            return True, at if rest else at + 1
        if letter not in flags:
            return False, at
        found[letter] = rest if letter in "il" else ""
        if letter in "eil" and rest and "P" in valued:  # xargs: a value may follow at once
            return True, at
    return True, at
