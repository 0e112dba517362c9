"""The variables that a line sets: some make programs run their value, or change what a name means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...runtime.regex import regex
from ..programs import (
    COMMAND_VARIABLES,
    DIRECTORY_VARIABLES,
    FILE_VARIABLES,
    OPTION_VARIABLES,
    SHELL_WITHOUT_COMMAND,
    SHELLS,
)
from .arithmetic import Arithmetic
from .context import INPUT_IGNORED, Context
from .files import LineFiles
from .findings import Findings
from .flow import are_plain_values, is_from_outside, kind_of_path
from .line import Suspect
from .parsed import ParsedLine
from .texts import is_text
from .words import UnreadKind, base_name, is_known

__all__ = ["MOST_SETTINGS", "Variables"]

MOST_SETTINGS = 50
"""How many settings are kept: the last ones."""

_FILE_VARIABLE = regex(r"(?:LD_|DYLD_|BASH_FUNC_)")
_FILE_VALUE = regex(r"(?!.*(?:eval|exec|-[rME]|command))[\w=%:,.+ -]*\Z", re.ASCII)
_LIBRARY_PATHS = frozenset(["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"])
_SETTINGS_FILES = frozenset(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"])
_COMMAND_VARIABLE = regex(r"(?:PAGER|EDITOR|_COMMAND|_CMD|_SSH|_RSH|_ASKPASS|BROWSER)\Z")
_PROMPTS = frozenset(["PS0", "PS1", "PS2", "PROMPT_COMMAND"])
_STARTS_SHELLS = frozenset(["su", "script", "ssh", "screen", "tmux", "exec", "env", "login", "docker", "", "runuser"])
_COUNTING = regex(r"(?<![$\w{])(?:RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|HISTCMD)(?=\+?=|[\s;]|$)")
_EVALUATED = regex(r"@[PEAKak]\}")


class Variables:
    """The variables that a line sets."""

    def __init__(self, found: Findings, files: LineFiles, arithmetic: Arithmetic) -> None:
        self.found = found
        self.files = files
        self.arithmetic = arithmetic
        self.settings: tuple[tuple[str, str], ...] = ()
        """The variables that the line has set so far."""
        self.are_chosen = False
        """Whether the line itself says what its variables hold."""
        self.path_kind: UnreadKind | None = None
        """Of the PATH that the line sets."""
        self.values: list[str] = []  # those that may be commands
        self.prompts: list[str] = []  # variables that interactive shells evaluate

    def note_text(self, text: str, parsed: ParsedLine) -> None:
        """Note what a text says of variables, wherever it says so."""
        if "[" in text and _COUNTING.search(text):
            self.found.cannot_read("a variable of the shell evaluates what it is set to")
        if _EVALUATED.search(text):
            self.found.cannot_read("${x@P} evaluates what a variable holds")
        self.found.opaque += parsed.opaque
        self.are_chosen |= bool(parsed.assigned - DIRECTORY_VARIABLES or parsed.functions)
        self.arithmetic.note_text(parsed)
        if parsed.assigned & parsed.used and not are_plain_values(parsed):
            self.found.cannot_read(f"the line changes {', '.join(sorted(parsed.assigned & parsed.used))}")

    def assign(self, name: str, value: str, role: int, context: Context, *, alone: bool) -> str:
        """Note a variable; return the command that it names for the programs that follow; empty if it names none.

        ``role`` is what the program does with what it reads; ``alone`` says that the variable is set for the line.
        """
        self.arithmetic.note_value(value)
        if alone:
            self.settings = (*self.settings, (name, value))[-MOST_SETTINGS:]
        if name == "PATH":
            self.path_kind = kind_of_path(value)
            if not alone and self.path_kind:
                self.found.cannot_read("a program is searched for in a PATH that the line sets", self.path_kind)
        elif not is_known(name):
            self.found.cannot_read("a variable whose name is computed")
        elif _names_file(name, value, context):
            if value and not (name in OPTION_VARIABLES and _FILE_VALUE.match(value)):
                self._set_file(name, value)
        elif role > INPUT_IGNORED and (name in COMMAND_VARIABLES or _COMMAND_VARIABLE.search(name)):
            if is_known(value):
                return value
            is_outside = is_from_outside(value, context.state, context.parsed)
            kind: UnreadKind = "program" if alone and is_outside and not context.raw.substituted else "variable"
            self.found.cannot_read(f"{name} names a command that is computed", kind)
        elif is_text(value):
            self.values.append(value)
        return ""

    def _set_file(self, name: str, value: str) -> None:
        """Note a variable that makes programs run or load a file."""
        if name in _PROMPTS:
            self.prompts.append(name)
            return
        kind: UnreadKind = (kind_of_path(value, name) or "path") if name in _LIBRARY_PATHS else "variable"
        if name in _SETTINGS_FILES and is_known(value) and not value.startswith(("/dev/", "/proc/")):
            self.files.ran.append((name, value))
            kind = "file"
        self.found.cannot_read(f"{name} makes programs run or load something", kind)

    def judge_prompts(self, names: AbstractSet[str]) -> None:
        """Note a prompt that a shell among the programs evaluates."""
        if self.prompts and names & (SHELLS | SHELL_WITHOUT_COMMAND | _STARTS_SHELLS):
            self.found.cannot_read(f"{self.prompts[0]} makes programs run or load something", "variable")

    def suspect_values(self) -> None:
        """Suspect the values that may be commands."""
        self.found.suspects += [Suspect("a variable", text=value) for value in self.values]


def _names_file(name: str, value: str, context: Context) -> bool:
    """Return whether a variable names a file, or has a text, that programs load."""
    if name == "ENV":
        return re.search("[/$`]", value) is not None or _is_interactive(context.raw.words)
    return name in FILE_VARIABLES or _FILE_VARIABLE.match(name) is not None


def _is_interactive(words: Sequence[str]) -> bool:
    """Return whether a command is a shell that reads the file in ENV first."""
    is_shell = bool(words) and base_name(words[0]) in SHELLS
    return is_shell and (len(words) == 1 or any(re.fullmatch("-[a-z]*i[a-z]*", word) for word in words[1:]))
