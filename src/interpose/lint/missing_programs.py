"""Programs and modules that a command did not find, read from what it wrote to standard error.

A script without ``set -e`` goes on after ``jq: command not found`` and exits with 0: it then answers nothing, or
something else than its author meant, and its exit status does not show it.
"""

from __future__ import annotations

import re

from ..runtime.regex import regex

__all__ = ["missing_programs"]

_NAME = r"(?P<name>[^\s:'\"`‘’]+)"
_MESSAGES = tuple(regex(pattern.replace("NAME", _NAME), re.MULTILINE) for pattern in (
    r"NAME: command not found\s*$",                          # bash
    r"command not found: NAME",                              # zsh
    r": \d+: (?:exec: |eval: )*NAME: not found\s*$",         # dash
    r"^\S*sh: (?:exec: )?NAME: not found\s*$",               # busybox
    r"\[\d+\]: NAME: not found",                             # ksh
    r"Unknown command: ['\"]?NAME",                          # fish
    r": line \d+: NAME: No such file or directory\s*$",      # bash, a path
    r"\b(?:env|xargs|nohup|timeout|nice): (?:failed to run command )?['\"‘`]?NAME['\"’]?: No such file or directory",
    r"\bsudo: NAME: command not found",
    r"ModuleNotFoundError: No module named ['\"]?NAME",      # Python
    r"No module named NAME\s*$",                             # python -m
    r"Cannot find (?:module|package) ['\"]NAME['\"]",        # Node
))  # fmt: skip


def missing_programs(stderr: str) -> list[str]:
    """Return the names that shells and interpreters report as not found, each once, in the order of the text."""
    found = [(match.start("name"), match["name"]) for message in _MESSAGES for match in message.finditer(stderr)]
    return list(dict.fromkeys(name for _, name in sorted(found)))
