"""Programs that run the command among their words: ``sudo``, ``timeout``, ``xargs`` and many others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...runtime.regex import regex
from .. import programs
from ..programs import INERT, KNOWN, SHELLS, WRAPPERS, Wrapper
from .arguments import run_options
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .flow import is_from_outside, is_place
from .line import Suspect
from .options import parse_options, program_of
from .resolver import Resolver
from .texts import is_text, literal_text, with_input
from .variables import MOST_SETTINGS
from .words import MANY, ONE, base_name, is_known, value_of

__all__ = ["run_wrapper", "suspect_wrapper"]

_MOST_GUESSES = 3
_PLAIN_XARGS = frozenset(["I", "i", "replace", "r", "t", "P", "no-run-if-empty", "verbose", "max-procs"])
_PLAIN_INPUT = regex(r"[\w./:@%+,=\s-]{1,4000}", re.ASCII)


def run_wrapper(line: Resolver, key: str, wrapper: Wrapper, arguments: Sequence[str], context: Context) -> int:
    """Read the command after a wrapper's options and operands."""
    at, options, sure = parse_options(arguments, wrapper.options)
    run_options(line, key, arguments if not sure else arguments[:at], context)
    if not sure:
        return suspect_wrapper(line, key, arguments, context)
    while wrapper.assigns and at < len(arguments) and arguments[at].find("=") > 0:
        variable, value = arguments[at].partition("=")[0], value_of(arguments[at])
        line.assign(variable, value, context)
        context = context._replace(settings=(*context.settings, (variable, value))[-MOST_SETTINGS:])
        at += 1
    context = context.moved(options.get("chdir") or (options.get("D") if key == "sudo" else None))
    passed = arguments[: at + wrapper.skipped]
    if any(MANY in word for word in passed) or (
        wrapper.assigns and arguments[at : at + 1] and arguments[at][:1] == ONE and not is_place(arguments[at])
    ):
        unknown = [word for word in (*passed, *arguments[at : at + 1]) if not is_known(word)]
        outside = all(is_from_outside(word, context.state, context.parsed) for word in unknown)
        line.found.cannot_read(f"the words after {key} are computed", "program" if outside else "computed")
    inner = list(arguments[at + wrapper.skipped :])
    if inner and inner[0] == "--":
        inner = inner[1:]
    if not inner:
        return INPUT_RUN if key in programs.SHELL_WITHOUT_COMMAND else INPUT_SUSPECT
    if key == "xargs":
        return _run_xargs(line, inner, options, context)
    if key in programs.TEXT_WRAPPERS and is_text(inner[0]):
        return max(line.run_text(text, context, key) for text in inner if is_text(text))
    if key.endswith(" run") and inner[0] in programs.SUBCOMMAND_WORDS:  # a script of the project
        line.found.suspects.append(Suspect(key, tuple(inner)))
        return INPUT_SUSPECT
    why = f"{key} runs it elsewhere" if wrapper.elsewhere else ""
    within = context.inside(key, why)
    return line.resolve(inner, within._replace(elsewhere=within.elsewhere or wrapper.elsewhere))


def suspect_wrapper(line: Resolver, key: str, arguments: Sequence[str], context: Context) -> int:
    """Suspect every argument: which of them is the command is not known. Those with a program's name may be it."""
    within = context.inside(key, "options before it are not known")
    named = [at for at, word in enumerate(arguments) if _is_program(line, word)]
    for at in named[:_MOST_GUESSES]:
        line.resolve(arguments[at:], within)
    line.found.suspects.append(Suspect(key, tuple(arguments), runs=True))
    line.found.suspect_texts(key, arguments, runs=True)
    operands = [word for word in arguments if not word.startswith("-")]
    if any(word[:1] in (ONE, MANY) for word in operands[:1]) or (
        line.variables.are_chosen and not all(map(is_known, arguments))
    ):
        line.found.cannot_read(f"the words after {key} are computed")
    return INPUT_SUSPECT if arguments and not set(arguments) & SHELLS else INPUT_RUN


def _is_program(line: Resolver, word: str) -> bool:
    name = program_of(base_name(word))
    is_listed = name in INERT or name in KNOWN or name in SHELLS or name in line.readers or name in WRAPPERS
    return is_listed and name not in programs.SUBCOMMAND_WORDS


def _run_xargs(line: Resolver, words: list[str], options: Mapping[str, str], context: Context) -> int:
    """Read the command of xargs with its input: that of a pipe if it is in the line, else unknown words."""
    within = context.inside("xargs")
    given = _piped_text(line, context) if options.keys() <= _PLAIN_XARGS else ""
    if not _PLAIN_INPUT.fullmatch(given):
        return line.resolve(with_input(words, options), within)
    replaced = next((options[one] or "{}" for one in ("I", "i", "replace") if one in options), "")
    if not replaced:
        return line.resolve([*words, *given.split()], within)
    rows = [row.strip() for row in given.splitlines() if row.strip()]
    roles = [line.resolve([word.replace(replaced, row) for word in words], within) for row in rows]
    return max(roles, default=INPUT_IGNORED)


def _piped_text(line: Resolver, context: Context) -> str:
    """Return the text that is piped into a command; empty if it is not wholly in the line."""
    place = context.raw.place
    if context.parsed is not line.whole:
        return ""
    found = [(first, middle) for first, middle, last in context.parsed.pipes if middle <= place < last]
    return literal_text(context.parsed.commands[slice(*found[0])]) if len(found) == 1 else ""
