"""Read key-value and object buckets by direct requests.

Nothing is created on the server to read: a consumer could be told to deliver to any subject, also to one that its
creator may not publish to, so nodes have no permission to create any.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..handlers.nats_client import explain
from ..records import Record
from ..runtime.regex import regex
from ..strict_json import BadJson, decode

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["BucketProblem", "Entry", "read_history", "read_latest", "read_object", "write_object", "write_over"]

_PATIENCE = 5.0
"""Seconds for one request."""
_NUID = regex(r"[A-Za-z0-9]{1,64}")
_MOST_OF_A_KEY = 100
_GONE = ("DEL", "PURGE")
_WRONG_REVISION = (10071, 10164)


class BucketProblem(UsageError):
    """A bucket cannot be read or written: it is missing, or the server refuses or does not answer."""

    code = "fleet_bucket"


class Entry(Record, kw_only=False):
    """A value of a bucket, with the revision that a change of it has to name."""

    value: bytes | None
    """None if the key was deleted."""
    revision: int


async def read_latest(client: Client, bucket: str, key: str) -> Entry | None:
    """Return the latest value of a key; None if it never had any."""
    return await _read(client, f"KV_{bucket}", f"$KV.{bucket}.{key}", None)


async def read_history(client: Client, bucket: str, key: str) -> list[Entry]:
    """Return the kept values of a key, the oldest first."""
    found: list[Entry] = []
    while len(found) < _MOST_OF_A_KEY:
        begin = found[-1].revision + 1 if found else 1
        entry = await _read(client, f"KV_{bucket}", f"$KV.{bucket}.{key}", begin)
        if entry is None:
            break
        found.append(entry)
    return found


async def _read(client: Client, stream: str, subject: str, begin: int | None) -> Entry | None:
    """Return the last message of a subject, or the first one from a sequence on; None if there is none."""
    from nats.js.errors import NotFoundError

    try:
        found = await client.jetstream(timeout=_PATIENCE).get_msg(
            stream, subject=subject, direct=True, seq=begin, next=begin is not None
        )
    except NotFoundError:
        return None
    except Exception as error:
        raise _problem(stream, error) from None
    if found.subject != subject or not found.seq:
        return None
    gone = (found.headers or {}).get("KV-Operation") in _GONE
    return Entry(None if gone else found.data or b"", found.seq)


async def write_over(client: Client, bucket: str, key: str, value: bytes, revision: int) -> bool:
    """Write a value if the key has this revision, 0 for none; return whether it is written now."""
    from nats.js.errors import APIError

    headers = {"Nats-Expected-Last-Subject-Sequence": str(revision)}
    try:
        await client.jetstream(timeout=_PATIENCE).publish(f"$KV.{bucket}.{key}", value, headers=headers)
    except APIError as error:
        if error.err_code in _WRONG_REVISION:
            return False
        raise _problem(bucket, error) from None
    except TimeoutError as error:  # it may have been written all the same
        entry = await read_latest(client, bucket, key)
        if entry is None or entry.value != value:
            raise _problem(bucket, error) from None
    except Exception as error:
        raise _problem(bucket, error) from None
    return True


# Objects


async def read_object(client: Client, bucket: str, name: str, limit: int) -> bytes | None:
    """Return an object; None if there is none. Raise BucketProblem if it is damaged or larger than ``limit``."""
    stream = f"OBJ_{bucket}"
    entry = await _read(client, stream, _meta_subject(bucket, name), None)
    if entry is None or not entry.value:
        return None
    try:
        about: Any = decode(entry.value)
    except BadJson as error:
        raise BucketProblem(f"the description of the object cannot be read: {error}", where=name) from None
    nuid, size = (about.get("nuid"), about.get("size")) if isinstance(about, dict) else (None, None)
    if not isinstance(about, dict) or about.get("deleted"):
        return None
    if not isinstance(nuid, str) or _NUID.fullmatch(nuid) is None or type(size) is not int:
        raise BucketProblem("the description of the object is damaged", where=name)
    if size > limit:
        raise BucketProblem(f"the object has {size:,} bytes, and {limit:,} are the most", where=name)
    return await _read_chunks(client, stream, f"$O.{bucket}.C.{nuid}", name, size)


async def _read_chunks(client: Client, stream: str, subject: str, name: str, size: int) -> bytes:
    chunks: list[bytes] = []
    read, begin = 0, 1
    while read < size:
        chunk = await _read(client, stream, subject, begin)
        if chunk is None or not chunk.value or read + len(chunk.value) > size:
            raise BucketProblem("the object is not whole", where=name)
        chunks.append(chunk.value)
        read += len(chunk.value)
        begin = chunk.revision + 1
    return b"".join(chunks)


async def write_object(client: Client, bucket: str, name: str, data: bytes) -> bool:
    """Store an object, unless there is one of that name and content; return whether it was stored now."""
    if await read_object(client, bucket, name, len(data)) == data:
        return False
    try:
        store = await client.jetstream(timeout=_PATIENCE).object_store(bucket)
        await store.put(name, data)
    except Exception as error:
        raise _problem(bucket, error) from None
    return True


def _meta_subject(bucket: str, name: str) -> str:
    return f"$O.{bucket}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"


def _problem(bucket: str, error: Exception) -> BucketProblem:
    from nats.errors import NoRespondersError
    from nats.js.errors import APIError, BucketNotFoundError, NoStreamResponseError

    if isinstance(error, NoRespondersError | BucketNotFoundError | NoStreamResponseError):
        return BucketProblem("the bucket is not there", where=bucket, hint="`interpose fleet setup` creates it")
    if isinstance(error, TimeoutError):
        return BucketProblem("the server gives no answer: it is away, or this user may not do that", where=bucket,
                             hint="see the server's log, and docs/fleet.md for the permissions")  # fmt: skip
    if isinstance(error, APIError):
        return BucketProblem(f"the server refuses: {error.description}", where=bucket)
    return BucketProblem(explain(error), where=bucket)
