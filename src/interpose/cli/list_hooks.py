"""``interpose list``: every registered hook in the order of its event, and when it last ran."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import InterposeError, Problem
from ..hooks import Hooks
from ..lint.executables import isolation_of
from ..model import Hook
from . import options
from .audit_store import NamedStore, Store
from .engine import deadline, error_policy, is_guard, order_of
from .loading import files_of, load_hooks
from .render import cut, flat, print_error, print_problem, short_path, time_since
from .render.table import Column, print_table

__all__ = ["rows_of", "run"]

_COLUMNS = (
    Column("EVENT", "bold"), Column("ORDER"), Column("NAME", "cyan"), Column("TYPE"), Column("MATCHER"), Column("IF"),
    Column("AGENT"), Column("DEADLINE"), Column("ON ERROR"), Column("STATE"), Column("LAST FIRED"), Column("LAYER"),
    Column("SOURCE", "dim"),
)  # fmt: skip


def run(
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    store: Store = None,
    as_json: options.AsJson = False,
) -> None:
    """ORDER is the place of a hook within its event; hooks that are switched off have none.

    If firings are recorded, LAST FIRED says when each hook last ran; the STATE of a hook that is on and has not run
    says `never ran`.

    Example: interpose list --config hooks.yaml
    """
    named = os.path.abspath(store) if store is not None else None
    hooks = load_hooks(config or [], dialect, cwd)
    fired = _fired(hooks, named)
    rows = [{**row, **_last(row, fired)} for row in rows_of(hooks)]
    if as_json:
        print(json.dumps({"files": files_of(hooks.origins), "hooks": rows}, default=repr))
        return
    for warning in hooks.warnings:
        print_problem(warning, "list")
    if not rows:
        hint = "" if hooks.origins else " (`interpose init` writes a configuration, --config names one)"
        print(f"no hooks{hint}", file=sys.stderr)
        return
    print_table(_COLUMNS, [_cells(row, time.time()) for row in rows], lead=3)
    for origin in hooks.origins:
        for entry in origin.live:
            problem = Problem(f"{entry['hook']}: {entry['what']} is live ({entry['why']})", where=origin.source.path)
            print_problem(problem, "list")


def _fired(hooks: Hooks, store: str | None) -> Mapping[tuple[str, str], float] | None:
    """Return when each hook last ran, or None if nothing is recorded."""
    path = store or (hooks.audit.path if hooks.audit is not None else None)
    if path is None or (store is None and not os.path.exists(path)):
        return None
    try:
        with NamedStore(path).open_reader() as reader:
            return reader.last_fired() if reader.last_id() else None
    except InterposeError as error:
        if store is not None:
            raise
        print_error(error, "list")  # the hooks can still be listed
        return None


def _last(row: dict[str, Any], fired: Mapping[tuple[str, str], float] | None) -> dict[str, Any]:
    if fired is None:
        return {}
    at = fired.get((row["event"], row["label"]))
    return {"last_fired": at, "dead": at is None and row["enabled"]}


def rows_of(hooks: Hooks) -> Iterator[dict[str, Any]]:
    """Return each hook as JSON, event by event, in the order in which they would run."""
    events: dict[str, list[Hook]] = {}
    for hook in hooks:
        events.setdefault(hook.event, []).append(hook)
    for listed in events.values():
        order = order_of([hook for hook in listed if hook.enabled], "")
        for hook in sorted(listed, key=lambda hook: (hook.sequence not in order, order.get(hook.sequence, 0))):
            yield _row(hooks, hook, order.get(hook.sequence))


def _row(hooks: Hooks, hook: Hook, order: int | None) -> dict[str, Any]:
    settings = hooks.settings
    return {
        "event": hook.event,
        "order": order,
        "name": hook.name,
        "label": hook.label,
        "type": hook.type,
        "matcher": hook.matcher,
        "if": hook.condition or "",
        "agent": hook.scope,
        "priority": hook.priority,
        "deadline": deadline(hook, settings),
        "on_error": error_policy(hook, settings),
        "guard": is_guard(hook, settings),
        "enabled": hook.enabled,
        "enforced": hook.enforce and settings.enforce,
        "locked": hook.locked,
        "isolation": isolation_of(hook),
        "layer": hook.layer,
        "source": hook.source,
        "description": hook.description,
    }


def _cells(row: dict[str, Any], now: float) -> tuple[str, ...]:
    state = "on" if row["enabled"] else "off"
    if row["enabled"] and not row["enforced"]:
        state = "only recorded"
    state += (", locked" if row["locked"] else "") + (", never ran" if row.get("dead") else "")
    last = time_since(row["last_fired"], now) if "last_fired" in row else ""
    return (
        row["event"], str(row["order"] or "-"), cut(flat(row["label"]), 40), row["type"], row["matcher"], row["if"],
        row["agent"] or "", f"{row['deadline']:g} s", row["on_error"], state, last, row["layer"],
        short_path(row["source"]),
    )  # fmt: skip
