"""``interpose policies accept``: accept MCP tools and servers that have changed since they were first seen."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from ...errors import UsageError, nearest
from ...handlers.projects import project_directory
from ...person import require_person
from ...policies.mcp_pins import accept_tools, pending_changes
from ...replies import clean
from ...state.locked import StateUnavailable
from .. import options

__all__ = ["accept"]

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...", help="Tools such as mcp__mail__send, or servers; without one, they are listed."
    ),
]
All = Annotated[bool, typer.Option("--all", help="Accept all that have changed.")]


def accept(names: Names = None, all_: All = False, cwd: options.Cwd = None, as_json: options.AsJson = False) -> int:
    """Accept MCP tools and servers of this project as they are now, which the policy mcp-tools asks about or denies
    because they have changed since they were first seen. Without a name, list them with what is different. Accepting
    takes a person at a terminal.

    Example: interpose policies accept mcp__mail__send
    """
    project = project_directory("", os.path.abspath(cwd or os.getcwd()))
    try:
        waiting = pending_changes(project)
    except StateUnavailable as error:
        raise UsageError(str(error), hint="check XDG_STATE_HOME") from None
    for name in names or []:
        if name not in waiting:
            raise UsageError(f"{name} has not changed in {project}",
                             hint=nearest(name, waiting) or "`interpose policies accept` lists what has")  # fmt: skip
    if names or all_:
        require_person("accepting changed tools")
    accepted = accept_tools(project, tuple(names or ())) if names or all_ else []
    if as_json:
        print(json.dumps({"project": project, "changed": waiting, "accepted": accepted}))
        return 0
    for name, what in waiting.items():
        print(f"{'accepted' if name in accepted else 'changed '}  {clean(name)}: {clean(what)}")
    if not waiting:
        print(f"nothing has changed in {clean(project)}")
    return 0
