"""Session: one method for each action of a host, which fires the events of the action in their order."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self

from ..errors import UsageError
from ..faults import log, type_name
from ..ids import new_id
from ..model import Outcome, field_of, hooks_ran
from .answers import Answer
from .backends import AsyncBackend, Backend, HookEngine
from .calls import Call
from .configured_rules import ConfiguredRules
from .options import Approver, Renamed, reads_old_names
from .permission import Rules, mode_of
from .permission_cache import PermissionCache
from .turn_state import TurnState

__all__ = ["Session"]

MAX_CONTINUES = 8
"""How often in a row hooks may make an agent continue that wants to stop."""

_CONTINUE = "Go on."

MAIN = "main"
"""The default agent id. Without an id, the hooks of every scope would apply."""

_STATES = {"new": "has not begun", "running": "has begun already", "over": "is over"}


class Session:
    """The lifecycle of one agent: made by ``hooks.session()``, used with ``async with``.

    Many tasks may call its methods at the same time. Context that a hook adds is kept for the next model call. After an
    interrupt ``halted`` says why; nothing is sent to the model and no tool is run until the next prompt.
    """

    _wrap: Callable[[Session], Any] = staticmethod(lambda session: session)
    """Makes the object that the host's function gets as a subagent's session."""

    asker = Renamed()
    most_keep_goings = Renamed()

    @reads_old_names
    def __init__(
        self,
        engine: HookEngine,
        *,
        session_id: str | None = None,
        cwd: str | os.PathLike[str] = ".",
        agent_id: str | None = None,
        agent_type: str | None = None,
        model: str | None = None,
        transcript_path: str | os.PathLike[str] = "",
        tools: Sequence[Mapping[str, Any]] = (),
        source: str = "startup",
        default: str = "allow",
        mode: str = "default",
        rules: Mapping[str, str] | Rules | ConfiguredRules | None = None,
        approver: Approver | None = None,
        show: Callable[[str], object] = lambda text: None,
        env_file: str | os.PathLike[str] | None = None,
        max_continues: int = MAX_CONTINUES,
        on_outcome: Callable[[Outcome], object] | None = None,
        backend: Backend | None = None,
        parent: Session | None = None,
    ) -> None:
        if default not in ("allow", "ask"):
            raise UsageError(f"default: {default!r} is neither allow nor ask", hint='"ask" asks where no hook decides')
        if type(max_continues) is not int or max_continues < 0:
            raise UsageError(f"max_continues: {max_continues!r} is not a number of times", hint="8, or 0 for never")
        if inspect.iscoroutinefunction(show):
            raise UsageError("show: an asynchronous function cannot be used", hint="it is called and not awaited")
        self._engine = engine
        self._backend: Any = backend or AsyncBackend(engine)
        self.session_id = session_id or new_id()
        self.cwd = os.path.abspath(cwd)
        self.agent_id = agent_id or MAIN
        self.agent_type = agent_type
        self.model = model
        self.transcript_path = os.fspath(transcript_path)
        self.tools = tools
        self.source = source
        self.default = default
        self.mode = mode
        self._rules = rules if isinstance(rules, (Rules, ConfiguredRules)) else Rules(rules)
        self.approver = approver
        self.show = show
        self.env_file = env_file
        self.max_continues = max_continues
        self.on_outcome = on_outcome
        self.phase_now = ""
        self._parent = parent
        self._continues = 0
        self._stopped = False
        self._turn = TurnState()
        self._permission_cache = PermissionCache(lambda: engine.engine.registry.snapshot)
        self._state = "new" if parent is None else "running"
        self._active_agents: set[str] = {self.agent_id} if parent is None else parent._active_agents
        """The agents that are running in the whole session."""

    @property
    def mode(self) -> str:
        """The permission mode; may be set at any time, and holds from the next call on."""
        return self._mode

    @mode.setter
    def mode(self, word: str) -> None:
        self._mode = mode_of(word)

    @property
    def rules(self) -> Rules:
        """The permission rules that hold now; may be set at any time."""
        return self._rules.current() if isinstance(self._rules, ConfiguredRules) else self._rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self._rules = rules if isinstance(rules, Rules) else Rules(rules)

    # Start and end.

    async def start(self, source: str | None = None) -> Answer:
        """Start the session: SessionStart, and Setup if the source is ``startup``."""
        if self._state != "new":
            raise UsageError(f"this session {_STATES[self._state]}", hint="a session is started once")
        self._state = "running"
        self.source = source or self.source
        outcomes = [await self._fire("SessionStart", source=self.source, **self._start_fields())]
        if self.source == "startup":
            outcomes.append((await self.setup()).outcome)
        return Answer(ok=True, outcome=outcomes[0], outcomes=tuple(outcomes))

    async def setup(self, trigger: str = "init") -> Answer:
        """Fire Setup: ``start`` does it once; a host may do it again, for example for maintenance."""
        return self._answer(await self._fire("Setup", trigger=trigger, **self._env_file_field()))

    async def end(self, reason: str = "other") -> Answer | None:
        """End the session: SessionEnd. Later calls of other methods are errors; ending twice is not."""
        if self._state != "running" or self._parent is not None:
            return None
        fields = self._common()
        self._state = "over"  # before the first await: it ends once, and nothing starts meanwhile
        return self._answer(await self._handle(self._backend.fire_shielded("SessionEnd", **fields, reason=reason)))

    async def __aenter__(self) -> Self:
        is_new = self._state == "new"
        try:
            await self.start()
        except BaseException:
            if is_new:  # interrupted after it started
                await self.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    # A turn.

    async def prompt(self, text: str, /, **fields: Any) -> Answer:
        """Submit a prompt of the person: UserPromptSubmit. It begins a new turn, unless it is denied."""
        before = self._turn.resume()
        outcome = await self._fire("UserPromptSubmit", prompt=text, **fields)
        if outcome.allowed:
            self._continues = 0
        else:
            self._turn.halt_again(before)
        return self._answer(outcome, content=text, input=text)

    async def message(
        self,
        prompt: str,
        send: Callable[[str, str], Any],
        *,
        system: str = "",
        model: str | None = None,
        text: Callable[[Any], str] = str,
        usage: Callable[[Any], Mapping[str, Any]] | None = None,
        with_context: bool = True,
    ) -> Answer:
        """Call the model: pre:message, ``send(prompt, system)``, post:message.

        The pending context is appended to ``system``; with ``with_context=False`` it is kept for another call, such as
        when the model only writes a summary. ``text`` returns the text of what ``send`` returned, which is the answer's
        ``raw``; the answer's ``content`` is that text after hooks have changed it. ``usage`` returns how many tokens it
        has used, such as ``{"input_tokens": 900, "output_tokens": 50}``, for post:message.
        """
        if halted := self._halted_answer():
            return halted
        named = {"model": model or self.model} if model or self.model else {}
        before = await self._fire("pre:message", prompt=prompt, **named)
        if not before.allowed:
            return self._answer(before)
        pending = self._take_pending() if with_context else []
        try:
            raw = await self._backend.call(send, before.prompt, _with_context(system, pending))
        except BaseException:
            self._turn.put_back(pending)
            raise
        used = {"usage": dict(usage(raw))} if usage is not None else {}
        after = await self._fire("post:message", prompt=before.prompt, output=text(raw), **named, **used)
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
        leaves_out: bool = False,
    ) -> Answer:
        """Make a tool call: PreToolUse, permission, ``run(input)``, PostToolUse or PostToolUseFailure.

        An input that hooks changed must match ``schema``. ``kind`` is what the tool does (``read``, ``edit`` or
        ``run``), for the permission modes; without it the names of common tools are known. ``leaves_out`` promises that
        a search returns no file for which ``left_out`` is true: then rules do not ask about a search that is wider.
        """
        if halted := self._halted_answer():
            return halted
        return await Call(self, name, input, tool_use_id or new_id(), schema, kind, leaves_out).make(run)

    def left_out(self, name: str, input: Any) -> Callable[[str], bool]:
        """Return a function that says whether rules keep a file, by its absolute path, out of a search's result."""
        return self.rules.left_out({"tool_name": name, "tool_input": input, "cwd": self.cwd})

    async def stop(self, last_assistant_message: str = "") -> Answer:
        """Ask whether the agent may stop: Stop, or SubagentStop. With ``keep_going`` it must be told ``content``."""
        self._stopped = False
        more = {"last_assistant_message": last_assistant_message} if last_assistant_message else {}
        event = "Stop"
        if self._parent is not None:
            event, more["agent_transcript_path"] = "SubagentStop", self.transcript_path
        outcome = await self._fire(event, stop_hook_active=self._continues > 0, **more)
        continues, reason = outcome.keep_going and not self._turn.halted, ""
        if continues and self._continues >= self.max_continues:
            continues = False
            reason = f"A hook has made the agent continue {self._continues} times in a row; now it stops."
            self._show(reason)
        self._continues = self._continues + 1 if continues else 0
        self._stopped = not continues
        content = (outcome.reason or _CONTINUE) if continues else ""
        return self._answer(outcome, content=content, keep_going=continues, reason=reason)

    # Other actions.

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

        ``run(session, config)`` is its loop, with a session of its own; what it returns is the result. If it did not
        call ``stop``, that is done when it returns, and it runs again with another ``prompt`` if it must continue.
        ``hooks`` apply to it alone, as in ``register_scoped``; locked hooks of this agent apply to it too.
        """
        from .subagents import spawn

        if halted := self._halted_answer():
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
            return self._answer(before)
        summary = await self._backend.call(compactor, before.custom_instructions)
        after = await self._fire("PostCompact", trigger=trigger, compact_summary=str(summary))
        again = await self._fire("SessionStart", source="compact", **self._start_fields())
        return self._answer(before, after, again, content=summary, input=before.custom_instructions)

    async def phase(self, to_phase: str) -> Answer:
        """Change the session's phase: pre:session:phase, the change, post:session:phase."""
        phases = {"from_phase": self.phase_now, "to_phase": to_phase}
        before = await self._fire("pre:session:phase", **phases)
        if not before.allowed:
            return self._answer(before)
        self.phase_now = to_phase
        return self._answer(before, await self._fire("post:session:phase", **phases), content=to_phase)

    async def write(self, path: str | os.PathLike[str], content: str, commit: Callable[[str, str], Any]) -> Answer:
        """Write a file: pre:git:write, ``commit(path, content)`` which returns its id, post:git:write."""
        place = os.fspath(path)
        before = await self._fire("pre:git:write", path=place, content=content)
        if not before.allowed:
            return self._answer(before)
        made = await self._backend.call(commit, place, before.content)
        named = made if isinstance(made, str) else ""
        after = await self._fire("post:git:write", path=place, content=before.content, commit=named)
        return self._answer(before, after, content=made, input=before.content)

    async def render(self, view: str, data: Any) -> Answer:
        """Return the data to draw: pre:view:render may change it."""
        outcome = await self._fire("pre:view:render", view=view, data=data)
        return self._answer(outcome, content=field_of(outcome, "data"), input=data)

    async def notify(self, message: str, *, title: str | None = None, notification_type: str = "info") -> Answer:
        """Notify the person: Notification, then ``show``."""
        titled = {"title": title} if title else {}
        outcome = await self._fire("Notification", message=message, notification_type=notification_type, **titled)
        self._show(f"{title}: {message}" if title else message)
        return self._answer(outcome, content=message)

    async def teammate_idle(self, teammate_name: str, team_name: str = "") -> Answer:
        """Report that a teammate has nothing to do: TeammateIdle. With ``keep_going`` it is told ``content``."""
        outcome = await self._fire("TeammateIdle", teammate_name=teammate_name, team_name=team_name)
        content = (outcome.reason or _CONTINUE) if outcome.keep_going else ""
        return self._answer(outcome, content=content, keep_going=outcome.keep_going)

    async def task_completed(self, task_id: str, task_subject: str, /, **fields: Any) -> Answer:
        """Report that a task is done: TaskCompleted. If it is denied, the task is not done yet."""
        return self._answer(await self._fire("TaskCompleted", task_id=task_id, task_subject=task_subject, **fields))

    # State between firings.

    @property
    def halted(self) -> str:
        """Why the turn must end; empty if it need not."""
        return self._turn.halted

    @property
    def pending_context(self) -> tuple[str, ...]:
        """The context that hooks have added for the next model call."""
        return self._turn.pending

    def _take_pending(self) -> list[str]:
        self._take_background_output()
        return self._turn.take()

    def _take_background_output(self) -> None:
        """Keep the context and show the messages of background hooks."""
        late, messages = self._engine.engine.take_late(self.session_id)
        self._turn.add(late)
        for text in messages:
            self._show(text)

    # Firing.

    async def _fire(self, event: str, /, **fields: Any) -> Outcome:
        return await self._handle(self._backend.fire(event, **self._common(), **fields))

    async def _fire_shielded(self, event: str, /, **fields: Any) -> Outcome:
        return await self._handle(self._backend.fire_shielded(event, **self._common(), **fields))

    async def _handle(self, firing: Awaitable[Outcome]) -> Outcome:
        outcome = await firing
        if self.on_outcome is not None:
            self.on_outcome(outcome)
        if hooks_ran(outcome):
            self._turn.update(outcome)
            for text in outcome.messages:
                self._show(text)
        return outcome

    def _show(self, text: str) -> None:
        """Show a text to the person; a failure is logged and does not end the agent."""
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

    def _start_fields(self) -> dict[str, Any]:
        tools = {"tools": [dict(tool) for tool in self.tools]} if self.tools else {}
        return {**({"model": self.model} if self.model else {}), **tools, **self._env_file_field()}

    def _env_file_field(self) -> dict[str, Any]:
        return {} if self.env_file is None else {"env_file": os.fspath(self.env_file)}

    def _halted_answer(self) -> Answer | None:
        by = self._turn.halted_by
        if by is None:
            return None
        reason = self._turn.halted
        return Answer(ok=False, content=f"The turn is over: {reason}", reason=reason, denied=True, outcome=by)

    @staticmethod
    def _answer(decisive: Outcome, *more: Outcome, **parts: Any) -> Answer:
        """Return the answer for the outcome that decided."""
        if not decisive.allowed:
            reason = decisive.reason or f"{decisive.event} was refused by a hook"
            parts = {"content": reason, "reason": reason, "denied": True}
        return Answer(ok=decisive.allowed, outcome=decisive, outcomes=(decisive, *more), **parts)


def _with_context(system: str, pending: list[str]) -> str:
    """Return a system prompt with the pending context after it, separated by a blank line."""
    return "\n\n".join(part for part in (system, "\n".join(pending)) if part)
