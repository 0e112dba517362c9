"""A subagent in two halves: its events, the hooks of its own, and whether it may stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import UsageError
from ..ids import new_id
from ..model import Outcome
from .answers import Answer
from .backends import AsyncFunction
from .results import error_text

if TYPE_CHECKING:
    from .session import Session

__all__ = ["BegunAgent", "run_agent"]


class BegunAgent:
    """A subagent that has begun: ``session.begin_agent()`` returns it.

    ``state`` is ``run`` or ``denied``. A subagent that may run is run by the host with ``config``, in ``session``, its
    own session, and ended with ``done`` or ``failed``. Its hooks are removed then, or when it is dropped.
    """

    __slots__ = ("__weakref__", "_first", "_outcomes", "_parent", "_scope", "agent", "agent_id", "answer", "config",
                 "reason", "session", "state")  # fmt: skip

    def __init__(self, parent: Session, agent: str, agent_id: str | None, config: dict[str, Any]) -> None:
        self.agent = agent
        self.agent_id = agent_id or f"{agent}-{new_id()[:8]}"
        self.config = config
        """What it is run with, after hooks changed it."""
        self.state: Literal["deciding", "run", "denied", "done"] = "deciding"
        self.session: Session | None = None
        self.reason = ""
        self.answer: Answer | None = None
        """Why it does not run, or what became of it."""
        self._first = config
        self._parent = parent
        self._outcomes: list[Outcome] = []
        self._scope: AbstractContextManager[object] | None = None

    async def begin(self, hooks: dict[str, Any], transcript_path: str) -> None:
        """Fire pre:agent:spawn; register the hooks of its own, and fire SubagentStart."""
        parent = self._parent
        if halted := parent._halted_answer():
            self.state, self.reason, self.answer = "denied", halted.reason, halted
            return
        if self.agent_id in parent._active_agents:
            raise UsageError(
                f"agent_id: {self.agent_id} is running already", hint="hooks are scoped by it; leave it out"
            )
        parent._active_agents.add(self.agent_id)
        try:
            before = await parent._fire("pre:agent:spawn", agent=self.agent, config=self.config)
            self._outcomes.append(before)
            if not before.allowed:
                self.answer = parent._answer(before)
                self.reason = self.answer.reason
                self._release("denied")
                return
            self.config = self._first = dict(before.config)
            parent._take_background_output()  # it is for this agent, not for the subagent
            self.session = _child(parent, self.agent, self.agent_id, transcript_path)
            # A scope even without hooks: those of its agent type apply, and the locked ones of its parent.
            scope = parent._engine.scope(self.agent_id, hooks, parent=parent.agent_id, like=self.agent)
            scope.__enter__()
            self._scope = scope
            self.state = "run"
            self._outcomes.append(await self.session._fire("SubagentStart"))
        except BaseException:
            self._release("done")
            raise

    async def done(self, result: Any, *, may_continue: bool = True) -> Answer:
        """Tell what the subagent returned: SubagentStop, unless it was stopped, and post:agent:complete.

        If a hook keeps it going, ``keep_going`` of the answer is true and it still runs: the host runs it again with
        ``config``, whose ``prompt`` is what it is told. With ``may_continue=False`` it has ended in any case: for a
        host that cannot run it again.
        """
        session = self._running()
        if not session._stopped:
            stop = await session.stop(result if isinstance(result, str) else "")
            self._outcomes.append(stop.outcome)
            session._stopped = session._stopped or not may_continue
            if stop.keep_going and may_continue:
                self.config = {**self.config, "prompt": stop.content}
                return self._parent._answer(
                    *self._outcomes, content=stop.content, keep_going=True, raw=result, input=self._first
                )
        await self._complete(result)
        self.answer = self._parent._answer(*self._outcomes, content=result, raw=result, input=self._first)
        return self.answer

    async def failed(self, error: BaseException | str) -> Answer:
        """Tell that the subagent failed or was interrupted: SubagentStop and post:agent:complete."""
        self._running()
        interrupted = isinstance(error, BaseException) and not isinstance(error, Exception)
        why = "interrupted" if interrupted else error_text(error)
        await self._complete({"error": why})
        reason = f"{self.agent} failed: {why}"
        self.answer = Answer(
            ok=False, content=reason, reason=reason, error=error if isinstance(error, BaseException) else None,
            outcome=self._outcomes[0], outcomes=tuple(self._outcomes), input=self._first,
        )  # fmt: skip
        return self.answer

    def close(self) -> None:
        """End the subagent without an event: it was not run after all."""
        self._release("done")

    def _running(self) -> Session:
        if self.state != "run" or self.session is None:
            hint = (
                f"it was denied: {self.reason}" if self.state == "denied" else "done() or failed() was called already"
            )
            raise UsageError(f"the subagent {self.agent_id} is {self.state}", hint=hint)
        return self.session

    async def _complete(self, result: Any) -> None:
        session, parent = self._running(), self._parent
        try:
            if not session._stopped:  # it failed before ``stop`` was called
                self._outcomes.append(await session._fire_shielded(
                    "SubagentStop", stop_hook_active=session._continues > 0,
                    agent_transcript_path=session.transcript_path,
                ))  # fmt: skip
            shown = parent._view_or_text(result)
            self._outcomes.append(await parent._fire_shielded("post:agent:complete", agent=self.agent, result=shown))
        finally:
            self._release("done")

    def _release(self, state: Literal["denied", "done"]) -> None:
        """Remove its hooks; its session must not act without them."""
        self.state = state
        scope, self._scope = self._scope, None
        self._parent._active_agents.discard(self.agent_id)
        if self.session is not None:
            self.session._state = "over"
            self.session.leave_roles()
        if scope is not None:
            scope.__exit__(None, None, None)

    def __del__(self) -> None:
        if self.state == "run":  # it was dropped
            self._release("done")


async def run_agent(call: BegunAgent, run: Callable[[Any, dict[str, Any]], Any]) -> Answer:
    """Run a subagent that has begun until it may stop. If its loop did not call ``stop``, that is done here."""
    if call.state != "run":
        return cast("Answer", call.answer)
    session = cast("Session", call.session)
    try:
        while True:
            session._stopped = False
            answer = await call.done(await session._backend.call(run, session._wrap(session), call.config))
            if not answer.keep_going:
                return answer
    except AsyncFunction:
        raise
    except Exception as error:
        return await call.failed(error)
    except BaseException as error:
        if not isinstance(error, GeneratorExit) and call._parent._state == "running" and call.state == "run":
            await call.failed(error)
        raise
    finally:
        if call.state == "run":
            call.close()


def _child(session: Session, agent: str, agent_id: str, transcript_path: str) -> Session:
    from .session import Session

    child = Session(
        session._engine, session_id=session.session_id, cwd=session.cwd, agent_id=agent_id, agent_type=agent,
        model=session.model, transcript_path=transcript_path or session.transcript_path, default=session.default,
        mode=session.mode, rules=session._rules, approver=session.approver, show=session.show,
        max_continues=session.max_continues, on_outcome=session.on_outcome, view=session.view,
        backend=session._backend, parent=session,
    )  # fmt: skip
    child._wrap = session._wrap
    return child
