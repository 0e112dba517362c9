"""Read from pipes what is written to a file without end: ``yes | tee FILE``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...matching.shell import Line, ShellCommand
from .effect import Effect
from .tables.sizes import ENDLESS, is_endless

__all__ = ["size_effects"]

_LIMITS = frozenset({"head", "timeout", "dd", "apt", "apt-get"})


def size_effects(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    """Yield the files that a command without end fills through pipes."""
    if not line.pipes:
        return
    for command in line.commands:
        inputs = tuple(one.target for one in command.redirections if one.is_input)
        if "timeout" in command.via or not is_endless(command.name, command.parts[1:], inputs):
            continue
        for reader in _readers(line, command.place):
            for target in _written(reader):
                text = " ".join(reader.parts)
                yield Effect("fill-disk", os.path.join(cwd, target), text, reader.name, reader.grade, (ENDLESS,))


def _readers(line: Line, place: int) -> Iterator[ShellCommand]:
    """Yield the commands that read what the command at a place writes, directly or through others; not behind head."""
    ahead, seen = [place], {place}
    while ahead:
        at = ahead.pop()
        for pipe in line.pipes:
            if pipe.first <= at < pipe.middle:
                for command in line.commands:
                    if pipe.middle <= command.place < pipe.last and command.place not in seen:
                        seen.add(command.place)
                        if command.name not in _LIMITS:
                            ahead.append(command.place)
                            yield command


def _written(command: ShellCommand) -> Iterator[str]:
    yield from (one.target for one in command.redirections if one.is_output and not one.target.startswith("/dev/"))
    if command.name == "tee":
        yield from (word for word in command.parts[1:] if not word.startswith(("-", "/dev/")))
