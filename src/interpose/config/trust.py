"""The record of trust: which configuration files a person has trusted, and the snapshot of each.

The record is in the user's state directory, never in a project. ``INTERPOSE_TRUST`` in the environment is for machines
without a user: ``all``, or digests separated by commas.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, Problem
from .read import Source
from .snapshots import Snapshot, open_snapshot, remove_unneeded
from .state import load_state, save_state, user_directory

if TYPE_CHECKING:
    from .review import Review

__all__ = ["TrustStore", "granted", "granted_words", "trust"]

_NAME = "trust.json"


class TrustStore:
    """The user's record of trust."""

    def __init__(self) -> None:
        self._recorded: dict[str, Any] | None = None
        self._names: set[str] | None = None

    def recorded(self) -> dict[str, Any]:
        """Return the record, by the path of a file without symbolic links."""
        if self._recorded is None:
            self._recorded = load_state(_NAME)
        return self._recorded

    def has_name(self, name: str) -> bool:
        """Return whether a file of this name was trusted, in any directory."""
        if self._names is None:
            recorded = self.recorded()
            given = (entry.get("given") for entry in recorded.values() if isinstance(entry, dict))
            self._names = {os.path.basename(path) for path in (*recorded, *given) if isinstance(path, str)}
        return name in self._names

    def entry(self, path: str) -> dict[str, Any] | None:
        """Return what is recorded of a file, with any content; None if nothing is."""
        entry = self.recorded().get(path)
        return entry if isinstance(entry, dict) else None

    def given(self, path: str) -> str | None:
        """Return where a file was that was trusted under this path, which had links in it."""
        for real, entry in self.recorded().items():
            if isinstance(entry, dict) and entry.get("given") == path:
                return real
        return None

    def snapshot(self, path: str) -> Snapshot | None:
        """Return the snapshot of a trusted file; None if it is not trusted. Raise ConfigError if it cannot be loaded.

        A record of version 0.1 has no snapshot: a person has to trust the file again.
        """
        entry = self.entry(path)
        if entry is None:
            return None
        name = entry.get("snapshot")
        if isinstance(name, str) and len(name) == 64 and name.isalnum():
            return open_snapshot(name, path)
        if "snapshot" not in entry and isinstance(entry.get("digest"), str) and "references" in entry:
            raise ConfigError([Problem("was trusted by an earlier version, which kept no copy of it", where=path,
                                       hint=f"look at it, then: interpose trust {path}")])  # fmt: skip
        return None

    def trust(self, review: Review) -> Snapshot:
        """Trust a file with everything that was read for its review."""
        import time

        record = load_state(_NAME)
        snapshot = review.store()
        name = os.path.basename(snapshot.directory)
        record[review.real_path] = {"snapshot": name, "digest": review.digest, "trusted": int(time.time())}
        if os.path.abspath(review.source.path) != review.real_path:
            record[review.real_path]["given"] = os.path.abspath(review.source.path)
        self._save(record)
        return snapshot

    def forget(self, path: str) -> bool:
        """Remove a file from the record; return whether it was there."""
        record = load_state(_NAME)
        known = record.pop(os.path.abspath(path), None) is not None
        known = record.pop(os.path.realpath(path), None) is not None or known
        if known:
            self._save(record)
        return known

    def _save(self, record: dict[str, Any]) -> None:
        save_state(_NAME, record)
        self._recorded, self._names = record, None
        remove_unneeded(
            entry["snapshot"] for entry in record.values() if isinstance(entry, dict) and "snapshot" in entry
        )


def granted(review: Review) -> bool:
    """Return whether the environment trusts a configuration as it is."""
    words = granted_words()
    return "all" in words or review.digest in words


def granted_words() -> set[str]:
    """Return the words of ``INTERPOSE_TRUST``: ``all``, and digests."""
    return {word.strip() for word in os.environ.get("INTERPOSE_TRUST", "").split(",")} - {""}


def trust(path: str | os.PathLike[str], *, dialect: str | None = None) -> Snapshot:
    """Trust a configuration file as it is now, with everything that it runs; raise ConfigError if that cannot be.

    The command line asks a person before it does this.
    """
    from ..events import TABLE
    from .review import review

    file = os.path.abspath(os.fspath(path))
    own = (os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose"), os.path.expanduser("~/.claude"))
    layer = "user" if os.path.dirname(file) in own else "project"
    return TrustStore().trust(review(TABLE, Source(file, layer, dialect, found=True)))
