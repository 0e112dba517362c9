"""What adapters share: the hooks, a session for each conversation, the tool calls and agents that run in it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, version
from inspect import isawaitable
from typing import Any, Literal

from interpose import (
    Answer,
    BegunAgent,
    BegunTool,
    Hooks,
    Reply,
    Session,
    Sessions,
    UsageError,
    allow,
    json_view,
    later,
    modify,
)

# The one name that is not public: a flow that is written once serves both kinds of hosts.
from ..runtime.coroutines import drive

__all__ = ["Adapter", "Ask", "Refused", "RunningTool", "Unfinished", "acting_as", "check_version", "current_session",
           "drive", "merge_input", "read_answer", "text_of_blocks"]  # fmt: skip

Ask = Literal["native"] | Callable[[Any], Any] | None
"""How a question is asked: by the framework's own pause, by a function of a Question, or not: then it denies."""

_acting: ContextVar[Session | None] = ContextVar("interpose_acting", default=None)


class Refused(Exception):
    """A hook, a rule or a person refuses; the text is what the model is told."""


class Unfinished(Exception):
    """A tool has not ended: the framework asks for something first, and then runs the call again."""

    def __init__(self, result: Any) -> None:
        super().__init__("the tool has not ended")
        self.result = result


class Adapter:
    """The hooks of one governed application: ``sessions`` has a session for every conversation."""

    def __init__(
        self,
        hooks: Hooks | str | os.PathLike[str],
        *,
        agents: Iterable[str] | Mapping[str, str] = (),
        ask: Ask = "native",
        tools: Mapping[str, Any] | None = None,
    ) -> None:
        if not (ask == "native" or ask is None or callable(ask)):
            raise UsageError(f"ask: {ask!r} is not understood", hint='"native", a function of a Question, or None')
        self.hooks = hooks if isinstance(hooks, Hooks) else Hooks.load(hooks)
        if tools:
            self.hooks.declare_tools(tools)
        self.agents = dict(agents) if isinstance(agents, Mapping) else {name: name for name in agents}
        """The tools that run an agent, and what that agent is called."""
        self.asks_natively = ask == "native"
        self._approver = later if ask == "native" else ask
        self.sessions = self._new_sessions()

    def _new_sessions(self) -> Sessions:
        return self.hooks.sessions(view=json_view, approver=self._approver)

    async def close(self) -> None:
        """End all sessions. A conversation that goes on then has a new one."""
        sessions, self.sessions = self.sessions, self._new_sessions()
        await sessions.close()

    async def session(self, id: str, **options: Any) -> Session:
        """Return the session that acts here: that of the agent around this one, or of the conversation."""
        return current_session() or await self.sessions.get(id, **options)

    def session_sync(self, id: str, **options: Any) -> Session:
        """Return it for code without an event loop: coroutines that use it never suspend, and ``drive`` runs them."""
        found = current_session()
        blocking = self.sessions.get_sync(id, **options) if found is None else found.blocking
        return blocking.inner

    def messages(self, messages: list[Any]) -> list[Any] | None:
        """Return a conversation for hooks that look at model calls; None if there are none."""
        return messages if self.hooks.wants("pre:message") or self.hooks.wants("post:message") else None

    async def begin(
        self, session: Session, name: str, given: Any, *, id: str | None, schema: Any = None, **options: Any
    ) -> BegunTool:
        """Begin a tool call; raise Refused if it is denied, or cannot be judged."""
        try:
            call = await session.begin_tool(name, given, id=id, schema=schema, **options)
        except Exception as error:  # of the adapter, or of what the framework gave it
            raise Refused(f"{name} was not run: it cannot be judged: {type(error).__name__}: {error}") from error
        if call.state == "denied" and call.answer is not None:
            raise Refused(str(call.answer.content))
        return call

    @staticmethod
    async def answer(call: BegunTool, said: object) -> None:
        """Take the answer to the question of a call; raise Refused unless it may run now."""
        if await call.said(said) != "run":
            raise Refused(str(call.answer.content) if call.answer is not None else call.reason)

    async def run(
        self,
        call: BegunTool,
        session: Session,
        tool: Callable[[], Any],
        *,
        show: Callable[[Any], Any] | None = None,
        failed: Callable[[Any], str] | None = None,
    ) -> tuple[Any, Answer]:
        """Run the tool of a call that may run, as an agent of its own if it is one; return its result and the answer.

        The tool may be asynchronous, unless the session is one of ``session_sync``. ``show`` returns what hooks see of
        its result, and ``failed`` the error that the result tells of, if it does. A tool that raises Unfinished has not
        ended: it goes on in a later run of the same call.
        """
        running = await self.start(call, session)
        try:
            made = tool()
            result = await made if isawaitable(made) else made
        except Unfinished:
            running.leave()
            raise
        except BaseException as error:
            await running.failed(error)
            raise
        shown = result if show is None else show(result)
        if failed is not None and (wrong := failed(result)):
            return result, await running.failed(wrong, result=shown)
        return result, await running.done(shown)

    async def start(self, call: BegunTool, session: Session, *, is_agent: bool = False) -> RunningTool:
        """Start a call that may run, and the agent that its tool runs; raise Refused if that agent is denied."""
        if not is_agent and call.name not in self.agents:
            return RunningTool(call)
        name = self.agents.get(call.name, call.name)
        try:
            agent = await session.begin_agent(name, config={"prompt": _prompt_of(call.input)})
        except BaseException as error:
            await call.failed(error)
            raise
        if agent.state != "run":
            await call.failed(agent.reason)
            raise Refused(agent.reason)
        return RunningTool(call, agent)


