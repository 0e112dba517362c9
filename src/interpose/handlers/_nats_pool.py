"""Connections to NATS that hooks share: one per fleet, kept between events, and made again after it was lost.

They live on an event loop of their own, so that they outlive the loop of a host, and hosts without a loop can use them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..ids import new_id
from ..records import Record
from ..replies import HookFailed
from ..runtime.forks import after_fork
from ..runtime.regex import regex
from ..runtime.tasks import end_tasks
from ._loop_thread import LoopThread
from .nats_client import NatsOptions, NatsUnavailable, connect, explain
from .nats_names import WORKER_HEADER, subject_of_worker

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["NatsAnswer", "NatsPool", "NatsRequest"]

_WORKER = regex(r"[A-Za-z0-9]{1,64}")

_CONNECT = 5.0
"""Seconds for a connection; an event that has less does not wait for it, and a later one may use it."""
_PROBE = 2.0
"""Seconds within which a server answers a ping after a worker did not answer."""
_LONGEST_CLOSE = 5.0
_NO_RESPONDERS = "503"
_LEFT = "Interpose-Deadline"


class NatsRequest(Record):
    """One event for the workers of a subject."""

    subject: str
    headers: Mapping[str, str]
    data: bytes
    deadline: float
    """On the monotonic clock."""
    hedged: bool
    """Whether it is sent once more, with the same id, if half of the time is over."""


class NatsAnswer(Record):
    """The answer of a worker."""

    data: bytes
    headers: Mapping[str, str]
    hedged: bool
    """Whether the request was sent twice."""
    reused: bool
    """Whether the connection was there before."""


class _Lost(Exception):
    """The connection is gone, and with it the answer."""


class _Asking:
    """A request that waits: how often it was sent, and how often there was no worker."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.token = new_id()
        self.answer: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(lambda future: future.cancelled() or future.exception())
        self.sent = 0
        self.without_worker = 0
        self.directed = ""
        """The subject of one worker, to which it was sent the second time."""
        self.redirect: Callable[[], None] | None = None
        """Sends it to any worker instead, if that one is not there."""

    def take(self, message: Msg) -> None:
        if self.answer.done():
            return
        if not message.data and (message.headers or {}).get("Status") == _NO_RESPONDERS:
            self.without_worker += 1
            if self.without_worker >= self.sent:
                self.fail(HookFailed("nats_no_worker", f"no worker serves {self.subject}"))
            self.go_elsewhere()
            return
        self.answer.set_result(message)

    def go_elsewhere(self) -> None:
        """Send it to any worker, if it was sent to one that is not there."""
        redirect, self.redirect = self.redirect, None
        if redirect is not None and not self.answer.done():
            redirect()

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    async def until(self, moment: float) -> bool:
        """Wait for the answer, or for a failure; say whether there is one."""
        if not self.answer.done():
            await asyncio.wait({self.answer}, timeout=max(0.0, moment - monotonic()))
        return self.answer.done()

    @property
    def is_lost(self) -> bool:
        return self.answer.done() and isinstance(self.answer.exception(), _Lost)


