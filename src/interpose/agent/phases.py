"""Where a session stands: it plans while it only reads, acts once it changes something, reviews, and is done.

Every change of phase is asked for: a hook that refuses one keeps the agent where it is.
"""

from __future__ import annotations

from interpose import Session

__all__ = ["ACT", "DONE", "PLAN", "REVIEW", "enter"]

PLAN, ACT, REVIEW, DONE = "plan", "act", "review", "done"


async def enter(session: Session, phase: str) -> str:
    """Change to a phase, unless the session is in it; return why that was refused, or nothing."""
    if session.phase_now == phase:
        return ""
    answer = await session.phase(phase)
    return (
        ""
        if answer.ok
        else f"the session may not go from {session.phase_now or 'its start'} to {phase}: {answer.reason}"
    )
