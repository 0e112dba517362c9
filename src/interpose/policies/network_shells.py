"""Deny shells that are connected to the network, and object to tunnels."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .effects import say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {"network-shell": "shells", "tunnel": "tunnels", "listen": "listen"}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        yield Objection(options[_PARAMETERS[effect.kind]], say(effect), effect.grade)


POLICY = Policy(
    name="network-shells",
    prevents="Giving a shell to the network, and opening this machine to others through a tunnel.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("shells", "deny", "a shell whose input comes from a connection, or that a listener starts"),
        action("tunnels", "ask", "ssh -R, ssh -D, ngrok, cloudflared tunnel and the like"),
        action("listen", "allow", "waiting for connections with nc, socat or openssl"),
    ),
    recommended={"tunnels": "allow"},
)
