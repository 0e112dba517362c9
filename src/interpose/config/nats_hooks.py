"""Make the NatsService of a hook from its option ``subject``, and give it the connection of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects import dialect as find_dialect
from ..errors import BadHook, InterposeError
from ..events import TABLE
from ..handlers.nats import NatsService, nats_service_of
from ..matching.written import as_written
from ..model import Hook
from ..records import replace
from ..runtime.regex import regex
from .fleet import FleetSettings
from .kinds import ConfigPlace

__all__ = ["check_subject", "make_service", "persons_fleet", "with_connections"]

_SUBJECT = regex(r"[!-~]{1,255}")
_OF_OTHERS = ("$", "_INBOX", "interpose.")
"""How subjects begin that are not for hooks: those of the server, of answers, and of the fleet itself."""


def check_subject(subject: Any) -> str:
    """Return a subject that workers serve; raise BadHook if it cannot be one."""
    if not isinstance(subject, str) or not subject:
        raise BadHook(f"subject: {as_written(subject)} where a subject is expected", hint="such as checks.licences")
    if _SUBJECT.fullmatch(subject) is None or not all(subject.split(".")) or set(subject) & set("*>"):
        raise BadHook(f"subject: {subject[:100]!a} is not a subject of workers",
                      hint="words with dots between them, without blanks, * and >: checks.licences")  # fmt: skip
    if subject.startswith(_OF_OTHERS):
        raise BadHook(f"subject: {subject} belongs to the server or the fleet", hint="choose another beginning")
    return subject


def make_service(place: ConfigPlace, *, subject: Any) -> NatsService:
    """Return the workers that this option names; raise BadHook if it is wrong."""
    return NatsService(subject=check_subject(subject), dialect=place.dialect, write=find_dialect(place.dialect).write)


def with_connections(hooks: Sequence[Hook], fleet: FleetSettings | None, *, searched: bool = False) -> list[Hook]:
    """Return hooks with the fleet whose workers they ask: this one, else that of the person's own configuration.

    ``searched`` says that the person's own configuration was read already.
    """
    found = fleet if fleet is not None or searched else persons_fleet()
    if found is None:
        return list(hooks)
    made = []
    for hook in hooks:
        service = nats_service_of(hook)
        if service is not None and service.nats is None:
            target = replace(service, nats=found.nats)
            hook = replace(hook, binding=replace(hook.binding, target=target))  # noqa: PLW2901 - the same hook
        made.append(hook)
    return made


def persons_fleet() -> FleetSettings | None:
    """Return the fleet of the person's own configuration, as it was trusted; None if there is none."""
    from .load import find_sources, load_sources

    try:
        return load_sources(TABLE, [one for one in find_sources(".") if one.layer == "user"], lines=False).fleet
    except (InterposeError, OSError):
        return None
