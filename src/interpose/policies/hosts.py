"""Object to hosts that are not on a list, to uploads, and to private networks."""

from __future__ import annotations

from collections.abc import Iterator

from ..matching.hosts import HostPattern
from ..runtime.regex import regex
from .call import Call
from .effects import Effect, say
from .foreign_packages import host_patterns
from .parameters import action
from .places import hosts_of_effect, place_of_host
from .policy import Action, Objection, Options, Policy

__all__ = ["POLICY"]

_ADDRESS = regex(r"[0-9.]+|.*:.*")
_KINDS = ("request", "send", "clone", "change-remote", "tunnel", "pull-image", "run-downloaded")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_KINDS):
        chosen, said = _judged(effect, options)
        if effect.kind == "send" and "inline" not in effect.values and not _is_local(effect):
            yield Objection(options["uploads"], say(effect), effect.grade)
        if chosen != "allow":
            yield Objection(chosen, f"{say(effect)}, {said}", effect.grade)


def _judged(effect: Effect, options: Options) -> tuple[Action, str]:
    """Return what is done about the host of an effect, and why."""
    hosts = hosts_of_effect(effect)
    if not hosts:
        hosts = frozenset([None])
    if all(_is_listed(host, options["hosts"]) for host in hosts):
        return "allow", ""
    unlisted = [host for host in hosts if not _is_listed(host, options["hosts"])]
    places = set(map(place_of_host, unlisted))
    if "public" in places and options["hosts"]:
        return options["unknown"], "which is not a listed host"
    if "public" in places and any(host is not None and _ADDRESS.fullmatch(host) for host in unlisted):
        return options["addresses"], "which is an address without a name"
    is_alias = effect.target.startswith("ssh://") and all(host and "." not in host for host in unlisted)
    if "private" in places and not is_alias:
        return options["private"], "which is in a private network"
    return "allow", ""


def _is_listed(host: str | None, patterns: tuple[HostPattern, ...]) -> bool:
    return host is not None and any(one.covers(f"https://{host}/") for one in patterns)


def _is_local(effect: Effect) -> bool:
    hosts = hosts_of_effect(effect)
    return bool(hosts) and all(place_of_host(host) == "local" for host in hosts)


POLICY = Policy(
    name="hosts",
    prevents="Requests to hosts that are not listed, uploads, and requests into private networks.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        host_patterns("hosts", (), "the hosts that are allowed; without one, every host is"),
        action("unknown", "ask", "a request to a host that is not listed"),
        action("addresses", "ask", "a request to a public address that has no name, such as 203.0.113.9"),
        action("uploads", "ask", "sending files, or data that the line does not show, also to a listed host"),
        action("private", "ask", "a request into a private network; this machine is always allowed"),
    ),
    notes="Programs and tools that take a host or a URL are seen. What a script, a package manager or an MCP server "
    "asks by itself is not: a proxy or the network of a container is the place for that.",
)
