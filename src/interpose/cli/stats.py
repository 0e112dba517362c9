"""``interpose stats``: how often each hook ran, what it decided, how long it took; and which hooks never ran."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ..audit.protocol import HookStats, PermissionCount
from ..errors import InterposeError
from ..hooks import Hooks
from ..model import Hook
from . import options
from .audit_store import NamedStore, Since, names_store, parse_since
from .loading import load_hooks
from .render import flat, format_duration, paint, plural, print_error, short_path, time_since
from .render.table import Column, PrintedTable, terminal_width

__all__ = ["bar", "run"]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR = 8
_VERDICTS = {"denied": "red", "asked": "yellow", "allowed": "green"}


@names_store
def run(
    *,
    since: Since = None,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """P50, P95 and P99 are percentiles of the duration; SESSION is the average time per session, and SHARE compares the
    total time of the hooks. A skipped hook did not run.

    Below the table are the calls that were not simply allowed, counted by verdict and by what decided them; how many
    questions have waited for a person; and the hooks of the configuration that have never run, perhaps because their
    matcher never matches.

    Example: interpose stats --since 7d
    """
    begin = parse_since(since)
    with store.open_reader() as reader:
        found = reader.hook_stats(begin)
        fired = reader.last_fired()
        permissions = reader.permission_counts(begin)
        questions = reader.question_counts(begin)
        path = reader.path
    armed = _armed(store.files, store.dialect)
    never = [hook for hook in armed if (hook.event, hook.label) not in fired]
    ran = {(one.event, one.hook) for one in found if one.runs}
    idle = [hook for hook in armed if (hook.event, hook.label) in fired and (hook.event, hook.label) not in ran]
    if as_json:
        print(json.dumps({
            "store": path, "since": begin, "hooks": [_as_json(one) for one in found],
            "never_fired": [_named(hook) for hook in never],
            "permissions": [{"verdict": one.verdict, "by": one.by, "count": one.count} for one in permissions],
            "questions": questions,
            "not_since": [{**_named(hook), "last_fired": fired[hook.event, hook.label]} for hook in idle],
        }))  # fmt: skip
        return 0
    now = time.time()
    if found:
        _print_stats(found, now)
    else:
        print(f"no hook has run{' since then' if begin is not None else ''}", file=sys.stderr)
    _print_permissions(permissions)
    if questions:
        counted = ", ".join(f"{count:,} {state}" for state, count in sorted(questions.items()))
        print(f"{paint('waited', 'yellow')}  {plural(sum(questions.values()), 'question')}: {counted}")
    _print_idle("never fired", never, {})
    _print_idle(f"not since {since}", idle, {(hook.event, hook.label): time_since(fired[hook.event, hook.label], now)
                                             for hook in idle})  # fmt: skip
    return 0


def _armed(config: list[str], dialect: str | None) -> list[Hook]:
    """Return the enabled hooks; print the error of a configuration that cannot be loaded, and return none."""
    try:
        hooks: Hooks | None = load_hooks(config, dialect, None)
    except InterposeError as error:
        print_error(error, "stats")
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


def _print_stats(found: Sequence[HookStats], now: float) -> None:
    """Print a row per hook, event by event, most runs first; columns without a number are left out."""
    longest = max(one.total for one in found)
    width = terminal_width()
    table = PrintedTable((
        Column("  HOOK", most=30 if width is None else 2 + min(28, max(8, width // 3))),
        Column("RUNS", right=True),
        Column("DENY", "red", right=True),
        Column("ASK", "yellow", right=True, drop=1),
        Column("FAIL", "red", right=True),
        Column("LATE", "red", right=True),
        Column("P50", right=True, drop=4),
        Column("P95", right=True),
        Column("P99", right=True, drop=3),
        Column("SESSION", right=True, drop=5),
        Column("LAST", right=True, drop=2),
        Column("SHARE", "blue", drop=6),
    ))  # fmt: skip
    table.fit([_cells(one, longest, now) for one in found])
    table.print_heading()
    for event in dict.fromkeys(one.event for one in found):
        print(paint(flat(event), "cyan"))
        table.print_rows([_cells(one, longest, now) for one in found if one.event == event])


def _cells(one: HookStats, longest: float, now: float) -> tuple[str, ...]:
    counts = (str(number or "") for number in (one.denies, one.asks, one.failures, one.timeouts))
    times = (format_duration(seconds) for seconds in (one.p50, one.p95, one.p99, one.per_session))
    return (
        f"  {flat(one.hook)}", str(one.runs), *counts, *times, time_since(one.last_fired, now), bar(one.total, longest),
    )  # fmt: skip


def bar(value: float, most: float) -> str:
    """Return a bar of up to 8 characters for a value; any value above 0 is visible."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(1, min(_BAR * 8, round(value / most * _BAR * 8)))
    if not _can_draw():
        return "#" * max(1, eighths // 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _can_draw() -> bool:
    try:
        _EIGHTHS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _print_permissions(found: Sequence[PermissionCount]) -> None:
    """Print a line per verdict on calls that were not simply allowed: how many, and by whom or what."""
    for verdict in dict.fromkeys(one.verdict for one in found):
        some = [one for one in found if one.verdict == verdict]
        by = ", ".join(f"{one.count:,} by {flat(one.by)}" for one in some)
        total = plural(sum(one.count for one in some), "call")
        print(f"{paint(flat(verdict), _VERDICTS.get(verdict, ''))}  {total}: {by}")


def _print_idle(label: str, hooks: Iterable[Hook], last: dict[tuple[str, str], str]) -> None:
    for hook in hooks:
        more = last.get((hook.event, hook.label), "")
        place = ", ".join(part for part in (hook.event, more, short_path(hook.source)) if part)
        print(f"{paint(label, 'yellow')}  {flat(hook.label)}  {paint(flat(place), 'dim')}")
