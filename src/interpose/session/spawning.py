"""A subagent: refused or changed before it is made, governed while it runs, heard when it wants to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..ids import new_id
from ..model import Outcome
from .answers import Answer
from .calls import words
from .ports import Asynchronous

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
    agent_id = agent_id or f"{agent}-{new_id()[:8]}"
    if agent_id in session._acting:
        raise UsageError(f"agent_id: {agent_id} is running already", hint="hooks are told apart by it; leave it out")
    session._acting.add(agent_id)
    try:
        before = await session._fire("pre:agent:spawn", agent=agent, config=config)
        if not before.allowed:
            return session._done(before)
        session._keep_late()  # it was said to this agent, and not to the one that begins now
        subagent = _Subagent(session, agent, _child(session, agent, agent_id, transcript_path), before)
        return await subagent.live_with(hooks, run, dict(before.config))
    finally:
        session._acting.discard(agent_id)


def _child(session: Session, agent: str, agent_id: str, transcript_path: str) -> Session:
    from .session import Session

    child = Session(
        session._engine, session_id=session.session_id, cwd=session.cwd, agent_id=agent_id, agent_type=agent,
        model=session.model, transcript_path=transcript_path or session.transcript_path, default=session.default,
        mode=session.mode, rules=session.rules, asker=session.asker, show=session.show,
        most_keep_goings=session.most_keep_goings, on_outcome=session.on_outcome, port=session._port, parent=session,
    )  # fmt: skip
    child._face = session._face
    return child


class _Subagent:
    """One subagent while it runs, and the outcomes of the events that were fired for it."""

    def __init__(self, parent: Session, agent: str, session: Session, before: Outcome) -> None:
        self.parent = parent
        self.agent = agent
        self.session = session
        self.outcomes = [before]

    async def live_with(
        self, hooks: dict[str, Any], run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]
    ) -> Answer:
        """Run it with hooks of its own, which go when it ends."""
        scope, parent = self.session.agent_id, self.parent
        try:
            # A scope even without hooks: those of its kind hold for it, and the locked ones of who spawned it.
            with parent._engine.scope(scope, hooks, parent=parent.agent_id, like=self.agent):
                return await self._live(run, config)
        finally:
            self.session._state = "over"  # without its hooks it must not act any more

    async def _live(self, run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]) -> Answer:
        """Run it to its end; whatever the end is, the events that belong to it are fired."""
        before = self.outcomes[0]
        try:
            self.outcomes.append(await self.session._fire("SubagentStart"))
            result = await self._run(run, config)
        except Asynchronous:
            raise
        except Exception as error:
            why = words(error)
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
        return self.parent._done(*self.outcomes, content=result, raw=result, input=config)

    async def _run(self, run: Callable[[Any, dict[str, Any]], Any], config: dict[str, Any]) -> Any:
        """Run it until it may stop; a loop that asks by itself whether it may stop is not asked again."""
        session = self.session
        while True:
            session._stopped = False
            result = await session._port.call(run, session._face(session), config)
            if session._stopped:
                return result
            stop = await session.stop(result if isinstance(result, str) else "")
            self.outcomes.append(stop.outcome)
            if not stop.keep_going:
                return result
            config = {**config, "prompt": stop.content}

    async def _complete(self, result: Any) -> None:
        session = self.session
        if not session._stopped:  # it broke before it could be asked
            self.outcomes.append(await session._fire_at_last(
                "SubagentStop", stop_hook_active=session._kept_going > 0,
                agent_transcript_path=session.transcript_path,
            ))  # fmt: skip
        self.outcomes.append(await self.parent._fire_at_last("post:agent:complete", agent=self.agent, result=result))
