"""Find the command lines in the input of a tool, under whichever keys, and the directory in which they run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ...matching.shell import read_line
from ...matching.tool_inputs import ARGUMENTS, COMMANDS, TooMuch, kind_of_key, limited_values, plain_key
from ...runtime.regex import regex

__all__ = ["directory_of_input", "is_shell_tool", "lines_of_input"]

_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

_SHELLS = frozenset(
    "bash shell terminal exec execute run command commands cmd console powershell pwsh zsh sh ssh tmux stdin".split()
)
"""Words in the names of tools that run command lines."""
_OTHERS = frozenset(
    """
    sql query database db postgres mysql sqlite mongo mongodb redis browser page puppeteer playwright chrome devtools
    evaluate test tests workflow pipeline agent prompt figma blender unity
    """.split()
)
"""Words in the names of tools that run something else."""
_OWN_SHELLS = frozenset({
    "bash", "shell", "local_shell", "exec_command", "shell_command", "run_shell_command", "run_terminal_cmd",
    "run_in_terminal", "runinterminal", "runcommand", "run_command", "execute_command", "execute", "functions.shell",
})  # fmt: skip
"""The tools of agents that run a command line."""

_SCRIPTS = frozenset({"script", "shellscript", "bashscript", "bash", "line", "shell", "input", "body", "cmds"})
_PROGRAMS = COMMANDS | {"program", "executable", "binary", "exe", "bin"}
_CODE = frozenset({"code", "script", "source", "sourcecode", "snippet", "program"})
_TYPED = frozenset({"chars", "input", "text", "keys", "data", "stdin", "keystrokes", "key", "send"})
_TYPISTS = frozenset("stdin keys keystrokes type input interact send terminal write".split())
_TERMINALS = frozenset("stdin terminal pty tmux process shell console bash screen iterm session".split())
_LANGUAGES = {
    **dict.fromkeys("python py ipython jupyter python3 notebook".split(), ("python3", "-c")),
    **dict.fromkeys("node javascript js typescript ts deno nodejs".split(), ("node", "-e")),
    "ruby": ("ruby", "-e"), "perl": ("perl", "-e"), "php": ("php", "-r"),
    **dict.fromkeys("bash sh shell zsh".split(), ("bash", "-c")),
}  # fmt: skip
_LANGUAGE_KEYS = frozenset({"language", "lang", "runtime", "kernel", "interpreter"})

_PLACES = frozenset({"cwd", "workdir", "workingdirectory", "workingdir", "currentdirectory"})
_FOLDERS = _PLACES | {"directory", "dir", "dirpath", "folder"}
_LONGEST = 4_096


def _words_of(tool: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(tool)}


def is_shell_tool(tool: str) -> bool:
    """Return whether a tool of an agent runs command lines."""
    return tool.lower() in _OWN_SHELLS


def lines_of_input(tool: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the command lines that a tool is given: under a key for commands, as words, as code, or to be typed."""
    try:
        for key, value, _ in limited_values(given):
            if isinstance(value, str) and _is_command_key(key):
                yield value
    except TooMuch:
        return
    words = _words_of(tool)
    runs = is_shell_tool(tool) or (bool(_SHELLS & words) and not _OTHERS & words)
    keys = {plain_key(key): value for key, value in given.items()}
    yield from _joined(keys, runs)
    if runs:
        yield from _texts(keys, _SCRIPTS)
        yield from (text for key in COMMANDS & keys.keys() for text in _nested(keys[key]))
    if not _OTHERS & words:
        yield from _code(words, keys, runs)
        yield from _typed(words, keys)


def _is_command_key(key: str) -> bool:
    return kind_of_key(key) == "command" or plain_key(key).endswith(("command", "commandline"))


def _texts(keys: Mapping[str, Any], names: frozenset[str]) -> Iterator[str]:
    for key in names & keys.keys():
        value = keys[key]
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, str) and one:
                yield one


def _joined(keys: Mapping[str, Any], runs: bool) -> Iterator[str]:
    """Yield a command whose words stand in a list, or whose arguments have a key of their own."""
    more = [keys[key] for key in ARGUMENTS & keys.keys()]
    programs = (_PROGRAMS if runs else COMMANDS) & keys.keys()
    firsts = [keys[key] for key in programs] or ([None] if runs and more else [])
    for first in firsts:
        if isinstance(first, (list, tuple)) or more:
            parts = [one for one in (first, *more) if one is not None]
            given = [one for part in parts for one in (part if isinstance(part, (list, tuple)) else [part])]
            if given and all(isinstance(one, str) for one in given):
                yield shlex.join(given)


def _nested(value: Any) -> Iterator[str]:
    """Yield the command lines of a value that should be a text and is none."""
    if isinstance(value, Mapping):
        for one in value.values():
            yield from (one,) if isinstance(one, str) else _nested(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, (list, tuple)) and one and all(isinstance(word, str) for word in one):
                yield shlex.join(one)


def _code(words: set[str], keys: Mapping[str, Any], runs: bool) -> Iterator[str]:
    """Yield code as the command line that runs it."""
    if not runs and not {"code", "python", "ipython", "jupyter", "node", "repl", "interpreter"} & words:
        return
    said = next((str(keys[key]).lower() for key in _LANGUAGE_KEYS & keys.keys()), "")
    names = [name for name in (said, *sorted(words)) if name in _LANGUAGES]
    if not names and not {"code", "repl", "interpreter"} & words and "code" not in keys:
        return
    program, option = _LANGUAGES[names[0]] if names else ("python3", "-c")
    for text in _texts(keys, _CODE):
        yield text if program == "bash" else shlex.join((program, option, text))


def _typed(words: set[str], keys: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text that is typed into a terminal, unless it is no command line."""
    if not (_TYPISTS & words and _TERMINALS & words):
        return
    for text in _texts(keys, _TYPED):
        line = text.replace("\r", "\n").strip(" \n\x03\x04").removesuffix("Enter").removesuffix("C-m").rstrip()
        if line and not any(reason.kind in ("broken", "control") for reason in read_line(line).opaque):
            yield line


def directory_of_input(given: Mapping[str, Any], cwd: str, *, runs_lines: bool) -> str:
    """Return the directory in which a tool works: the one of the event, or the one that its input names."""
    names = _FOLDERS if runs_lines else _PLACES
    for key, value in given.items():
        if plain_key(key) in names and isinstance(value, str) and 0 < len(value) < _LONGEST and "\0" not in value:
            return os.path.normpath(os.path.join(cwd, os.path.expanduser(os.path.expandvars(value))))
    return cwd
