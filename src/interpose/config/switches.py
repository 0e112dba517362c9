"""Hooks that the user has switched on or off for a project, without a change to its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..errors import UnknownHook, nearest
from ..model import Hook
from ..records import replace
from .state import load_state, save_state

if TYPE_CHECKING:
    from .load import Loaded

__all__ = [
    "ENFORCE",
    "OBSERVE",
    "Switch",
    "Switches",
    "may_switch",
    "project_of",
    "switch",
    "switch_record",
    "switched",
]

_NAME = "switches.json"


def project_of(cwd: str, loaded: Loaded) -> str:
    """Return the directory that switches apply to: that of the nearest project's file, else this one."""
    for origin in reversed(loaded.origins):
        if origin.source.layer == "project":
            return os.path.dirname(os.path.dirname(origin.source.path))
    return cwd


OBSERVE: Literal["observe"] = "observe"
ENFORCE: Literal["enforce"] = "enforce"
"""Switches that let a hook run: its decisions are recorded and not enforced, or enforced although its file says not."""

Switch = bool | Literal["observe", "enforce"]


def may_switch(hook: Hook, on: Switch) -> bool:
    """Return whether a switch of the person holds for a hook: one of a file, and a locked one is not weakened.

    A person at a terminal is above all files that are found. Named files belong to the host, and the rules of a fleet
    to the fleet.
    """
    return hook.layer not in ("fleet", "code") and (on in (True, ENFORCE) or not hook.locked)


def switched(hooks: Iterable[Hook], switches: Mapping[str, Switch]) -> list[Hook]:
    """Return hooks as the person has switched them."""
    return [_switched(hook, switches.get(hook.name)) if hook.name is not None else hook for hook in hooks]


def _switched(hook: Hook, switch: Switch | None) -> Hook:
    if switch is None or not may_switch(hook, switch):
        return hook
    if isinstance(switch, bool):
        return replace(hook, enabled=switch)
    return replace(hook, enabled=True, enforce=switch == ENFORCE)


def switch(project: str, name: str, to: Switch, loaded: Loaded) -> None:
    """Switch every hook of a name that the person may switch; raise UnknownHook if there is none."""
    switches = Switches()
    named = [hook for hook in loaded.hooks if hook.name == name]
    if not named and switches.of(project).get(name) is not None and to in (True, ENFORCE):
        switches.clear(project, name)  # the hook is gone, and its switch is useless
        return
    if not named:
        raise UnknownHook(f"no hook is named {name}", hint=_suggest(name, loaded))
    may = [hook for hook in named if may_switch(hook, to)]
    if not may:
        what = "is locked there" if any(hook.locked for hook in named) else "is set there"
        hint = "change it where it was written"
        if named[0].layer == "fleet":
            hint = "those who sign the rules of the fleet change it: interpose fleet push"
        raise UnknownHook(f"{name} belongs to the {named[0].layer} layer and {what}: it cannot be switched from here",
                          hint=hint)  # fmt: skip
    if all(_is_written(hook, to) for hook in may):
        switches.clear(project, name)
    else:
        switches.set(project, name, to)


def _is_written(hook: Hook, to: Switch) -> bool:
    """Say whether a hook is in its file as a switch would make it."""
    if isinstance(to, bool):
        return hook.enabled is to
    return hook.enabled and hook.enforce is (to == ENFORCE)


def switch_record(name: str, project: str, to: Switch, who: Mapping[str, str]) -> dict[str, str]:
    """Return what the record says of a switch, and of who has set it."""
    word = to if isinstance(to, str) else "on" if to else "off"
    return {"what": "switch", "hook": name, "to": word, "project": project, **who}


def _suggest(name: str, loaded: Loaded) -> str:
    if hint := nearest(name, {hook.name for hook in loaded.hooks if hook.name}):
        return hint
    if any(hook.label == name for hook in loaded.hooks):
        return "the hook has no `name:`, which a switch needs"
    waiting = [origin.source.path for origin in loaded.origins if not origin.trusted]
    return f"{waiting[0]} is not trusted yet: interpose trust" if waiting else "`interpose list` shows the hooks"


class Switches:
    """The user's switches, by project and by the name of a hook."""

    def of(self, project: str) -> dict[str, Switch]:
        """Return the switches of a project."""
        found: Any = load_state(_NAME).get(os.path.realpath(project), {})
        if not isinstance(found, dict):
            return {}
        return {name: on for name, on in found.items() if isinstance(on, bool) or on in (OBSERVE, ENFORCE)}

    def set(self, project: str, name: str, on: Switch) -> None:
        """Switch a hook on or off for a project, or whether it is enforced."""
        record = load_state(_NAME)
        record.setdefault(os.path.realpath(project), {})[name] = on
        save_state(_NAME, record)

    def clear(self, project: str, name: str) -> bool:
        """Remove the switch of a hook; return whether there was one."""
        record = load_state(_NAME)
        switched = record.get(os.path.realpath(project), {})
        known = switched.pop(name, None) is not None
        if known:
            save_state(_NAME, record)
        return known
