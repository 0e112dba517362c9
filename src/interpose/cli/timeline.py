"""The timeline of a session: every event at which hooks ran, what they said, what came of it, how long it took."""

from __future__ import annotations

from typing import Any

from ..model import Outcome, subject_of
from ..replies import clean
from .tables import show_table
from .words import cut, flat

__all__ = ["Timeline", "show_timeline"]

_WIDEST = 70


class Timeline:
    """Collects the outcomes of a session."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.firings = 0

    def add(self, outcome: Outcome) -> None:
        """Take in one outcome; one at which no hook ran is only counted."""
        self.firings += 1
        if all(result.status == "skipped" for result in outcome.results):
            return
        self.rows.append({
            "event": outcome.event,
            "subject": subject_of(outcome),
            "hooks": [
                {"hook": result.hook, "status": result.status, "decision": result.decision,
                 "round": result.round, "ms": round(result.duration * 1000, 1)}
                for result in outcome.results
            ],
            "decision": _decision(outcome),
            "reason": outcome.reason,
            "ms": round(sum(result.duration for result in outcome.results) * 1000, 1),
        })  # fmt: skip


def _decision(outcome: Outcome) -> str:
    """Say in a word what came of it."""
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


def show_timeline(rows: Any) -> None:
    """Print the timeline; rows that a hook has put into another shape are shown as they are."""
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
        show_table(("event", "subject", "hooks", "outcome", "ms"), shown, colours=("", "cyan", "", "yellow", "dim"))
    else:
        print("No hook ran.")


def _hooks(hooks: list[dict[str, Any]]) -> str:
    """Name the hooks that ran; those that were skipped are counted."""
    ran = [_hook(hook) for hook in hooks if hook["status"] != "skipped"]
    skipped = len(hooks) - len(ran)
    return cut(flat(", ".join([*ran, *([f"{skipped} skipped"] if skipped else [])])), _WIDEST)


def _hook(hook: dict[str, Any]) -> str:
    told = hook["status"] if hook["status"] != "ok" else hook["decision"] if hook["decision"] != "none" else ""
    if hook.get("round") == 2:
        told = f"again: {told}" if told else "again"
    return f"{hook['hook']} ({told})" if told else str(hook["hook"])
