"""Reports: what each node says about itself, and what a person reads of them.

A node writes its report to its own key when it changes, and every 15 seconds. What a node says is not signed: it is
shown, and nothing is decided by it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..config.fleet import FleetSettings
from ..handlers.nats_client import explain
from ..records import Record
from ..strict_json import BadJson, decode
from .bucket_pages import StoredValue, values_of
from .buckets import BucketProblem
from .names import TeamNames
from .node import Node
from .statements import BadStatement, Statement, read_statement, signer_named

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["SILENT", "FleetStatus", "NodeReport", "RingReport", "publish_reports", "read_fleet_status"]

_EVERY = 15.0
_AT_MOST_EVERY = 1.0
SILENT = 60.0
"""A node that has not reported for as many seconds is silent."""
_LONGEST = 60 * 1024
_LONGEST_TEXT = 500


async def publish_reports(node: Node) -> None:
    """Write the report of the node to its key when it changes, and every 15 seconds."""
    from .. import __version__

    subject = f"$KV.{node.names.nodes}.{node.settings.node}"
    while True:
        node.changed.clear()
        report = {**node.report, "at": time.time(), "package": __version__}
        data = json.dumps(report, default=str).encode()
        if len(data) > _LONGEST:
            kept = {name: report.get(name) for name in ("node", "ring", "at", "package", "rules")}
            kept["problems"] = {"report": "the report is too long to be sent"}
            data = json.dumps(kept, default=str).encode()
        try:
            await node.client.jetstream(timeout=5).publish(subject, data)
            node.has_problem("report", "")
        except Exception as error:  # the next one may arrive
            node.has_problem("report", explain(error))
        await asyncio.sleep(_AT_MOST_EVERY)
        try:
            async with asyncio.timeout(_EVERY - _AT_MOST_EVERY):
                await node.changed.wait()
        except TimeoutError:
            continue


class RingReport(Record):
    """What a ring runs."""

    ring: str
    statement: Statement | None
    signer: str = ""
    """The name that the configuration gives to who has signed."""
    problem: str = ""
    """Why what is stored cannot be believed."""


class NodeReport(Record):
    """What a node has said, and what follows from it."""

    node: str
    ring: str
    version: int
    digest: str
    since: float
    observe: bool
    at: float
    """When the server has stored its report."""
    states: tuple[str, ...]
    """``silent``, ``behind``, ``refused``, ``expired``; empty if it runs what its ring runs."""
    refused: str
    problems: Mapping[str, str]
    lag: int | None
    """Records that it has not forwarded yet; None if it does not say."""
    package: str


class FleetStatus(Record):
    """The rings and the nodes of a team."""

    team: str
    rings: tuple[RingReport, ...]
    nodes: tuple[NodeReport, ...]


async def read_fleet_status(client: Client, settings: FleetSettings, now: float | None = None) -> FleetStatus:
    """Read the rings and the reports of all nodes of a team."""
    names = TeamNames(settings.team)
    rings = [_ring(name, stored.value, settings) for name, stored in (await _all_of(client, names.rings)).items()]
    current = {ring.ring: ring.statement for ring in rings if ring.statement is not None}
    found = await _all_of(client, names.nodes)
    now = time.time() if now is None else now
    nodes = [_node(name, stored.value, stored.at, current, now) for name, stored in found.items()]
    return FleetStatus(team=settings.team, rings=tuple(sorted(rings, key=lambda ring: ring.ring)),
                       nodes=tuple(sorted(nodes, key=lambda node: (node.ring, node.node))))  # fmt: skip


async def _all_of(client: Client, bucket: str) -> dict[str, StoredValue]:
    found, whole = await values_of(client, bucket)
    if not whole:
        raise BucketProblem(f"there are more keys than {len(found):,}, which are the most that are read", where=bucket)
    return found


def _ring(name: str, stored: bytes, settings: FleetSettings) -> RingReport:
    try:
        statement = read_statement(stored, settings, ring=name)
    except BadStatement as error:
        return RingReport(ring=name, statement=None, problem=str(error))
    return RingReport(ring=name, statement=statement, signer=signer_named(statement, settings))


def _node(name: str, data: bytes, at: float, current: Mapping[str, Statement], now: float) -> NodeReport:
    """Return the report of a node, of which nothing is taken for granted."""
    try:
        said: Any = decode(data)
    except BadJson as error:
        said = {"problems": {"report": f"cannot be read: {error}"}}
    said = said if isinstance(said, dict) else {}
    rules = said.get("rules") if isinstance(said.get("rules"), dict) else {}
    ring = _text(said.get("ring"))
    version, digest = int(_number(rules.get("version"))), _text(rules.get("digest"))
    problems = said.get("problems") if isinstance(said.get("problems"), dict) else {}
    statement = current.get(ring)
    states = []
    if now - at > SILENT:
        states.append("silent")
    if statement is not None and (version, digest) != (statement.version, statement.digest):
        states.append("behind")
    states += [word for word in ("refused", "expired") if rules.get(word)]
    return NodeReport(
        node=name, ring=ring, version=version, digest=digest, since=_number(rules.get("since")),
        observe=rules.get("observe") is True, at=at, states=tuple(states), refused=_text(rules.get("refused")),
        problems={_text(part): _text(text) for part, text in problems.items()}, lag=_lag(said.get("record")),
        package=_text(said.get("package")),
    )  # fmt: skip


def _lag(record: Any) -> int | None:
    """Return how many records of all stores are not forwarded yet; None if the node does not say."""
    if not isinstance(record, dict):
        return None
    said = [store["lag"] for store in record.values() if isinstance(store, dict) and type(store.get("lag")) is int]
    lags = [int(_number(lag)) for lag in said]
    return sum(lags) if lags else None


def _text(value: Any) -> str:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 else 0.0
