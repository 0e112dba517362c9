"""Shells and interpreters: which text or file of their arguments they run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...runtime.regex import regex
from .. import programs
from ..programs import INTERPRETERS, KNOWN
from .arguments import look_into
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .languages import is_inert_code
from .line import Suspect
from .resolver import Resolver
from .texts import printed_text
from .words import MANY, UnreadKind, base_name, is_known, pieces_of

__all__ = ["run_interpreter", "run_shell"]

_MODULE = regex(r"-[bBdEiIOPqsSuvx]*m([\w.]*)")
_LOADS = frozenset(["-r", "--require", "--import", "--loader", "--experimental-loader", "-M", "-I"])


def run_shell(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the text after -c; a shell without a text and without a file runs what it reads."""
    at, has_text, reads, only_checks = 0, False, False, False
    while at < len(arguments) and arguments[at][:1] in ("-", "+"):
        option = arguments[at]
        at += 1
        if not is_known(option):
            line.found.cannot_read(f"the options of {name} are computed")
            line.found.suspect_texts(name, arguments, runs=True)
            return INPUT_RUN
        if option in ("-", "--"):
            break
        if option.startswith("--"):
            at += _long_option(line, name, option, arguments[at] if at < len(arguments) else "", context)
            continue
        if name in ("zsh", "ksh", "mksh") and option[1:2] == "o" and len(option) > 2:
            continue  # the name of the option follows at once
        if re.match(r"[-+][a-zA-Z]*?[oO][a-z]{4,}", option):
            line.found.cannot_read(f"the options of {name} are written in a way that shells read differently")
            line.found.suspect_texts(name, arguments, runs=True)
            return INPUT_RUN
        has_text |= "c" in option[1:] and option[0] == "-"
        reads |= "s" in option[1:]
        only_checks = (only_checks or "n" in option) and option[0] == "-" and "i" not in option
        at += option.lower().count("o")
    if only_checks:
        return INPUT_IGNORED
    if has_text:
        if at >= len(arguments):
            return INPUT_IGNORED
        line.found.suspect_texts(name, arguments[:at], runs=True)
        return line.run_text(arguments[at], context, f"{name} -c", positional=arguments[at + 1 :])
    if reads or at >= len(arguments):
        line.inputs.hungry[context.raw.place] = (name, context)
        return INPUT_RUN
    if text := printed_text(arguments[at], context.parsed.commands):
        return line.run_text(text, context, name, positional=arguments[at:])
    return line.files.run(name, arguments[at], context, arguments[at + 1 :])


def _long_option(line: Resolver, name: str, option: str, following: str, context: Context) -> int:
    """Read the file or the text that a long option of a shell runs; return whether it is the next word."""
    option, equals, value = option.partition("=")
    value = value if equals else following
    if option in ("--command", "--init-command"):
        line.run_text(value, context, f"{name} {option}")
    elif option not in ("--rcfile", "--init-file"):
        return 0
    elif text := printed_text(value, context.parsed.commands):
        line.run_text(text, context, f"{name} {option}")
    else:
        kind: UnreadKind = "file" if is_known(base_name(value)) else "computed"
        line.found.cannot_read(f"{name} {option} runs a file", "written" if line.files.wrote(value) else kind)
    return not equals


def run_interpreter(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Look for code among the options; else the program is a file, a module, or what it reads."""
    letters = INTERPRETERS[name]
    line.files.loads.append(name)
    at = 0
    while at < len(arguments) and arguments[at][:1] == "-" and arguments[at] != "-":
        option = arguments[at]
        at += 1
        if _loads_computed(option, arguments[at : at + 1]):
            line.found.cannot_read(f"{name} loads what is computed")
            return INPUT_SUSPECT
        if option[:2] == "-M" and not re.fullmatch(r"[\w=.,:/-]+", option):
            return _code(line, name, option)
        module = _MODULE.fullmatch(option) if name.startswith(("py", "ipython")) else None
        if option in ("-m", "-jar") or module:
            given = [module[1]] if module and module[1] else []
            return _module(line, [*given, *arguments[at:]], context)
        code = _code_of(name, letters, option, arguments, at)
        if code is not None:
            return _code_of_file(line, name, arguments[at : at + 1], context) or _code(line, name, code)
        at += option in ("-W", "-X", "-I", "-r", "--require", "-L", "-d", "--import", "-S", "--loader")
    if at >= len(arguments) or arguments[at] == "-":
        return INPUT_RUN
    if arguments[at] in ("run", "test", "task", "install", "add", "x") and name in ("bun", "deno"):
        role = look_into(line, name, arguments[at:], context)
        return INPUT_RUN if arguments[at] == "run" and "-" in arguments[at:] else role
    return line.files.run(name, arguments[at], context, arguments[at + 1 :])


def _loads_computed(option: str, following: Sequence[str]) -> bool:
    """Return whether the name of an option is computed, or the file or module that it loads."""
    name, equals, value = option.partition("=")
    if name in _LOADS:
        value = value if equals else "".join(following)
    elif option[:2] in ("-r", "-M", "-m", "-I") and len(option) > 2 and not option.startswith("--"):
        name, value = option[:2], option[2:]
    else:
        value = ""
    return not is_known(name) or not is_known(value)


def _code_of(name: str, letters: str, option: str, arguments: Sequence[str], at: int) -> str | None:
    """Return the code that an option has; None if it has none."""
    if option in ("--eval", "--print", "--exec", "--command", "-Command", "-EncodedCommand", "--run"):
        return "".join(arguments[at : at + 1])
    if option.startswith(("--eval=", "--print=", "--exec=")):
        return option.partition("=")[2]
    if option.startswith("--") or not letters:
        return None
    for place, letter in enumerate(option[1:], 2):
        if letter in letters:
            return option[place:] or "".join(arguments[at : at + 1])
    return None if is_known(option) else MANY


def _code_of_file(line: Resolver, name: str, code: Sequence[str], context: Context) -> int:
    """Read ``node -e "$(cat FILE)"`` as ``node FILE``; return 0 if the code is something else."""
    pieces = pieces_of(code[0]) if code else ()
    if len(pieces) != 1 or isinstance(pieces[0], str) or pieces[0].commands is None:
        return 0
    commands = context.parsed.commands[slice(*pieces[0].commands)]
    if len(commands) != 1 or commands[0].redirections or len(commands[0].words) != 2 or commands[0].words[0] != "cat":
        return 0
    path = commands[0].words[1]
    return line.files.run(name, path, context) if is_known(path) and not path.startswith("-") else 0


def _code(line: Resolver, name: str, code: str) -> int:
    language = "python" if name.startswith(("py", "ipython")) else name.removesuffix("js")
    if not is_known(code) or not is_inert_code(language, code):
        line.found.cannot_read(f"code for {name}, which is not read", "code")
        line.found.suspects.append(Suspect(name, text=code, runs=True))
    return INPUT_SUSPECT


def _module(line: Resolver, arguments: Sequence[str], context: Context) -> int:
    """Judge ``python -m pip install`` as ``pip install``."""
    line.files.loads.append("python")
    if not arguments or not is_known(arguments[0]) or arguments[0] in programs.MODULES_THAT_RUN_CODE:
        line.found.cannot_read("code for python, which is not read", "code")
        line.found.suspect_texts("python -m", arguments, runs=True)
        return INPUT_RUN
    if arguments[0] in KNOWN:
        return line.resolve(arguments, context.inside("python -m"))
    line.note(arguments, context.inside("python -m"))
    return look_into(line, "python -m", arguments[1:], context)
