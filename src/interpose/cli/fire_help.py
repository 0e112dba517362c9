"""What the help and the completion of a shell say of ``interpose fire``; the firing itself does not come this way."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .fire import REPLIES

__all__ = ["run"]

Reply = Annotated[
    str | None,
    typer.Option(
        "--reply", metavar="|".join(REPLIES), rich_help_panel="Being a hook",
        help="Print a hook's reply instead of the report. The event is read from standard input unless --input says "
             "otherwise, and every mistake exits with 2, which denies.",
    ),
]  # fmt: skip


def run(
    event: options.Event = None,
    input: options.Input = None,
    tool: options.Tool = None,
    tool_input: options.ToolInput = None,
    agent: options.Agent = None,
    field: options.Fields = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
    reply: Reply = None,
) -> int:
    """Exit status: 0 go on, 2 denied, 3 a person must be asked, 1 a mistake in use or configuration.

    Example: interpose fire PreToolUse --tool Bash --tool-input '{"command": "rm -rf /"}'

    As a hook of Claude Code: interpose fire --reply claude
    """
    raise AssertionError("a firing does not come this way")
