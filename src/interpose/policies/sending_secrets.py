"""Deny sending secret files, the environment or secret variables to other machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import BadHook
from ..matching.hosts import HostPattern
from .call import Call
from .effects import say
from .parameters import Parameter, action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {"file": "files", "environment": "environment", "variable": "variables"}


def _hosts(value: Any) -> tuple[HostPattern, ...]:
    given = names("allowHosts", (), "").read(value)
    try:
        return tuple(HostPattern(host) for host in given)
    except ValueError as error:
        raise BadHook(
            str(error).removeprefix("domain:"), hint="write hosts such as example.com or *.example.com"
        ) from None


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("send-secret"):
        kind, host = (*effect.values, "", "")[:2]
        if host and any(pattern.covers(host) for pattern in options["allowHosts"]):
            continue
        reason = say(effect) + (f" to {host}" if host else "")
        yield Objection(options[_PARAMETERS.get(kind, "files")], reason, effect.grade)


POLICY = Policy(
    name="sending-secrets",
    prevents="Sending a secret file, a secret variable or the environment away, also through copies and archives.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("files", "deny", "sending files that hold secrets"),
        action("environment", "deny", "sending the environment"),
        action("variables", "ask", "sending a variable that holds a secret by its name, in a body or an address"),
        Parameter("allowHosts", _hosts, (), "hosts that may be sent secrets", "a list of hosts, such as *.example.com"),
    ),
    recommended={"variables": "allow"},
    notes=(
        "A header or a user's name and password (curl -H, -u) are how a service is used and pass. Which file a line "
        "sends is "
        "read from the line; a file that an earlier call wrote is known by its name only."
    ),
)
