"""What the pages get from the command line: the hooks of this project, why each would run, cases, switches, replays."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from ...audit.completion import StoreDown
from ...audit.protocol import StoredFiring
from ...audit.read_only import ReadOnlyStore
from ...audit.store import AuditStore
from ...config.load import find_sources, load_sources
from ...config.switches import Switch, may_switch, project_of, switch, switch_record
from ...errors import InterposeError, UnknownEvent, UsageError
from ...events import TABLE
from ...hooks import Hooks
from ..engine import explain
from ..fire.event import as_host_gave
from ..list_hooks import rows_of
from ..loading import current_directory, files_of, load_hooks
from ..log.case import case_of, to_yaml
from ..render import problems_of, short_path

__all__ = ["LocalProject"]

_SWITCHES: dict[str, Switch] = {"on": True, "off": False, "observe": "observe", "enforce": "enforce"}


class LocalProject:
    """The configuration of the directory in which the pages were started; it is read again for each page."""

    def __init__(self, files: list[str], dialect: str | None, store: AuditStore | ReadOnlyStore) -> None:
        self._files, self._dialect, self._store = files, dialect, store
        self._directory = current_directory()

    def _load(self) -> Hooks:
        hooks = load_hooks(self._files, self._dialect, None)
        hooks.record(None)
        return hooks

    def hooks(self) -> dict[str, Any]:
        """Return the hooks as rows, the files that they come from, and problems."""
        try:
            hooks = self._load()
        except InterposeError as error:
            problems = [str(problem) for problem in problems_of(error)]
            return {"project": self._directory, "hooks": [], "files": [], "problems": problems}
        by_order = {(hook.event, hook.label): hook for hook in hooks}
        rows = []
        for row in rows_of(hooks):
            hook = by_order[row["event"], row["label"]]
            why = ""
            if hook.name is None:
                why = "it has no `name:`, which a switch needs"
            elif not may_switch(hook, True):
                why = "its file was named on the command line: change it there"
            rows.append({**row, "source": short_path(row["source"]), "switchable": not why, "why_fixed": why})
        return {"project": self._directory, "hooks": rows, "files": files_of(hooks.origins),
                "problems": [str(problem) for problem in hooks.warnings]}  # fmt: skip

    def explain(self, firing: StoredFiring) -> dict[str, Any] | None:
        """Return why each hook would run or not at this event now."""
        try:
            row, _ = TABLE.find(firing.event)
            hooks = self._load()
            given = {name: value for name, value in firing.given.items() if name != "hook_event_name"}
            fields, _ = as_host_gave(hooks.engine.tools, given)
            return explain(hooks, row, fields).to_dict()
        except UnknownEvent:
            return None
        except InterposeError as error:
            return {"hooks": [], "problem": str(error)}

    def case(self, firing: StoredFiring) -> str:
        """Return a firing as a case for ``interpose test``."""
        return to_yaml(case_of(firing))

    def switch(self, name: str, to: str, who: Mapping[str, str]) -> None:
        """Switch a hook, and record it; a switch that cannot be recorded is not set."""
        if to not in _SWITCHES or not name:
            raise UsageError(f"{to} is no state of a hook", hint=", ".join(_SWITCHES))
        if self._files:
            raise UsageError("the configuration was named on the command line", hint="change it in its file")
        loaded = load_sources(TABLE, find_sources(self._directory, self._dialect))
        project = project_of(self._directory, loaded)
        state = _SWITCHES[to]
        named = [hook for hook in loaded.hooks if hook.name == name]
        if named and any(may_switch(hook, state) for hook in named):
            try:
                self._store.record_change(switch_record(name, project, state, who)).block()
            except StoreDown as error:
                raise UsageError(f"the switch could not be recorded, and is not set: {error}") from None
        switch(project, name, state, loaded)

    def replay_command(self, *, since: str, session: str, against: str) -> list[str]:
        """Return the command that compares recorded sessions with another configuration, and prints JSON."""
        path = os.path.abspath(os.path.join(self._directory, os.path.expanduser(against)))
        if not against or not os.path.isfile(path):
            raise UsageError(f"{against or 'the file'}: there is no such file", hint="name a configuration")
        if session and os.path.lexists(os.path.join(self._directory, session)):
            raise UsageError(f"{session} is the name of a session and of a file", hint="`interpose replay` takes both")
        since_then = [] if session else [f"--since={since}"]
        # The session comes last: an agent may have called it like an option.
        return [sys.executable, "-P", "-m", "interpose.cli", "replay", *since_then, f"--against={path}",
                f"--store={self._store.path}", f"--cwd={self._directory}", "--json", "--",
                *([session] if session else [])]  # fmt: skip
