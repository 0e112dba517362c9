"""A subagent: refused or changed before it is made, governed while it runs, heard when it wants to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..identity import new_id
from .answers import Answer

if TYPE_CHECKING:
    from .session import Session

__all__ = ["spawn"]


async def spawn(
    session: Session,
    agent: str,
    run: Callable[[Any, dict[str, Any]], Any],
    config: dict[str, Any],
    agent_id: str | None,
    hooks: dict[str, Any],
    transcript_path: str,
) -> Answer:
    """Take a subagent from its first event to its last."""
    before = await session._fire("pre:agent:spawn", agent=agent, config=config)
    if not before.allowed:
        return session._done(before)
    config = dict(before.config)
    child = _child(session, agent, agent_id or f"{agent}-{new_id()[:8]}", transcript_path)
    # A scope even without hooks of its own: those of its kind hold for it, and the locked ones of who spawned it.
    with session._engine.scope(child.agent_id or "", hooks, parent=session.agent_id, like=agent):
        await child._fire("SubagentStart")
        try:
            result = await _run(child, run, config)
        except Exception as error:
            why = str(error) or type(error).__name__
            await _complete(session, child, agent, {"error": why})
            reason = f"{agent} failed: {why}"
            return Answer(ok=False, content=reason, reason=reason, error=error, outcome=before, input=config)
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                await _complete(session, child, agent, {"error": "interrupted"})
            raise
        after = await _complete(session, child, agent, result)
    return session._done(before, after, content=result, raw=result, input=config)


def _child(session: Session, agent: str, agent_id: str, transcript_path: str) -> Session:
    from .session import Session

    return Session(
        session._engine, session_id=session.session_id, cwd=session.cwd, agent_id=agent_id, agent_type=agent,
        model=session.model, transcript_path=transcript_path or session.transcript_path, default=session.default,
        mode=session.mode, rules=session.rules, asker=session.asker, show=session.show,
        most_keep_goings=session.most_keep_goings, port=session._port, parent=session,
    )  # fmt: skip


async def _run(child: Session, run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]) -> Any:
    """Run it until it may stop; a loop that asks by itself whether it may stop is not asked again."""
    while True:
        child._stopped = False
        result = await child._port.call(run, child._face(child), config)
        if child._stopped:
            return result
        stop = await child.stop(result if isinstance(result, str) else "")
        if not stop.keep_going:
            return result
        config = {**config, "prompt": stop.content}


async def _complete(session: Session, child: Session, agent: str, result: Any) -> Any:
    if not child._stopped:  # it broke before it could be asked
        await child._fire_at_last(
            "SubagentStop", stop_hook_active=child._kept_going > 0, agent_transcript_path=child.transcript_path
        )
    return await session._fire_at_last("post:agent:complete", agent=agent, result=result)
