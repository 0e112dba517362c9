"""Bash: a shell command."""

from __future__ import annotations

import shlex
import signal
from typing import Any

from .making import make_tool
from .nouns import ToolFailed, Workplace
from .shell import Ended, run_shell

__all__ = ["BASH"]

_SECONDS = 120.0
_MOST_SECONDS = 600.0


async def _bash(given: dict[str, Any], place: Workplace) -> str:
    seconds = given.get("timeout", _SECONDS * 1000) / 1000
    try:
        ended = await run_shell(_script(given["command"], place), place.cwd, seconds)
    except OSError as error:
        raise ToolFailed(f"the command cannot be started: {error.strerror}") from None
    except ValueError:
        raise ToolFailed(
            "the command has characters in it that no shell can be given (NUL, half a character)"
        ) from None
    if ended.late:
        raise ToolFailed(_said(f"no end within {seconds:g} s: it was ended, with all that it had started", ended))
    if ended.status:
        raise ToolFailed(_said(_status(ended.status), ended))
    return _said("", ended) or "(no output)"


def _script(command: str, place: Workplace) -> str:
    """Return the command, after the lines that hooks wrote for the session."""
    if place.env_file is None or not place.env_file.is_file():
        return command
    return f". {shlex.quote(str(place.env_file.resolve()))}\n{command}"


def _status(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"


def _said(headline: str, ended: Ended) -> str:
    left = "(what it left running in the background was cut off)" if ended.lingered else ""
    return "\n".join(part for part in (headline, ended.output.rstrip("\n"), left) if part)


BASH = make_tool(
    "Bash",
    "run",
    "Run a shell command in the working directory. Each call is a shell of its own, with nothing on standard input; "
    "what it leaves running in the background is ended with it. Of long output the beginning and the end are shown.",
    {
        "command": {"type": "string", "minLength": 1},
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": _MOST_SECONDS * 1000,
            "description": f"Milliseconds; {_SECONDS * 1000:.0f} unless you say otherwise",
        },
        "description": {"type": "string", "description": "What it is for, in a few words"},
    },
    ("command",),
    _bash,
)
