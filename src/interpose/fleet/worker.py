"""The worker process: it serves functions as hooks of type ``nats``, and can be found and counted by ``nats.micro``.

Several workers of one subject form a queue group. A worker that is stopped takes no further request, answers those that
it has, and then ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..config.fleet import FleetSettings
from ..handlers.nats_client import connect, settle
from ..handlers.nats_names import WORKER_HEADER, subject_of_worker
from ..runtime.faults import log
from ..runtime.regex import regex
from .served import Response, ServedFunction, failure

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.micro.service import Service

__all__ = ["QUEUE", "SERVICE", "Worker", "find_workers"]

SERVICE = "interpose-worker"
"""The name under which workers are found."""
QUEUE = "interpose-workers"

_MOST_WAITING = 1000
"""Requests that wait for their turn, per worker; further ones fail at once."""
_DRAIN = 10.0
_QUIET = 0.5
"""Seconds without a further answer after which all workers have answered."""
_NOT_A_NAME = regex(r"[^A-Za-z0-9_-]")


class Worker:
    """Functions that are served on one connection, from ``start`` to ``stop``."""

    def __init__(self, settings: FleetSettings, queue: str = QUEUE) -> None:
        self._settings, self._queue = settings, queue
        self._running: set[asyncio.Task[None]] = set()
        self._served: list[ServedFunction] = []
        self._subscriptions: list[Any] = []
        self._client: Client | None = None
        self._service: Service | None = None
        self._stopping = False
        self.id = ""

    async def start(self, served: Sequence[ServedFunction]) -> None:
        """Connect, and take requests; raise NatsUnavailable if there is no server."""
        client = await connect(
            self._settings.nats, name=f"interpose worker {self._settings.node}", forever=True, on_change=self._tell
        )
        self._client, self._served = client, list(served)
        self._service = _service(client, self._settings, self._queue, self._served)
        self.id = self._service.id
        await self._service.start()
        for one in self._served:
            take = self._taker(one)
            for subject, queue in ((one.subject, self._queue), (subject_of_worker(one.subject, self.id), "")):
                self._subscriptions.append(
                    await client.subscribe(subject, queue=queue, cb=take, pending_bytes_limit=-1)
                )
        await settle(client)

    async def stop(self) -> None:
        """Take no further request, answer those that are here, and close the connection."""
        client = self._client
        if client is None:
            return
        self._stopping = True
        try:
            async with asyncio.timeout(_DRAIN):
                await asyncio.gather(*(one.drain() for one in self._subscriptions))
        except Exception as error:  # without a connection nothing comes any more
            log("warning", "worker: %s", error)
        if self._running:
            await asyncio.wait(self._running)
        try:
            async with asyncio.timeout(_DRAIN):
                if self._service is not None:
                    await self._service.stop()
                await client.flush()
        except Exception as error:
            log("warning", "worker: %s", error)
        await client.close()

    async def _tell(self, what: str) -> None:
        if not self._stopping:
            log("warning", "worker: %s", what)

    def _taker(self, served: ServedFunction) -> Any:
        async def take(message: Msg) -> None:
            task = asyncio.create_task(self._answer(served, message))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

        return take

    async def _answer(self, served: ServedFunction, message: Msg) -> None:
        if len(self._running) > _MOST_WAITING:
            response = failure("spawn_resource", f"the worker has {_MOST_WAITING:,} requests already")
        else:
            response = await served.respond(message.data, message.headers or {})
        if not message.reply or self._client is None:
            return
        try:
            await self._client.publish(message.reply, *self._sendable(response))
        except Exception as error:
            log("warning", "worker: an answer of %s could not be sent: %s", served.name, error)

    def _sendable(self, response: Response) -> tuple[bytes, str, dict[str, str]]:
        """Return what is published: an answer that the server does not take may be a deny, and is not cut."""
        most = self._client.max_payload - 2000 if self._client is not None else 0
        if len(response.data) > most:
            response = failure("bad_reply", f"its answer has {len(response.data):,} bytes, and the server takes "
                               f"messages of up to {most + 2000:,} (max_payload)")  # fmt: skip
        return response.data, "", {**response.headers, WORKER_HEADER: self.id}


def _service(client: Client, settings: FleetSettings, queue: str, served: list[ServedFunction]) -> Service:
    """Return a service that reports these functions; their requests come to subscriptions of our own.

    Those of the package handle one request after another, and lose what waits when the service is stopped.
    """
    from nats.micro.service import EndpointInfo, EndpointStats, Service, ServiceConfig, ServiceInfo, ServiceStats

    from .. import __version__

    class ServiceOfFunctions(Service):
        def stats(self) -> ServiceStats:
            found = super().stats()
            found.endpoints = [
                EndpointStats(
                    name=_endpoint_name(one.name), subject=one.subject, queue_group=queue,
                    num_requests=one.counts.requests, num_errors=one.counts.errors,
                    processing_time=one.counts.nanoseconds, last_error=one.counts.last_error,
                    average_processing_time=one.counts.nanoseconds // max(1, one.counts.requests),
                    data={"function": one.name, "repeated": one.counts.repeated},
                )
                for one in served
            ]  # fmt: skip
            return found

        def info(self) -> ServiceInfo:
            found = super().info()
            found.endpoints = [
                EndpointInfo(_endpoint_name(one.name), one.subject, queue, {"function": one.name}) for one in served
            ]
            return found

    about = {"host": os.uname().nodename, "pid": str(os.getpid()), "node": settings.node, "team": settings.team}
    version = __version__ if re.fullmatch(r"\d+\.\d+\.\d+", __version__) else "0.0.0"
    return ServiceOfFunctions(
        client, ServiceConfig(name=SERVICE, version=version, description="hooks of type nats", metadata=about)
    )


def _endpoint_name(function: str) -> str:
    return _NOT_A_NAME.sub("-", function)


async def find_workers(settings: FleetSettings, *, wait: float = 2.0) -> list[Mapping[str, Any]]:
    """Return the statistics of every worker that answers, as ``nats.micro`` reports them."""
    client = await connect(settings.nats, name=f"interpose {settings.node}")
    try:
        inbox = client.new_inbox()
        subscription = await client.subscribe(inbox)
        await client.publish(f"$SRV.STATS.{SERVICE}", reply=inbox)
        found: dict[str, Mapping[str, Any]] = {}
        end = monotonic() + wait
        while (left := end - monotonic()) > 0:
            try:
                message = await subscription.next_msg(timeout=min(left, _QUIET if found else left))
            except TimeoutError:
                break
            if (message.headers or {}).get("Status") == "503":
                break
            try:
                said = json.loads(message.data)
            except ValueError:
                continue
            if isinstance(said, dict) and isinstance(said.get("id"), str):
                found[said["id"]] = said
        return list(found.values())
    finally:
        await client.close()