class _Connection:
    """One connection, and the requests that wait on it. Answers come to one subscription."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._asking: dict[str, _Asking] = {}
        self._inbox = ""
        self._probe: asyncio.Task[None] | None = None
        self._latest: dict[str, str] = {}
        """The worker that has answered last, by subject: it is not the one that hangs."""
        self._sending: set[asyncio.Task[None]] = set()
        self.is_over = False
        self.used = False
        self.problem = ""
        """Why answers cannot come: the server does not let this client have them."""

    async def open(self, options: NatsOptions) -> None:
        client = await connect(options, name="interpose hooks", patience=_CONNECT, on_change=self._changed)
        try:
            self._client, self._inbox = client, client.new_inbox()
            await client.subscribe(f"{self._inbox}.*", cb=self._take)
        except BaseException:
            await client.close()
            raise

    async def close(self) -> None:
        self._end()
        if self._probe is not None:
            self._probe.cancel()
        if self._client is not None and not self._client.is_closed:
            await self._client.close()

    async def _take(self, message: Msg) -> None:
        asking = self._asking.get(message.subject.rpartition(".")[2])
        if asking is None:
            return
        worker = (message.headers or {}).get(WORKER_HEADER, "")
        if _WORKER.fullmatch(worker):
            self._latest[asking.subject] = worker
        asking.take(message)

    async def _changed(self, what: str) -> None:
        if what in ("disconnected", "closed"):
            self._end()
        elif "permissions violation" in (said := what.lower()):
            refused = [one for one in self._asking.values() if f'"{one.subject.lower()}"' in said]
            for one in self._asking.values():
                if one.directed and f'"{one.directed.lower()}"' in said:
                    one.go_elsewhere()
            if not refused and "subscription" in said:
                self.problem = what
                refused = list(self._asking.values())
            for one in refused:
                one.fail(HookFailed("nats_refused", f"the server refuses {one.subject} to this client: {what}"))

    def _end(self) -> None:
        self.is_over = True
        for one in tuple(self._asking.values()):
            one.fail(_Lost())

    def expect(self, subject: str) -> _Asking:
        made = _Asking(subject)
        self._asking[made.token] = made
        if self.is_over:
            made.fail(_Lost())
        elif self.problem:
            made.fail(HookFailed("nats_refused", f"the server lets this client have no answers: {self.problem}"))
        return made

    def forget(self, asking: _Asking) -> None:
        self._asking.pop(asking.token, None)

    async def send_again(self, asking: _Asking, request: NatsRequest) -> None:
        """Send a request once more: to the worker that has answered last, or to any if that one is gone.

        The group may give it to the worker that hangs, again and again.
        """
        worker = self._latest.get(request.subject)
        if worker is None:
            await self.send(asking, request)
            return

        def redirect() -> None:
            task = asyncio.ensure_future(self.send(asking, request))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

        asking.directed, asking.redirect = subject_of_worker(request.subject, worker), redirect
        await self.send(asking, request, asking.directed)

    async def send(self, asking: _Asking, request: NatsRequest, to: str = "") -> None:
        """Send a request to its subject, or to that of one worker, with the time that is left for it."""
        client = self._client
        if client is None or asking.answer.done():
            return
        left = max(1, int((request.deadline - monotonic()) * 1000))
        headers = {**request.headers, _LEFT: str(left)}
        size = len(request.data) + sum(len(name) + len(value) + 4 for name, value in headers.items()) + 12
        if size > client.max_payload:
            raise HookFailed("nats_too_large", f"the event has {size:,} bytes, and the server takes messages of up to "
                             f"{client.max_payload:,} (max_payload)")  # fmt: skip
        asking.sent += 1
        try:
            await client.publish(to or request.subject, request.data, f"{self._inbox}.{asking.token}", headers)
        except Exception as error:
            if client.is_closed or not client.is_connected:
                self._end()  # known here before the client tells it: no later request may take this connection
                return
            raise HookFailed("nats_unreachable", f"the event could not be sent: {explain(error)}") from None

    def doubt(self) -> None:
        """Ask the server itself whether it is there, and give the connection up if it does not answer."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.ensure_future(self._ping())

    async def _ping(self) -> None:
        client = self._client
        try:
            if client is not None:
                await client.flush(timeout=_PROBE)  # type: ignore[arg-type] # a float is fine
        except Exception:
            self._end()
            if client is not None:
                await client.close()


