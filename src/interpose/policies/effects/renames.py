"""Follow files that a line gives another name: ``ln -s ~ h; rm -rf h/x``, ``mv ~/x .; rm x``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...matching.shell import ShellCommand
from ...runtime.named_tuples import NamedTuple
from .effect import Effect
from .paths import absolute, plain
from .rows import parse, written
from .tables.files import PROGRAMS, copied_to

__all__ = ["Names"]

_MOST_NAMES = 20
_FOLLOWS = frozenset({
    "read-files", "write-files", "delete-files", "delete-files-for-good", "empty-files", "move-files", "change-tree",
    "change-mode", "lock-out", "open-permissions", "setuid", "fill-disk",
})  # fmt: skip
_OF_THE_LINK = frozenset({"delete-files", "delete-files-for-good", "move-files"})
"""What is done to a link itself, and not to the file that it leads to."""
_MAKES_NAMES = {"ln": "ln", "gln": "ln", "link": "ln", "mv": "mv", "gmv": "mv"}


class _Name(NamedTuple):
    """A name that the line makes, and the file that it stands for."""

    name: str
    source: str
    is_link: bool


class Names:
    """The names that the commands of a line have made so far."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._names: list[_Name] = []

    def note(self, command: ShellCommand, places: tuple[str | None, ...]) -> None:
        """Note the names that a command makes; it may run in several directories."""
        program = _MAKES_NAMES.get(command.name)
        if program is None or len(self._names) >= _MOST_NAMES:
            return
        words = map(written, command.parts[1:])
        given = parse(program, words, PROGRAMS[program].options, command)
        folder, operands = given.value("t"), given.operands
        sources, target = (operands, f"{folder}/") if folder is not None else (operands[:-1], "".join(operands[-1:]))
        if len(operands) == 1 and folder is None and program == "ln":
            sources, target = operands, "./"
        for place in places:
            for source in sources:
                for name in copied_to([source], target):
                    made = plain(absolute(name, place, self._home))
                    begin = os.path.dirname(made) if program == "ln" and given.has("s") else place
                    self._names.append(_Name(made, absolute(source, begin, self._home), program == "ln"))

    def follow(self, command: ShellCommand, effects: list[Effect]) -> Iterator[Effect]:
        """Yield effects of a command, and each once more for a file that has another name."""
        for effect in effects:
            yield effect
            if self._names and effect.kind in _FOLLOWS:
                yield from self._followed(command, effect)

    def _followed(self, command: ShellCommand, effect: Effect) -> Iterator[Effect]:
        target = plain(effect.target)
        for one in self._names:
            rest = target[len(one.name) :]
            if not target.startswith(one.name) or rest[:1] not in ("", "/") or one.source == target:
                continue
            is_itself = not rest and one.is_link
            if is_itself and (effect.kind in _OF_THE_LINK or command.name in _MAKES_NAMES):
                continue
            if not one.is_link and effect.kind not in (*_OF_THE_LINK, "empty-files"):
                continue  # what was moved here is the line's own
            yield effect._replace(target=one.source + rest)
