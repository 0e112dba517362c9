"""Ask about new names that differ from an existing one only in case: some file systems take both for one."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .call import Call
from .changes import Change, changes_of
from .effects import say
from .parameters import flag
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_INSTEAD = "where names ignore case these are one file; use another name, or rename in two steps"
_MOST_NAMES = 10_000


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("change-case"):
        yield Objection("ask", say(effect, _INSTEAD), effect.grade)
    for change in changes_of(call, "rename-files"):
        target = _target(change, call)
        if target and any(_differ_in_case(change.path, one) for one in (target, os.path.dirname(target))):
            reason = f"`{change.effect.command}` changes only the case of {change.path} ({_INSTEAD})"
            yield Objection("ask", reason, change.effect.grade)
    for change in changes_of(call, "write-files", "make-folder", "rename-files"):
        path = _target(change, call) if change.effect.kind == "rename-files" else change.path
        if path and change.names and (other := _other_case(path, options["existing"])):
            reason = f"{say(change.effect)}, and there is {other} already ({_INSTEAD})"
            yield Objection("ask", reason, change.effect.grade)


def _target(change: Change, call: Call) -> str:
    """Return the new name of a file that is renamed, as an absolute path."""
    if not change.effect.values:
        return ""
    target = os.path.expanduser(change.effect.values[0])
    return os.path.normpath(os.path.join(change.effect.directory or call.cwd, target))


def _differ_in_case(one: str, other: str) -> bool:
    one, other = os.path.normpath(one), os.path.normpath(other)
    return one != other and one.casefold() == other.casefold()


def _other_case(path: str, existing: bool) -> str:
    """Return the existing path, of which each part may differ in case, that a new path would collide with."""
    folder, name = os.path.split(os.path.normpath(path))
    while folder != os.path.dirname(folder) and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MOST_NAMES), strict=False)]
    except OSError:
        return ""
    if name in names and not existing:
        return ""
    twin = next((one for one in names if one != name and one.casefold() == name.casefold()), None)
    return os.path.join(folder, twin) if twin is not None else ""


POLICY = Policy(
    name="case-renames",
    prevents="Renames and new files whose names differ from an existing one only in case.",
    judge=_judge,
    parameters=(flag("existing", False, "whether to ask about files that exist already beside such a name, too"),),
)
