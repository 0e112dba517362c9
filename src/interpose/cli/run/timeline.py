"""The timeline of a session: every event at which hooks ran, the hooks, the outcome and the duration."""

from __future__ import annotations

from typing import Any

from ...model import Outcome
from ...replies import clean
from ..render import cut, flat
from ..render.outcome import subject_of
from ..render.table import Column, print_table

__all__ = ["Timeline", "print_timeline"]

_WIDEST = 70
_MANY = 8
_COLUMNS = (
    Column("event"),
    Column("subject", "cyan"),
    Column("hooks"),
    Column("outcome", "yellow"),
    Column("ms", "dim"),
)


class Timeline:
    """Collects the outcomes of a session."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.firings = 0

    def add(self, outcome: Outcome) -> None:
        """Add one outcome; an outcome without a hook that ran is only counted."""
        self.firings += 1
        if all(result.status == "skipped" for result in outcome.results):
            return
        self.rows.append({
            "event": outcome.event,
            "subject": subject_of(outcome),
            "hooks": [
                {"hook": result.hook, "status": result.status, "decision": result.decision,
                 "round": result.round, "ms": round(result.duration * 1000, 1),
                 **({"changed": True} if result.reply is not None and result.reply.changes else {}),
                 **({"stderr": stderr} if (stderr := result.evidence.get("stderr")) else {})}
                for result in outcome.results
            ],
            "decision": _decision(outcome),
            "reason": outcome.reason,
            "ms": round(sum(result.duration for result in outcome.results) * 1000, 1),
        })  # fmt: skip


def _decision(outcome: Outcome) -> str:
    """Return the outcome in a word or two."""
    if outcome.keep_going:
        return "keep going"
    if outcome.interrupt:
        return "interrupt"
    if outcome.decision != "none":
        return "granted" if outcome.granted else outcome.decision
    said = [
        ("changed", any(result.reply is not None and result.reply.changes for result in outcome.results)),
        ("context", bool(outcome.context)),
        ("inject", bool(outcome.inject)),
        ("withheld", outcome.suppress_output),
        ("failed", any(result.status in ("failed", "timeout") for result in outcome.results)),
    ]
    return ", ".join(word for word, is_so in said if is_so) or "-"


def print_timeline(rows: Any) -> None:
    """Print the timeline; rows that a hook has replaced by another type are shown as text."""
    try:
        shown = [
            (
                str(row["event"]),
                cut(flat(str(row["subject"])), 28),
                _hooks(row["hooks"]),
                str(row["decision"]),
                f"{row['ms']:.1f}",
            )
            for row in rows
        ]
    except (TypeError, KeyError, ValueError):
        print(clean(str(rows)))
        return
    if shown:
        print_table(_COLUMNS, shown)
    else:
        print("No hook ran.")


def _hooks(hooks: list[dict[str, Any]]) -> str:
    """Return the names of the hooks that ran, and the number of those that were skipped.

    Of many hooks those are named that decided, changed something or failed; the others are counted.
    """
    ran = [hook for hook in hooks if hook["status"] != "skipped"]
    named = [hook for hook in ran if len(ran) <= _MANY or _said_something(hook)]
    more = [f"{len(ran) - len(named)} more"] if len(ran) > len(named) else []
    skipped = [f"{len(hooks) - len(ran)} skipped"] if len(hooks) > len(ran) else []
    return cut(flat(", ".join([*map(_hook, named), *more, *skipped])), _WIDEST)


def _said_something(hook: dict[str, Any]) -> bool:
    return hook["status"] != "ok" or hook["decision"] != "none" or bool(hook.get("changed"))


def _hook(hook: dict[str, Any]) -> str:
    told = hook["status"] if hook["status"] != "ok" else hook["decision"] if hook["decision"] != "none" else ""
    if hook.get("round") == 2:
        told = f"again: {told}" if told else "again"
    return f"{hook['hook']} ({told})" if told else str(hook["hook"])
