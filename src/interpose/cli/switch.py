"""``interpose enable`` and ``interpose disable``: switch a hook in one project without changing a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from ..config.load import Loaded, find_sources, load_sources
from ..config.switches import Switches, may_switch, project_of
from ..errors import UnknownHook, UsageError, nearest
from ..events import TABLE
from ..model import Hook
from ..person import require_person
from ..replies import clean
from .loading import change_directory, current_directory
from .options import AsJson, Cwd, Dialect
from .render import paint

__all__ = ["disable", "enable"]

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="The `name:` of the hook.")]
List = Annotated[bool, typer.Option("--list", help="List the switches of this project.")]


def enable(
    name: Name = None, list_: List = False, dialect: Dialect = None, cwd: Cwd = None, as_json: AsJson = False
) -> int:
    """The switch applies to you in this project; it is stored outside the project, and no file is changed.
    If the hook is on in its file, this removes the switch that `interpose disable` made.

    Switching takes a person at a terminal.
    """
    return _run(name, True, list_, dialect, cwd, as_json)


def disable(
    name: Name = None, list_: List = False, dialect: Dialect = None, cwd: Cwd = None, as_json: AsJson = False
) -> int:
    """The switch applies to you in this project; it is stored outside the project, and no file is changed.
    You can switch off hooks of your own and of the project's files, except locked ones.

    Switching takes a person at a terminal.
    """
    return _run(name, False, list_, dialect, cwd, as_json)


def _run(name: str | None, on: bool, list_: bool, dialect: str | None, cwd: str | None, as_json: bool) -> int:
    change_directory(cwd)
    loaded = load_sources(TABLE, find_sources(current_directory(), dialect))
    project = project_of(current_directory(), loaded)
    if list_:
        _list(project, loaded.hooks, as_json)
        return 0
    if name is None:
        raise UsageError("which hook?", hint="name one; `interpose list` shows them")
    require_person(f"switching a hook {'on' if on else 'off'}")
    switch(project, name, on, loaded)
    if as_json:
        print(json.dumps({"project": project, "hook": name, "enabled": on}))
    else:
        state = paint("on", "green") if on else paint("off", "yellow")
        locked = [hook.layer for hook in loaded.hooks if hook.name == name and not may_switch(hook, on)]
        but = f", except that of the {locked[0]} layer" if locked else ""
        print(f"{clean(name)} is {state} in {clean(project)}{but}")
    return 0


def switch(project: str, name: str, on: bool, loaded: Loaded) -> None:
    """Switch every hook of a name that the user may switch; raise UnknownHook if there is none."""
    switches = Switches()
    named = [hook for hook in loaded.hooks if hook.name == name]
    if not named and switches.of(project).get(name) is not None and on:
        switches.clear(project, name)  # the hook is gone, and its switch is useless
        return
    if not named:
        raise UnknownHook(f"no hook is named {name}", hint=_suggest(name, loaded))
    may = [hook for hook in named if may_switch(hook, on)]
    if not may:
        what = "is locked there" if any(hook.locked for hook in named) else "is set there"
        raise UnknownHook(f"{name} belongs to the {named[0].layer} layer and {what}: it cannot be switched from here",
                          hint="change it where it was written")  # fmt: skip
    if all(hook.enabled is on for hook in may):
        switches.clear(project, name)
    else:
        switches.set(project, name, on)


def _suggest(name: str, loaded: Loaded) -> str:
    if hint := nearest(name, {hook.name for hook in loaded.hooks if hook.name}):
        return hint
    if any(hook.label == name for hook in loaded.hooks):
        return "the hook has no `name:`, which a switch needs"
    waiting = [origin.source.path for origin in loaded.origins if not origin.trusted]
    return f"{waiting[0]} is not trusted yet: interpose trust" if waiting else "`interpose list` shows the hooks"


def _list(project: str, hooks: Sequence[Hook], as_json: bool) -> None:
    switched = Switches().of(project)
    known = {hook.name for hook in hooks}
    if as_json:
        listed = [{"hook": name, "enabled": on, "known": name in known} for name, on in switched.items()]
        print(json.dumps({"project": project, "switches": listed}))
        return
    if not switched:
        print(f"nothing is switched in {clean(project)}")
    for name, on in switched.items():
        state = paint("on ", "green") if on else paint("off", "yellow")
        print(f"{state}  {clean(name)}{'' if name in known else '  (no hook has that name now)'}")
