"""The command line: ``interpose COMMAND``. A file per command; only the one that is called is loaded."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from ..errors import nearest

__all__ = ["main"]

COMMANDS = {
    "demo": "see hooks at work",
}
"""Each command and what it is for; its module has the same name and a function ``run(arguments)``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if given[0] in ("-V", "--version"):
        from importlib.metadata import version

        print(f"interpose {version('interpose')}")
        return 0
    command, rest = given[0], given[1:]
    if command not in COMMANDS:
        hint = nearest(command, COMMANDS) or "`interpose --help` lists the commands"
        print(f"interpose: {command} is not a command ({hint})", file=sys.stderr)
        return 1
    status: int = import_module(f".{command}", __name__).run(rest)
    return status


def _help() -> str:
    lines = ["interpose: a hook engine for AI agents", "", "usage: interpose COMMAND [options]", ""]
    lines += [f"  {name:<10} {purpose}" for name, purpose in COMMANDS.items()]
    lines += ["", "  --version  say which version this is", "", "`interpose COMMAND --help` says more of one."]
    return "\n".join(lines)
