"""``interpose undo``: restore the files that an agent's last writes changed."""

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
from .loading import change_directory, current_directory
from .render import paint
from .render.table import Column, print_table

__all__ = ["run"]

_COLUMNS = (
    Column("WRITTEN", "dim"), Column("FILE", "cyan"), Column("WAS"), Column("STATE", "yellow"),
    Column("SESSION", "dim"), Column("NOTE"),
)  # fmt: skip
_COLOURS = {"restored": "green", "removed": "yellow", "unchanged": "dim"}

Count = Annotated[int, typer.Argument(metavar="[COUNT]", min=1, show_default=False, help="How many writes; default 1.")]
List = Annotated[bool, typer.Option("--list", help="List the last writes: 20, or COUNT if it is more.")]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Also restore files that changed since; their present content is kept in the history."
    ),
]
Redo = Annotated[bool, typer.Option("--redo", help="Repeat the writes that were undone last.")]


def run(
    count: Count = 1,
    list_: List = False,
    force: Force = False,
    redo: Redo = False,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Every write of the agent is a commit in .interpose/shadow.git, with the content before it. If a file has changed
    since, nothing is restored unless you use --force.

    Example: interpose undo 3
    """
    change_directory(cwd)
    shadow = ShadowGit.find(Path(current_directory()))
    if list_:
        _list(shadow, max(count, 20), as_json)
        return 0
    undone: list[Undone] = []
    if shadow is not None:
        undone = shadow.redo(count, force=force) if redo else shadow.undo(count, force=force)
    if shadow is None or not undone:
        where = str(shadow.root) if shadow else current_directory()
        hint = "" if redo else "it restores what `interpose run` has written; `interpose undo --list` shows that"
        raise UsageError(f"nothing to {'redo' if redo else 'undo'} in {where}", hint=hint)
    if as_json:
        facts = [{"what": each.what, **_facts(each.write)} for each in undone]
        print(json.dumps({"root": str(shadow.root), "redone" if redo else "undone": facts}))
        return 0
    for each in undone:
        print(f"{paint(f'{each.what:<9}', _COLOURS[each.what])}  {clean(each.write.path)}  {_when(each.write)}")
    if len(undone) < count:
        print(f"{len(undone)} of {count}: there were no more")
    return 0


def _list(shadow: ShadowGit | None, most: int, as_json: bool) -> None:
    writes = shadow.history(most) if shadow else []
    if as_json:
        print(json.dumps({"root": str(shadow.root) if shadow else None, "writes": [_facts(write) for write in writes]}))
        return
    if not writes:
        print("no agent has written anything here")
        return
    rows = [
        (_clock(write), write.path, "" if write.before else "not there", "undone" if write.undone else "",
         write.session, write.note)
        for write in writes
    ]  # fmt: skip
    print_table(_COLUMNS, rows)


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
