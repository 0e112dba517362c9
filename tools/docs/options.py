"""The commands and options of the command line, from what it reads command lines with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from textwrap import dedent
from typing import Any

from typer.main import get_command

from interpose.cli.app import build
from interpose.cli.commands import COMMANDS, GROUPS, names

from .markdown import code, plain, table

__all__ = ["commands", "options"]


def options() -> str:
    """Return a section for every command: what it is for, and every argument and option."""
    whole: Any = get_command(build(names()))
    return "\n".join(section for command in COMMANDS for section in _sections(command.name, whole.commands, "###"))


def commands() -> str:
    """Return a table of all commands, as the help lists them."""
    listed = sorted(COMMANDS, key=lambda command: GROUPS.index(command.group))
    rows = [
        (f"[{code(command.name)}](#interpose-{command.name})", command.group, command.purpose) for command in listed
    ]
    return table(("command", "", "what it does"), rows)


def _sections(name: str, commands: dict[str, Any], mark: str) -> Iterator[str]:
    """Make the section of a command, and one below it for each that it has of its own."""
    made = commands[name.rpartition(" ")[2]]
    given = [one for one in made.params if one.name != "help"]
    rows = [(_spelled(one), plain(str(one.help or ""))) for one in sorted(given, key=lambda one: one.param_type_name)]
    parts = [f"{mark} interpose {name}\n", _prose(cleandoc(made.help or "")), table(("", ""), rows) if rows else ""]
    yield "\n".join(part for part in parts if part)
    for inner in getattr(made, "commands", {}):
        yield from _sections(f"{name} {inner}", made.commands, f"{mark}#")


def _spelled(one: Any) -> str:
    if one.param_type_name == "argument":
        return code(str(one.metavar or one.name.upper()).replace("…", ""))
    takes = "" if one.is_flag else f" {one.metavar or one.name.upper()}"
    return ", ".join(code(f"{spelling}{takes}") for spelling in sorted(one.opts, key=len, reverse=True))


def _prose(text: str) -> str:
    """Return a help as Markdown: what is set in is an example, and so is what follows the word."""
    blocks = []
    for block in re.split(r"\n\n+", text.replace("\b\n", "")):  # typer's mark for what keeps its lines
        head, _, lines = block.partition(":\n")
        if block.startswith("  "):
            blocks.append(f"```text\n{dedent(block)}\n```\n")
        elif lines.startswith("  "):
            blocks.append(f"{plain(head)}:\n\n```text\n{dedent(lines)}\n```\n")
        elif found := re.fullmatch(r"(Example|As a hook of Claude Code): (.+)", " ".join(block.split())):
            blocks.append(f"{found[1]}: `{found[2]}`\n")
        elif block.strip():
            blocks.append(f"{plain(block.strip())}\n")
    return "\n".join(blocks)
