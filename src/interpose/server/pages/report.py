"""A report: one HTML file about a time or a session, for people without the tool. It opens offline and runs nothing.

It shows what the record has, in which secrets are redacted; nothing else of this machine is in it.
"""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from time import time
from typing import Any

from ...audit.protocol import StoredFiring, StoredPermission
from ...audit.questions import StoredQuestion
from .templating import environment
from .views import question_view, row_of

__all__ = ["Report", "report_html"]

_COLUMNS = 48
_NOTABLE = 400
_ALL = 600
_TOP = 25
_MOST_HOOKS = 60


class Report:
    """Takes in entries, oldest first, and counts them."""

    def __init__(self, title: str, *, everything: bool) -> None:
        self.title = title
        self._everything = everything
        self._times: list[tuple[float, str]] = []
        self._rows: list[dict[str, Any]] = []
        self._counts: Counter[str] = Counter()
        self._calls: Counter[tuple[str, str, str]] = Counter()
        self._hooks: dict[str, Counter[str]] = {}
        self._sessions: dict[str, Counter[str]] = {}
        self._agents: Counter[str] = Counter()
        self._took = 0.0
        self._left_out = 0

    def take(self, entry: StoredFiring | StoredPermission) -> None:
        """Count an entry, and keep it if it is worth showing."""
        row = row_of(entry)
        if isinstance(entry, StoredFiring):
            self._count(entry, row)
        is_notable = row["decision"] in ("deny", "ask", "keep") or row["failed"] or row["kind"] == "permission"
        if not self._everything and not is_notable:
            return
        if len(self._rows) >= (_ALL if self._everything else _NOTABLE):
            self._left_out += 1
            self._rows.pop(0)  # the latest are kept
        self._rows.append(row)

    def _count(self, entry: StoredFiring, row: dict[str, Any]) -> None:
        decision = entry.decision
        self._times.append((entry.time, decision))
        self._counts[decision] += 1
        self._took += entry.duration
        if row["agent"]:
            self._agents[row["agent"]] += 1
        of_session = self._sessions.setdefault(entry.session, Counter())
        of_session["events"] += 1
        of_session[decision] += 1
        if decision in ("deny", "ask"):
            self._calls[decision, row["subject"] or row["event"], row["reason"]] += 1
        for run in entry.runs:
            if run["status"] == "skipped":
                continue
            one = self._hooks.setdefault(str(run["hook"]), Counter())
            one["runs"] += 1
            one["microseconds"] += int(run["duration_ms"] * 1000)
            one["failed"] += run["status"] in ("failed", "timeout")
            one["stopped"] += run["decision"] in ("deny", "ask") and run["enforced"]
            one["observed"] += run["decision"] in ("deny", "ask") and not run["enforced"]
            self._counts["failed"] += run["status"] in ("failed", "timeout")

    def data(self, questions: Iterable[StoredQuestion]) -> dict[str, Any]:
        """Return everything that the file shows."""
        by_runs = sorted(self._hooks.items(), key=lambda item: -item[1]["runs"])[:_MOST_HOOKS]
        by_events = sorted(self._sessions.items(), key=lambda item: -item[1]["events"])[:_TOP]
        return {
            "title": self.title, "made": time(), "first": self._times[0][0] if self._times else None,
            "last": self._times[-1][0] if self._times else None,
            "totals": {"firings": len(self._times), "denies": self._counts["deny"], "asks": self._counts["ask"],
                       "failures": self._counts["failed"], "took": self._took},
            "chart": _chart(self._times), "rows": self._rows[::-1], "left_out": self._left_out,
            "calls": [{"decision": decision, "subject": subject, "reason": reason, "count": count}
                      for (decision, subject, reason), count in self._calls.most_common(_TOP)],
            "hooks": [{"hook": name, **one, "took": one["microseconds"] / 1e6} for name, one in by_runs],
            "sessions": [{"id": name, **one} for name, one in by_events],
            "agents": self._agents.most_common(_TOP),
            "questions": [question_view(one) for one in questions][:100], "everything": self._everything,
        }  # fmt: skip


def _chart(times: list[tuple[float, str]]) -> dict[str, Any]:
    """Return a bar for each part of the time: how many events were denied, asked about, and went on."""
    if not times:
        return {"bars": [], "most": 0}
    first, last = times[0][0], max(moment for moment, _ in times)
    width = max(last - first, 1.0) / _COLUMNS
    counted = [Counter[str]() for _ in range(_COLUMNS)]
    for moment, decision in times:
        place = min(_COLUMNS - 1, max(0, int((moment - first) / width)))
        counted[place][decision if decision in ("deny", "ask") else "rest"] += 1
    most = max(sum(one.values()) for one in counted)
    bars = []
    for place, one in enumerate(counted):
        at = 100.0
        parts = []
        for name in ("rest", "ask", "deny"):
            height = one[name] / most * 96
            height = max(height, 1.5) if one[name] else 0.0
            at -= height
            if height:
                parts.append({"kind": name, "y": round(at, 2), "height": round(height, 2)})
        bars.append({"x": place * 20, "parts": parts, "at": first + place * width,
                     "counts": {name: one[name] for name in ("deny", "ask", "rest")}})  # fmt: skip
    return {"bars": bars, "most": most}


def report_html(data: dict[str, Any]) -> str:
    """Return the file."""
    with open(os.path.join(os.path.dirname(__file__), "static", "pages.css"), encoding="utf-8") as file:
        style = file.read()
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return environment().get_template("report.html").render(style=style, digest=digest, base="", **data)
