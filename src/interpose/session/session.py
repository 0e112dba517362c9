"""Session: one method for each thing that a host is about to do; the events that belong to it, in their order."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

from ..errors import UsageError
from ..faults import log, type_name
from ..ids import new_id
from ..model import Outcome, field_of, hooks_ran
from .answers import Answer
from .calls import Call
from .carried import Carried
from .permission import Rules, mode_of
from .ports import Engine, OnLoop, Port
from .questions import Questions

__all__ = ["Session"]

MOST_KEEP_GOINGS = 8
"""How often in a row hooks may send an agent back to work that wants to stop."""

_KEEP_GOING = "Go on."

MAIN = "main"
"""Who acts where nobody says who: hooks that hold for one agent only do not hold for all of them then."""

_STATES = {"new": "has not begun", "running": "has begun already", "over": "is over"}


class Session:
    """The lifecycle of one agent: made by ``hooks.session()``, used with ``async with``.

    Methods may be called at the same time, from many tasks. What a hook adds as context is kept for the next model
    call. After an interrupt ``halted`` says why; nothing is sent to the model and no tool is run until the next prompt.
    """

    _face: Callable[[Session], Any] = staticmethod(lambda session: session)
    """How a subagent's session is shown to the host's function."""

    def __init__(
        self,
        engine: Engine,
        *,
        session_id: str | None = None,
        cwd: str | os.PathLike[str] = ".",
        agent_id: str | None = None,
        agent_type: str | None = None,
        model: str | None = None,
        transcript_path: str | os.PathLike[str] = "",
        source: str = "startup",
        default: str = "allow",
        mode: str = "default",
        rules: Mapping[str, str] | Rules | None = None,
        asker: Callable[..., Any] | None = None,
        show: Callable[[str], object] = lambda text: None,
        env_file: str | os.PathLike[str] | None = None,
        most_keep_goings: int = MOST_KEEP_GOINGS,
        on_outcome: Callable[[Outcome], object] | None = None,
        port: Port | None = None,
        parent: Session | None = None,
    ) -> None:
        if default not in ("allow", "ask"):
            raise UsageError(f"default: {default!r} is neither allow nor ask", hint='"ask" asks where no hook decides')
        if type(most_keep_goings) is not int or most_keep_goings < 0:
            raise UsageError(f"most_keep_goings: {most_keep_goings!r} is no number of times", hint="8, or 0 for never")
        if inspect.iscoroutinefunction(show):
            raise UsageError("show: an asynchronous function cannot be used", hint="it is called and not waited for")
        self._engine = engine
        self._port: Any = port or OnLoop(engine)
        self.session_id = session_id or new_id()
        self.cwd = os.path.abspath(cwd)
        self.agent_id = agent_id or MAIN
        self.agent_type = agent_type
        self.model = model
        self.transcript_path = os.fspath(transcript_path)
        self.source = source
        self.default = default
        self.mode = mode
        self.rules = rules if isinstance(rules, Rules) else Rules(rules)
        self.asker = asker
        self.show = show
        self.env_file = env_file
        self.most_keep_goings = most_keep_goings
        self.on_outcome = on_outcome
        self.phase_now = ""
        self._parent = parent
        self._kept_going = 0
        self._stopped = False
        self._carried = Carried()
        self._questions = Questions(lambda: engine.hook_set)
        self._state = "new" if parent is None else "running"
        self._acting: set[str] = {self.agent_id} if parent is None else parent._acting
        """The agents that act in the whole session now."""

    @property
    def mode(self) -> str:
        """The mode of permission; may be set at any time, and holds from the next call on."""
        return self._mode

    @mode.setter
    def mode(self, word: str) -> None:
        self._mode = mode_of(word)

    # From beginning to end.

    async def start(self, source: str | None = None) -> Answer:
        """Begin: SessionStart, and in a new session Setup."""
        if self._state != "new":
            raise UsageError(f"this session {_STATES[self._state]}", hint="a session is started once")
        self._state = "running"
        self.source = source or self.source
        outcomes = [await self._fire("SessionStart", source=self.source, **self._about_start())]
        if self.source == "startup":
            outcomes.append((await self.setup()).outcome)
        return Answer(ok=True, outcome=outcomes[0], outcomes=tuple(outcomes))

    async def setup(self, trigger: str = "init") -> Answer:
        """Fire Setup: by itself once, before the first turn; for maintenance whenever the host asks for it."""
        return self._done(await self._fire("Setup", trigger=trigger, **self._env_file()))

    async def end(self, reason: str = "other") -> Answer | None:
        """End: SessionEnd. What is called afterwards is an error; ending twice is not."""
        if self._state != "running" or self._parent is not None:
            return None
        fields = self._common()
        self._state = "over"  # before anybody waits: it ends once, and nothing begins meanwhile
        return self._done(await self._hear(self._port.fire_at_last("SessionEnd", **fields, reason=reason)))

    async def __aenter__(self) -> Self:
        is_new = self._state == "new"
        try:
            await self.start()
        except BaseException:
            if is_new:  # interrupted: what has begun ends
                await self.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    # A turn.

    async def prompt(self, text: str, /, **fields: Any) -> Answer:
        """Take in what a person sends: UserPromptSubmit. Begins a new turn; a deny keeps the prompt out."""
        before = self._carried.resume()
        outcome = await self._fire("UserPromptSubmit", prompt=text, **fields)
        if outcome.allowed:
            self._kept_going = 0
        else:
            self._carried.halt_again(before)
        return self._done(outcome, content=text, input=text)

    async def message(
        self,
        prompt: str,
        send: Callable[[str, str], Any],
        *,
        system: str = "",
        model: str | None = None,
        text: Callable[[Any], str] = str,
        with_context: bool = True,
    ) -> Answer:
        """Call the model: pre:message, ``send(prompt, system)``, post:message.

        ``system`` goes out with the pending context after it; without ``with_context`` that waits for another call, as
        it should when the model is only asked for a summary. ``text`` finds the text in what ``send`` returned, which
        is in the answer's ``raw``; the answer's ``content`` is that text after hooks have changed it.
        """
        if halted := self._halted():
            return halted
        named = {"model": model or self.model} if model or self.model else {}
        before = await self._fire("pre:message", prompt=prompt, **named)
        if not before.allowed:
            return self._done(before)
        pending = self._take_pending() if with_context else []
        try:
            raw = await self._port.call(send, before.prompt, _with_context(system, pending))
        except BaseException:
            self._carried.put_back(pending)
            raise
        after = await self._fire("post:message", prompt=before.prompt, output=text(raw), **named)
        return Answer(
            ok=True, content=after.output, raw=raw, input=before.prompt, outcome=before, outcomes=(before, after)
        )

    async def tool(
        self,
        name: str,
        input: Any,
        run: Callable[[Any], Any],
        *,
        tool_use_id: str | None = None,
        schema: Mapping[str, Any] | None = None,
        kind: str | None = None,
    ) -> Answer:
        """Make a tool call: PreToolUse, permission, ``run(input)``, PostToolUse or PostToolUseFailure.

        An input that hooks changed must fit ``schema``. ``kind`` is what the tool does (``read``, ``edit`` or
        ``run``), for the modes of permission; without it the names of common tools tell.
        """
        if halted := self._halted():
            return halted
        return await Call(self, name, input, tool_use_id or new_id(), schema, kind).make(run)

    async def stop(self, last_assistant_message: str = "") -> Answer:
        """Ask whether the agent may stop: Stop, or SubagentStop. With ``keep_going`` it must be told ``content``."""
        self._stopped = False
        more = {"last_assistant_message": last_assistant_message} if last_assistant_message else {}
        event = "Stop"
        if self._parent is not None:
            event, more["agent_transcript_path"] = "SubagentStop", self.transcript_path
        outcome = await self._fire(event, stop_hook_active=self._kept_going > 0, **more)
        goes_on, reason = outcome.keep_going and not self._carried.halted, ""
        if goes_on and self._kept_going >= self.most_keep_goings:
            goes_on = False
            reason = f"A hook has sent the agent back to work {self._kept_going} times in a row; now it stops."
            self._tell(reason)
        self._kept_going = self._kept_going + 1 if goes_on else 0
        self._stopped = not goes_on
        content = (outcome.reason or _KEEP_GOING) if goes_on else ""
        return self._done(outcome, content=content, keep_going=goes_on, reason=reason)

    # What else happens.

    async def spawn(
        self,
        agent: str,
        run: Callable[[Any, dict[str, Any]], Any],
        *,
        config: Mapping[str, Any] | None = None,
        agent_id: str | None = None,
        hooks: Mapping[str, Any] | None = None,
        transcript_path: str | os.PathLike[str] = "",
    ) -> Answer:
        """Run a subagent: pre:agent:spawn, SubagentStart, ``run``, SubagentStop, post:agent:complete.

        ``run(its session, config)`` is its loop; what it returns is the result. If it has not asked whether it may
        stop, that is asked when it returns, and it is run again with another ``prompt`` if it must go on.
        ``hooks`` hold for it alone, as in ``register_scoped``; locked hooks of this agent hold for it too.
        """
        from .spawning import spawn

        if halted := self._halted():
            return halted
        return await spawn(
            self, agent, run, dict(config or {}), agent_id, dict(hooks or {}), os.fspath(transcript_path)
        )

    async def compact(
        self, compactor: Callable[[str | None], Any], *, trigger: str = "auto", custom_instructions: str | None = None
    ) -> Answer:
        """Compact the conversation: PreCompact, ``compactor(instructions)``, PostCompact, SessionStart (compact)."""
        before = await self._fire("PreCompact", trigger=trigger, custom_instructions=custom_instructions)
        if not before.allowed:
            return self._done(before)
        summary = await self._port.call(compactor, before.custom_instructions)
        after = await self._fire("PostCompact", trigger=trigger, compact_summary=str(summary))
        again = await self._fire("SessionStart", source="compact", **self._about_start())
        return self._done(before, after, again, content=summary, input=before.custom_instructions)

    async def phase(self, to_phase: str) -> Answer:
        """Change the session's phase: pre:session:phase, the change, post:session:phase."""
        phases = {"from_phase": self.phase_now, "to_phase": to_phase}
        before = await self._fire("pre:session:phase", **phases)
        if not before.allowed:
            return self._done(before)
        self.phase_now = to_phase
        return self._done(before, await self._fire("post:session:phase", **phases), content=to_phase)

    async def write(self, path: str | os.PathLike[str], content: str, commit: Callable[[str, str], Any]) -> Answer:
        """Write a file: pre:git:write, ``commit(path, content)`` which returns its id, post:git:write."""
        place = os.fspath(path)
        before = await self._fire("pre:git:write", path=place, content=content)
        if not before.allowed:
            return self._done(before)
        made = await self._port.call(commit, place, before.content)
        named = made if isinstance(made, str) else ""
        after = await self._fire("post:git:write", path=place, content=before.content, commit=named)
        return self._done(before, after, content=made, input=before.content)

    async def render(self, view: str, data: Any) -> Answer:
        """Return what to draw: pre:view:render may change the data of a view."""
        outcome = await self._fire("pre:view:render", view=view, data=data)
        return self._done(outcome, content=field_of(outcome, "data"), input=data)

    async def notify(self, message: str, *, title: str | None = None, notification_type: str = "info") -> Answer:
        """Tell the person something: Notification, then ``show``."""
        titled = {"title": title} if title else {}
        outcome = await self._fire("Notification", message=message, notification_type=notification_type, **titled)
        self._tell(f"{title}: {message}" if title else message)
        return self._done(outcome, content=message)

    async def teammate_idle(self, teammate_name: str, team_name: str = "") -> Answer:
        """Say that a teammate has nothing to do: TeammateIdle. With ``keep_going`` it is told ``content``."""
        outcome = await self._fire("TeammateIdle", teammate_name=teammate_name, team_name=team_name)
        content = (outcome.reason or _KEEP_GOING) if outcome.keep_going else ""
        return self._done(outcome, content=content, keep_going=outcome.keep_going)

    async def task_completed(self, task_id: str, task_subject: str, /, **fields: Any) -> Answer:
        """Say that a task is about to count as done: TaskCompleted. If it is denied, it is not done yet."""
        return self._done(await self._fire("TaskCompleted", task_id=task_id, task_subject=task_subject, **fields))

    # What is carried.

    @property
    def halted(self) -> str:
        """Why the turn must end, or nothing."""
        return self._carried.halted

    @property
    def pending_context(self) -> tuple[str, ...]:
        """What hooks have added for the next model call."""
        return self._carried.pending

    def _take_pending(self) -> list[str]:
        self._keep_late()
        return self._carried.take()

    def _keep_late(self) -> None:
        """Take over what hooks in the background have said since."""
        late, messages = self._engine.take_late(self.session_id)
        self._carried.add(late)
        for text in messages:
            self._tell(text)

    # Behind the scenes.

    async def _fire(self, event: str, /, **fields: Any) -> Outcome:
        return await self._hear(self._port.fire(event, **self._common(), **fields))

    async def _fire_at_last(self, event: str, /, **fields: Any) -> Outcome:
        return await self._hear(self._port.fire_at_last(event, **self._common(), **fields))

    async def _hear(self, firing: Awaitable[Outcome]) -> Outcome:
        outcome = await firing
        if self.on_outcome is not None:
            self.on_outcome(outcome)
        if hooks_ran(outcome):
            self._carried.hear(outcome)
            for text in outcome.messages:
                self._tell(text)
        return outcome

    def _tell(self, text: str) -> None:
        """Tell the person; a terminal that has gone must not take the agent with it."""
        try:
            self.show(text)
        except Exception as error:
            log("warning", "a text could not be shown to the person: %s", type_name(error))

    def _common(self) -> dict[str, Any]:
        if self._state != "running":
            hint = "a subagent's ends with its loop" if self._parent else "use it inside `with` or `async with`"
            raise UsageError(f"this session {_STATES[self._state]}", hint=hint)
        mode = "bypassPermissions" if self.mode == "bypass" else self.mode
        fields: dict[str, Any] = {
            "session_id": self.session_id, "cwd": self.cwd, "transcript_path": self.transcript_path,
            "permission_mode": mode, "agent_id": self.agent_id,
        }  # fmt: skip
        if self.agent_type is not None:
            fields["agent_type"] = self.agent_type
        return fields

    def _about_start(self) -> dict[str, Any]:
        return {**({"model": self.model} if self.model else {}), **self._env_file()}

    def _env_file(self) -> dict[str, Any]:
        return {} if self.env_file is None else {"env_file": os.fspath(self.env_file)}

    def _halted(self) -> Answer | None:
        by = self._carried.halted_by
        if by is None:
            return None
        reason = self._carried.halted
        return Answer(ok=False, content=f"The turn is over: {reason}", reason=reason, denied=True, outcome=by)

    @staticmethod
    def _done(decisive: Outcome, *more: Outcome, **parts: Any) -> Answer:
        """Return the answer that an outcome stands for."""
        if not decisive.allowed:
            reason = decisive.reason or f"{decisive.event} was refused by a hook"
            parts = {"content": reason, "reason": reason, "denied": True}
        return Answer(ok=decisive.allowed, outcome=decisive, outcomes=(decisive, *more), **parts)


def _with_context(system: str, pending: list[str]) -> str:
    """Return a system prompt with the pending context after it, a blank line between."""
    return "\n\n".join(part for part in (system, "\n".join(pending)) if part)