class NatsPool:
    """Asks workers. Hooks of one fleet share a connection."""

    def __init__(self) -> None:
        self._thread = LoopThread("interpose-nats")
        self._kept: dict[str, asyncio.Task[_Connection]] = {}
        self._of_parent: list[Any] = []  # never collected in a child: that would close what the parent uses
        after_fork(self.forget)

    def ask(self, options: NatsOptions, request: NatsRequest) -> Future[NatsAnswer]:
        """Ask; the future has the answer, or raises HookFailed. Cancelling it gives the request up."""
        return self._thread.submit(self._ask(options, request))

    def close(self) -> None:
        """Close the connections; a later event makes new ones."""
        if not self._thread.runs:
            return
        try:
            self._thread.submit(self._close()).result(_LONGEST_CLOSE)
        except TimeoutError:
            pass
        finally:
            self._thread.stop()

    def forget(self) -> None:
        """Start anew after a fork: the connections are the parent's."""
        self._of_parent += [self._kept, self._thread]
        self._thread, self._kept = LoopThread("interpose-nats"), {}

    async def _ask(self, options: NatsOptions, request: NatsRequest) -> NatsAnswer:
        half = monotonic() + (request.deadline - monotonic()) / 2
        connection, asking = await self._sent(options, request)
        reused, connection.used = connection.used, True
        hedged = False
        try:
            if request.hedged and (not await asking.until(half) or asking.is_lost):
                hedged = True
                if asking.is_lost:
                    connection.forget(asking)
                    connection, asking = await self._sent(options, request)
                else:
                    await connection.send_again(asking, request)
            answered = await asking.until(request.deadline)
        except asyncio.CancelledError:
            connection.doubt()
            raise
        finally:
            connection.forget(asking)
        if not answered:
            connection.doubt()
            raise HookFailed("timeout", f"no worker of {request.subject} has answered{', asked twice' * hedged}")
        try:
            message = asking.answer.result()
        except _Lost:
            raise HookFailed("nats_unreachable", "the connection was lost before a worker answered") from None
        return NatsAnswer(data=message.data, headers=message.headers or {}, hedged=hedged, reused=reused)

    async def _sent(self, options: NatsOptions, request: NatsRequest) -> tuple[_Connection, _Asking]:
        """Send a request on the connection that is kept; on another one if that is found to be lost."""
        while True:
            connection = await self._connected(options, request.deadline)
            asking = connection.expect(request.subject)
            try:
                await connection.send(asking, request)
            except BaseException:
                connection.forget(asking)
                raise
            if not (asking.is_lost and connection.used):
                return connection, asking
            connection.forget(asking)

    async def _connected(self, options: NatsOptions, deadline: float) -> _Connection:
        key = repr(options)
        kept = self._kept.get(key)
        if kept is None or (kept.done() and (kept.cancelled() or kept.exception() or kept.result().is_over)):
            kept = self._kept[key] = asyncio.ensure_future(_open(options))
            kept.add_done_callback(lambda task: task.cancelled() or task.exception())
        if not kept.done():
            await asyncio.wait({kept}, timeout=max(0.0, deadline - monotonic()))
        if not kept.done():
            raise HookFailed("nats_unreachable", f"{options.shown}: no connection in time")
        return kept.result()

    async def _close(self) -> None:
        kept, self._kept = list(self._kept.values()), {}
        for task in kept:
            if task.done() and not task.cancelled() and task.exception() is None:
                await task.result().close()
            else:
                task.cancel()
        await end_tasks(asyncio.all_tasks() - {asyncio.current_task()}, patience=2)


async def _open(options: NatsOptions) -> _Connection:
    made = _Connection()
    try:
        await made.open(options)
    except NatsUnavailable as error:
        raise HookFailed(_code_of(error), str(error)) from None
    except Exception as error:
        raise HookFailed("nats_unreachable", f"{options.shown}: {explain(error)}") from None
    return made


def _code_of(error: NatsUnavailable) -> str:
    said = error.problem.what.lower()
    if "not installed" in said:
        return "nats_package"
    if "file cannot be read" in said:
        return "nats_credentials"
    return "nats_refused" if "authorization" in said or "authentication" in said else "nats_unreachable"
