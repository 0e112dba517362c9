"""Stop writing to, formatting, partitioning and mounting disks and volumes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .call import Call
from .effects import Effect, say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {"disk-write": "write", "format-disk": "format", "mount": "mount", "read-disk": "inspect"}
_WRITES = ("write-files", "empty-files", "delete-files", "delete-files-for-good", "move-files")
_HARMLESS = ("fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tcp", "tty", "udp")
_HARMLESS_STARTS = (
    "tty",
    "cu.",
    "urandom",
    "zero",
    "input",
    "snd",
    "video",
    "dri",
    "kvm",
    "fuse",
    "net",
    "log",
    "mqueue",
)


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        yield Objection(options[_PARAMETERS[effect.kind]], say(effect), effect.grade)
    for effect in call.of(*_WRITES):
        if _is_disk(effect):
            yield Objection(options["write"], say(effect._replace(kind="disk-write")), effect.grade)


def _is_disk(effect: Effect) -> bool:
    path = os.path.normpath(effect.target)
    if not path.startswith("/dev/"):
        return False
    name = path.removeprefix("/dev/").split("/")[0]
    return name not in _HARMLESS and not name.startswith(_HARMLESS_STARTS)


POLICY = Policy(
    name="disks-and-devices",
    prevents="Writing to, formatting or repartitioning disks and volumes.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("write", "deny", "writing to a disk, a volume or a partition table"),
        action("format", "deny", "formatting, wiping or removing a disk or a volume"),
        action("mount", "ask", "mounting and unmounting"),
        action("inspect", "ask", "showing a disk with a program that can change it, such as fdisk -l"),
    ),
    recommended={"mount": "allow", "inspect": "allow"},
    notes="An image in a file is a file: `mkfs.ext4 disk.img` passes.",
)
