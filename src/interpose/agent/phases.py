"""The phases of a session: plan while it only reads, act once it changes something, review, done.

Hooks may deny every change of phase; the session then stays in its phase.
"""

from __future__ import annotations

from interpose import Session

__all__ = ["ACT", "DONE", "PLAN", "REVIEW", "enter"]

PLAN, ACT, REVIEW, DONE = "plan", "act", "review", "done"


async def enter(session: Session, phase: str) -> str:
    """Change to a phase, unless the session is in it; return why hooks denied that, or an empty text."""
    if session.phase_now == phase:
        return ""
    answer = await session.phase(phase)
    return (
        ""
        if answer.ok
        else f"the session may not go from {session.phase_now or 'its start'} to {phase}: {answer.reason}"
    )
