"""``interpose list``: every hook that is registered, in the order in which they would run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from ..hooks import Hooks
from ..model import Hook
from ..plan import deadline, error_policy, is_guard, make_plan
from . import options
from .loading import hooks_of
from .reasons import isolation_of
from .words import complain_of, nearby

__all__ = ["rows_of", "run"]


def run(
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> None:
    """Order is the place within its event; hooks that are switched off have none.

    Example: interpose list --config hooks.yaml
    """
    hooks = hooks_of(config or [], dialect, cwd)
    rows = list(rows_of(hooks))
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
        (
            "EVENT",
            "ORDER",
            "NAME",
            "TYPE",
            "MATCHER",
            "IF",
            "AGENT",
            "DEADLINE",
            "ON ERROR",
            "STATE",
            "LAYER",
            "SOURCE",
        ),
        [_cells(row) for row in rows],
        colours=("bold", "", "cyan", "", "", "", "", "", "", "", "", "dim"),
    )


def rows_of(hooks: Hooks) -> Iterator[dict[str, Any]]:
    """Return what is to be said of each hook, event by event, in the order in which they would run."""
    events: dict[str, list[Hook]] = {}
    for hook in hooks:
        events.setdefault(hook.event, []).append(hook)
    for listed in events.values():
        plan = make_plan([hook for hook in listed if hook.enabled], "", hooks.settings)
        order = {hook.sequence: number for number, group in enumerate(plan.groups, 1) for hook in group}
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


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = "on" if row["enabled"] else "off"
    if row["enabled"] and not row["enforced"]:
        state = "only recorded"
    return (
        row["event"], str(row["order"] or "-"), _shortened(row["label"]), row["type"], row["matcher"], row["if"],
        row["agent"] or "", f"{row['deadline']:g} s", row["on_error"], state + (", locked" if row["locked"] else ""),
        row["layer"], nearby(row["source"]),
    )  # fmt: skip


def _shortened(label: str, longest: int = 40) -> str:
    line = " ".join(label.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
