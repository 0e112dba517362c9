"""``interpose list``: every hook that is registered, in the order in which they would run, and when each last did."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import InterposeError
from ..hooks import Hooks
from ..model import Hook
from ..routes import deadline, error_policy, in_order, is_guard
from . import options
from .audited import Store, ago, opened
from .loading import hooks_of
from .reasons import isolation_of
from .words import complain, complain_of, cut, flat, nearby

__all__ = ["rows_of", "run"]

_HEADINGS = (
    "EVENT", "ORDER", "NAME", "TYPE", "MATCHER", "IF", "AGENT", "DEADLINE", "ON ERROR", "STATE", "LAST FIRED", "LAYER",
    "SOURCE",
)  # fmt: skip


def run(
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    store: Store = None,
    as_json: options.AsJson = False,
) -> None:
    """Order is the place within its event; hooks that are switched off have none.

    Where firings are recorded, it also says when each hook last ran; one that is on and never has is dead.

    Example: interpose list --config hooks.yaml
    """
    named = os.path.abspath(store) if store is not None else None
    hooks = hooks_of(config or [], dialect, cwd)
    fired = _fired(hooks, named)
    rows = [{**row, **_last(row, fired)} for row in rows_of(hooks)]
    if as_json:
        files = [{"path": origin.source.path, "layer": origin.source.layer, "trusted": origin.trusted}
                 for origin in hooks.origins]  # fmt: skip
        print(json.dumps({"files": files, "hooks": rows}, default=repr))
        return
    for warning in hooks.warnings:
        complain_of(warning, "list")
    if not rows:
        hint = "" if hooks.origins else " (`interpose init` writes a configuration, --config names one)"
        print(f"no hooks{hint}", file=sys.stderr)
        return
    from .tables import show_table

    show_table(
        _HEADINGS,
        [_cells(row, time.time()) for row in rows],
        colours=("bold", "", "cyan", "", "", "", "", "", "", "", "", "", "dim"),
        lead=3,
    )


def _fired(hooks: Hooks, store: str | None) -> Mapping[tuple[str, str], float] | None:
    """Return when each hook last ran; nothing where nobody records, or nothing was recorded yet."""
    path = store or (hooks.audit.path if hooks.audit is not None else None)
    if path is None or (store is None and not os.path.exists(path)):
        return None
    try:
        with opened(path) as reader:
            return reader.last_fired() if reader.last_id() else None
    except InterposeError as error:
        if store is not None:
            raise
        complain(error, "list")  # the hooks can be listed all the same
        return None


def _last(row: dict[str, Any], fired: Mapping[tuple[str, str], float] | None) -> dict[str, Any]:
    if fired is None:
        return {}
    at = fired.get((row["event"], row["label"]))
    return {"last_fired": at, "dead": at is None and row["enabled"]}


def rows_of(hooks: Hooks) -> Iterator[dict[str, Any]]:
    """Return what is to be said of each hook, event by event, in the order in which they would run."""
    events: dict[str, list[Hook]] = {}
    for hook in hooks:
        events.setdefault(hook.event, []).append(hook)
    for listed in events.values():
        groups = in_order([hook for hook in listed if hook.enabled], "")
        order = {hook.sequence: number for number, group in enumerate(groups, 1) for hook in group}
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
    state += (", locked" if row["locked"] else "") + (", dead" if row.get("dead") else "")
    last = ago(row["last_fired"], now) if "last_fired" in row else ""
    return (
        row["event"], str(row["order"] or "-"), cut(flat(row["label"]), 40), row["type"], row["matcher"], row["if"],
        row["agent"] or "", f"{row['deadline']:g} s", row["on_error"], state, last, row["layer"],
        nearby(row["source"]),
    )  # fmt: skip
