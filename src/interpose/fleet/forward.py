"""Forward the record: the stores of this machine are the outbox, and a stream of NATS takes what is in them.

Messages of a store are published in order, several at once. Progress moves when the servers have acknowledged a message
and all before it; after a crash some are sent again, and the server or the collector drops them.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..audit.raw import RawBatch
from ..config.fleet import FleetSettings
from ..handlers.nats_client import explain
from ..records import replace
from .messages import message_id, pack, pack_readable
from .outboxes import Outbox, Outboxes

if TYPE_CHECKING:
    from .node import Node

__all__ = ["forward_record"]

_IN_FLIGHT = 8
"""How many messages wait for their acknowledgement at once."""
_ACK_SECONDS = 5.0
_POLL_SECONDS = 0.25
_LOOK_SECONDS = 5.0
"""How often new stores are looked for."""
_REPORT_SECONDS = 5.0
_PAUSES = (0.5, 10.0)
"""Seconds before a message that was not taken is sent again: the first time, and at most."""
_HEADERS = 1024
"""Bytes of a message beside its payload."""
_FULL = (10077, 10122)
"""The server's codes for a stream that is full."""


async def forward_record(node: Node) -> None:
    """Forward records as they are written, without end. This is the part ``record`` of a node."""
    outboxes = Outboxes(_named_stores(node.settings), node.settings.outbox)
    await asyncio.to_thread(outboxes.save)  # from now on retention keeps what was not forwarded
    await _Forwarder(node, outboxes).run()


def _named_stores(settings: FleetSettings) -> list[str]:
    """Return the path of the store that the configuration of this node names."""
    import os

    from ..config.load import Source, load_sources
    from ..errors import InterposeError
    from ..events import TABLE

    file = settings.place.rsplit(":", 2)[0]
    if not os.path.isfile(file):
        return []
    try:
        audit = load_sources(TABLE, [Source(file)], lines=False).audit
    except InterposeError:  # the node runs, so it was readable once; what is known is forwarded
        return []
    return [str(audit["path"])] if audit is not None else []


class _NotTaken(Exception):
    """The servers did not take a message: the state that this is, and why."""

    def __init__(self, state: str, text: str) -> None:
        self.state, self.text = state, text
        super().__init__(text)


class _Forwarder:
    def __init__(self, node: Node, outboxes: Outboxes) -> None:
        self._node, self._outboxes = node, outboxes
        self._context = node.client.jetstream()
        self._subject = node.names.record_subject(node.settings.node)
        self._said: Any = None
        self._said_at = float("-inf")

    async def run(self) -> None:
        looked = float("-inf")
        pause = _PAUSES[0]
        while True:
            if monotonic() - looked > _LOOK_SECONDS:
                await asyncio.to_thread(self._outboxes.look)
                looked = monotonic()
            try:
                busy = await self._round()
                pause = _PAUSES[0]
            except _NotTaken as error:
                self._report(error.state, error.text)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _PAUSES[1])
                continue
            self._report()
            if not busy:
                await asyncio.sleep(_POLL_SECONDS)

    async def _round(self) -> bool:
        """Forward a few messages of every store that has some; return whether there were any."""
        busy = False
        for outbox in list(self._outboxes.stores.values()):
            if not await asyncio.to_thread(outbox.has_changed):
                continue
            batches = await asyncio.to_thread(outbox.batches, _IN_FLIGHT)
            if batches:
                busy = True
                outbox.is_in("forwarding")
                await self._publish(outbox, batches)
        return busy

    async def _publish(self, outbox: Outbox, batches: list[RawBatch]) -> None:
        """Publish batches in order and at once; move on behind those that were taken without one missing before."""
        if not self._node.client.is_connected:
            self._not_taken(outbox, _NotTaken("offline", "there is no connection to NATS"))
        sent = [asyncio.ensure_future(self._publish_one(batch)) for batch in batches]
        try:
            answers = await asyncio.gather(*sent, return_exceptions=True)
        finally:
            for task in sent:
                task.cancel()
        problem: BaseException | None = None
        for batch, answer in zip(batches, answers, strict=True):
            if isinstance(answer, BaseException):
                problem = answer
                break
            outbox.acknowledged(batch)
        await asyncio.to_thread(self._outboxes.save)
        if problem is not None:
            self._not_taken(outbox, problem)

    def _not_taken(self, outbox: Outbox, error: BaseException) -> None:
        found = error if isinstance(error, _NotTaken) else _why_not_taken(error)
        outbox.is_in(found.state, found.text)
        raise found

    async def _publish_one(self, batch: RawBatch) -> None:
        settings = self._node.settings
        for part, payload in _messages(settings.team, settings.node, batch, self._node.client.max_payload - _HEADERS):
            await self._context.publish(
                self._subject, payload, timeout=_ACK_SECONDS, stream=self._node.names.record_stream,
                headers={"Nats-Msg-Id": message_id(part)},
            )  # fmt: skip

    def _report(self, state: str = "", text: str = "") -> None:
        """Report what has changed: states at once, numbers from time to time."""
        described = {store: one.describe() for store, one in self._outboxes.stores.items()}
        states = (state, text, {store: (one["state"], one.get("gaps")) for store, one in described.items()})
        due = monotonic() - self._said_at > _REPORT_SECONDS
        numbers = {store: (one["last"], one["forwarded"]) for store, one in described.items()}
        if self._said is not None and (self._said == (states, numbers) or (self._said[0] == states and not due)):
            return
        self._said, self._said_at = (states, numbers), monotonic()
        self._node.reported(record=described)
        self._node.has_problem("record", f"{state}: {text}" if state else self._outboxes.problem)


def _messages(team: str, node: str, batch: RawBatch, room: int) -> list[tuple[RawBatch, bytes]]:
    """Return a batch as messages that are accepted: whole, in halves, or one record without its body."""
    payload = pack_readable(team, node, batch)
    if payload is not None and len(payload) <= room:
        return [(batch, payload)]
    if len(batch.records) == 1:
        [one] = batch.records
        if batch.configurations:  # what describes it may be what is too large
            return _messages(team, node, replace(batch, configurations={}), room)
        bare = replace(batch, records=(replace(one, body=""),), left_out=frozenset([one.number]), configurations={})
        return [(bare, pack(team, node, bare))]
    middle = len(batch.records) // 2
    first = replace(batch, records=batch.records[:middle])
    second = replace(batch, records=batch.records[middle:], before=batch.records[middle - 1].hash, configurations={})
    return [*_messages(team, node, first, room), *_messages(team, node, second, room)]


def _why_not_taken(error: BaseException) -> _NotTaken:
    """Return the state that an error of publishing means."""
    code = getattr(error, "err_code", None)
    said = explain(error)
    if code in _FULL or "maximum" in said:
        return _NotTaken("full", "the stream of records is full: the collector has to catch up, or the stream to grow")
    if isinstance(error, TimeoutError):
        return _NotTaken("waiting", "the servers do not acknowledge records")
    if type(error).__name__ == "NoStreamResponseError":
        return _NotTaken("refused", "there is no stream of records: `interpose fleet setup` creates it")
    if isinstance(error, OSError) or type(error).__name__ in ("ConnectionClosedError", "ConnectionReconnectingError"):
        return _NotTaken("offline", said)
    return _NotTaken("refused", said)
