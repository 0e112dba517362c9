"""Start a hook as an agent does, without being taken for an agent afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .agents import registered_files, stat_of

__all__ = ["not_registering"]


@contextmanager
def not_registering() -> Iterator[None]:
    """Take back what hooks register meanwhile: this process and those above it."""
    before = set(registered_files())
    yield
    above, pid = {os.getpid(), os.getppid()}, os.getppid()
    while pid > 1 and (found := stat_of(pid)) is not None:
        pid = int(found[1][1])
        above.add(pid)
    for name, path in registered_files().items():
        if name not in before and name.partition(".")[0] in map(str, above):
            os.unlink(path)
