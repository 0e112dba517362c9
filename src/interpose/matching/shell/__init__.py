"""Shell command lines: which commands a line runs, and whether one of them matches a rule.

``reader`` parses the text, ``flow`` follows it for directories and values of variables, ``resolver``, ``interpreters``
and ``runners`` find the commands that other commands run, ``pattern`` compares them with a rule.
What is known about programs is in ``matching.programs``.
"""

from .line import Line, Pipe, ShellCommand, Suspect
from .pattern import CommandPattern
from .read import read_line, shell_commands
from .words import Redirection, SimpleCommand, Unread, UnreadKind, Word

__all__ = [
    "CommandPattern",
    "Line",
    "Pipe",
    "Redirection",
    "ShellCommand",
    "SimpleCommand",
    "Suspect",
    "Unread",
    "UnreadKind",
    "Word",
    "read_line",
    "shell_commands",
]  # fmt: skip
