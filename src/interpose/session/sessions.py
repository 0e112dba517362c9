"""The sessions of many conversations: found by id, begun once, ended when they are idle."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any, Self, Unpack

from ..errors import UsageError
from ..runtime.coroutines import drive
from ..runtime.faults import log, type_name
from .options import SessionOptions
from .session import Session
from .sync_session import SyncSession

__all__ = ["Sessions"]


class _Abandoned(Exception):
    """The caller that began a session was cancelled or interrupted; another one begins it."""


class Sessions:
    """The sessions of many conversations: made by ``hooks.sessions()``.

    ``await get(id)`` finds the session of a conversation or begins it; ``get_sync(id)`` does so without an event loop.
    Many tasks and threads may call both for the same id: it is begun once. A session that has not been used for
    ``idle`` seconds is ended, and so is the one that was not used for the longest time if there are more than ``keep``.
    A session that is in use is not. ``close()`` or the end of ``async with`` ends all of them.
    """

    def __init__(self, make: Callable[..., Session], *, keep: int, idle: float, options: dict[str, Any]) -> None:
        if type(keep) is not int or keep < 1:
            raise UsageError(f"keep: {keep!r} is not a number of sessions", hint="1 or more; the default is 1000")
        if isinstance(idle, bool) or not isinstance(idle, (int, float)) or not idle > 0:
            raise UsageError(f"idle: {idle!r} is not a number of seconds", hint="more than 0; the default is 3600")
        _refuse_id(options)
        self._make = make
        self._keep = keep
        self._idle = float(idle)
        self._options = options
        self._lock = threading.Lock()
        self._begun: OrderedDict[str, Future[Session]] = OrderedDict()
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._sweeping: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._begun)

    def __contains__(self, id: object) -> bool:
        return id in self._begun

    # Finding and beginning.

    async def get(self, id: str, **options: Unpack[SessionOptions]) -> Session:
        """Return the session of a conversation. If there is none, begin it, with these options in addition."""
        while True:
            future, session = self._claim(id, options)
            if session is not None:
                await self._begin(id, future, session)
                self._schedule()
                await self._end_all(self._superfluous(id))
                return session
            try:
                # Waiting for another thread goes through a socket, so a session that has begun is not waited for.
                found = future.result() if future.done() else await asyncio.wrap_future(future)
            except _Abandoned:
                continue
            if found.state == "running":
                found.touch()
                return found
            self._forget(id, future)  # the host has ended it by itself

    def get_sync(self, id: str, **options: Unpack[SessionOptions]) -> SyncSession:
        """Return the session of a conversation with blocking methods; begin it if there is none."""
        while True:
            future, session = self._claim(id, options)
            if session is not None:
                drive(self._begin(id, future, SyncSession.of(session).inner))
                self._end_all_sync(self._superfluous(id))
                return session.blocking
            try:
                found = future.result()
            except _Abandoned:
                continue
            if found.state == "running":
                found.touch()
                return found.blocking
            self._forget(id, future)

    def _claim(self, id: str, options: SessionOptions) -> tuple[Future[Session], Session | None]:
        """Return the future of a session, and the session itself if the caller is the one that begins it."""
        if not isinstance(id, str) or not id:
            raise UsageError(f"a conversation is named by text, not {type(id).__name__}", hint="pass its id")
        _refuse_id(options)
        with self._lock:
            if self._closed:
                raise UsageError("these sessions are closed", hint="call hooks.sessions() again")
            known = self._begun.get(id)
            if known is not None:
                self._begun.move_to_end(id)
                return known, None
            session = self._make(**{**self._options, **options, "session_id": id})
            future: Future[Session] = Future()
            future.set_running_or_notify_cancel()  # a caller that is cancelled while it waits cancels nothing
            self._begun[id] = future
            return future, session

    async def _begin(self, id: str, future: Future[Session], session: Session) -> None:
        try:
            await session.start()
        except BaseException as error:
            self._forget(id, future)
            if session.state == "running":
                await session.end()
            future.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        future.set_result(session)

    def _forget(self, id: str, future: Future[Session]) -> None:
        with self._lock:
            if self._begun.get(id) is future:
                del self._begun[id]

    # Ending.

    async def end(self, id: str, reason: str = "other") -> None:
        """End the session of a conversation, if there is one."""
        future = self._begun.get(id)
        if future is not None and _has_begun(future):
            self._forget(id, future)
            await future.result().end(reason)

    def end_sync(self, id: str, reason: str = "other") -> None:
        """End the session of a conversation, if there is one, without an event loop."""
        future = self._begun.get(id)
        if future is not None and _has_begun(future):
            self._forget(id, future)
            future.result().blocking.end(reason)

    async def close(self) -> None:
        """End all sessions."""
        await self._end_all(self._take_all())

    def close_sync(self) -> None:
        """End all sessions, without an event loop."""
        self._end_all_sync(self._take_all())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_sync()

    def _take_all(self) -> list[Session]:
        with self._lock:
            self._closed = True
            timer, self._timer = self._timer, None
            found = [future.result() for future in self._begun.values() if _has_begun(future)]
            self._begun.clear()
        if timer is not None:
            timer.cancel()
        return found

    def _superfluous(self, keep_id: str = "") -> list[Session]:
        """Take and return the sessions that are idle, and the oldest of more than are kept; not one that is in use."""
        with self._lock:
            taken, due = [], monotonic() - self._idle
            for name, future in list(self._begun.items()):
                if name == keep_id or not _has_begun(future):
                    continue
                session = future.result()
                too_many = len(self._begun) > self._keep
                if not session.is_busy and (too_many or session.used_at <= due):
                    del self._begun[name]
                    taken.append(session)
        return taken

    @staticmethod
    async def _end_all(sessions: list[Session]) -> None:
        for session in sessions:
            try:
                await session.end()
            except Exception as error:
                log("error", "a session could not be ended: %s", type_name(error))

    @staticmethod
    def _end_all_sync(sessions: list[Session]) -> None:
        for session in sessions:
            try:
                session.blocking.end()
            except Exception as error:
                log("error", "a session could not be ended: %s", type_name(error))

    # Looking for idle sessions.

    def _schedule(self) -> None:
        """Look for idle sessions later on the running loop; without a loop, that is done at the next ``get_sync``."""
        if self._timer is None and self._begun and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(self._idle / 2, self._sweep)

    def _sweep(self) -> None:
        self._timer = None

        async def sweep() -> None:
            await self._end_all(self._superfluous())
            self._schedule()

        task = asyncio.get_running_loop().create_task(sweep())
        self._sweeping.add(task)
        task.add_done_callback(self._sweeping.discard)


def _refuse_id(options: Mapping[str, Any]) -> None:
    if "session_id" in options:
        raise UsageError("session_id: each conversation has its own", hint="leave it out")


def _has_begun(future: Future[Session]) -> bool:
    return future.done() and future.exception() is None
