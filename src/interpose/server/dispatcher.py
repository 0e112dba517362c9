"""Give each request to an engine process of its project; start, keep and end these processes.

Events of a project wait for a process of it. If one waits longer than a moment, the project gets another process, up to
a limit. The processes of the projects that were used longest ago are ended when there are too many.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections import deque
from time import monotonic

from ..records import Record
from .counters import Counters
from .engine_process import ANSWERED, FINAL, MOVED
from .fork_server import ForkServer
from .frames import Answer

__all__ = ["Dispatcher", "Limits", "Lost", "Ticket"]

_MOMENT = 0.02
"""Seconds that an event waits for a busy process before its project gets another."""
_START = 20.0
"""Seconds that a new process has to report."""
_IDLE = 60.0
"""Seconds after which a further process of a project is ended."""
_BOUNCES = 3


class Limits(Record):
    """How much the server does at once, and for how long."""

    engines: int = 64
    """Engine processes; so many projects are loaded at once."""
    per_project: int = 8
    """Engine processes of one project: so many events of it are fired at once."""
    waiting: int = 1024
    """Events that are under way or wait; one more is refused."""
    seconds: float = 900.0
    """How long an event may take, waiting included."""
    idle: float = 900.0
    """Seconds without an event after which the server ends."""


class Lost(Exception):
    """An event was accepted and is not answered: its process has ended, or it took too long."""


class _EngineProcess:
    """An engine process and the connection to it."""

    def __init__(self, connection: socket.socket, project: str) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.project = project
        self.pid = 0
        self.used = monotonic()

    async def begin(self) -> None:
        """Wait until it runs."""
        async with asyncio.timeout(_START):
            self.pid = int.from_bytes(await self._exactly(4), "big")

    async def ask(self, body: bytes) -> bytes:
        """Return what it says to a request; raise Lost if it has ended."""
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(self.connection, len(body).to_bytes(4, "big") + body)
            head = await loop.sock_recv(self.connection, 1 << 16)
            if len(head) < 4:
                head += await self._exactly(4 - len(head))
            missing = 4 + int.from_bytes(head[:4], "big") - len(head)
            return head[4:] + (await self._exactly(missing) if missing else b"")
        except OSError:
            raise Lost("the process that fired the event has ended") from None

    async def _exactly(self, size: int) -> bytes:
        loop, data = asyncio.get_running_loop(), bytearray()
        while len(data) < size:
            part = await loop.sock_recv(self.connection, min(size - len(data), 1 << 20))
            if not part:
                raise Lost("the process that fired the event has ended")
            data += part
        return bytes(data)

    def is_stopped(self) -> bool:
        """Return whether a signal has stopped the process; False where that cannot be seen."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as opened:
                return opened.read().rpartition(b")")[2].split()[:1] in ([b"T"], [b"t"])
        except OSError:
            return False

    def kill(self) -> None:
        """End it at once, with the commands that it runs."""
        if self.pid:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self) -> None:
        """Let it end."""
        self.connection.close()


class Ticket:
    """One accepted event. ``cancel`` ends it: its caller has gone."""

    def __init__(self) -> None:
        self.engine: _EngineProcess | None = None
        self.waiter: asyncio.Future[_EngineProcess] | None = None
        self.why = ""

    def cancel(self, why: str) -> None:
        """End the event, with all that it runs."""
        self.why = self.why or why
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_exception(Lost(why))
        if self.engine is not None:
            self.engine.kill()


class _Project:
    """The engine processes of a project, and the events that wait for one."""

    def __init__(self) -> None:
        self.engines: set[_EngineProcess] = set()
        self.idle: list[_EngineProcess] = []
        self.starting = 0
        self.waiters: deque[asyncio.Future[_EngineProcess]] = deque()

    @property
    def size(self) -> int:
        return len(self.engines) + self.starting


