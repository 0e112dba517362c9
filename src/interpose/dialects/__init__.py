"""Wire formats: how an event is written for a hook, and how a hook's answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..event import Event
from ..events import Row
from ..replies import Failure, Reply

__all__ = ["Dialect", "dialect"]


class Dialect(NamedTuple):
    """Two pure functions, and what a command is told beside its input."""

    write: Callable[[Event], Mapping[str, Any]]
    read: Callable[[Row, object], Reply | Failure]
    variables: Callable[[Event], Mapping[str, str]]
    withheld: tuple[str, ...] = ()
    """How variables of the host begin that a command does not get, even where it gets all others."""


def dialect(name: str, *, blocks: bool = False) -> Dialect:
    """Return a dialect by its name. ``blocks`` is Claude's ``onFailure: block``."""
    if name == "claude":
        from . import claude

        return Dialect(claude.write, partial(claude.read, blocks=blocks), claude.variables, claude.withheld_prefixes)
    from . import native

    return Dialect(native.write, native.read, native.variables)


NAMES = ("native", "claude")
