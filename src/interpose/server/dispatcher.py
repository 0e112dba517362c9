"""Give each request to an engine process of its project and environment; start, keep and end these processes.

Events of a project wait for a process of it. If one waits longer than a moment, the project gets another process, up to
a limit. The processes of the projects that were used longest ago are ended when there are too many. Here, a project is
all that shares a process name: see ``projects``.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf
from time import monotonic

from ..records import Record
from ..runtime.named_tuples import NamedTuple
from .counters import Counters
from .deadlines import before_deadline
from .engine_handle import Client, EngineHandle
from .engine_process import ANSWERED, DELIVERED, MOVED, TO_SERVER
from .fork_server import ForkServer
from .frames import FireAnswer, FireRequest
from .projects import Guesses

__all__ = ["Dispatcher", "Lost", "PendingEvent", "ServerLimits"]

_MOMENT = 0.02
"""Seconds that an event waits for a busy process before its project gets another."""
_START = 20.0
"""Seconds that a new process has to report."""
_IDLE = 60.0
"""Seconds after which a further process of a project is ended."""
_QUEUED = 10.0
"""Seconds that an event without a deadline waits for a process: others may hold all of them for long, and a host goes
on without a hook that is late. One with a deadline is refused in time."""
_LONG = 60.0
"""Seconds from which on a time limit is looked at when the server tidies, and has no timer."""
_BOUNCES = 3
_ENDED = "the process that fired the event has ended"


class ServerLimits(Record):
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


class Lost(NamedTuple):
    """An event was accepted and is not answered: its process has ended, it took too long, or none was free."""

    why: str
    is_answered: bool = False
    """Whether its process may have sent the answer, or a part of it, before it ended."""
    client_can_fire: bool = False
    """Whether the client can decide by itself: no process has begun with it, and the client has no deadline."""


class PendingEvent:
    """One accepted event: its request and the body of that, its client, and what is called with what becomes of it.

    That is an answer, the exit status of an answer that the client has already, or Lost. ``seconds`` is how long the
    client waits: a host goes on without a hook that is late, so a refusal has to come before that.
    """

    def __init__(
        self,
        request: FireRequest,
        body: bytes,
        done: Callable[[FireAnswer | int | Lost], None],
        client: Client | None = None,
        seconds: float = inf,
    ) -> None:
        self.request = request
        self.body = body
        self.client = client or Client(TO_SERVER, -1)
        self.done = done
        self.seconds = before_deadline(seconds)
        self.has_deadline = seconds < inf
        self.began = monotonic()
        self.bounces = 0
        self.engine: EngineHandle | None = None
        self.is_done = False
        self.why = ""
        self.timer: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        """Whether no engine process has the event yet."""
        return self.engine is None and not self.is_done


class _Project:
    """The engine processes of a project, and the events that wait for one."""

    def __init__(self) -> None:
        self.engines: set[EngineHandle] = set()
        self.idle: list[EngineHandle] = []
        self.starting = 0
        self.waiting: deque[PendingEvent] = deque()

    @property
    def size(self) -> int:
        return len(self.engines) + self.starting

    def next(self, *, take: bool) -> PendingEvent | None:
        """Return the first event that still waits; ``take`` it from the others."""
        while self.waiting:
            if self.waiting[0].waits:
                return self.waiting.popleft() if take else self.waiting[0]
            self.waiting.popleft()
        return None


class Dispatcher:
    """All engine processes."""

    def __init__(self, forks: ForkServer, limits: ServerLimits, counters: Counters) -> None:
        self._forks = forks
        self._limits = limits
        self._counters = counters
        self._projects: dict[str, _Project] = {}
        self._guesses = Guesses()
        self._long: set[PendingEvent] = set()
        self._loop = asyncio.get_running_loop()
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

    def fire(self, pending: PendingEvent) -> None:
        """Give an event to an engine process; its ``done`` is called with what becomes of it."""
        self.under_way += 1
        pending.seconds = limit = min(self._limits.seconds, pending.seconds)
        if limit >= _LONG:
            self._long.add(pending)
        else:
            pending.timer = self._loop.call_later(limit, self._end_late, pending)
        self._give(pending, self._guesses.of(pending.request))

    def _end_late(self, pending: PendingEvent) -> None:
        self.cancel(pending, f"it took more than {pending.seconds:g} s")

    def cancel(self, pending: PendingEvent, why: str) -> None:
        """End an event, with all that it runs."""
        if pending.is_done:
            return
        pending.why = pending.why or why
        if pending.engine is not None:
            pending.engine.kill()  # which is reported as the end of the event
        else:
            self._finish(pending, Lost(pending.why))

    def abandon(self, pending: PendingEvent) -> None:
        """End an event whose client has gone, unless the client may have gone with the answer."""
        if pending.engine is None or not pending.engine.may_have_answered:
            self.cancel(pending, "its client has gone")

    def _give(self, pending: PendingEvent, name: str) -> None:
        """Give an event to an idle process of a project, or let it wait for one."""
        project = self._projects.get(name)
        if project is None:
            project = self._projects[name] = _Project()
        while project.idle:
            engine = project.idle.pop()
            if not engine.has_ended:
                self._ask(engine, pending)
                return
            project.engines.discard(engine)
            engine.close()
        project.waiting.append(pending)
        if not pending.has_deadline:
            self._loop.call_later(_QUEUED, self._give_up_waiting, pending)
        if project.size:
            self._loop.call_later(_MOMENT, self._grow, name, pending)
        else:
            self._grow(name, pending)

    def _give_up_waiting(self, pending: PendingEvent) -> None:
        if pending.waits:
            self._finish(pending, Lost("no engine process was free for it", client_can_fire=True))

    def _ask(self, engine: EngineHandle, pending: PendingEvent) -> None:
        pending.engine = engine
        engine.ask(pending.body, pending.client, partial(self._said, engine, pending))

    def _said(self, engine: EngineHandle, pending: PendingEvent, said: bytes) -> None:
        """Do what an engine process has said about an event; it has ended if that is nothing."""
        pending.engine = None
        kind, text = said[:1], said[2:]
        self._give_back(engine, is_fit=said[1:2] == b"\0" and not pending.why)
        if kind == DELIVERED:
            self._finish(pending, text[0])
        elif kind == ANSWERED:
            self._finish(pending, FireAnswer.read(text))
        elif kind == MOVED and not pending.why and pending.bounces < _BOUNCES:
            pending.bounces += 1
            self._give(pending, self._guesses.learn(pending.request, os.fsdecode(text)))
        else:
            why = pending.why or ("its project changed again and again" if said else _ENDED)
            self._finish(pending, Lost(why, not said and engine.may_have_answered))

    def _finish(self, pending: PendingEvent, answer: FireAnswer | int | Lost) -> None:
        self.under_way -= 1
        pending.is_done = True
        if pending.timer is not None:
            pending.timer.cancel()
        else:
            self._long.discard(pending)
        if isinstance(answer, Lost):
            self._counters.events["lost"] += 1
        else:
            status = answer if isinstance(answer, int) else answer.status
            self._counters.answered(status, monotonic() - pending.began)
        pending.done(answer)

    # Engine processes.

    def _give_back(self, engine: EngineHandle, *, is_fit: bool) -> None:
        project = self._projects.get(engine.project)
        engine.used = monotonic()
        if project is None:  # the server ends
            engine.close()
            return
        if not is_fit:
            project.engines.discard(engine)
            engine.close()
            self._forget_if_unused(engine.project)
            self._serve_waiting()
        else:
            self._use(engine, project)

    def _use(self, engine: EngineHandle, project: _Project) -> None:
        """Give a free process the event that waits longest, or keep it for the next."""
        pending = project.next(take=True) if project.waiting else None
        if pending is not None:
            self._ask(engine, pending)
            return
        project.idle.append(engine)
        if len(self._projects) > 1:
            self._serve_waiting()

    def _serve_waiting(self) -> None:
        """Start processes for projects whose events wait for none."""
        for name, project in tuple(self._projects.items()):
            if project.waiting and not project.size and (pending := project.next(take=False)) is not None:
                self._grow(name, pending)

    def _grow(self, name: str, pending: PendingEvent) -> None:
        """Start another process for a project, if an event still waits for it and there is room."""
        project = self._projects.get(name)
        if (
            project is None
            or not pending.waits
            or project.size >= self._limits.per_project
            or project.starting >= len(project.waiting)
        ):
            return
        if self._size >= self._limits.engines and not self._end_oldest():
            return  # what is given back next makes room
        try:
            engine = EngineHandle(self._forks, name)
        except OSError as error:
            self._cannot_start(project, error.strerror or str(error))
            return
        project.starting += 1
        timer = self._loop.call_later(_START, self._give_up, engine)
        engine.begin(partial(self._begun, engine, project, timer))

    def _give_up(self, engine: EngineHandle) -> None:
        engine.give_up()

    def _begun(self, engine: EngineHandle, project: _Project, timer: asyncio.TimerHandle, said: bytes) -> None:
        timer.cancel()
        project.starting -= 1
        if not said:
            engine.close()
            self._cannot_start(project, _ENDED)
            return
        self._counters.started += 1
        project.engines.add(engine)
        self._use(engine, project)

    def _cannot_start(self, project: _Project, why: str) -> None:
        if (pending := project.next(take=True)) is not None:
            lost = Lost(f"no engine process could be started ({why})", client_can_fire=not pending.has_deadline)
            self._finish(pending, lost)

    # Ending.

    def _end_oldest(self) -> bool:
        """End the idle process that was used longest ago; return False if none is idle."""
        idle = [engine for project in self._projects.values() for engine in project.idle]
        if not idle:
            return False
        self._end(min(idle, key=lambda engine: engine.used))
        return True

    def _end(self, engine: EngineHandle) -> None:
        project = self._projects[engine.project]
        project.idle.remove(engine)
        project.engines.discard(engine)
        engine.close()
        self._forget_if_unused(engine.project)

    def _forget_if_unused(self, name: str) -> None:
        project = self._projects.get(name)
        if project is not None and not project.size and project.next(take=False) is None:
            del self._projects[name]

    def tidy(self) -> None:
        """End events that take too long, processes that their projects do not need, and those that a signal stopped."""
        now = monotonic()
        for pending in tuple(self._long):
            if now - pending.began > pending.seconds:
                self._end_late(pending)
        for name, project in tuple(self._projects.items()):
            for engine in tuple(project.idle):
                if engine.has_ended or (project.size > 1 and now - engine.used > _IDLE):
                    self._end(engine)
            for engine in project.engines - set(project.idle):
                if engine.is_stopped():
                    engine.kill()
            self._forget_if_unused(name)

    def close(self) -> None:
        """End all processes."""
        for project in self._projects.values():
            for engine in project.engines:
                engine.close()
        self._projects.clear()