class Dispatcher:
    """All engine processes."""

    def __init__(self, forks: ForkServer, limits: Limits, counters: Counters) -> None:
        self._forks = forks
        self._limits = limits
        self._counters = counters
        self._projects: dict[str, _Project] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.under_way = 0
        """Events that are accepted and not answered."""
        counters.gauges["interpose_events_under_way"] = (
            "Events that are fired now, or wait.", lambda: self.under_way)  # fmt: skip
        counters.gauges["interpose_engines"] = ("Engine processes.", lambda: self._size)
        counters.gauges["interpose_projects"] = (
            "Projects that have an engine process.", lambda: sum(bool(one.engines) for one in self._projects.values())
        )  # fmt: skip

    @property
    def _size(self) -> int:
        return sum(project.size for project in self._projects.values())

    def is_full(self) -> bool:
        """Return whether one more event is too many."""
        return self.under_way >= self._limits.waiting

    async def answer(self, body: bytes, project: str, ticket: Ticket) -> Answer:
        """Return the answer to a request; ``project`` is a guess. Raise Lost if there is none."""
        began = monotonic()
        timer = asyncio.get_running_loop().call_later(
            self._limits.seconds, ticket.cancel, f"it took more than {self._limits.seconds:g} s")  # fmt: skip
        self.under_way += 1
        try:
            for _ in range(_BOUNCES):
                said = await self._ask(body, project, ticket)
                if said[:1] not in (ANSWERED, FINAL, MOVED):
                    break
                if said[:1] != MOVED:
                    answer = Answer.read(said[1:])
                    self._counters.answered(answer.status, monotonic() - began)
                    return answer
                project = os.fsdecode(said[1:])
            why = "its project changed again and again"
        except Lost as error:
            why = str(error)
        finally:
            self.under_way -= 1
            timer.cancel()
        self._counters.events["lost"] += 1
        raise Lost(ticket.why or why)

    async def _ask(self, body: bytes, project: str, ticket: Ticket) -> bytes:
        engine = ticket.engine = await self._take(project, ticket)
        said = b""
        try:
            said = await engine.ask(body) if not ticket.why else b""
            return said
        finally:
            ticket.engine = None
            self._give_back(engine, is_fit=said[:1] in (ANSWERED, MOVED) and not ticket.why)

    # Taking and giving back.

    async def _take(self, name: str, ticket: Ticket) -> _EngineProcess:
        project = self._projects.get(name)
        if project is None:
            project = self._projects[name] = _Project()
        if project.idle:
            return project.idle.pop()
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[_EngineProcess] = loop.create_future()
        ticket.waiter = waiter
        project.waiters.append(waiter)
        if project.size:
            loop.call_later(_MOMENT, self._grow, name, waiter)
        else:
            self._grow(name, waiter)
        return await waiter

    def _give_back(self, engine: _EngineProcess, *, is_fit: bool) -> None:
        project = self._projects.get(engine.project)
        engine.used = monotonic()
        if project is None:  # the server ends
            engine.close()
            return
        if not is_fit:
            project.engines.discard(engine)
            engine.close()
            self._forget_if_unused(engine.project)
        elif (waiter := _next(project)) is not None:
            waiter.set_result(engine)
        else:
            project.idle.append(engine)
        self._serve_waiting()

    def _serve_waiting(self) -> None:
        """Start processes for projects whose events wait for none."""
        for name, project in tuple(self._projects.items()):
            if project.waiters and not project.size and (waiter := _first(project)) is not None:
                self._grow(name, waiter)

    def _grow(self, name: str, waiter: asyncio.Future[_EngineProcess]) -> None:
        """Start another process for a project, if an event still waits for it and there is room."""
        project = self._projects.get(name)
        if (
            project is None
            or waiter.done()
            or project.size >= self._limits.per_project
            or project.starting >= len(project.waiters)
        ):
            return
        if self._size >= self._limits.engines and not self._end_oldest():
            return  # what is given back next makes room
        project.starting += 1
        task = asyncio.get_running_loop().create_task(self._start(name, project))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self, name: str, project: _Project) -> None:
        engine: _EngineProcess | None = None
        try:
            engine = _EngineProcess(self._forks.start(), name)
            await engine.begin()
        except (OSError, Lost, TimeoutError) as error:
            if engine is not None:
                engine.close()
            project.starting -= 1
            if (waiter := _next(project)) is not None:
                waiter.set_exception(Lost(f"no engine process could be started ({error})"))
            return
        self._counters.started += 1
        project.starting -= 1
        project.engines.add(engine)
        if (waiter := _next(project)) is not None:
            waiter.set_result(engine)
        else:
            project.idle.append(engine)

    # Ending.

    def _end_oldest(self) -> bool:
        """End the idle process that was used longest ago; return False if none is idle."""
        idle = [engine for project in self._projects.values() for engine in project.idle]
        if not idle:
            return False
        self._end(min(idle, key=lambda engine: engine.used))
        return True

    def _end(self, engine: _EngineProcess) -> None:
        project = self._projects[engine.project]
        project.idle.remove(engine)
        project.engines.discard(engine)
        engine.close()
        self._forget_if_unused(engine.project)

    def _forget_if_unused(self, name: str) -> None:
        project = self._projects[name]
        if not project.size and not any(not waiter.done() for waiter in project.waiters):
            del self._projects[name]

    def tidy(self) -> None:
        """End further processes of projects that do not need them, and those that a signal has stopped."""
        now = monotonic()
        for project in tuple(self._projects.values()):
            for engine in tuple(project.idle):
                if project.size > 1 and now - engine.used > _IDLE:
                    self._end(engine)
            busy = project.engines - set(project.idle)
            for engine in busy:
                if engine.is_stopped():
                    engine.kill()

    def close(self) -> None:
        """End all processes."""
        for project in self._projects.values():
            for engine in project.engines:
                engine.close()
        self._projects.clear()


def _next(project: _Project) -> asyncio.Future[_EngineProcess] | None:
    """Take the first event that still waits."""
    while project.waiters:
        waiter = project.waiters.popleft()
        if not waiter.done():
            return waiter
    return None


def _first(project: _Project) -> asyncio.Future[_EngineProcess] | None:
    while project.waiters and project.waiters[0].done():
        project.waiters.popleft()
    return project.waiters[0] if project.waiters else None
