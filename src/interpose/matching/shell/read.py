"""Read a command line: every command that it runs or may run."""

from __future__ import annotations

from functools import lru_cache

from ...runtime.regex import regex
from .dispatch import read_program
from .line import Line
from .resolver import LONGEST, Resolver
from .runners import READERS
from .words import SimpleCommand, Unread, Unsure

__all__ = ["read_line", "shell_commands"]

_CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f]")


@lru_cache(maxsize=64)  # every rule at an event reads the same line
def read_line(text: str) -> Line:
    """Return every command that a command line runs or may run, and what in it cannot be read."""
    if len(text) > LONGEST:
        return Line(text, opaque=(Unread("longer than 100,000 characters", "broken"),), is_whole=False)
    control = _CONTROL.search(text)
    if control:
        return Line(text, opaque=(Unread(f"a control character, {control.group()!a}", "control"),), is_whole=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return Line(text, opaque=(Unread("text that is no Unicode", "broken"),), is_whole=False)
    resolver = Resolver(read_program, READERS)
    found = resolver.found
    try:
        resolver.read(text, None)
    except Unsure as error:
        reasons = dict.fromkeys([Unread(str(error), "broken"), *found.opaque])
        return Line(
            text,
            tuple(found.commands),
            tuple(found.suspects),
            (),
            tuple(reasons),
            is_whole=False,
            is_simple=False,
        )
    resolver.finish()
    return Line(
        text,
        tuple(found.commands),
        tuple(dict.fromkeys(found.suspects)),
        tuple(found.pipes),
        tuple(dict.fromkeys(found.opaque)),
        is_simple=resolver.is_simple,
        is_fork_bomb=resolver.is_fork_bomb,
    )


def shell_commands(text: str) -> tuple[SimpleCommand, ...] | None:
    """Return every simple command that a command line would run, also through ``sudo``, ``sh -c`` and other wrappers.

    None if that is unknown: the text is too long or too deep, is not a shell's, or is computed while the line runs.
    """
    line = read_line(text)
    return None if line.opaque else tuple(command.words for command in line.commands if command.parts)
