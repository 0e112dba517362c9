"""What differs between two environments with which hooks may be loaded, or behave, in another way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

__all__ = ["Digests", "environment_digest"]

_VOLATILE = frozenset((b"TRACEPARENT", b"TRACESTATE", b"PWD", b"OLDPWD", b"SHLVL", b"_", b"INTERPOSE_DEPTH"))
"""Variables that differ from event to event, and that no hook is loaded by."""
_MOST_KNOWN = 64


def environment_digest(environment: Mapping[bytes, bytes]) -> str:
    """Return a digest of the variables that are not volatile."""
    found = hashlib.sha256()
    for name in sorted(environment.keys() - _VOLATILE):
        found.update(b"%d %s=%d %s" % (len(name), name, len(environment[name]), environment[name]))
    return found.hexdigest()[:32]


class Digests:
    """The digests of mappings that nothing changes, each made once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Mapping[bytes, bytes], str]] = {}

    def of(self, environment: Mapping[bytes, bytes]) -> str:
        """Return the digest of an environment."""
        known = self._known.get(id(environment))
        if known is None or known[0] is not environment:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[id(environment)] = environment, environment_digest(environment)
        return known[1]
