"""The options that several commands share, as typer reads them."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "Agent", "AsJson", "Config", "Cwd", "Dialect", "Event", "Fields", "Input", "Tool", "ToolInput",
]  # fmt: skip

_WHERE = "Which configuration"
_WHAT = "Which event"

Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config", "-c", metavar="FILE", rich_help_panel=_WHERE,
        help="A configuration file, trusted by being named; may be given more than once. Otherwise: those that are "
             "found and trusted.",
    ),
]  # fmt: skip
Dialect = Annotated[
    str | None,
    typer.Option(
        "--dialect", metavar="NAME", rich_help_panel=_WHERE,
        help="`claude`: the files are settings of Claude Code, or look for those.",
    ),
]  # fmt: skip
Cwd = Annotated[
    str | None,
    typer.Option("--cwd", metavar="DIR", rich_help_panel=_WHERE, help="Look for files from here, and run here."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]

Event = Annotated[
    str | None,
    typer.Argument(
        metavar="[EVENT]", show_default=False,
        help="Its name, such as PreToolUse or pre:message; `interpose events` lists them. May come from --input.",
    ),
]  # fmt: skip
Input = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="JSON|-|@FILE", rich_help_panel=_WHAT,
        help="The whole input of the event, as a hook gets it: JSON, `-` for standard input, or `@file`.",
    ),
]  # fmt: skip
Tool = Annotated[
    str | None, typer.Option("--tool", metavar="NAME", rich_help_panel=_WHAT, help="The tool's name (tool_name).")
]
ToolInput = Annotated[
    str | None,
    typer.Option("--tool-input", metavar="JSON", rich_help_panel=_WHAT, help="What the tool is given (tool_input)."),
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="ID", rich_help_panel=_WHAT, help="Fire for this agent (agent_id)."),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field", "-f", metavar="K=V", rich_help_panel=_WHAT,
        help="Any other field: JSON where it can be read as the field's kind, else text. May be given more than once.",
    ),
]  # fmt: skip
