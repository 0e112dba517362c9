"""``interpose stats``: per hook how often it ran, what it said, how long it took; and which never ran."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from ..audit.reader import HookStats
from ..errors import InterposeError
from ..hooks import Hooks
from ..model import Hook
from . import options
from .audited import Since, Store, ago, epoch_of, opened
from .loading import hooks_of
from .words import complain

__all__ = ["run"]


def run(
    since: Since = None,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Times are those within which 50, 95 and 99 of a hundred runs were done; `SESSION` is what a hook added to a
    session on the average, and the bar its share of the time of all hooks. A hook that was skipped did not run.

    Hooks of the configuration that have never run are listed below: perhaps their matcher never matches.

    Example: interpose stats --since 7d
    """
    begin = epoch_of(since)
    files = [os.path.abspath(path) for path in config or ()]  # named from here, wherever --cwd leads
    with opened(store, files, dialect, cwd) as reader:
        found = reader.hook_stats(begin)
        fired = reader.last_fired()
        path = reader.path
    armed = _armed(files, dialect)
    never = [hook for hook in armed if (hook.event, hook.label) not in fired]
    ran = {(one.event, one.hook) for one in found if one.runs}
    idle = [hook for hook in armed if (hook.event, hook.label) in fired and (hook.event, hook.label) not in ran]
    if as_json:
        print(json.dumps({
            "store": path, "since": begin, "hooks": [_as_json(one) for one in found],
            "never_fired": [_named(hook) for hook in never],
            "not_since": [{**_named(hook), "last_fired": fired[hook.event, hook.label]} for hook in idle],
        }))  # fmt: skip
        return 0
    _show(found, begin)
    now = time.time()
    _show_silent("never fired", never, {})
    _show_silent(f"not since {since}", idle, {(hook.event, hook.label): ago(fired[hook.event, hook.label], now)
                                              for hook in idle})  # fmt: skip
    return 0


def _armed(config: list[str], dialect: str | None) -> list[Hook]:
    """Return the hooks that are switched on; a configuration that cannot be read does not keep us from counting."""
    try:
        hooks: Hooks | None = hooks_of(config, dialect, None)
    except InterposeError as error:
        complain(error, "stats")
        hooks = None
    return [hook for hook in hooks or () if hook.enabled]


def _as_json(one: HookStats) -> dict[str, Any]:
    return {
        "hook": one.hook,
        "event": one.event,
        "runs": one.runs,
        "skipped": one.skipped,
        "denies": one.denies,
        "asks": one.asks,
        "failures": one.failures,
        "timeouts": one.timeouts,
        "p50_ms": _milliseconds(one.p50),
        "p95_ms": _milliseconds(one.p95),
        "p99_ms": _milliseconds(one.p99),
        "total_ms": _milliseconds(one.total),
        "sessions": one.sessions,
        "per_session_ms": _milliseconds(one.per_session),
        "last_fired": one.last_fired,
    }


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _named(hook: Hook) -> dict[str, str]:
    return {"hook": hook.label, "event": hook.event, "source": hook.source}


def _show(found: list[HookStats], begin: float | None) -> None:
    if not found:
        print(f"no hook has run{' since then' if begin is not None else ''}", file=sys.stderr)
        return
    from .stats_table import show_stats

    show_stats(found, time.time())


def _show_silent(label: str, hooks: Iterable[Hook], last: dict[tuple[str, str], str]) -> None:
    from .words import flat, nearby, paint

    for hook in hooks:
        more = last.get((hook.event, hook.label), "")
        place = ", ".join(part for part in (hook.event, more, nearby(hook.source)) if part)
        print(f"{paint(label, 'yellow')}  {flat(hook.label)}  {paint(flat(place), 'dim')}")
