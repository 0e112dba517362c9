"""Read all values of a key-value bucket by direct requests, page by page.

Nothing is created on the server: a list that is read every few seconds leaves no consumers behind.
"""

from __future__ import annotations

import json
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

from ..handlers.nats_client import explain
from ..records import Record
from .buckets import BucketProblem

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

__all__ = ["StoredValue", "values_of"]

_PAGE = 200
_PATIENCE = 5.0
"""Seconds for one page."""
_MOST = 20_000
_GONE = ("DEL", "PURGE")
_HINT = "`interpose fleet setup` creates it; see docs/fleet.md for the permissions"


class StoredValue(Record, kw_only=False):
    """The latest value of a key."""

    value: bytes
    at: float
    """When the server has stored it."""


async def values_of(client: Client, bucket: str, below: str = "") -> tuple[dict[str, StoredValue], bool]:
    """Return the values of a bucket by their keys, and whether these are all; raise BucketProblem if it cannot be read.

    With ``below`` only keys are read that begin with this name and a dot.
    """
    inbox = client.new_inbox()
    try:
        subscription = await client.subscribe(inbox)
    except Exception as error:
        raise BucketProblem(explain(error), where=bucket) from None
    try:
        return await _read(client, subscription, inbox, bucket, f"{below}.>" if below else ">")
    finally:
        if not client.is_closed:
            await subscription.unsubscribe()


async def _read(
    client: Client, subscription: Subscription, inbox: str, bucket: str, wanted: str
) -> tuple[dict[str, StoredValue], bool]:
    prefix = f"$KV.{bucket}."
    found: dict[str, StoredValue] = {}
    begin = 1
    while len(found) < _MOST:
        asked = {"seq": begin, "next_by_subj": f"{prefix}{wanted}", "batch": _PAGE}
        try:
            await client.publish(f"$JS.API.DIRECT.GET.KV_{bucket}", json.dumps(asked).encode(), reply=inbox)
            page = await _page(subscription)
        except TimeoutError:
            raise BucketProblem("the server gives no answer: it is away, or this user may not do that", where=bucket,
                                hint=_HINT) from None  # fmt: skip
        except BucketProblem as error:
            raise BucketProblem(error.problem.what, where=bucket, hint=_HINT) from None
        except Exception as error:
            raise BucketProblem(explain(error), where=bucket) from None
        if not page:
            return found, True
        for message in page:
            headers = message.headers or {}
            key = headers.get("Nats-Subject", "").removeprefix(prefix)
            begin = max(begin, int(headers.get("Nats-Sequence", "0")) + 1)
            if headers.get("KV-Operation") in _GONE:
                found.pop(key, None)
            else:
                found[key] = StoredValue(message.data, _seconds(headers.get("Nats-Time-Stamp", "")))
    return found, False


def _seconds(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError, OSError):  # a header of the writer's own
        return 0.0


async def _page(subscription: Subscription) -> list[Msg]:
    """Return the messages of one page: up to the one that ends it, or one from a server that knows no pages."""
    made: list[Msg] = []
    end = monotonic() + _PATIENCE
    while True:
        message = await subscription.next_msg(timeout=max(0.01, end - monotonic()))
        headers = message.headers or {}
        # A value has the headers that its writer gave it, and those that say where it is stored, which the server adds.
        status = headers.get("Status", "") if "Nats-Sequence" not in headers else ""
        if status == "503":
            raise BucketProblem("the bucket is not there")
        if status == "404" or (status == "204" and headers.get("Description") == "EOB"):
            return made
        if status:
            raise BucketProblem(f"the server refuses: {headers.get('Description', status)}")
        made.append(message)
        if "Nats-Num-Pending" not in headers:
            return made
