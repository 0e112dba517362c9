"""``interpose enable`` and ``interpose disable``: switch a hook in one project without changing a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from ..audit.completion import StoreDown
from ..audit.store import configured_store
from ..config.load import Loaded, find_sources, load_sources
from ..config.switches import ENFORCE, OBSERVE, Switch, Switches, may_switch, project_of, switch, switch_record
from ..errors import Problem, UsageError
from ..events import TABLE
from ..model import Hook
from ..person import require_person
from ..person.identity import this_person
from ..replies import clean
from .loading import change_directory, current_directory
from .options import AsJson, Cwd, Dialect
from .render import paint, print_problem

__all__ = ["disable", "enable"]

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="The `name:` of the hook.")]
List = Annotated[bool, typer.Option("--list", help="List the switches of this project.")]

Observe = Annotated[bool, typer.Option("--observe", help="Let it run, and record what it would decide.")]
Enforce = Annotated[bool, typer.Option("--enforce", help="Enforce what it decides.")]

_WORDS = {True: ("on", "green"), False: ("off", "yellow"), OBSERVE: ("observing", "yellow"),
          ENFORCE: ("enforced", "green")}  # fmt: skip


def enable(
    name: Name = None, enforce: Enforce = False, list_: List = False, dialect: Dialect = None, cwd: Cwd = None,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    """The switch applies to you in this project; it is stored outside the project, and no file is changed.
    If the hook is on in its file, this removes the switch that `interpose disable` made. With --enforce its decisions
    are enforced, although its file says that they are only recorded.

    Switching takes a person at a terminal.
    """
    return _run(name, ENFORCE if enforce else True, list_, dialect, cwd, as_json)


def disable(
    name: Name = None, observe: Observe = False, list_: List = False, dialect: Dialect = None, cwd: Cwd = None,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    """The switch applies to you in this project; it is stored outside the project, and no file is changed.
    You can switch off hooks of your own and of the project's files, except locked ones. With --observe the hook still
    runs: what it decides is recorded and not enforced.

    Switching takes a person at a terminal.
    """
    return _run(name, OBSERVE if observe else False, list_, dialect, cwd, as_json)


def _run(name: str | None, on: Switch, list_: bool, dialect: str | None, cwd: str | None, as_json: bool) -> int:
    change_directory(cwd)
    loaded = load_sources(TABLE, find_sources(current_directory(), dialect))
    project = project_of(current_directory(), loaded)
    if list_:
        _list(project, loaded.hooks, as_json)
        return 0
    if name is None:
        raise UsageError("which hook?", hint="name one; `interpose list` shows them")
    require_person(f"switching a hook {'on' if on in (True, ENFORCE) else 'off'}")
    switch(project, name, on, loaded)
    _record(name, project, on, loaded)
    if as_json:
        print(json.dumps({"project": project, "hook": name, "enabled": on is not False, "observing": on == OBSERVE}))
    else:
        state = paint(*_WORDS[on])
        locked = [hook.layer for hook in loaded.hooks if hook.name == name and not may_switch(hook, on)]
        but = f", except that of the {locked[0]} layer" if locked else ""
        print(f"{clean(name)} is {state} in {clean(project)}{but}")
    return 0


def _record(name: str, project: str, on: Switch, loaded: Loaded) -> None:
    """Write the switch to the record, if there is one."""
    if loaded.audit is None:
        return
    store = configured_store(loaded.audit)
    try:
        store.record_change(switch_record(name, project, on, this_person())).block()
    except StoreDown as error:
        print_problem(Problem(f"the switch is set, and could not be recorded: {error}"), "disable")
    finally:
        store.close()


def _list(project: str, hooks: Sequence[Hook], as_json: bool) -> None:
    switched = Switches().of(project)
    known = {hook.name for hook in hooks}
    if as_json:
        listed = [
            {"hook": name, "enabled": on is not False, "observing": on == OBSERVE, "known": name in known}
            for name, on in switched.items()
        ]
        print(json.dumps({"project": project, "switches": listed}))
        return
    if not switched:
        print(f"nothing is switched in {clean(project)}")
    for name, on in switched.items():
        word, colour = _WORDS[on]
        state = paint(f"{word:<3}", colour)
        print(f"{state}  {clean(name)}{'' if name in known else '  (no hook has that name now)'}")
