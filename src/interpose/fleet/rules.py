"""The part of a node that takes over rules: it follows the ring of the node.

The server publishes a statement once more when it is stored; that wakes the node, which then reads the ring itself.
It also looks every half minute, so that nothing rests on that message.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any

from ..runtime.faults import log
from .buckets import BucketProblem, read_latest, read_object
from .bundles import MOST_PACKED
from .node import Node
from .statements import BadStatement, Statement, read_statement
from .take_over import RulesFolder, RulesRefused

if TYPE_CHECKING:
    from nats.aio.msg import Msg

__all__ = ["follow_rules"]

_LOOKS = (20.0, 40.0)
"""Seconds between two looks at the ring; between these, so that nodes do not all look at once."""
_AGAIN = 60.0
"""Seconds after which a statement that was refused is looked at again: a disk may have been full, or a clock wrong."""


async def follow_rules(node: Node) -> None:
    """Take over what the ring of the node runs, as long as the node runs."""
    changed = asyncio.Event()

    async def wake(_: Msg) -> None:
        changed.set()

    follower = _Follower(node)
    await follower.report_armed()
    subscription = await node.client.subscribe(f"{node.names.ring_changes}.{node.settings.ring}", cb=wake)
    try:
        while True:
            changed.clear()
            try:
                await follower.look()
            except BucketProblem as error:  # what is armed stays; the next look may succeed
                node.has_problem("rules", str(error))
            try:
                async with asyncio.timeout(random.uniform(*_LOOKS)):  # noqa: S311 - only to spread requests
                    await changed.wait()
            except TimeoutError:
                continue
    finally:
        await subscription.unsubscribe()


class _Follower:
    """Looks at the ring, and keeps the report about it."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._folder = RulesFolder(node.folder)
        self._refused: tuple[bytes, str] | None = None
        """A statement that was refused, and why."""
        self._again = 0.0
        """When it is looked at again, by the monotonic clock."""

    async def look(self) -> None:
        """Take over what the ring says now; raise BucketProblem if it cannot be read."""
        node = self._node
        entry = await read_latest(node.client, node.names.rings, node.settings.ring)
        if entry is None or entry.value is None:
            await self.report_armed()
            return
        stored = entry.value
        is_known = self._refused is not None and self._refused[0] == stored and time.monotonic() < self._again
        if is_known and not await self._is_broken():
            await self.report_armed()  # the rules that are armed may have expired since
            return
        try:
            statement = read_statement(stored, node.settings)
            if not await asyncio.to_thread(self._folder.is_armed, statement):
                await self._take_over(statement)
        except (BadStatement, RulesRefused) as error:
            self._refuse(stored, str(error))
        else:
            self._refused = None
        await self.report_armed()

    async def _take_over(self, statement: Statement) -> None:
        await asyncio.to_thread(self._folder.check, statement, time.time())
        packed = await read_object(self._node.client, self._node.names.bundles, statement.digest, MOST_PACKED)
        if packed is None:
            raise BucketProblem("the bundle is not there", where=statement.digest, hint="push it again")
        await asyncio.to_thread(self._folder.take_over, statement, packed)
        log("info", "fleet: version %s of ring %s is armed", statement.version, statement.ring)

    async def _is_broken(self) -> bool:
        return bool(await asyncio.to_thread(self._folder.why_not_whole))

    def _refuse(self, stored: bytes, why: str) -> None:
        if self._refused != (stored, why):
            log("warning", "fleet: rules of ring %s are refused: %s", self._node.settings.ring, why)
        self._refused = (stored, why)
        self._again = time.monotonic() + _AGAIN

    async def report_armed(self) -> None:
        """Put what is armed, and what was refused, into the report of the node."""
        broken = await asyncio.to_thread(self._folder.why_not_whole)
        armed = None if broken else await asyncio.to_thread(self._folder.armed)
        said = _said(armed, self._node)
        problems = [f"what is armed cannot be loaded: {broken}"] if broken else []
        if self._refused is not None:
            said["refused"] = self._refused[1]
            problems.append(f"refused: {self._refused[1]}")
        if armed is not None and said["expired"]:
            problems.append(f"version {said['version']} has expired, and stays armed")
        if armed is not None and not said["signer"]:
            problems.append(f"version {said['version']} was signed by a key that is no longer one of the signers")
        if self._node.report.get("rules") != said:
            self._node.reported(rules=said)
        self._node.has_problem("rules", "; ".join(problems))


def _said(armed: dict[str, Any] | None, node: Node) -> dict[str, Any]:
    """Return what the report says about armed rules."""
    if armed is None:
        return {"version": 0, "refused": ""}
    facts = armed["statement"]
    names = {key: name for name, key in node.settings.signers}
    return {
        "version": facts["version"], "digest": armed["digest"], "since": armed["since"], "observe": armed["observe"],
        "ring": facts["ring"], "team": facts["team"], "expires": facts["expires"],
        "expired": time.time() >= facts["expires"], "signer": names.get(facts["signer"], ""), "refused": "",
    }  # fmt: skip
