"""Builtins that evaluate their words: subscripts of names, arithmetic, and the variables that ``declare`` sets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...runtime.regex import regex
from .context import Context
from .line import Suspect
from .resolver import Resolver
from .words import MANY, ONE, value_of

__all__ = ["evaluate"]

_ASSIGNMENT = regex(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII)
_ARITHMETIC_TESTS = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
_ARRAY = regex(r"-\w*[aA]\w*")
_COMPUTED = regex("=.*[$`\0\1]", re.DOTALL)


def evaluate(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> None:
    """Note text that a builtin evaluates: the subscript of a variable's name, or arithmetic."""
    line.arithmetic.holds_text |= name in ("read", "mapfile", "readarray", "getopts", "printf")
    if name == "printf" and not any(word.startswith("-v") for word in arguments[:2]):
        return
    if name in ("test", "[") and "-v" not in arguments:
        return
    for word in arguments:
        subject = word if name in ("let", "[[") else word.partition("=")[0] or word
        if "[" in subject and ("$(" in word or "`" in word):
            line.found.cannot_read(f"{name} evaluates the subscript of a name")
            line.found.suspects.append(Suspect(name, text=word, runs=True))
        elif line.variables.are_chosen and subject[:1] in (ONE, MANY) and name not in ("[[", "wait", "export", "local"):
            line.found.cannot_read(f"{name} evaluates a name that is computed")
    line.arithmetic.counts |= name == "let" or (name == "[[" and bool(_ARITHMETIC_TESTS & set(arguments)))
    if name in ("export", "declare", "typeset", "local", "readonly"):
        _declare(line, name, arguments, context)


def _declare(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> None:
    line.variables.are_chosen |= any("=" in word for word in arguments)
    if name not in ("export", "local") and any(
        word.startswith("-") and ("i" in word or "n" in word) for word in arguments
    ):
        line.found.cannot_read(f"{name} makes a variable that is evaluated")
    if any(_ARRAY.fullmatch(word) for word in arguments) and any(_COMPUTED.search(word) for word in arguments):
        line.found.cannot_read(f"{name} evaluates the text of an array")
    for word in arguments:
        if setting := _ASSIGNMENT.match(word):
            line.assign(setting.group(1), value_of(word), context, alone=True)
