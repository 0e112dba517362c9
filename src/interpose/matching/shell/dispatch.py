"""Which way the arguments of a program are read: by its own reader, as a wrapper, as a known or an unknown program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..programs import (
    COMMANDS_IN_VALUES,
    DIRECTORY_VARIABLES,
    EVALUATING_BUILTINS,
    INERT,
    KNOWN,
    PRODUCERS,
    READS_COMMANDS,
    WRAPPERS,
)
from .arguments import CONNECTS, look_into, run_options, run_values
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .evaluating import evaluate
from .line import Suspect
from .options import keys_of
from .resolver import Resolver
from .words import MANY, ONE, base_name, is_known, names_in
from .wrappers import run_wrapper

__all__ = ["read_program"]

# It is compiled on first use, which takes long.
_CONNECTS_TO = r"(?i)^-[a-zA-Z]*[ec]|^--(?:sh-|lua-)?exec|exec:|system:|shell:|[\0\1]"
_SUBSTITUTED_TEXT = PRODUCERS | frozenset(["sed", "awk", "cut", "perl", "python", "python3", "node", "grep"])


def read_program(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the arguments of any program; return what it does with what it reads."""
    if name in EVALUATING_BUILTINS:
        evaluate(line, name, arguments, context)
    if name in COMMANDS_IN_VALUES:
        run_values(line, name, arguments, context)
    reader = line.readers.get(name)
    if reader is not None:
        return reader(line, name, arguments, context)
    for key, at in keys_of(name, arguments):
        wrapper = WRAPPERS.get(key)
        if wrapper is not None:
            return run_wrapper(line, key, wrapper, arguments[at:], context)
    if name in INERT:
        run_options(line, name, arguments, context)
        line.files.write_operands(name, arguments)
        return INPUT_IGNORED
    if name in KNOWN:
        return look_into(line, name, arguments, context)
    return _read_unknown(line, name, arguments, context)


def _read_unknown(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Suspect every argument of a program that no table has."""
    run_options(line, name, arguments, context)
    if arguments:
        line.found.suspects.append(Suspect(name, tuple(arguments)))
        line.found.suspect_texts(name, arguments)
        line.files.ran += [(name, word) for word in arguments if is_known(word) and not word.startswith("-")]
        first = next((word for word in arguments if not word.startswith("-")), "")
        is_set = first.startswith((ONE, MANY)) and _is_set(first, context)
        if is_set or _is_composed(arguments, context):
            line.found.cannot_read(f"{name}, which is not known, is given words that the line computes", "arguments")
    reads = name in READS_COMMANDS and (
        name not in CONNECTS or any(re.search(_CONNECTS_TO, word) for word in arguments)
    )
    return INPUT_RUN if reads else INPUT_SUSPECT


def _is_set(word: str, context: Context) -> bool:
    """Return whether the text sets a variable that a word has; without names, whether it sets any."""
    assigned = context.parsed.assigned - DIRECTORY_VARIABLES
    names = set(names_in([word]))
    return bool(context.parsed.functions or (assigned & names if names else assigned))


def _is_composed(arguments: Sequence[str], context: Context) -> bool:
    """Return whether a substitution lets the line choose the text of an argument."""
    if not any(word[:1] in (ONE, MANY) for word in arguments if word):
        return False
    return any(
        raw.words and base_name(raw.words[0]) in _SUBSTITUTED_TEXT
        for first, last in context.raw.substituted
        for raw in context.parsed.commands[first:last]
    )
