"""The session for hosts without an event loop: the same coroutines, driven to their end by each call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from ..driver import drive
from .backends import HookEngine, SyncBackend
from .options import SessionOptions
from .session import Session

__all__ = ["SyncSession"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _driven(
    method: Callable[Concatenate[Session, _P], Coroutine[Any, Any, _R]],
) -> Callable[Concatenate[SyncSession, _P], _R]:
    """Return a session's coroutine method as a plain method."""

    def call(self: SyncSession, /, *arguments: _P.args, **keywords: _P.kwargs) -> _R:
        return drive(method(self._session, *arguments, **keywords))

    call.__name__ = method.__name__
    call.__doc__ = method.__doc__
    return call


class SyncSession:
    """A session whose methods block: made by ``hooks.session_sync()``, used with ``with``. Threads may share it."""

    def __init__(self, engine: HookEngine, **options: Unpack[SessionOptions]) -> None:
        object.__setattr__(self, "_session", Session(engine, backend=SyncBackend(engine), **options))
        self._session._wrap = SyncSession._around

    @classmethod
    def _around(cls, session: Session) -> SyncSession:
        made = cls.__new__(cls)
        object.__setattr__(made, "_session", session)
        return made

    _session: Session

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

    def __enter__(self) -> Self:
        drive(self._session.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the session: ``halted``, ``pending_context``, ``session_id`` and others."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._session, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an option of the session, such as its ``mode`` or its ``approver``."""
        # The class first: reading an attribute under its old name warns.
        if name.startswith("_") or not (hasattr(Session, name) or hasattr(self._session, name)):
            raise AttributeError(f"a session has no {name!r}")
        setattr(self._session, name, value)
