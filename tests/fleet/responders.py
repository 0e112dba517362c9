"""Workers that misbehave: a NATS client in a thread that answers requests on a subject as a test says."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Self

import nats
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from interpose.handlers.nats_client import settle

Behave = Callable[[Msg], Awaitable[None]]


def answers(value: Any) -> Behave:
    """Answer every request with the same JSON, or the same bytes."""

    async def behave(message: Msg) -> None:
        await message.respond(value if isinstance(value, bytes) else json.dumps(value).encode())

    return behave


async def hangs(message: Msg) -> None:
    """Never answer."""


def fails(**headers: str) -> Behave:
    """Answer with headers and no data."""

    async def behave(message: Msg) -> None:
        reply = Msg(_client=message._client, subject=message.reply, headers=headers)
        await reply._client.publish(message.reply, b"", headers=headers)

    return behave


class Responder:
    """Serves one subject in a queue group as long as the block runs; remembers what it was asked."""

    def __init__(self, url: str, behave: Behave, subject: str = "checks.x", queue: str = "workers") -> None:
        self.asked: list[Msg] = []
        self.subscriptions: list[Subscription] = []
        self._url, self._behave, self._subject, self._queue = url, behave, subject, queue
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        client = await nats.connect(self._url, allow_reconnect=False)

        async def take(message: Msg) -> None:
            self.asked.append(message)
            await self._behave(message)

        self.subscriptions.append(await client.subscribe(self._subject, queue=self._queue, cb=take))
        await settle(client)
        self._ready.set()
        await self._over.wait()
        await client.close()

    @property
    def headers(self) -> list[dict[str, str]]:
        return [dict(message.headers or {}) for message in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._over is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(60)
