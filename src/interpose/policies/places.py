"""Which host an effect is about, and whether that is this machine, a private network or elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal

from ..matching.hosts import hosts_of
from ..runtime.regex import regex
from .effects import Effect

__all__ = ["HostPlace", "hosts_of_effect", "place_of_host", "url_of"]

HostPlace = Literal["local", "private", "public"]

_COPIED = regex(r"(?:[^\s/:@]+@)?([^\s/:@]+):(?!//)")
_PRIVATE_NAMES = (".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp", ".home", ".test", ".localdomain")
_REGISTRY = regex(r"(?:[\w.-]*[.:][\w.:-]*|localhost)/")


def url_of(effect: Effect) -> str:
    """Return the target of an effect as a URL: of an image its registry, of ``git@host:path`` the host."""
    target = re.sub(r"^(?:git|hg|svn|bzr)\+", "", effect.target.partition(" @ ")[2] or effect.target)
    if effect.kind == "pull-image":
        found = _REGISTRY.match(target)
        return f"https://{found.group()}" if found else "https://docker.io/"
    if "://" not in target and (copied := _COPIED.match(target)) and not copied.group(1).isdigit():
        return f"ssh://{copied.group(1)}/" if effect.kind in ("clone", "change-remote", "foreign-package") else target
    return target


@lru_cache(maxsize=256)
def _hosts(url: str) -> frozenset[str | None]:
    return hosts_of(url)


def hosts_of_effect(effect: Effect) -> frozenset[str | None]:
    """Return the hosts that an effect is about; None among them stands for one that cannot be read."""
    return _hosts(url_of(effect))


def place_of_host(host: str | None) -> HostPlace:
    """Return whether a host is this machine, in a private network, or elsewhere; an unknown one is elsewhere."""
    if host is None:
        return "public"
    try:
        address = ip_address(host)
    except ValueError:
        if host == "localhost" or host.endswith(".localhost"):
            return "local"
        return "private" if host.endswith(_PRIVATE_NAMES) or "." not in host else "public"
    if address.is_loopback or address.is_unspecified:
        return "local"
    return "private" if address.is_private and not _is_example(host) else "public"


def _is_example(host: str) -> bool:
    """Return whether an address is only for documentation, which Python counts as private."""
    return host.startswith(("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8:"))
