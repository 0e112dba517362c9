"""Set an environment variable for hooks, such as INTERPOSE_REPLAY, so that they can skip side effects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..handlers.declared_command import command_of
from ..model import Hook
from ..records import replace

__all__ = ["variable_set", "with_variable"]


def with_variable(hook: Hook, variable: str) -> Hook:
    """Return a hook whose command, if it has one, gets this variable with the value 1."""
    command = command_of(hook)
    if command is None:
        return hook
    return replace(hook, binding=replace(hook.binding, target=replace(command, env={**command.env, variable: "1"})))


@contextmanager
def variable_set(variable: str) -> Iterator[None]:
    """Set a variable to 1 in this process's environment, which Python hooks see, for the duration of a block."""
    before = os.environ.get(variable)
    os.environ[variable] = "1"
    try:
        yield
    finally:
        del os.environ[variable]
        if before is not None:
            os.environ[variable] = before
