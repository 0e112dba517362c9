"""Shell command lines: which commands a line runs, and whether one of them matches a rule.

A line goes through these modules:

- ``reader`` parses the text into commands: ``source``, ``word_reader`` with ``expansions`` and ``ansi_c``,
  ``here_documents``, ``command_list``. ``parsed`` is what comes out, ``words`` what it consists of.
- ``flow`` follows the commands for directories and values of variables, ``functions`` for functions that are called.
- ``resolver`` finds the commands that other commands run. ``variants``, ``context``, ``findings``, ``files``,
  ``variables``, ``arithmetic`` and ``inputs`` are what it keeps of a line.
- ``dispatch`` says how the arguments of a program are read: ``arguments``, ``wrappers``, ``evaluating``, or a reader in
  ``runners``, ``interpreters``, ``scripts`` and ``git``. ``options``, ``texts`` and ``languages`` help them.
- ``read`` returns the ``line``, and ``pattern`` compares it with a rule.

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
