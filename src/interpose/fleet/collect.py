"""Collect the record of all nodes into PostgreSQL: ``interpose fleet collect``.

Messages are acknowledged after their transaction is committed, and removed from the stream later. A collector that is
killed in between gets them again, and the records that are there already are dropped. Several collectors may run: each
message goes to one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..audit.postgres.connection import PostgresUnavailable, connect, without_secrets
from ..audit.postgres.partitions import shown_day
from ..audit.postgres.schema import create_tables
from ..audit.postgres.writer import Arrived, PostgresWriter, Rejected, Written
from ..config.fleet import FleetSettings
from ..errors import InterposeError
from ..handlers.nats_client import connect as connect_to_nats
from ..handlers.nats_client import explain
from ..ids import new_id
from .messages import BadMessage, unpack
from .names import TeamNames

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["Collected", "collect"]

_DURABLE = "collector"
_MESSAGES = 64
"""How many messages are written in one transaction."""
_ACK_WAIT = 30.0
"""Seconds after which the server gives a message to a collector again that has not acknowledged it."""
_MOST_PENDING = 1024
_FETCH_SECONDS = 1.0
_PATIENCE = 5.0
_PAUSES = (0.5, 15.0)
_RETENTION_SECONDS = 3600.0
_TRIM_SECONDS = 10.0
"""How often messages that all consumers have acknowledged are removed from the stream."""

_TOO_LARGE = "54"
"""The class of PostgreSQL's codes for a value that is larger than it can hold."""

Tell = Callable[[str], None]


class Collected:
    """What a collector has done since it was started."""

    def __init__(self) -> None:
        self.records = self.repeated = self.quarantined = self.flaws = 0

    def add(self, written: Written) -> None:
        """Add what was written."""
        self.records += written.records
        self.repeated += written.repeated
        self.quarantined += len(written.quarantined)
        self.flaws += len(written.flaws)


async def collect(
    settings: FleetSettings, url: str, *, days: int | None = None, once: bool = False, tell: Tell = print
) -> Collected:
    """Collect until cancelled; with ``once``, until there is nothing more. Records are dropped after some ``days``."""
    database = _Database(url, settings.team, days, tell)
    await asyncio.to_thread(database.open)  # a database that cannot be used is a mistake to be told at once

    async def changed(what: str) -> None:
        if what != "closed":
            tell(f"NATS: {what}")

    try:
        client = await connect_to_nats(settings.nats, name="interpose collect", forever=True, on_change=changed)
        try:
            await _Collector(settings, client, database, tell).run(once=once)
        finally:
            await client.close()
    finally:
        database.close()
    return database.done


