"""Ask about writes beyond a size, many edits at once, and commands that fill the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from .call import Call
from .changes import changes_of
from .effects import say
from .parameters import action, count, size
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    edits = call.edits
    if options["size"] is not None:
        for edit in edits:
            length = len(edit.new) if len(edit.new) > options["size"] else len(edit.new.encode("utf-8", "replace"))
            if length > options["size"]:
                what = f"`{call.tool}` writes {_shown(length)} to {edit.path or 'a file'}"
                yield Objection(
                    options["writes"], f"{what}, more than {_shown(options['size'])} (write less, or in parts)"
                )
    if options["edits"] is not None and len(edits) > options["edits"]:
        reason = f"`{call.tool}` makes {len(edits)} edits at once, more than {options['edits']} (make fewer)"
        yield Objection(options["writes"], reason)
    if options["add"] is not None:
        for change in changes_of(call, "add-files"):
            length = _length(change.names[0]) if change.names else 0
            if length > options["add"]:
                yield Objection(
                    options["commands"], say(change.effect, f"{_shown(length)}, for good"), change.effect.grade
                )
    if options["disk"] is not None:
        for effect in call.of("fill-disk"):
            written = float(effect.values[0])
            if written > options["disk"]:
                number = "without end" if written == float("inf") else f"{_shown(int(written))}"
                yield Objection(options["commands"], say(effect, number), effect.grade)


def _length(path: str) -> int:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _shown(number: int) -> str:
    rest = float(number)
    for unit in _UNITS:
        if rest < 1024 or unit == _UNITS[-1]:
            return f"{rest:.0f} {unit}" if unit == "bytes" or rest >= 10 else f"{rest:.1f} {unit}"
        rest /= 1024
    return ""


POLICY = Policy(
    name="large-writes",
    prevents="Writes beyond a size, many edits in one call, very large files in git, and commands that fill the disk.",
    judge=_judge,
    parameters=(
        size("size", "1MiB", "the most that a tool writes to one file; null for no limit"),
        count("edits", 100, "the most edits in one call of a tool; null for no limit"),
        size("disk", "2GiB", "the most that a command line writes to one file; null for no limit"),
        size("add", "50MiB", "the largest file that git add takes; null for no limit"),
        action("writes", "ask", "writes of tools beyond the limits"),
        action("commands", "ask", "command lines beyond the limits"),
    ),
    recommended={},
)
