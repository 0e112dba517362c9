"""Read the scripts that a line writes and runs, and tell which of them stand in the line as a whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from ...matching.programs import SHELLS
from ...matching.shell import Line, ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import base_name, is_known
from ...runtime.regex import regex
from .given_code import code_of
from .inline_code import read_code
from .rows import RUNS, Found, written
from .texts import Texts

__all__ = ["effects_of_script", "scripts_read"]

_COMPILERS = frozenset("c++ cc clang clang++ g++ gcc javac kotlinc rustc swiftc tsc".split())
_KEEPS = frozenset("cat chmod cmp diff file head ls rm shellcheck stat tail test wc".split())
"""Programs that are given a file and do not change what it says."""
_SHEBANG = regex(r"#!\s*(?:/\S*/env\s+(?:-S\s+)?)?(?:\S*/)?([\w.+-]+)")
_END = ", which the line writes"


def effects_of_script(texts: Texts, command: ShellCommand) -> Iterator[Found]:
    """Yield the effects of a script that a command runs and the line writes: of a shell, or by its first line."""
    path = _script_of(command)
    text = texts.file(path) if path else ""
    if not text:
        return
    program = _program(command, text)
    if program in SHELLS:
        yield Found(RUNS, text)
    elif program:
        language, code = code_of(_as_interpreter(command, program), [text])
        for one in code if language else ():
            yield from read_code(language, one)


def scripts_read(line: Line, texts: Texts) -> Iterator[str]:
    """Yield the reasons against a line that do not count: the script is read, or a compiler makes it of other files."""
    for command in line.commands:
        names = (command.name, program_of(command.name))
        if command.name in _COMPILERS:
            yield from (f"{name} runs {word}{_END}" for name in names for word in command.parts[1:])
        path = _script_of(command)
        if not path:
            continue
        text = texts.file(path)
        is_read = is_known(text) and _can_read(_program(command, text)) if text else _is_compiled(line, texts, path)
        if is_read and _stands_in(line, texts, command, path):
            yield from (f"{name} runs {path}{_END}" for name in (*names, "the line"))


def _script_of(command: ShellCommand) -> str:
    """Return the file that a command runs: itself, or the first operand of a shell or an interpreter."""
    if not command.parts:
        return ""
    if "/" in command.parts[0] and program_of(command.name) not in SHELLS and not _can_read(command.name):
        return command.parts[0]
    words = command.parts[1:]
    first = next((word for word in words if not word.startswith("-")), "")
    before = words[: words.index(first)] if first else ()
    has_code = any(re.fullmatch(r"-\w*[cem]|--.*", word) for word in before)
    return "" if has_code or not _can_read(program_of(command.name)) else first


def _program(command: ShellCommand, text: str) -> str:
    if "/" not in command.parts[0] or _can_read(program_of(command.name)):
        return program_of(command.name)
    shebang = _SHEBANG.match(text)
    return program_of(shebang[1]) if shebang else "sh"


@lru_cache(maxsize=256)
def _can_read(program: str) -> bool:
    return program in SHELLS or bool(code_of(ShellCommand((program,)), ["x"])[0])


def _as_interpreter(command: ShellCommand, program: str) -> ShellCommand:
    return command._replace(parts=(program,), redirections=())


def _is_compiled(line: Line, texts: Texts, path: str) -> bool:
    """Return whether a compiler of the line makes a file, of sources that the line does not write."""
    makers = [one for one in line.commands if one.name in _COMPILERS and _names(one, path)]
    return bool(makers) and not any(texts.file(word) for one in makers for word in one.parts[1:])


def _stands_in(line: Line, texts: Texts, runs: ShellCommand, path: str) -> bool:
    """Return whether no command writes a file but those whose output the line shows, or a compiler."""
    return all(_shows(texts, one, path) for one in line.commands if one.place != runs.place)


def _shows(texts: Texts, command: ShellCommand, path: str) -> bool:
    targets = [one.target for one in command.redirections if one.is_output]
    if any(not is_known(target) or base_name(target) == base_name(path) for target in targets):
        is_plain = command.name in ("echo", "printf") or (command.name == "cat" and len(command.parts) == 1)
        return is_plain and not any(one.is_input and not one.text for one in command.redirections)
    if command.name == "tee":
        return not _names(command, path) or texts.is_complete(command)
    return command.name in _KEEPS | _COMPILERS or not _names(command, path)


def _names(command: ShellCommand, path: str) -> bool:
    """Return whether a word of a command is, or may be, a file of this name."""
    base = os.path.basename(written(path))
    return any(not is_known(word) or base_name(word) == base for word in command.parts[1:])
