"""Change what a ring runs: push a bundle, promote the one of another ring, go back to an earlier one.

The ring is written only if it is still as it was read: of two pushes at once, one wins and the other is told so.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..config.fleet import FleetSettings
from ..errors import UsageError
from ..records import Record, replace
from .buckets import Entry, read_history, read_latest, read_object, write_object, write_over
from .bundles import MOST_PACKED, digest_of, unpack
from .keys import PrivateKey, public_of
from .names import TeamNames
from .statements import MOST_VERSION, BadStatement, Statement, read_statement, signed_statement

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["RingRefused", "Rings"]


class RingRefused(UsageError):
    """A ring that was not changed, with the reason."""

    code = "fleet_ring"


class _Ring(Record):
    """A ring as it is stored."""

    name: str
    revision: int
    statements: tuple[Statement, ...]
    """The statements that a known key has signed, the oldest first."""
    strange: str = ""
    """Why the newest entry is none of them."""

    @property
    def version(self) -> int:
        return max((statement.version for statement in self.statements), default=0)


class Rings:
    """The rings of a team, for one who may sign."""

    def __init__(self, client: Client, settings: FleetSettings, key: PrivateKey) -> None:
        self._client = client
        self._names = TeamNames(settings.team)
        self._key = key
        self._public = public_of(key)
        known = {public: name for name, public in settings.signers}
        if settings.signers and self._public not in known:
            raise RingRefused("the key is not one of the signers, so every node would refuse what it signs",
                              where=key.place, hint=f"add it to signers: of every node: {self._public}")  # fmt: skip
        own = () if self._public in known else (("this-key", self._public),)
        self._settings = replace(settings, signers=(*settings.signers, *own))

    async def push(
        self, ring: str, packed: bytes, *, expires: float, observe: bool = False, note: str = "", at_least: int = 1
    ) -> Statement:
        """Have a ring run a bundle; return the statement. ``expires`` is in seconds from now."""
        unpack(packed)  # never store what no node could read
        found = await self._ring(ring)
        await write_object(self._client, self._names.bundles, digest_of(packed), packed)
        return await self._write(found, digest_of(packed), expires=expires, observe=observe, note=note,
                                 at_least=at_least)  # fmt: skip

    async def promote(self, source: str, target: str, *, expires: float, observe: bool = False) -> Statement:
        """Have a ring run what another one runs."""
        current = _current(await self._ring(source))
        found = await self._ring(target)
        await self._require_bundle(current.digest)
        note = f"{source} {current.version}" + (f": {current.note}" if current.note else "")
        return await self._write(found, current.digest, expires=expires, observe=observe, note=note[:500])

    async def roll_back(self, ring: str, *, version: int | None = None, expires: float) -> Statement:
        """Have a ring run what it ran before, or at a version, as a new version."""
        found = await self._ring(ring)
        chosen = _earlier(found, version)
        await self._require_bundle(chosen.digest)
        note = f"back to {chosen.version}" + (f": {chosen.note}" if chosen.note else "")
        return await self._write(found, chosen.digest, expires=expires, observe=chosen.observe, note=note[:500])

    async def _ring(self, ring: str) -> _Ring:
        """Return a ring as it is stored, with the statements that can be believed."""
        entries = await read_history(self._client, self._names.rings, ring)
        latest = await read_latest(self._client, self._names.rings, ring)
        if latest is not None and latest not in entries:
            entries = [*entries, latest]
        statements, strange = self._believed(entries, ring)
        revision = entries[-1].revision if entries else 0
        return _Ring(name=ring, revision=revision, statements=tuple(statements), strange=strange)

    def _believed(self, entries: Iterable[Entry], ring: str) -> tuple[list[Statement], str]:
        found: list[Statement] = []
        strange = ""
        for entry in entries:
            strange = ""
            if entry.value is None:
                continue
            try:
                found.append(read_statement(entry.value, self._settings, ring=ring))
            except BadStatement as error:
                strange = str(error)
        return found, strange

    async def _require_bundle(self, digest: str) -> None:
        packed = await read_object(self._client, self._names.bundles, digest, MOST_PACKED)
        if packed is None or digest_of(packed) != digest:
            what = "the bundle is not there any more" if packed is None else "the bundle was changed"
            raise RingRefused(what, where=digest, hint="push its directory again")

    async def _write(
        self, ring: _Ring, digest: str, *, expires: float, observe: bool, note: str, at_least: int = 1
    ) -> Statement:
        version = max(ring.version + 1, at_least)
        if version > MOST_VERSION:
            raise RingRefused(f"version {ring.version} is the last that there can be", where=ring.name,
                              hint="give the ring another name")  # fmt: skip
        now = int(time.time())
        statement = Statement(
            team=self._settings.team, ring=ring.name, version=version, digest=digest, created=now,
            expires=now + max(1, int(expires)), observe=observe, note=note, signer=self._public,
        )  # fmt: skip
        stored = signed_statement(statement, self._key)
        read_statement(stored, self._settings, ring=ring.name)  # what no node could read is not written
        if not await write_over(self._client, self._names.rings, ring.name, stored, ring.revision):
            raise RingRefused("another push to this ring came first; nothing was changed", where=ring.name,
                              hint="look at it with `interpose fleet status`, then push again")  # fmt: skip
        return statement


def _current(ring: _Ring) -> Statement:
    """Return what a ring runs; raise RingRefused if nothing that can be believed."""
    if ring.strange:
        raise RingRefused(f"what it runs cannot be believed: it {ring.strange}", where=ring.name,
                          hint="push a bundle to it")  # fmt: skip
    if not ring.statements:
        raise RingRefused("it runs nothing", where=ring.name, hint="interpose fleet push DIR --to RING")
    return ring.statements[-1]


def _earlier(ring: _Ring, version: int | None) -> Statement:
    """Return the statement to go back to; raise RingRefused if there is none."""
    if version is not None:
        for statement in ring.statements:
            if statement.version == version:
                return statement
        kept = ", ".join(str(statement.version) for statement in ring.statements) or "none"
        raise RingRefused(f"there is no version {version}", where=ring.name, hint=f"kept are {kept}")
    newest = ring.statements[-1:]
    for statement in reversed(ring.statements):
        if ring.strange or (statement.digest, statement.observe) != (newest[0].digest, newest[0].observe):
            return statement
    raise RingRefused("it has no earlier version to go back to", where=ring.name)
