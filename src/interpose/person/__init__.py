"""Acts that only a person may do: trusting, switching off, weakening, approving.

Commands call ``require_person``; the functions of the library do not ask. It is not a wall: a program that can write
to the person's state directory needs no command.
"""

from __future__ import annotations

import os

__all__ = ["require_no_agent", "require_person", "why_no_person"]


def why_no_person(*, typing_at: int | None = None) -> str:
    """Return why no person can have started this process; empty if a person has.

    ``typing_at`` is a descriptor from which answers are read: it must be the process's own terminal.
    """
    from . import evidence
    from .processes import read_processes

    processes = read_processes()
    if processes is None:
        return "this system does not show which programs run"
    return evidence.why_no_person(processes) or ("" if typing_at is None else _why_not_own(typing_at))


def _why_not_own(descriptor: int) -> str:
    try:
        os.tcgetpgrp(descriptor)  # which a process can ask of its own terminal only
    except OSError:
        return "answers would come from another terminal"
    return ""


def require_person(act: str, *, or_else: str = "") -> None:
    """Raise UsageError unless a person has started this process from a terminal; ``act`` is what it is about to do.

    ``or_else`` is another way to do it, for the hint.
    """
    why = why_no_person()
    if why:
        from ..errors import UsageError

        hint = "run it in a terminal that you have opened yourself, outside of any agent"
        raise UsageError(f"{act} takes a person, and no person has started this command: {why}",
                         hint=f"{hint}, or {or_else}" if or_else else hint)  # fmt: skip


def require_no_agent(act: str) -> None:
    """Raise UsageError if this process runs below an agent. It needs no terminal: an image can be built so."""
    from .evidence import agent_above
    from .processes import read_processes

    processes = read_processes()
    agent = agent_above(processes) if processes is not None else ""
    if agent:
        from ..errors import UsageError

        raise UsageError(f"{act} is not for agents, and this command runs below one: {agent}",
                         hint="run it in a terminal that you have opened yourself")  # fmt: skip
