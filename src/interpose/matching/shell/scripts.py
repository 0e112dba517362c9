"""Programs with a language of their own that can run commands: awk, sed, editors, debuggers, make and cmake."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...runtime.regex import regex
from .arguments import look_into
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .languages import is_inert_awk, is_inert_sed
from .line import Suspect
from .resolver import Resolver
from .words import MANY, ONE, is_known, pieces_of, value_of

__all__ = ["read_awk", "read_cmake", "read_debugger", "read_editor", "read_make", "read_sed"]

_EDITOR_COMMAND = regex(r"(?:^|[:|\s])!+([^|\n]+)|system(?:list)?\(['\"]([^'\"\n]+)['\"]\)")
_SED_EXECUTES = regex(r"(?:^|[;{}\n])[0-9,$~!/\s]*e[ \t]+([^\n]+)")


def read_awk(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Look at the program of awk: whether it runs commands."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-":
        option = arguments[at]
        at += 1
        if option.startswith(("-f", "--file")):
            path = option[2:] if not option.startswith("--") else option.partition("=")[2]
            return line.files.run(name, path or "".join(arguments[at : at + 1]), context)
        if option == "--":
            break
        if option.startswith(("-e", "--source", "-i", "-l", "-E")):
            line.found.cannot_read(f"code for {name}, which is not read", "code")
        at += option in ("-F", "-v")
    code = "".join(arguments[at : at + 1])
    line.files.texts.append(code)
    if not is_known(code) or not is_inert_awk(code):
        line.found.cannot_read(f"code for {name}, which is not read", "code")
        line.found.suspects.append(Suspect(name, text=code, runs=True))
    return INPUT_IGNORED


def read_sed(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the commands that scripts of sed run."""
    scripts, operands, at = list[str](), list[str](), 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        value = "".join(arguments[at : at + 1])
        if word in ("-e", "--expression") or re.fullmatch(r"-[nrEsuz]*e", word):
            scripts.append(value)
            at += 1
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word in ("-f", "--file") or word.startswith("--file="):
            line.files.run(name, word.partition("=")[2] or value, context)
            scripts.append("")
            at += word in ("-f", "--file")
        elif not word.startswith("-") or word == "-":
            operands.append(word)
    if not scripts:
        scripts = operands[:1]
        if operands[:1] == [""] and len(operands) > 1:  # BSD: sed -i '' script
            scripts = operands[1:2]
    for script in scripts:
        is_chosen = ONE in script and line.variables.are_chosen and not _is_plain_print(script, context)
        if not is_inert_sed(script.replace(ONE, "x")) or MANY in script or is_chosen:
            for command in _SED_EXECUTES.finditer(script):
                line.run_text(command.group(1), context, name, "sed runs it")
            line.found.cannot_read("code for sed, which is not read", "code")
            line.found.suspects.append(Suspect(name, text=script, runs=True))
    return INPUT_IGNORED


def _is_plain_print(text: str, context: Context) -> bool:
    """Return whether what is unknown in a text is printed by programs that print a date, a name or a number."""
    for one in pieces_of(text):
        if isinstance(one, str):
            continue
        commands = context.parsed.commands[slice(*one.commands)] if one.commands else []
        if len(commands) != 1 or commands[0].substituted or commands[0].words[:1] not in _PRINTS_PLAIN:
            return False
        if not all(re.fullmatch(r"(?!.*%[nt])[\w%:@.,+ -]*", word) for word in commands[0].words):
            return False
    return not context.parsed.functions


_PRINTS_PLAIN = (["date"], ["whoami"], ["hostname"], ["id"], ["uname"], ["nproc"], ["arch"])


