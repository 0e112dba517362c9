"""Create what a team keeps in NATS: the stream of records, and the buckets of rules, reports, questions and answers.

Creating is idempotent: what exists is left as it is, or changed to what is described here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..config.fleet import FleetSettings
from ..errors import UsageError
from ..handlers.nats_client import explain
from .names import TeamNames

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.api import StreamConfig

__all__ = ["SetupRefused", "create_all"]

_DAY = 24 * 3600.0
_DUPLICATES = 20 * 60.0
"""Seconds for which the server knows the records that it has, so that one sent twice is stored once."""
_REPORTS_KEPT = 7 * _DAY
"""A node that has not reported for as long is no longer listed."""
_QUESTIONS_KEPT = 7 * _DAY
_VERSIONS_KEPT = 64
"""The versions of a ring that `fleet rollback` can go back to: the most that a bucket keeps."""
_SMALL = 64 * 1024
_EXISTS_DIFFERENTLY = 10058
_NO_JETSTREAM = (10039, 10076)


class SetupRefused(UsageError):
    """The server does not keep what the fleet needs."""

    code = "fleet_setup"


async def create_all(client: Client, settings: FleetSettings, *, record_bytes: int = 0) -> list[str]:
    """Create the stream and the buckets of the team; return what was ``created`` or ``changed``, by name.

    ``record_bytes`` limits the stream of records: when it is full, nodes keep their records until there is room.
    """
    made: list[str] = []
    for config in _streams(TeamNames(settings.team), settings.replicas, record_bytes):
        made += await _create(client, config)
    return made


def _streams(names: TeamNames, replicas: int, record_bytes: int) -> list[StreamConfig]:
    from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

    record = StreamConfig(
        name=names.record_stream, description="records of all nodes", subjects=[names.record_subjects],
        retention=RetentionPolicy.LIMITS, discard=DiscardPolicy.NEW, duplicate_window=_DUPLICATES,
        max_bytes=record_bytes or -1,
    )  # fmt: skip
    bundles = StreamConfig(
        name=f"OBJ_{names.bundles}", description="rules by their digest",
        subjects=[f"$O.{names.bundles}.C.>", f"$O.{names.bundles}.M.>"], discard=DiscardPolicy.NEW,
        allow_rollup_hdrs=True,
    )  # fmt: skip
    buckets = [
        _bucket(names.rings, "the rules of each ring", history=_VERSIONS_KEPT, changes=names.ring_changes),
        _bucket(names.nodes, "what each node runs", age=_REPORTS_KEPT),
        _bucket(names.questions, "questions that wait for a person", age=_QUESTIONS_KEPT, size=1024 * 1024),
        _bucket(names.answers, "answers to questions", age=_QUESTIONS_KEPT, size=1024 * 1024,
                changes=names.answer_changes),
    ]  # fmt: skip
    for config in (record, bundles, *buckets):
        config.storage, config.num_replicas, config.allow_direct = StorageType.FILE, replicas, True
    return [record, bundles, *buckets]


def _bucket(
    bucket: str, about: str, *, history: int = 1, age: float = 0.0, size: int = _SMALL, changes: str = ""
) -> StreamConfig:
    """Return a key-value bucket as the stream that it is; what is stored is published once more below ``changes``."""
    from nats.js.api import DiscardPolicy, RePublish, StreamConfig

    return StreamConfig(
        name=f"KV_{bucket}", description=about, subjects=[f"$KV.{bucket}.>"], discard=DiscardPolicy.NEW,
        max_msgs_per_subject=history, max_age=age, max_msg_size=size, allow_rollup_hdrs=True, deny_delete=True,
        allow_msg_ttl=True, duplicate_window=120.0,
        republish=RePublish(src=f"$KV.{bucket}.>", dest=f"{changes}.>") if changes else None,
    )  # fmt: skip


async def _create(client: Client, config: StreamConfig) -> list[str]:
    from nats.js.errors import APIError, NotFoundError

    stream = client.jetstream(timeout=10)
    name = str(config.name)
    try:
        before = await stream.stream_info(name)
    except NotFoundError:
        before = None
    except Exception as error:
        raise _refused(name, error) from None
    try:
        if before is None:
            await stream.add_stream(config)
            return [f"created {name}"]
        after = await stream.update_stream(config)
    except APIError as error:
        if before is None and error.err_code == _EXISTS_DIFFERENTLY:  # another setup at the same moment
            return await _create(client, config)
        raise _refused(name, error) from None
    except Exception as error:
        raise _refused(name, error) from None
    return [] if after.config == before.config else [f"changed {name}"]


def _refused(name: str, error: Exception) -> SetupRefused:
    """Return what went wrong, with what to do about it."""
    from nats.errors import NoRespondersError
    from nats.js.errors import APIError, ServiceUnavailableError

    kind = type(error).__name__
    if kind == "NotJSMessageError" or isinstance(error, NoRespondersError | ServiceUnavailableError):
        if isinstance(error, APIError) and error.err_code not in (None, *_NO_JETSTREAM):
            return SetupRefused(f"the server cannot keep it: {error.description}", where=name,
                                hint="replicas: needs as many servers in the cluster")  # fmt: skip
        return SetupRefused("the server has no JetStream, or not for this account", where=name,
                            hint="add jetstream {store_dir: …} to its configuration, and jetstream: enabled to the "
                                 "account; `interpose fleet server-config` writes both")  # fmt: skip
    if isinstance(error, APIError):
        return SetupRefused(f"the server refuses it: {error.description}", where=name,
                            hint="nats stream info shows what is there; docs/fleet.md says what is needed")  # fmt: skip
    if isinstance(error, TimeoutError):
        return SetupRefused("the server gives no answer: this user may not create streams, or JetStream has no leader",
                            where=name, hint="connect as the administrator of the team; see docs/fleet.md")  # fmt: skip
    return SetupRefused(explain(error), where=name, hint="see docs/fleet.md")
