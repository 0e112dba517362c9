"""Object to command lines that cannot be read, by the kind of what is unreadable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ..matching.programs import INTERPRETERS
from ..matching.shell import Line, ShellCommand, Suspect
from ..matching.shell.languages import is_inert_sed
from ..matching.shell.options import program_of
from ..matching.shell.texts import is_text
from ..matching.shell.words import MANY, ONE, Expansion, pieces_of
from ..runtime.regex import regex
from .call import Call
from .effects import say, unread
from .effects.downloads import is_download_and_run
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "computed": "computed",
    "input": "input",
    "written": "written",
    "file": "files",
    "program": "programs",
    "arguments": "arguments",
    "arithmetic": "arithmetic",
    "code": "code",
    "variable": "variables",
    "path": "path",
    "broken": "broken",
    "control": "control",
}


# Marks that change the direction of text, tags, blanks without width; joiners and selectors after a Latin letter.
_HIDDEN = regex(
    "[\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164\uffa0]"
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]"
    "|(?<=[0-9A-Za-z\\-/.])[\u200c\u200d\ufe00-\ufe0e\U000e0100-\U000e01ef]"
)


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for line in call.lines:
        if hidden := _HIDDEN.search(line.text):
            said = f"the command line has an invisible character, {hidden.group()!a}: it is not what it looks like"
            yield Objection(options["hidden"], said)
        if not line.opaque or is_download_and_run(line):
            continue
        hides_commands = any(map(_hides_commands, line.commands)) or any(
            one.runs and one.program in _EDITORS and not _is_inert(one, line) for one in line.suspects
        )
        for reason in unread(line):
            kind = "file" if reason.kind == "written" and " may run " in reason else reason.kind
            kind = "computed" if kind in _MILD and hides_commands else kind
            yield Objection(options[_PARAMETERS.get(kind, "computed")], f"the command line cannot be read: {reason}")
    for effect in call.of("code-command"):
        yield Objection(options["code"], say(effect), effect.grade)
    for effect in call.of("computed-words"):
        yield Objection(options["arguments"], f"the command line cannot be read: {say(effect)}", effect.grade)
    for effect in call.of("load-code"):
        if "folder" not in effect.values or call.place_of(effect.target) in ("outside", "temporary"):
            yield Objection(options["commands"], say(effect), effect.grade)
    for effect in call.of("computed-code"):
        yield Objection(options["computed"], f"the command line cannot be read: {say(effect)}", effect.grade)


def _hides_commands(command: ShellCommand) -> bool:
    """Return whether a command may run others that no policy sees, whatever is allowed of files and code."""
    if not command.parts or command.via == ("a variable",):
        return False
    words = command.parts[1:]
    if not command.name:  # $SHELL -c 'text', or ${X:-text}
        pieces = [piece for piece in pieces_of(command.parts[0]) if isinstance(piece, Expansion)]
        is_edited = any(not piece.is_plain and not piece.default for piece in pieces)
        return is_edited or any(is_text(word) or re.fullmatch(r"-\w*[ce]|--e\w+", word) for word in words)
    letters = INTERPRETERS.get(program_of(command.name), "")  # python -c "$CODE"
    return bool(letters) and any(
        word in (ONE, MANY) and before[:1] == "-" and (before[1:2] == "-" or before[-1:] in letters)
        for before, word in pairwise(command.parts)
    )


def _is_inert(suspect: Suspect, line: Line) -> bool:
    """Return whether a script of sed runs nothing, whatever stands for the words in it that a program prints."""
    text = suspect.text.replace(ONE, "x")
    makes_text = any(command.name in _TEXT_MAKERS for command in line.commands)
    return suspect.program in ("sed", "gsed") and is_inert_sed(text) and suspect.text != ONE and not makes_text


_TEXT_MAKERS = frozenset("base32 base64 basenc curl openssl perl python python3 rev tr wget xxd".split())
"""Programs whose output may be any text that the line hides or fetches."""

_MILD = ("arguments", "code", "file", "program")
"""Kinds that are less than a computed command, unless a command may hide in them."""

_EDITORS = frozenset("ed ex gsed nvim red rvim sed vi view vim vimdiff".split())
"""Programs whose scripts run commands in ways that are not read."""


POLICY = Policy(
    name="unreadable-commands",
    prevents="Command lines whose commands cannot be read before they run, so that no rule can judge them.",
    judge=_judge,
    parameters=(
        action("computed", "ask", "a command that is computed while the line runs, such as eval with a variable"),
        action("input", "ask", "a program that runs what it reads from a pipe"),
        action("written", "ask", "running a file that the same line writes"),
        action("files", "ask", "commands in a file that is there already, such as source setup.sh"),
        action("programs", "ask", "a program that a variable of the environment names, such as $EDITOR"),
        action("arguments", "ask", "computed words that are given to a program which is not known, or as options"),
        action(
            "arithmetic", "ask", "sums with variables, such as $((n * 2)), of which the line shows no harmful value"
        ),
        action("code", "ask", "code in another language, such as python -c, that is not read, or that runs commands"),
        action("variables", "ask", "variables and settings that make programs load code, such as LD_PRELOAD"),
        action(
            "commands", "ask", "variables that are commands or name code: GIT_SSH_COMMAND, NODE_OPTIONS, PYTHONPATH"
        ),
        action("path", "ask", "a PATH that the line sets"),
        action("broken", "ask", "a text that is not a shell's, or too long to read"),
        action("control", "deny", "control characters in a line"),
        action("hidden", "deny", "invisible characters, and those that change the direction of text"),
    ),
    recommended={
        "files": "allow",
        "programs": "allow",
        "arguments": "allow",
        "arithmetic": "allow",
        "code": "allow",
        "commands": "allow",
        "path": "allow",
    },
    notes="A line that does nothing but download a script and run it is judged by downloaded-code. "
    "While this policy is on, the other policies leave lines that cannot be read to it.",
)
