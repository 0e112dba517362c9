"""Bash: a shell command."""

from __future__ import annotations

import signal
from typing import Any

from .shell import ShellResult, run_shell
from .tool import ToolFailed, Workplace, make_tool

__all__ = ["BASH"]

_SECONDS = 120.0
_MAX_SECONDS = 600.0


async def _bash(given: dict[str, Any], workplace: Workplace) -> str:
    seconds = given.get("timeout", _SECONDS * 1000) / 1000
    try:
        ended = await run_shell(given["command"], workplace.cwd, seconds, workplace.environment())
    except OSError as error:
        raise ToolFailed(f"the command could not be run: {error.strerror}") from None
    if ended.late:
        raise ToolFailed(
            _output(f"the command did not end within {seconds:g} s and was killed, with all that it had started", ended)
        )
    if ended.status:
        raise ToolFailed(_output(_status(ended.status), ended))
    return _output("", ended) or "(no output)"


def _status(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"


def _output(headline: str, ended: ShellResult) -> str:
    left = "(the output of its background processes was cut off)" if ended.lingered else ""
    return "\n".join(part for part in (headline, ended.output.rstrip("\n"), left) if part)


BASH = make_tool(
    "Bash",
    "run",
    "Run a shell command in the working directory. Each call is a shell of its own, with nothing on standard input; "
    "processes that it leaves in the background are killed. Of long output the beginning and the end are shown.",
    {
        "command": {"type": "string", "minLength": 1},
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": _MAX_SECONDS * 1000,
            "description": f"Milliseconds; {_SECONDS * 1000:.0f} by default",
        },
        "description": {"type": "string", "description": "What it is for, in a few words"},
    },
    ("command",),
    _bash,
)
