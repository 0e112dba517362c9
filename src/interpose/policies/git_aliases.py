"""The command lines that aliases of git stand for, as git's settings say."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from ..matching.shell import Line, read_line
from .effects import Effect, effects_of_line
from .git_settings import read_settings
from .repository import find_repository

__all__ = ["lines_of_aliases"]

_MOST = 200
"""How many aliases of a call are looked up, those in aliases too; a call with more is one that cannot be read."""
_UNREAD = 'eval "$ALIASES_OF_GIT"'


def lines_of_aliases(lines: Sequence[Line], cwd: str, home: str) -> Iterator[Line]:
    """Yield the lines that aliases in these lines stand for, and those that aliases in them do."""
    settings: dict[str, dict[str, list[str]]] = {}
    seen, left = set[tuple[str, str, tuple[str, ...]]](), list(lines)
    while left:
        for effect in effects_of_line(left.pop(0), cwd, home):
            key = (effect.directory or "", effect.target, effect.values)
            if effect.kind != "git-alias" or key in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST:
                yield read_line(_UNREAD)
                return
            place = os.path.join(cwd, effect.directory or "")
            if place not in settings:
                settings[place] = _settings(place)
            if text := _text_of(effect, place, settings[place]):
                left.append(read_line(text))
                yield left[-1]


def _settings(place: str) -> dict[str, list[str]]:
    repository = find_repository(place)
    return read_settings() if repository is None else repository.settings


def _text_of(effect: Effect, place: str, settings: dict[str, list[str]]) -> str:
    """Return the command line that an alias stands for, with the words after it; empty if there is no such alias."""
    name = effect.target.lower()
    values = settings.get(f"alias.{name}") or settings.get(f"alias.{effect.target}.command")
    if not values or not values[-1]:
        return ""
    value = values[-1].strip()
    text = value[1:] if value.startswith("!") else f"git {value}"
    return f"cd {shlex.quote(place)} && {text} {effect.values[0]}"
