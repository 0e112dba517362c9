"""Deny writing to, formatting and partitioning disks and volumes."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .effects import say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {"disk-write": "write", "format-disk": "format"}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        yield Objection(options[_PARAMETERS[effect.kind]], say(effect), effect.grade)


POLICY = Policy(
    name="disks-and-devices",
    prevents="Writing to, formatting or repartitioning disks and volumes.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("write", "deny", "writing to a disk or its partition table"),
        action("format", "deny", "formatting or wiping a disk or a volume"),
    ),
    recommended={},
)
