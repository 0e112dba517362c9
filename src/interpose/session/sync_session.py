"""The session for hosts without an event loop: the same coroutines, driven to their end by each call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from ..runtime.coroutines import drive
from .backends import HookEngine, SyncBackend
from .calls import BegunTool
from .messages import BegunMessage
from .options import SessionOptions
from .session import Session
from .subagents import BegunAgent

__all__ = ["BlockingAgent", "BlockingMessage", "BlockingTool", "SyncSession"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_I = TypeVar("_I")


class _Face:
    """An object whose coroutine methods are plain methods; all other attributes are those of the object."""

    _inner: Any

    def __init__(self, inner: Any) -> None:
        object.__setattr__(self, "_inner", inner)

    @property
    def inner(self) -> Any:
        """The object itself, whose methods are coroutines that never wait."""
        return self._inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self._inner, name):
            raise AttributeError(f"{type(self).__name__} has no {name!r}", name=name, obj=self)
        return getattr(self._inner, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._inner)})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._inner!r}>"


def _driven(method: Callable[Concatenate[_I, _P], Coroutine[Any, Any, _R]]) -> Callable[Concatenate[Any, _P], _R]:
    """Return a coroutine method as a plain method."""

    @wraps(method)
    def call(self: _Face, /, *arguments: _P.args, **keywords: _P.kwargs) -> _R:
        return drive(method(self._inner, *arguments, **keywords))

    return call


def _begun(
    method: Callable[Concatenate[_I, _P], Coroutine[Any, Any, Any]], face: Callable[[Any], _R]
) -> Callable[Concatenate[Any, _P], _R]:
    """Return a coroutine method as a plain method that returns what it begins with blocking methods."""

    @wraps(method)
    def call(self: _Face, /, *arguments: _P.args, **keywords: _P.kwargs) -> _R:
        return face(drive(method(self._inner, *arguments, **keywords)))

    call.__annotations__ = {**method.__annotations__, "return": getattr(face, "__name__", "")}
    vars(call)["__signature__"] = signature(method).replace(return_annotation=getattr(face, "__name__", ""))
    return call


class BlockingTool(_Face):
    """A tool call that has begun in a session without an event loop: a ``BegunTool`` whose methods block."""

    said = _driven(BegunTool.said)
    done = _driven(BegunTool.done)
    failed = _driven(BegunTool.failed)


class BlockingMessage(_Face):
    """A model call that has begun in a session without an event loop: a ``BegunMessage`` whose methods block."""

    done = _driven(BegunMessage.done)
    failed = _driven(BegunMessage.failed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        drive(self._inner.__aexit__(*raised))


class BlockingAgent(_Face):
    """A subagent that has begun in a session without an event loop: a ``BegunAgent`` whose methods block."""

    done = _driven(BegunAgent.done)
    failed = _driven(BegunAgent.failed)

    @property
    def session(self) -> SyncSession | None:
        """The session of the subagent."""
        child = self._inner.session
        return None if child is None else SyncSession._around(child)


class _BlockingView(Session):
    """A session as it is used without an event loop. It shares all state with the session that it is a view of."""

    # Slots come before the instance's dictionary, which is that of the other session.
    __slots__ = ("_backend", "_wrap")

    @classmethod
    def of(cls, session: Session) -> _BlockingView:
        """Return the blocking view of a session."""
        view = cls.__new__(cls)
        view.__dict__ = session.__dict__
        view._backend = SyncBackend(session._engine)
        view._wrap = SyncSession._around
        return view


class SyncSession(_Face):
    """A session whose methods block: made by ``hooks.session_sync()``, used with ``with``. Threads may share it.

    ``session.blocking`` is one too; it shares all state with the session that it is read from.
    """

    _inner: Session

    def __init__(self, engine: HookEngine, **options: Unpack[SessionOptions]) -> None:
        super().__init__(_BlockingView.of(Session(engine, **options)))

    @classmethod
    def _around(cls, session: Session) -> SyncSession:
        made = cls.__new__(cls)
        _Face.__init__(made, session)
        return made

    @classmethod
    def of(cls, session: Session) -> SyncSession:
        """Return a session with blocking methods that shares all state with the given one."""
        return cls._around(_BlockingView.of(session))

    start = _driven(Session.start)
    end = _driven(Session.end)
    setup = _driven(Session.setup)
    prompt = _driven(Session.prompt)
    message = _driven(Session.message)
    tool = _driven(Session.tool)
    stop = _driven(Session.stop)
    spawn = _driven(Session.spawn)
    compact = _driven(Session.compact)
    phase = _driven(Session.phase)
    write = _driven(Session.write)
    render = _driven(Session.render)
    notify = _driven(Session.notify)
    teammate_idle = _driven(Session.teammate_idle)
    task_completed = _driven(Session.task_completed)
    fire = _driven(Session.fire)
    handoff = _driven(Session.handoff)

    begin_tool = _begun(Session.begin_tool, BlockingTool)
    begin_message = _begun(Session.begin_message, BlockingMessage)
    begin_agent = _begun(Session.begin_agent, BlockingAgent)
    resume = _begun(Session.resume, BlockingTool)

    def run(
        self, flow: Callable[Concatenate[Session, _P], Coroutine[Any, Any, _R]], *arguments: _P.args, **more: _P.kwargs
    ) -> _R:
        """Run a coroutine function of a session, which waits for nothing else, and return what it returns.

        So a host that is called with and without an event loop writes its flow once.
        """
        return drive(flow(self._inner, *arguments, **more))

    def __enter__(self) -> Self:
        drive(self._inner.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __setattr__(self, name: str, value: object) -> None:
        """Set an option of the session, such as its ``mode`` or its ``approver``."""
        # The class first: reading an attribute under its old name warns.
        if name.startswith("_") or not (hasattr(Session, name) or hasattr(self._inner, name)):
            raise AttributeError(f"a session has no {name!r}")
        setattr(self._inner, name, value)