class RunningTool:
    """A tool call that runs; if it runs an agent, that one acts until the call has ended."""

    def __init__(self, call: BegunTool, agent: BegunAgent | None = None) -> None:
        self._call = call
        self._agent = agent
        self._acting = ExitStack()
        if agent is not None and agent.session is not None:
            self._acting.enter_context(acting_as(agent.session))

    async def done(self, result: Any) -> Answer:
        """End the agent and the call with what hooks see of the result."""
        self._acting.close()
        if self._agent is not None:
            await self._agent.done(result)
        return await self._call.done(result)

    async def failed(self, error: BaseException | str, *, result: Any = None) -> Answer:
        """End the agent and the call, which has failed; ``result`` is what the tool returned if it says so itself."""
        self._acting.close()
        if self._agent is not None:
            await self._agent.failed(error)
        return await self._call.failed(error, result=result)

    def leave(self) -> None:
        """End the agent without an event; the call goes on in a later run."""
        self._acting.close()
        if self._agent is not None:
            self._agent.close()

    def close(self) -> None:
        """End the agent and the call without an event: the tool has not run after all."""
        self.leave()
        self._call.close()


def read_answer(said: Any) -> bool | Reply:
    """Return what a person said in a framework's own way: yes, no, or ``{"tool_input": {...}}`` for another input."""
    if isinstance(said, Mapping) and "tool_input" in said:
        return allow() + modify(tool_input=said["tool_input"])
    return said is True


def current_session() -> Session | None:
    """Return the session of the agent that acts here, if it runs inside of a governed tool."""
    return _acting.get()


@contextmanager
def acting_as(session: Session) -> Iterator[None]:
    """Let agents that run in this block act in a session."""
    token = _acting.set(session)
    try:
        yield
    finally:
        _acting.reset(token)


def merge_input(given: Mapping[str, Any], changed: Any) -> dict[str, Any]:
    """Return the input of a call after hooks changed it: what they left alone keeps the objects of the framework."""
    if changed is given:
        return dict(given)
    shown = json_view(given)
    return {
        name: given[name] if name in given and shown.get(name) == value else value for name, value in changed.items()
    }


def text_of_blocks(content: Any) -> str:
    """Return the text of a message: a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, (list, tuple)) else [content]
    texts = (
        block
        if isinstance(block, str)
        else block.get("text")
        if isinstance(block, Mapping)
        else getattr(block, "text", "")
        for block in blocks
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def check_version(package: str, first: str, before: str) -> None:
    """Warn if the framework's version is not one that was tested: from ``first`` on, below ``before``."""
    try:
        found = version(package)
    except PackageNotFoundError:
        return
    if not _numbers(first) <= _numbers(found) < _numbers(before):
        warnings.warn(
            f"interpose is tested with {package} {first} and later, below {before}; this is {found}: "
            "run your own checks that hooks hold", stacklevel=3,
        )  # fmt: skip


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def _prompt_of(given: Any) -> str:
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, Mapping) else []
    return texts[0] if len(texts) == 1 else str(given)
