"""Tell hooks that nothing real is at stake: a variable in their environment, for those that can leave effects out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..handlers.command import command_of
from ..model import Hook
from ..records import replace

__all__ = ["marked", "with_mark"]


def with_mark(hook: Hook, mark: str) -> Hook:
    """Return a hook whose command, if it has one, finds the mark set to 1 in its environment."""
    command = command_of(hook)
    if command is None:
        return hook
    return replace(hook, binding=replace(hook.binding, target=replace(command, env={**command.env, mark: "1"})))


@contextmanager
def marked(mark: str) -> Iterator[None]:
    """Set the mark for Python hooks, which see this process's environment, as long as the block runs."""
    before = os.environ.get(mark)
    os.environ[mark] = "1"
    try:
        yield
    finally:
        del os.environ[mark]
        if before is not None:
            os.environ[mark] = before
