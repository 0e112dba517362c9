"""Hooks that the user has switched on or off for a project, without a change to its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..model import Hook
from ..records import replace
from .state import load_state, save_state

if TYPE_CHECKING:
    from .load import Loaded

__all__ = ["Switches", "may_switch", "project_of", "switched"]

_NAME = "switches.json"


def project_of(cwd: str, loaded: Loaded) -> str:
    """Return the directory that switches apply to: that of the nearest project's file, else this one."""
    for origin in reversed(loaded.origins):
        if origin.source.layer == "project":
            return os.path.dirname(os.path.dirname(origin.source.path))
    return cwd


def may_switch(hook: Hook, on: bool) -> bool:
    """Return whether a switch of the person holds for a hook: one of a file, and a locked one is not switched off.

    A person at a terminal is above all files that are found. Named files belong to the host.
    """
    return hook.layer != "code" and (on or not hook.locked)


def switched(hooks: Iterable[Hook], switches: Mapping[str, bool]) -> list[Hook]:
    """Return hooks as the person has switched them."""
    return [
        replace(hook, enabled=switches[hook.name])
        if hook.name is not None and hook.name in switches and may_switch(hook, switches[hook.name])
        else hook
        for hook in hooks
    ]


class Switches:
    """The user's switches, by project and by the name of a hook."""

    def of(self, project: str) -> dict[str, bool]:
        """Return the switches of a project."""
        found: Any = load_state(_NAME).get(os.path.realpath(project), {})
        return {name: on for name, on in found.items() if isinstance(on, bool)} if isinstance(found, dict) else {}

    def set(self, project: str, name: str, on: bool) -> None:
        """Switch a hook on or off for a project."""
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
