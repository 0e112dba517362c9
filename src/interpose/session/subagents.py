"""Spawning a subagent: its events, the hooks of its own, and whether it may stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..ids import new_id
from ..model import Outcome
from .answers import Answer
from .backends import AsyncFunction
from .calls import error_text

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
    """Fire the events of a subagent in their order, and run it if it is allowed."""
    agent_id = agent_id or f"{agent}-{new_id()[:8]}"
    if agent_id in session._active_agents:
        raise UsageError(f"agent_id: {agent_id} is running already", hint="hooks are scoped by it; leave it out")
    session._active_agents.add(agent_id)
    try:
        before = await session._fire("pre:agent:spawn", agent=agent, config=config)
        if not before.allowed:
            return session._answer(before)
        session._take_background_output()  # it is for this agent, not for the subagent
        subagent = _Subagent(session, agent, _child(session, agent, agent_id, transcript_path), before)
        return await subagent.run_with(hooks, run, dict(before.config))
    finally:
        session._active_agents.discard(agent_id)


def _child(session: Session, agent: str, agent_id: str, transcript_path: str) -> Session:
    from .session import Session

    child = Session(
        session._engine, session_id=session.session_id, cwd=session.cwd, agent_id=agent_id, agent_type=agent,
        model=session.model, transcript_path=transcript_path or session.transcript_path, default=session.default,
        mode=session.mode, rules=session._rules, approver=session.approver, show=session.show,
        max_continues=session.max_continues, on_outcome=session.on_outcome, backend=session._backend, parent=session,
    )  # fmt: skip
    child._wrap = session._wrap
    return child


class _Subagent:
    """One subagent while it runs, and the outcomes of its events."""

    def __init__(self, parent: Session, agent: str, session: Session, before: Outcome) -> None:
        self.parent = parent
        self.agent = agent
        self.session = session
        self.outcomes = [before]

    async def run_with(
        self, hooks: dict[str, Any], run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]
    ) -> Answer:
        """Run it with hooks of its own, which are removed when it ends."""
        scope, parent = self.session.agent_id, self.parent
        try:
            # A scope even without hooks: those of its agent type apply, and the locked ones of its parent.
            with parent._engine.scope(scope, hooks, parent=parent.agent_id, like=self.agent):
                return await self._run_events(run, config)
        finally:
            self.session._state = "over"  # it must not act without its hooks

    async def _run_events(self, run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]) -> Answer:
        """Run it between its first and its last events, which are fired even if it fails."""
        before = self.outcomes[0]
        try:
            self.outcomes.append(await self.session._fire("SubagentStart"))
            result = await self._run(run, config)
        except AsyncFunction:
            raise
        except Exception as error:
            why = error_text(error)
            await self._complete({"error": why})
            reason = f"{self.agent} failed: {why}"
            return Answer(
                ok=False, content=reason, reason=reason, error=error, outcome=before, outcomes=tuple(self.outcomes),
                input=config,
            )  # fmt: skip
        except BaseException as error:
            if not isinstance(error, GeneratorExit) and self.parent._state == "running":
                await self._complete({"error": "interrupted"})
            raise
        await self._complete(result)
        return self.parent._answer(*self.outcomes, content=result, raw=result, input=config)

    async def _run(self, run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]) -> Any:
        """Run it until it may stop. If its loop did not call ``stop``, that is done here."""
        session = self.session
        while True:
            session._stopped = False
            result = await session._backend.call(run, session._wrap(session), config)
            if session._stopped:
                return result
            stop = await session.stop(result if isinstance(result, str) else "")
            self.outcomes.append(stop.outcome)
            if not stop.keep_going:
                return result
            config = {**config, "prompt": stop.content}

    async def _complete(self, result: Any) -> None:
        session = self.session
        if not session._stopped:  # it failed before ``stop`` was called
            self.outcomes.append(await session._fire_shielded(
                "SubagentStop", stop_hook_active=session._continues > 0,
                agent_transcript_path=session.transcript_path,
            ))  # fmt: skip
        self.outcomes.append(await self.parent._fire_shielded("post:agent:complete", agent=self.agent, result=result))
