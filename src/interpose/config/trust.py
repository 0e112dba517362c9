"""The record of trusted files: each is trusted with exactly its content and the files that it names.

The record is in the user's state directory, never in a project. ``INTERPOSE_TRUST`` in the environment is for machines
without a user: ``all``, or digests separated by commas.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from .files import MOST_BYTES, sha256
from .state import load_state, save_state, user_directory

__all__ = ["TrustStore"]

_NAME = "trust.json"


class _Origin(Protocol):
    @property
    def real_path(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def references(self) -> Mapping[str, str]: ...
    @property
    def digest(self) -> str: ...


class TrustStore:
    """The user's record of trust."""

    def is_trusted(self, origin: _Origin) -> bool:
        """Return whether a file is trusted with its content and the files that it names."""
        granted = {word.strip() for word in os.environ.get("INTERPOSE_TRUST", "").split(",")}
        if "all" in granted or origin.digest in granted:
            return True
        entry = self.recorded().get(origin.real_path)
        return isinstance(entry, dict) and entry.get("digest") == origin.digest

    def trust(self, origin: _Origin) -> None:
        """Trust a file as it is now."""
        record = self.recorded()
        record[origin.real_path] = {
            "digest": origin.digest,
            "sha256": origin.sha256,
            "references": dict(origin.references),
            "text": _text(origin),
        }
        save_state(_NAME, record)

    def forget(self, path: str) -> bool:
        """Remove a file from the record; return whether it was there."""
        record = self.recorded()
        known = record.pop(os.path.realpath(path), None) is not None
        if known:
            save_state(_NAME, record)
        return known

    def knows(self, path: str) -> bool:
        """Return whether a file is in the record, with any content."""
        return path in self.recorded()

    def recorded(self) -> dict[str, Any]:
        """Return the record, by the real path of a file."""
        return load_state(_NAME)

    def gone(self, cwd: str, found: Iterable[str], folder: str = ".interpose") -> list[str]:
        """Return the trusted files for a directory that do not exist any more.

        Of projects only the nearest counts; ``found`` are the files that exist.
        """
        persons = os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose")
        here = os.path.join(os.path.realpath(cwd), "")
        nearest = max((_project(path, folder) for path in found), key=len, default="")
        return [
            path
            for path in self.recorded()
            if not os.path.lexists(path)
            and (
                os.path.dirname(path) == os.path.realpath(persons)
                or (here.startswith(project := _project(path, folder)) and project and project.startswith(nearest))
            )
        ]

    def difference(self, origin: _Origin) -> list[tuple[str, str]]:
        """Return the differences from what was trusted: each file with ``changed``, ``new`` or ``gone``."""
        entry = self.recorded().get(origin.real_path)
        if not isinstance(entry, dict):
            return [(origin.real_path, "new")]
        changes = [] if entry.get("sha256") == origin.sha256 else [(origin.real_path, "changed")]
        before: Mapping[str, str] = entry.get("references", {})
        for path in sorted({*before, *origin.references}):
            if path not in before:
                changes.append((path, "new"))
            elif path not in origin.references:
                changes.append((path, "gone"))
            elif before[path] != origin.references[path]:
                changes.append((path, "changed"))
        return changes


def _project(path: str, folder: str) -> str:
    """Return the project of a file in such a folder, with a slash at its end; else nothing."""
    around, name = os.path.split(os.path.dirname(path))
    return os.path.join(around, "") if name == folder else ""


def _text(origin: _Origin) -> str:
    """Return the trusted text, to show changes later; nothing if it has changed already."""
    try:
        with open(origin.real_path, "rb") as opened:
            data = opened.read(MOST_BYTES)
    except OSError:
        return ""
    return data.decode("utf-8", "replace") if sha256(data).hex() == origin.sha256 else ""