class _Database:
    """PostgreSQL as the collector uses it, from one thread at a time."""

    def __init__(self, url: str, team: str, days: int | None, tell: Tell) -> None:
        self._url, self._team, self._days, self._tell = url, team, days, tell
        self._writer: PostgresWriter | None = None
        self._dropped_at = float("-inf")
        self.done = Collected()

    def open(self) -> PostgresWriter:
        """Return a writer whose tables are there."""
        if self._writer is None:
            connection = connect(self._url, name="interpose collect")
            try:
                create_tables(connection, new_id(), self._team)
            except BaseException:
                connection.close()
                raise
            self._writer = PostgresWriter(connection)
        return self._writer

    def close(self) -> None:
        """Close the connection."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def write(self, arrived: Sequence[Arrived], rejected: Sequence[Rejected]) -> None:
        """Write messages; raise PostgresUnavailable if the database is away. One that it refuses is put aside."""
        try:
            self._add(self.open().write(arrived, rejected))
        except InterposeError as error:
            self.close()
            raise PostgresUnavailable(error.problem.what) from None
        except Exception as error:
            self.close()
            if not _is_about_content(error):
                raise PostgresUnavailable(without_secrets(self._url, error)) from None
            # Whatever a node has sent must not stop the others.
            if len(arrived) + len(rejected) > 1:
                for one in arrived:
                    self.write([one], [])
                for reject in rejected:
                    self.write([], [reject])
            elif arrived:
                said = f"it cannot be written: {without_secrets(self._url, error)}"
                self.write([], [Rejected(subject=arrived[0].subject, reason=said, payload=arrived[0].payload)])
            else:
                raise PostgresUnavailable(without_secrets(self._url, error)) from None

    def _add(self, written: Written) -> None:
        self.done.add(written)
        for one in written.quarantined:
            self._tell(f"quarantined: {one.subject}: {one.reason}")
        for node, store, flaw in written.flaws:
            self._tell(f"broken chain: node {node}, store {store}: record {flaw.number} {flaw.what}")

    def drop_old(self) -> None:
        """Drop the records that are too old, if it is time; what was dropped is written down there and told."""
        from psycopg import Error

        if self._days is None or monotonic() - self._dropped_at < _RETENTION_SECONDS:
            return
        try:
            dropped = self.open().drop_before(self._days)
        except Error as error:
            self.close()
            raise PostgresUnavailable(without_secrets(self._url, error)) from None
        self._dropped_at = monotonic()
        for one in dropped:
            self._tell(f"dropped the {one.records} records that were collected on {shown_day(one.day)}")


def _is_about_content(error: Exception) -> bool:
    """Say whether an error is about what is written, and not about the database: then it would come again and again."""
    from psycopg import DataError, Error, IntegrityError

    if not isinstance(error, Error):
        return True
    return isinstance(error, DataError | IntegrityError) or (error.sqlstate or "").startswith(_TOO_LARGE)


class _Collector:
    def __init__(self, settings: FleetSettings, client: Client, database: _Database, tell: Tell) -> None:
        self._team, self._client, self._database, self._tell = settings.team, client, database, tell
        self._names = TeamNames(settings.team)
        self._subscription: Any = None
        self._said: dict[str, str] = {}
        self._trimmed = (float("-inf"), 0)
        """When the stream was trimmed, and up to which message."""

    def _say(self, about: str, what: str = "") -> None:
        """Tell a problem of NATS or of PostgreSQL once, and that it is over."""
        if what != self._said.get(about, ""):
            self._tell(f"{about}: {what or 'is back'}")
            self._said[about] = what

    async def run(self, *, once: bool) -> None:
        """Fetch messages while those before them are written."""
        await self._with_patience(self._database.drop_old, [])
        fetching = asyncio.ensure_future(self._fetch())
        try:
            while True:
                messages = await fetching
                if messages is None and once:
                    await self._trim()
                    return
                fetching = asyncio.ensure_future(self._fetch())
                if messages:
                    await self._keep(messages)
                await self._with_patience(self._database.drop_old, [])
                if monotonic() - self._trimmed[0] > _TRIM_SECONDS:
                    await self._trim()
        finally:
            fetching.cancel()

    async def _trim(self) -> None:
        """Remove what all consumers of the stream have acknowledged, so that there is room for more."""
        stream, upto = self._names.record_stream, self._trimmed[1]
        try:
            async with asyncio.timeout(_PATIENCE):
                context = self._client.jetstream(timeout=_PATIENCE)
                consumers = await context.consumers_info(stream)
                floor = min((one.ack_floor.stream_seq for one in consumers if one.ack_floor is not None), default=0)
                if floor > upto:
                    await context.purge_stream(stream, seq=floor + 1)
                    upto = floor
            self._say("the stream of records")
        except Exception as error:  # records are collected nevertheless, until the stream is full
            self._say("the stream of records", f"what was collected cannot be removed: {explain(error)}")
        self._trimmed = (monotonic(), upto)

    async def _fetch(self) -> list[Msg] | None:
        """Return messages; None if there are none and none is on its way."""
        pause = _PAUSES[0]
        while True:
            try:
                async with asyncio.timeout(_FETCH_SECONDS + _PATIENCE):
                    if self._subscription is None:
                        self._subscription = await self._subscribe()
                    try:
                        found: list[Msg] = await self._subscription.fetch(_MESSAGES, timeout=_FETCH_SECONDS)
                    except TimeoutError:
                        info = await self._subscription.consumer_info()
                        self._say("NATS")
                        return [] if info.num_pending or info.num_ack_pending else None
                self._say("NATS")
                return found
            except Exception as error:  # a server that is away, a leader that is being elected, a missing stream
                self._subscription = None
                self._say("NATS", f"no records: {explain(error)}")
                await asyncio.sleep(pause)
                pause = min(pause * 2, _PAUSES[1])

    async def _subscribe(self) -> Any:
        from nats.js.api import AckPolicy, ConsumerConfig

        context = self._client.jetstream(timeout=_PATIENCE)
        config = ConsumerConfig(
            ack_policy=AckPolicy.EXPLICIT, ack_wait=_ACK_WAIT, max_ack_pending=_MOST_PENDING, max_deliver=-1,
            description="writes the record to PostgreSQL",
        )  # fmt: skip
        return await context.pull_subscribe(
            self._names.record_subjects, durable=_DURABLE, stream=self._names.record_stream, config=config
        )

    async def _keep(self, messages: list[Msg]) -> None:
        """Write messages, however long the database is away, and acknowledge them."""
        await self._with_patience(lambda: self._write(messages), messages)
        for message in messages:
            await message.ack()

    def _write(self, messages: Sequence[Msg]) -> None:
        arrived, rejected = list[Arrived](), list[Rejected]()
        prefix = self._names.record_subject("")
        for message in messages:
            node = message.subject.removeprefix(prefix)
            try:
                batch = unpack(self._team, node, message.data)
            except BadMessage as error:
                rejected.append(Rejected(subject=message.subject, reason=str(error), payload=message.data))
            except Exception as error:  # whatever a node has sent must not stop the others
                said = f"it cannot be read: {type(error).__name__}"
                rejected.append(Rejected(subject=message.subject, reason=said, payload=message.data))
            else:
                arrived.append(Arrived(node=node, batch=batch, subject=message.subject, payload=message.data))
        self._database.write(arrived, rejected)

    async def _with_patience(self, work: Callable[[], None], messages: Sequence[Msg]) -> None:
        """Do something with the database in a thread, again and again while the database is away."""
        pause = _PAUSES[0]
        while True:
            try:
                await asyncio.to_thread(work)
                self._say("PostgreSQL")
                return
            except PostgresUnavailable as error:
                self._say("PostgreSQL", f"is away: {error.problem.what}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _PAUSES[1])
            for message in messages:  # the server need not give them to another collector
                await message.in_progress()