def read_editor(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Look at the commands of an editor: a plain word is one of its own."""
    for at, word in enumerate(arguments):
        if word in ("-c", "--cmd", "-S", "-s", "-u") or word.startswith("+"):
            value = word[1:] if word.startswith("+") else "".join(arguments[at + 1 : at + 2])
            if word in ("-S", "-s", "-u") and "." in value:
                line.files.ran.append((name, value))
            elif not re.fullmatch(r"[\w ]*|:?[\w]+!?|/.*", value) or value.startswith("!"):
                for command in _EDITOR_COMMAND.finditer(value):
                    line.run_text(command.group(1) or command.group(2), context, name, "the editor runs it")
                line.found.cannot_read(f"code for {name}, which is not read", "code")
                line.found.suspects.append(Suspect(name, text=value, runs=True))
    line.found.suspect_texts(name, arguments)
    return INPUT_RUN if name in ("ed", "ex", "red") or {"-es", "-e", "-s", "-"} & set(arguments) else INPUT_SUSPECT


# Debuggers.

_DEBUGGER_OPTIONS = frozenset([
    "-ex", "-eval-command", "-iex", "-init-eval-command", "-o", "-one-line", "-O", "-one-line-before-file", "-k",
    "-one-line-on-crash",
])  # fmt: skip
_DEBUGGER_SHELL = regex(r"\s*(?:shell\b|platform\s+shell\b|!)\s*(.*)", re.DOTALL)
_DEBUGGER_CODE = regex(
    r"\s*(?:py\w*|pi|gu\w*|script|source|pipe|make|compile|expr\w*\s.*\bsystem|command\s+s\w+)\b|.*\b(?:system|popen|exec\w*)\s*\(",
    re.DOTALL,
)


def read_debugger(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the commands of a debugger that run a shell; its code in other languages is not read."""
    for at, word in enumerate(arguments):
        if word in ("--args", "-args", "--") and arguments[at + 1 :]:
            line.resolve(arguments[at + 1 :], context.inside(name, "it may be started"))
            break
        option, equals, value = word.partition("=")
        if option.replace("--", "-", 1) not in _DEBUGGER_OPTIONS:
            continue
        text = value if equals else "".join(arguments[at + 1 : at + 2])
        line.found.suspects.append(Suspect(f"{name} {option}", text=text, runs=True))
        if found := _DEBUGGER_SHELL.match(text):
            line.run_text(found[1], context, f"{name} {option}")
        elif not is_known(text) or _DEBUGGER_CODE.match(text):
            line.found.cannot_read(f"{name} {option} runs a text that is not read")
    look_into(line, name, arguments, context)
    return INPUT_RUN


# make and cmake.

_MAKE_RUNS = regex(r"\$[({](?:shell|eval|file)\b")
_MAKE_TEXT = frozenset(["--eval", "-E"])


def read_make(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Look at the makefile texts among the words, and at variables whose values make runs."""
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option in _MAKE_TEXT or (option.startswith("--ev") and "--eval".startswith(option)):
            text = value if equals else "".join(arguments[at + 1 : at + 2])
        elif word.startswith("-E") and len(word) > 2:
            text = word[2:]
        else:
            if equals and not option.startswith("-"):
                line.assign(option.rstrip(":+?"), value_of(word), context)
                if option.endswith("!") or _MAKE_RUNS.search(value):
                    line.found.cannot_read(f"{name} evaluates the value of {option}")
            continue
        for command in _recipes(text):
            line.run_text(command, context, f"{name} --eval", "a makefile's text has it")
        line.found.cannot_read(f"{name} --eval runs a text that is not read")
        line.found.suspects.append(Suspect(f"{name} --eval", text=text, runs=True))
    return look_into(line, name, arguments, context)


def _recipes(text: str) -> list[str]:
    """Return the commands of a makefile's text: the recipes, and what is given to its function shell."""
    found = [part.partition(")")[0] for part in text.split("$(shell ")[1:]]
    for row in text.split("\n"):
        if row.startswith("\t"):
            found.append(row.strip())
        elif ";" in row:
            found.append(row.partition(";")[2])
    return [one.lstrip("@-+ ").replace("$$", "$") for one in found if one.strip()]


_CMAKE_TOOLS: Mapping[str, tuple[str, ...]] = {
    "rm": ("rm",), "remove": ("rm",), "remove_directory": ("rm", "-r"), "rename": ("mv",), "copy": ("cp",),
    "copy_directory": ("cp", "-r"), "copy_directory_if_different": ("cp", "-r"), "copy_if_different": ("cp",),
    "create_symlink": ("ln", "-s"), "create_hardlink": ("ln",), "make_directory": ("mkdir", "-p"), "tar": ("tar",),
    "touch": ("touch",), "touch_nocreate": ("touch",), "cat": ("cat",), "env": ("env",), "time": ("env",),
}  # fmt: skip
"""What the tools of ``cmake -E`` are by themselves."""


def read_cmake(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read ``cmake -E TOOL`` as the program that does the same."""
    if list(arguments[:1]) != ["-E"]:
        return look_into(line, name, arguments, context)
    tool, rest = "".join(arguments[1:2]), list(arguments[2:])
    inside = context.inside("cmake -E")
    if tool == "chdir" and len(rest) > 1:
        return line.resolve(rest[1:], inside.moved(rest[0]))
    if tool in _CMAKE_TOOLS and rest:
        return line.resolve([*_CMAKE_TOOLS[tool], *rest], inside)
    line.found.suspects.append(Suspect("cmake -E", tuple(arguments[1:]), runs=True))
    return INPUT_SUSPECT
