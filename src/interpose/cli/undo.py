"""``interpose undo``: bring back what was there before an agent's last writes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..agent.shadow import ShadowGit, Undone, Write
from ..errors import UsageError
from ..replies import clean
from . import options
from .loading import enter, here
from .words import paint

__all__ = ["run"]

_COLOURS = {"restored": "green", "removed": "yellow", "unchanged": "dim"}

Count = Annotated[int, typer.Argument(metavar="[COUNT]", min=1, show_default=False, help="How many writes; one.")]
List = Annotated[bool, typer.Option("--list", help="Only list the last writes: 20, or COUNT if it is more.")]
Force = Annotated[
    bool, typer.Option("--force", help="Also where a file was changed since; what is there now stays in the record.")
]
Redo = Annotated[bool, typer.Option("--redo", help="Do again what was undone last.")]


def run(
    count: Count = 1,
    list_: List = False,
    force: Force = False,
    redo: Redo = False,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Every write of the agent is a commit in .interpose/shadow.git, beside what was there before. A file that somebody
    has changed since is left alone, and then nothing at all is brought back, unless you say --force.

    Example: interpose undo 3
    """
    enter(cwd)
    shadow = ShadowGit.find(Path(here()))
    if list_:
        _list(shadow, max(count, 20), as_json)
        return 0
    undone: list[Undone] = []
    if shadow is not None:
        undone = shadow.redo(count, force=force) if redo else shadow.undo(count, force=force)
    if shadow is None or not undone:
        where = str(shadow.root) if shadow else here()
        hint = "" if redo else "only what `interpose run` has written can be; `interpose undo --list` shows it"
        raise UsageError(f"nothing to {'redo' if redo else 'undo'} in {where}", hint=hint)
    if as_json:
        facts = [{"what": each.what, **_facts(each.write)} for each in undone]
        print(json.dumps({"root": str(shadow.root), "redone" if redo else "undone": facts}))
        return 0
    for each in undone:
        print(f"{paint(f'{each.what:<9}', _COLOURS[each.what])}  {clean(each.write.path)}  {_when(each.write)}")
    if len(undone) < count:
        print(f"there was no more than that: {len(undone)} of {count}")
    return 0


def _list(shadow: ShadowGit | None, most: int, as_json: bool) -> None:
    writes = shadow.history(most) if shadow else []
    if as_json:
        print(json.dumps({"root": str(shadow.root) if shadow else None, "writes": [_facts(write) for write in writes]}))
        return
    if not writes:
        print("no agent has written anything here")
        return
    from .tables import show_table

    show_table(
        ("WRITTEN", "FILE", "WAS", "STATE", "SESSION", "NOTE"),
        [
            (
                _clock(write),
                write.path,
                "" if write.before else "not there",
                "undone" if write.undone else "",
                write.session,
                write.note,
            )
            for write in writes
        ],
        colours=("dim", "cyan", "", "yellow", "dim", ""),
    )


def _facts(write: Write) -> dict[str, Any]:
    return {
        "path": write.path,
        "commit": write.commit,
        "time": write.time,
        "session": write.session,
        "note": write.note,
        "created": write.before is None,
        "undone": write.undone,
    }


def _when(write: Write) -> str:
    said = ", ".join(part for part in (f"written {_clock(write)}", clean(write.session), clean(write.note)) if part)
    return paint(f"({said})", "dim")


def _clock(write: Write) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(write.time))
