"""Take over a bundle on this machine: unpack it, check that it loads here, and arm it in one step.

    rules.json               names the armed bundle, and the newest version of each ring; replaced whole
    bundles/DIGEST/          the files of a bundle
    snapshots/NAME/          what firings run, as for trusted files

A bundle that is refused leaves everything as it was.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from ..config.fleet_rules import (
    BUNDLES,
    FLEET_RULES,
    SNAPSHOTS,
    armed_rules,
    armed_source,
    fleet_snapshot,
    read_record,
)
from ..config.load import Source, load_sources
from ..config.mapping import settings_from
from ..config.review import review
from ..config.snapshots import remove_unneeded
from ..errors import ConfigError, InterposeError, UsageError
from ..events import TABLE
from ..registry import Registry
from ..state.directories import make_private
from .bundles import BadBundle, BundledFile, config_of, digest_of, unpack
from .statements import Statement

__all__ = ["RulesFolder", "RulesRefused"]

_LONGEST_REASON = 600
_CLOCKS = 2 * 24 * 3600.0
"""Seconds by which the clock of a signer may be ahead of the one here."""


class RulesRefused(UsageError):
    """Rules that this node does not take over, with the reason."""

    code = "fleet_rules"


class RulesFolder:
    """The rules of a node on disk."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.place = os.path.join(folder, os.path.basename(FLEET_RULES))

    def armed(self) -> dict[str, Any] | None:
        """Return what is armed; None if nothing is. Raise ConfigError if the record is damaged."""
        return armed_rules(read_record(self.place), self.place)

    def why_not_whole(self) -> str:
        """Return why firings cannot run what is armed; nothing if they can, or if nothing is armed."""
        try:
            armed = self.armed()
            if armed is not None:
                fleet_snapshot(armed_source(self.folder, armed))
        except ConfigError as error:
            return str(error)[:_LONGEST_REASON]
        return ""

    def is_armed(self, statement: Statement) -> bool:
        """Return whether this very statement is armed, and whole."""
        try:
            armed = self.armed()
        except ConfigError:
            return False
        return armed is not None and armed.get("statement") == _facts(statement) and not self.why_not_whole()

    def check(self, statement: Statement, now: float) -> None:
        """Raise RulesRefused if a statement is older than what was taken over, contradicts it, or has expired.

        One that was made in the future is refused too: after it, every later one would seem to have expired.
        """
        if statement.created > now + _CLOCKS:
            days = (statement.created - now) / (24 * 3600)
            raise RulesRefused(f"version {statement.version} was signed {days:,.1f} days after the time on this "
                               "machine: the clock here or that of the signer is wrong")  # fmt: skip
        try:
            record = read_record(self.place)
        except ConfigError as error:
            if not _is_lost(self.place):
                raise RulesRefused(str(error)[:_LONGEST_REASON]) from None
            record = {}
        if (team := _team_of(record.get("armed"))) not in ("", statement.team):
            raise RulesRefused(f"this machine runs the rules of the team {team}",
                               hint="`interpose fleet leave` ends that, which takes a person")  # fmt: skip
        highest = record.get("highest", {}).get(f"{statement.team}/{statement.ring}")
        if isinstance(highest, dict) and isinstance(highest.get("version"), int):
            if statement.version < highest["version"]:
                raise RulesRefused(f"version {statement.version} is older than {highest['version']}, which was taken "
                                   f"over before")  # fmt: skip
            if statement.version == highest["version"] and _facts(statement) != highest:
                raise RulesRefused(f"version {statement.version} was taken over before, and said something else")
        # A clock that was set back does not make rules valid again.
        taken = [facts for facts in record.get("highest", {}).values() if isinstance(facts, dict)]
        known = [facts["created"] for facts in taken if isinstance(facts.get("created"), int)]
        if max([now, *known]) >= statement.expires:
            raise RulesRefused(f"version {statement.version} has expired")

    def take_over(self, statement: Statement, packed: bytes) -> dict[str, Any]:
        """Arm the bundle of a statement whole, or raise RulesRefused and change nothing; return what is armed."""
        if digest_of(packed) != statement.digest:
            raise RulesRefused(f"the bundle is not the one that was signed: its digest is {digest_of(packed)}")
        try:
            files = unpack(packed)
            make_private(self.folder)
            config = self._put_files(statement.digest, files)
            armed = self._armed(statement, config)
            source = armed_source(self.folder, {**armed, "snapshot": ""})
            armed["snapshot"] = self._snapshot(source)
            _load(armed_source(self.folder, armed))
            self._arm(armed, statement)
        except (BadBundle, ConfigError) as error:
            raise RulesRefused(str(error)[:_LONGEST_REASON]) from None
        except OSError as error:
            raise RulesRefused(f"cannot be written: {error.strerror or error}", where=self.folder) from None
        self._tidy()
        return armed

    def leave(self) -> bool:
        """Disarm the rules; return whether any were armed. Which versions were taken over is not forgotten."""
        try:
            record = read_record(self.place)
        except ConfigError:
            record = {"armed": {}, "highest": {}}
        if not record or record["armed"] is None:
            return False
        _write(self.place, {**record, "armed": None})
        return True

    def _put_files(self, digest: str, files: list[BundledFile]) -> str:
        """Write the files of a bundle to the directory of its digest; return the name of the configuration."""
        config = config_of(files)
        target = os.path.join(self.folder, BUNDLES, digest)
        if _is_written(target, files):
            return config
        make_private(os.path.dirname(target))
        scratch = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(target))
        try:
            for file in files:
                path = os.path.join(scratch, ".interpose", *file.path.split("/"))
                make_private(os.path.dirname(path))
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with open(os.open(path, flags, 0o700 if file.runs else 0o600), "wb") as opened:
                    opened.write(file.data)
            if os.path.lexists(target):
                os.rename(target, tempfile.mkdtemp(prefix=".old-", dir=os.path.dirname(target)))
            os.rename(scratch, target)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        return config

    def _snapshot(self, source: Source) -> str:
        made = review(TABLE, source, folder=os.path.join(self.folder, SNAPSHOTS))
        return os.path.basename(made.store(renew=False).directory)

    def _armed(self, statement: Statement, config: str) -> dict[str, Any]:
        return {"digest": statement.digest, "config": config, "snapshot": "", "observe": statement.observe,
                "since": time.time(), "statement": _facts(statement)}  # fmt: skip

    def _arm(self, armed: Mapping[str, Any], statement: Statement) -> None:
        try:
            record = read_record(self.place)
        except ConfigError:  # it is damaged, and this is what repairs it
            record = {}
        highest = {**record.get("highest", {}), f"{statement.team}/{statement.ring}": _facts(statement)}
        before = record.get("armed")
        if isinstance(before, dict) and before.get("digest") == armed["digest"]:
            before = record.get("before")
        _write(self.place, {"armed": armed, "before": before, "highest": highest})

    def _tidy(self) -> None:
        """Remove what neither the armed bundle nor the one before needs, a day after it was made."""
        record = read_record(self.place)
        kept = [one for one in (record.get("armed"), record.get("before")) if isinstance(one, dict)]
        remove_unneeded([one["snapshot"] for one in kept], os.path.join(self.folder, SNAPSHOTS))
        remove_unneeded([one["digest"] for one in kept], os.path.join(self.folder, BUNDLES))


