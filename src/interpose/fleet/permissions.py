"""What each role of a team may publish and subscribe to: the least that its commands need.

Every user has an inbox of its own, named after its key, so that no user can read the answers to another. A node may
not create consumers: one could be told to deliver to any subject.
"""

from __future__ import annotations

from ..records import Record
from .names import TeamNames

__all__ = ["ROLES", "Permissions", "permissions_of"]

ROLES = ("admin", "pusher", "approver", "collector", "worker", "node")
"""``admin`` sets up, ``pusher`` signs rules and reads the status, ``collector`` writes PostgreSQL."""


class Permissions(Record, kw_only=False):
    """Subjects that a user may publish to, and subscribe to."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    replies: bool = False
    """Whether it may answer requests."""


def permissions_of(role: str, team: str, public: str, *, node: str = "", hooks: tuple[str, ...] = ()) -> Permissions:
    """Return what a user may do; ``hooks`` are the subjects of hooks of type nats, ``public`` is its nkey."""
    names = TeamNames(team)
    kept: tuple[str, ...]
    own: tuple[str, ...]
    inbox = (f"_INBOX_{public}.>",)
    if role == "node":
        return _node(names, node, inbox, hooks)
    if role == "admin":
        return Permissions(("$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "$KV.>", "$O.>"),
                           (*inbox, f"interpose.{team}.>"))  # fmt: skip
    if role == "pusher":
        kept = (f"KV_{names.rings}", f"KV_{names.nodes}", f"OBJ_{names.bundles}")
        own = (f"$KV.{names.rings}.>", f"$O.{names.bundles}.>", f"$JS.API.STREAM.MSG.GET.OBJ_{names.bundles}",
               f"$JS.API.STREAM.PURGE.OBJ_{names.bundles}")  # fmt: skip
        return Permissions((*_reading(kept), *own), inbox)
    if role == "approver":
        kept = (f"KV_{names.questions}", f"KV_{names.answers}")
        return Permissions((*_direct(kept), f"$KV.{names.answers}.>"), (*inbox, f"{names.answer_changes}.>"))
    if role == "collector":
        stream = names.record_stream
        own = (f"$JS.ACK.{stream}.>", "$JS.API.STREAM.NAMES", f"$JS.API.STREAM.PURGE.{stream}",
               f"$JS.API.STREAM.MSG.GET.{stream}", f"$JS.API.CONSUMER.MSG.NEXT.{stream}.>")  # fmt: skip
        return Permissions((*_reading((stream,)), *own), inbox)
    if role == "worker":
        return Permissions(("$SRV.>",), (*inbox, *hooks, "$SRV.>"), replies=True)
    raise ValueError(f"no role {role!r}")


def _node(names: TeamNames, node: str, inbox: tuple[str, ...], hooks: tuple[str, ...]) -> Permissions:
    direct = "$JS.API.DIRECT.GET"
    return Permissions(
        (
            names.record_subject(node),
            f"$KV.{names.nodes}.{node}",
            f"$KV.{names.questions}.{node}.>",
            f"{direct}.KV_{names.rings}.$KV.{names.rings}.*",
            f"{direct}.OBJ_{names.bundles}",
            f"{direct}.OBJ_{names.bundles}.$O.{names.bundles}.M.*",
            f"{direct}.KV_{names.answers}.$KV.{names.answers}.{node}.*",
            f"{direct}.KV_{names.questions}.$KV.{names.questions}.{node}.*",
            *hooks,
        ),
        (*inbox, f"{names.ring_changes}.*", f"{names.answer_changes}.{node}.*"),
    )


def _direct(streams: tuple[str, ...]) -> tuple[str, ...]:
    """Return what it takes to read streams whole by direct requests."""
    made: list[str] = []
    for stream in streams:
        made += [f"$JS.API.STREAM.INFO.{stream}", f"$JS.API.DIRECT.GET.{stream}", f"$JS.API.DIRECT.GET.{stream}.>"]
    return tuple(made)


def _reading(streams: tuple[str, ...]) -> tuple[str, ...]:
    """Return what it takes to read streams whole, with consumers."""
    made = ["$JS.FC.>", *_direct(streams)]
    for stream in streams:
        made += [f"$JS.API.CONSUMER.*.{stream}", f"$JS.API.CONSUMER.*.{stream}.>",
                 f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.>"]  # fmt: skip
    return tuple(made)
