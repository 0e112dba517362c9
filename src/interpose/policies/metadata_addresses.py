"""Deny requests to the metadata services of clouds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..matching.hosts import HostPattern
from .call import Call
from .effects import say
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_ADDRESSES = (
    "169.254.169.254",  # AWS, Google Cloud, Azure, DigitalOcean, OpenStack, Oracle
    "169.254.170.2",  # AWS, credentials of containers
    "169.254.170.23",  # AWS, identities of pods
    "169.254.169.123",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "100.100.100.200",  # Alibaba Cloud
    "192.0.0.192",  # Oracle Cloud, earlier
    "168.63.129.16",  # Azure, the host of a machine
    "metadata",
    "instance-data",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "instance-data.ec2.internal",
)


@cache
def _patterns() -> tuple[HostPattern, ...]:
    return tuple(map(HostPattern, _ADDRESSES))


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("request", "send", "clone", "tunnel", "run-downloaded"):
        if _is_metadata(effect.target):
            said = f"{say(effect)}, the metadata service of a cloud, which hands out credentials"
            yield Objection("deny", said, effect.grade)


def _is_metadata(url: str) -> bool:
    if any(one.grade(url) in ("certain", "possible") for one in _patterns()):
        return True
    # Names such as 169-254-169-254.nip.io lead to the address that they contain.
    plain = url.lower().replace("-", ".")
    return any(f"{address}." in plain or f".{address}" in plain for address in _ADDRESSES if address[0].isdigit())


POLICY = Policy(
    name="metadata-addresses",
    prevents="Asking the metadata service of a cloud for credentials, in every spelling of its address.",
    judge=_judge,
    reads_lines=True,
    recommended={},
)  # fmt: skip