def _facts(statement: Statement) -> dict[str, Any]:
    names = ("team", "ring", "version", "digest", "created", "expires", "observe", "signer")
    return {name: getattr(statement, name) for name in names}


def _team_of(armed: Any) -> str:
    """Return the team whose rules are armed; empty if none are."""
    facts = armed.get("statement") if isinstance(armed, dict) else None
    return str(facts.get("team", "")) if isinstance(facts, dict) else ""


def _is_lost(place: str) -> bool:
    """Return whether a record is damaged, and not merely closed to this process."""
    try:
        with open(place, "rb"):
            return True
    except OSError:
        return False


def _is_written(target: str, files: list[BundledFile]) -> bool:
    """Return whether the directory of a bundle has its files, and no others."""
    listed = {os.path.join(target, ".interpose", *file.path.split("/")): file for file in files}
    found = {os.path.join(folder, name) for folder, _, names in os.walk(target) for name in names}
    if found != set(listed):
        return False
    for path, file in listed.items():
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
                if opened.read(len(file.data) + 1) != file.data:
                    return False
        except OSError:
            return False
    return True


def _load(source: Source) -> None:
    """Raise ConfigError if firings could not load and arm this configuration."""
    loaded = load_sources(TABLE, [source])
    try:
        limit = settings_from(**loaded.settings).max_hooks_per_point
        Registry(limit, lambda: None).add(loaded.hooks, loaded.scopes)
    except ConfigError:
        raise
    except InterposeError as error:
        raise ConfigError([error.problem]) from None


def _write(place: str, record: Mapping[str, Any]) -> None:
    """Replace the record, so that it is the old one or the new one also after a power failure.

    The files that it names may be lost by one: then firings are refused until the node has fetched them again.
    """
    folder = os.path.dirname(place)
    descriptor, scratch = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(json.dumps(record, indent=1, sort_keys=True).encode() + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(scratch, place)
    except BaseException:
        os.unlink(scratch)
        raise
