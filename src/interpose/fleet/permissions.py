"""What each role of a team may publish and subscribe to: the least that its commands need.

Every user has an inbox of its own, named after its key, so that no user can read the answers to another. A node may
not create consumers: one could be told to deliver to any subject.

Permissions do not hold for the reply subject of a request: the server itself publishes the answer there. So each node,
the approvers and the workers have accounts of their own, in which only the subjects exist that they may use. What an
answer is published to there reaches nothing else.
"""

from __future__ import annotations

from ..records import Record
from .names import TeamNames

__all__ = ["ROLES", "Exports", "Imports", "Permissions", "account_of", "exports_of", "imports_of", "permissions_of"]

ROLES = ("admin", "pusher", "approver", "collector", "worker", "node")
"""``admin`` sets up, ``pusher`` signs rules and reads the status, ``collector`` writes PostgreSQL."""


class Permissions(Record, kw_only=False):
    """Subjects that a user may publish to, and subscribe to."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    replies: bool = False
    """Whether it may answer requests."""


class Exports(Record, kw_only=False):
    """What other accounts may import from one."""

    services: tuple[str, ...]
    """Subjects of requests that get one answer."""
    pages: tuple[str, ...] = ()
    """Subjects of requests that get several."""
    streams: tuple[str, ...] = ()
    """Subjects that others may subscribe to."""


class Imports(Record, kw_only=False):
    """What an account imports from another one."""

    account: str
    services: tuple[str, ...]
    streams: tuple[str, ...] = ()


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
        kept = (f"KV_{names.rings}", f"KV_{names.nodes}")
        own = (f"$KV.{names.rings}.>", f"$O.{names.bundles}.>", f"$JS.API.STREAM.MSG.GET.OBJ_{names.bundles}",
               f"$JS.API.STREAM.PURGE.OBJ_{names.bundles}")  # fmt: skip
        return Permissions((*_direct(kept), *_reading(f"OBJ_{names.bundles}"), *own), inbox)
    if role == "approver":
        kept = (f"KV_{names.questions}", f"KV_{names.answers}")
        return Permissions((*_direct(kept), f"$KV.{names.answers}.>"), (*inbox, f"{names.answer_changes}.>"))
    if role == "collector":
        stream = names.record_stream
        own = (f"$JS.ACK.{stream}.>", "$JS.API.STREAM.NAMES", f"$JS.API.STREAM.PURGE.{stream}",
               f"$JS.API.STREAM.MSG.GET.{stream}", f"$JS.API.CONSUMER.MSG.NEXT.{stream}.>")  # fmt: skip
        return Permissions((*_reading(stream), *own), inbox)
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
        made += [f"$JS.API.DIRECT.GET.{stream}", f"$JS.API.DIRECT.GET.{stream}.>"]
    return tuple(made)


def _reading(stream: str) -> tuple[str, ...]:
    """Return what it takes to read a stream whole, with consumers."""
    return ("$JS.FC.>", *_direct((stream,)), f"$JS.API.STREAM.INFO.{stream}", f"$JS.API.CONSUMER.*.{stream}",
            f"$JS.API.CONSUMER.*.{stream}.>", f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.>")  # fmt: skip


# Accounts


def account_of(role: str, team: str, node: str = "") -> str:
    """Return the account of a user. The account with the name of the team has its streams and buckets."""
    own = {"node": f"{team}/node/{node}", "approver": f"{team}/approvers", "worker": f"{team}/workers"}
    return own.get(role, team)


def exports_of(role: str, team: str, hooks: tuple[str, ...] = ()) -> Exports:
    """Return what the account of a role lets others import."""
    if role == "worker":
        return Exports(_widest(hooks))
    if account_of(role, team) != team:
        return Exports(())
    names, direct = TeamNames(team), "$JS.API.DIRECT.GET"
    services = (
        names.record_subjects, f"$KV.{names.nodes}.*", f"$KV.{names.questions}.>", f"$KV.{names.answers}.>",
        f"{direct}.OBJ_{names.bundles}", f"{direct}.OBJ_{names.bundles}.>",
        *(f"{direct}.KV_{bucket}.>" for bucket in (names.rings, names.questions, names.answers)),
    )  # fmt: skip
    pages = tuple(f"{direct}.KV_{bucket}" for bucket in (names.questions, names.answers))
    return Exports(services, pages, (f"{names.ring_changes}.*", f"{names.answer_changes}.>"))


def imports_of(role: str, team: str, *, node: str = "", hooks: tuple[str, ...] = ()) -> list[Imports]:
    """Return what the account of a role imports: what its permissions name, and nothing else."""
    if role not in ("node", "approver"):
        return []
    may = permissions_of(role, team, "", node=node)
    streams = tuple(subject for subject in may.subscribe if not subject.startswith("_INBOX"))
    made = [Imports(team, may.publish, streams)]
    if role == "node" and hooks:
        made.append(Imports(account_of("worker", team), _widest(hooks)))
    return made


def _widest(subjects: tuple[str, ...]) -> tuple[str, ...]:
    """Return the subjects that no other one covers: a request that two imports take would be sent twice."""
    return tuple(one for one in subjects if not any(one != other and _covers(other, one) for other in subjects))


def _covers(wide: str, narrow: str) -> bool:
    """Say whether all subjects of one pattern are subjects of another."""
    wide_parts, parts = wide.split("."), narrow.split(".")
    for place, part in enumerate(wide_parts):
        if part == ">":
            return len(parts) > place
        if place >= len(parts) or parts[place] == ">" or part not in ("*", parts[place]):
            return False
    return len(wide_parts) == len(parts)
