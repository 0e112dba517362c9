"""Session: one method for each action of a host, which fires the events of the action in their order."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, cast
from weakref import WeakSet

from ..errors import UsageError
from ..ids import new_id
from ..matching.declared_tools import DeclaredTool
from ..model import Hook, Outcome, field_of, hooks_spoke
from ..person.agents import register_this_process
from ..person.permission import Permission
from ..runtime.faults import log, type_name
from .answers import Answer
from .asked_calls import AskedCalls
from .backends import AsyncBackend, AsyncFunction, Backend, HookEngine
from .calls import BegunTool, Schema
from .configured_rules import ConfiguredRules
from .messages import BegunMessage
from .options import Approver, Renamed, check_fields, reads_old_names
from .permission import Rules, mode_of
from .permission_cache import PermissionCache
from .results import text_of
from .subagents import BegunAgent, run_agent
from .turn_state import TurnState

if TYPE_CHECKING:
    from .sync_session import SyncSession

__all__ = ["Session"]

MAX_CONTINUES = 8
"""How often in a row hooks may make an agent continue that wants to stop."""

_CONTINUE = "Go on."

MAIN = "main"
"""The default agent id. Without an id, the hooks of every scope would apply."""

_NOT_GIVEN: Any = object()
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
        view: Callable[[Any], Any] | None = None,
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
        self.view = view
        self.phase_now = ""
        self._parent = parent
        self._continues = 0
        self._stopped = False
        self._turn = TurnState()
        self._permission_cache = PermissionCache(lambda: (self.rules, self._hook_set()))
        self._asked = AskedCalls()
        self._roles: dict[str, tuple[str, AbstractContextManager[object] | None]] = {}
        """The agents that the session has acted as: the id of each, and its scope."""
        self._open: WeakSet[Any] = WeakSet()
        """What was begun and not ended, unless the host has dropped it."""
        self._called: set[BegunTool] = set()
        """The calls for which the session waits for a function of the host."""
        self._used_at = monotonic()
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

    def __repr__(self) -> str:
        state = {"new": "not begun", "running": "running", "over": "over"}[self._state]
        return f"<Session {self.session_id} of the agent {self.agent_id!r}: {state}>"

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
        register_this_process()
        self.source = source or self.source
        outcomes = [await self._fire("SessionStart", source=self.source, **self._start_fields())]
        if self.source == "startup":
            outcomes.append((await self.setup()).outcome)
        return Answer(ok=True, outcome=outcomes[0], outcomes=tuple(outcomes))

    def join(self) -> None:
        """Act in a session that has begun elsewhere: nothing is fired, neither now nor if the object is dropped."""
        if self._state != "new":
            raise UsageError(f"this session {_STATES[self._state]}", hint="a session is started or joined once")
        self._state = "running"

    async def setup(self, trigger: str = "init") -> Answer:
        """Fire Setup: ``start`` does it once; a host may do it again, for example for maintenance."""
        return self._answer(await self._fire("Setup", trigger=trigger, **self._env_file_field()))

    async def end(self, reason: str = "other") -> Answer | None:
        """End the session: SessionEnd. Later calls of other methods are errors; ending twice is not."""
        if self._state != "running" or self._parent is not None:
            return None
        fields = self._common()
        self._state = "over"  # before the first await: it ends once, and nothing starts meanwhile
        self._asked.clear()
        try:
            return self._answer(await self._handle(self._backend.fire_shielded("SessionEnd", **fields, reason=reason)))
        finally:
            self.leave_roles()

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
        send: Callable[..., Any],
        *,
        system: str = "",
        model: str | None = None,
        text: Callable[[Any], str] = str,
        usage: Callable[[Any], Mapping[str, Any]] | None = None,
        with_context: bool = True,
        messages: Sequence[Any] | None = None,
        tools: Sequence[Any] | None = None,
        tool_calls: Callable[[Any], Sequence[Any]] | None = None,
    ) -> Answer:
        """Call the model: pre:message, ``send(prompt, system)``, post:message.

        The pending context is appended to ``system``; with ``with_context=False`` it is kept for another call, such as
        when the model only writes a summary. ``text`` returns the text of what ``send`` returned, which is the answer's
        ``raw``; the answer's ``content`` is that text after hooks have changed it. ``usage`` returns how many tokens it
        has used, such as ``{"input_tokens": 900, "output_tokens": 50}``, and ``tool_calls`` the calls that the model
        wants to make, for post:message. ``messages`` is the conversation, for hooks. With ``tools``, hooks can hide
        tools, and ``send(prompt, system, tools)`` gets those that are left.
        """
        call = await self.begin_message(
            prompt, system=system, model=model, with_context=with_context, messages=messages, tools=tools
        )
        if call.state != "run":
            return cast("Answer", call.answer)
        try:
            given = (call.prompt, call.system) if tools is None else (call.prompt, call.system, call.tools)
            raw = await self._backend.call(send, *given)
        except BaseException as error:
            await call.failed(error)
            raise
        return await call.done(
            raw, text=text(raw), usage=usage(raw) if usage is not None else None,
            tool_calls=tool_calls(raw) if tool_calls is not None else None,
        )  # fmt: skip

    async def begin_message(
        self,
        prompt: str,
        *,
        system: str = "",
        model: str | None = None,
        with_context: bool = True,
        messages: Sequence[Any] | None = None,
        tools: Sequence[Any] | None = None,
    ) -> BegunMessage:
        """Begin a model call that the host makes itself: pre:message. Takes what ``message`` takes.

        ``state`` of what is returned says whether the call may be made; ``done`` or ``failed`` ends it.
        """
        fields: dict[str, Any] = {"model": model or self.model} if model or self.model else {}
        if messages is not None:
            fields["messages"] = self._view_or_text(list(messages))
        call = BegunMessage(self, prompt, fields, tools)
        await call.begin(system, with_context)
        self._open.add(call)
        return call

    async def tool(
        self,
        /,
        name: str,
        input: Any,
        run: Callable[[Any], Any],
        *,
        tool_use_id: str | None = None,
        schema: Schema = None,
        kind: str | None = None,
        leaves_out: bool = False,
        failed: Callable[[Any], object] | None = None,
        **fields: Any,
    ) -> Answer:
        """Make a tool call: PreToolUse, permission, ``run(input)``, PostToolUse or PostToolUseFailure.

        An input that hooks changed must match ``schema``, which may be a function that returns it. ``kind`` is what the
        tool does (``read``, ``edit`` or ``run``), for the permission modes; without it the names of common tools are
        known. ``leaves_out`` promises that a search returns no file for which ``left_out`` is true: then rules do not
        ask about a search that is wider. ``failed`` says of a result whether it is an error: True, or the text of the
        error. Other keywords are fields of the call's events, such as ``mcp_server``.
        """
        call = await self._begin_tool(name, input, tool_use_id, schema, kind, leaves_out, fields)
        if call.state != "run":
            return cast("Answer", call.answer)
        self._called.add(call)
        try:
            raw = await self._backend.call(run, call.input)
        except AsyncFunction:
            raise
        except Exception as error:
            return await call.failed(error)
        except BaseException as error:
            # A session that has ended fires no more events; the interruption is raised in any case.
            if not isinstance(error, GeneratorExit) and self._state == "running":
                await call.failed(error)
            raise
        finally:
            self._called.discard(call)
        if failed is not None and (wrong := failed(raw)):
            return await call.failed(wrong if isinstance(wrong, str) else text_of(raw), result=raw)
        return await call.done(raw)

    async def begin_tool(
        self,
        /,
        name: str,
        input: Any,
        *,
        id: str | None = None,
        schema: Schema = None,
        kind: str | None = None,
        leaves_out: bool = False,
        **fields: Any,
    ) -> BegunTool:
        """Begin a tool call that the host runs itself: PreToolUse and permission. Takes what ``tool`` takes.

        ``state`` of what is returned says whether the call may run; ``done`` or ``failed`` ends it. A call that is
        asked about (``approver=later``) and begun again, with the same id, input and hooks, is the same call.
        """
        call = await self._begin_tool(name, input, id, schema, kind, leaves_out, fields)
        self._open.add(call)
        return call

    async def resume(self, pending: Mapping[str, Any], *, input: Any = _NOT_GIVEN, schema: Schema = None) -> BegunTool:
        """Go on with a call that was asked about and written down with ``to_dict``, also in another process.

        No event is fired, and the question is open again. ``input`` is the input that the host has for the call now.
        CallChanged is raised if the text, the input, the session, the hooks or the configuration has changed since:
        then the call has to be begun again.
        """
        from .pending import resume_call

        return await resume_call(self, pending, () if input is _NOT_GIVEN else (input,), schema)

    async def _begin_tool(
        self,
        name: str,
        input: Any,
        id: str | None,
        schema: Schema,
        kind: str | None,
        leaves_out: bool,
        fields: dict[str, Any],
    ) -> BegunTool:
        if fields:
            check_fields(fields, "schema", "kind", "leaves_out", "failed")
        call = BegunTool(self, name, input, id or new_id(), schema, kind, leaves_out, fields)
        if halted := self._halted_answer():
            await call.halt(halted)
        elif id is None or (known := self._asked.find(call)) is None:
            await call.begin()
        else:
            known.move_to(self)
            return known
        return call

    def left_out(self, name: str, input: Any) -> Callable[[str], bool]:
        """Return a function that says whether rules keep a file, by its absolute path, out of a search's result."""
        return self.rules.left_out(self._call_for_rules(name, input))

    def _declared(self, name: str) -> DeclaredTool | None:
        """Return what is declared about a tool of the host, if anything is."""
        tools = self._engine.engine.tools
        return None if tools is None else tools.find(name)

    def _call_for_rules(self, name: str, input: Any) -> dict[str, Any]:
        """Return a call as permission rules see it; that of a declared tool has the declared names."""
        tools = self._engine.engine.tools
        call = {"tool_name": name, "tool_input": input} if tools is None else tools.call(name, input)
        return {**call, "cwd": self.cwd}

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
        call = await self.begin_agent(
            agent, config=config, agent_id=agent_id, hooks=hooks, transcript_path=transcript_path
        )
        return await run_agent(call, run)

    async def begin_agent(
        self,
        agent: str,
        *,
        config: Mapping[str, Any] | None = None,
        agent_id: str | None = None,
        hooks: Mapping[str, Any] | None = None,
        transcript_path: str | os.PathLike[str] = "",
    ) -> BegunAgent:
        """Begin a subagent that the host runs itself: pre:agent:spawn and SubagentStart. Takes what ``spawn`` takes.

        ``state`` of what is returned says whether it may run; ``session`` is its session. ``done`` or ``failed`` ends
        it.
        """
        call = BegunAgent(self, agent, agent_id, dict(config or {}))
        await call.begin(dict(hooks or {}), os.fspath(transcript_path))
        self._open.add(call)
        return call

    async def handoff(self, to_agent: str, *, config: Mapping[str, Any] | None = None, acts: bool = True) -> Answer:
        """Hand over to another agent: pre:agent:handoff. If it is allowed, the session acts as that agent.

        ``config`` is what is handed over; the answer's ``content`` is what hooks have made of it. With ``acts=False``
        the session stays the same agent: the other one has a session of its own.
        """
        if halted := self._halted_answer():
            return halted
        agent = self.agent_type or self.agent_id
        before = await self._fire("pre:agent:handoff", agent=agent, to_agent=to_agent, config=dict(config or {}))
        if not before.allowed:
            return self._answer(before)
        if acts:
            self.act_as(to_agent)
        return self._answer(before, content=before.config, input=before.config)

    def act_as(self, agent: str) -> None:
        """Act as another agent from now on: hooks that a configuration has for it apply, under an id of its own.

        Locked hooks of the agents that this session has acted as still apply.
        """
        if not isinstance(agent, str) or not agent:
            raise UsageError(f"an agent is named by text, not {type(agent).__name__}", hint="pass its name")
        self._common()  # raises if the session is not running
        self._roles.setdefault(self.agent_type or self.agent_id, (self.agent_id, None))
        if agent not in self._roles:
            agent_id = f"{agent}-{new_id()[:8]}"
            scope = self._engine.scope(agent_id, {}, parent=self.agent_id, like=agent)
            scope.__enter__()
            self._roles[agent] = (agent_id, scope)
            self._active_agents.add(agent_id)
        self.agent_id, self.agent_type = self._roles[agent][0], agent

    def leave_roles(self) -> None:
        """Remove the scopes of the agents that the session has acted as."""
        roles, self._roles = self._roles, {}
        for agent_id, scope in roles.values():
            if scope is not None:
                self._active_agents.discard(agent_id)
                scope.__exit__(None, None, None)

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

    # For hosts that do something of their own.

    async def fire(self, event: str, /, **fields: Any) -> Outcome:
        """Fire any event with the session's fields; context, messages and a halt are taken from its outcome."""
        if taken := sorted(fields.keys() & self._common().keys()):
            raise UsageError(f"{', '.join(taken)}: the session sets this itself", hint="leave it out")
        return await self._fire(event, **fields)

    def take_context(self) -> list[str]:
        """Return the context for the next model call and clear it: for a host that sends it by itself."""
        return self._take_pending()

    def clear_halt(self) -> str:
        """Go on with a turn that a hook has ended; return why it was ended. A prompt does so too."""
        return self._turn.resume()[0]

    @property
    def blocking(self) -> SyncSession:
        """The same session for code without an event loop, such as another thread: its methods block."""
        from .sync_session import SyncSession

        return SyncSession.of(self)

    # State between firings.

    @property
    def state(self) -> str:
        """``new``, ``running`` or ``over``."""
        return self._state

    @property
    def used_at(self) -> float:
        """When the session last fired an event, on the clock of ``time.monotonic``."""
        return self._used_at

    def touch(self) -> None:
        """Count as used now."""
        self._used_at = monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether an action of the session is under way: a function that it called, or a call that may run."""
        try:
            return bool(self._called) or any(call.state == "run" for call in self._open)
        except RuntimeError:  # another thread begins or ends a call at this moment
            return True

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

    # What hooks see.

    def _is_seen(self, event: str) -> bool:
        """Say whether anything looks at an event: else the fields that cost something need not be made."""
        engine = self._engine.engine
        return self.on_outcome is not None or engine.observed or engine.wants(event, "", self.agent_id)

    def _view_or_text(self, value: Any) -> Any:
        """Return what hooks see of a value that was made by a tool or the model; its text if it cannot be shown."""
        if self.view is None:
            return value
        try:
            return self.view(value)
        except Exception as error:
            log("warning", "hooks see a value as text: %s", error)
            return text_of(value)

    # Firing.

    async def _fire(self, event: str, /, **fields: Any) -> Outcome:
        return await self._handle(self._backend.fire(event, **self._common(), **fields))

    async def _fire_shielded(self, event: str, /, **fields: Any) -> Outcome:
        return await self._handle(self._backend.fire_shielded(event, **self._common(), **fields))

    async def _handle(self, firing: Awaitable[Outcome]) -> Outcome:
        outcome = await firing
        if self.on_outcome is not None:
            self.on_outcome(outcome)
        if hooks_spoke(outcome):
            self._turn.update(outcome)
            for text in outcome.messages:
                self._show(text)
        return outcome

    async def _record_permission(self, permission: Permission) -> str:
        """Give a decision to traces and to the recorder; return why it is lost, if the record is required."""
        engine = self._engine.engine
        for listener in engine.listeners:
            tell = getattr(listener, "permission_decided", None)
            if tell is not None:
                tell(permission)
        record = getattr(engine.recorder, "record_permission", None)
        if record is None:
            return ""
        try:
            waiting = record(permission)
            if waiting is not None:
                await self._backend.wait(waiting)
        except Exception as error:
            log("error", "a permission is not in the record: %s", type_name(error))
            lost = f"the permission could not be recorded: {type_name(error)}"
            return lost if getattr(engine.recorder, "required", False) else ""
        return ""

    def _hook_set(self) -> tuple[Hook, ...]:
        """Return the hooks that judge a tool call of this agent."""
        snapshot = self._engine.engine.registry.snapshot
        return tuple(
            hook for event in ("PreToolUse", "PermissionRequest") for hook in snapshot.for_firing(event, self.agent_id)
        )

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
        self._used_at = monotonic()
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
