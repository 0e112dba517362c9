"""Wire formats: how an event is written for a hook, a hook's reply is read, and an outcome is written as a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..event import Event
from ..events import EventSpec
from ..replies import Failure, Reply
from ..runtime.named_tuples import NamedTuple

__all__ = ["NAMES", "Dialect", "dialect"]


class Dialect(NamedTuple):
    """The pure functions of a wire format."""

    write: Callable[[Event], Mapping[str, Any]]
    read: Callable[[EventSpec, object], Reply | Failure]
    variables: Callable[[Event], Mapping[str, str]]
    withheld: tuple[str, ...] = ()
    """Prefixes of the host's variables that a command never gets."""


def dialect(name: str, *, blocks: bool = False) -> Dialect:
    """Return a dialect by its name. ``blocks`` is Claude's ``onFailure: block``."""
    if name == "claude":
        from . import claude

        return Dialect(claude.write, partial(claude.read, blocks=blocks), claude.variables, claude.withheld_prefixes)
    from . import native

    return Dialect(native.write, native.read, native.variables)


NAMES = ("native", "claude")
