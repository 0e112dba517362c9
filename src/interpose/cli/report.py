"""``interpose report``: one HTML file about a time or a session, for people without the tool."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ..audit.protocol import Selection, StoredQuestion
from ..errors import UsageError
from ..state.directories import write_privately
from .audit_store import NamedStore, Since, names_store, parse_since
from .render import clock_time, plural
from .ui import require_pages

__all__ = ["run"]

_QUESTIONS = 100_000
"""How many of the latest questions are looked at."""

Html = Annotated[str, typer.Option("--html", metavar="FILE", help="The file to write; it is replaced if it is there.")]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="WHEN", help="Up to then: 90m (ago), or a date such as 2026-01-31T09:00."),
]
OfSession = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="One session, with every event; the beginning is enough.")
]


@names_store
def run(
    *,
    html: Html,
    since: Since = None,
    until: Until = None,
    session: OfSession = None,
    store: NamedStore,
) -> int:
    """A day, a session or an incident as one file that opens in any browser, offline: what was stopped and why, what
    was asked and who answered, what each hook did, and charts. Only the owner can read the file; it has no secret that
    the record does not have. Without --since and --session it is about the last 24 hours.

    Example: interpose report --html day.html --since 24h

    Example: interpose report --html incident.html --since 2026-01-31T09:00 --until 2026-01-31T10:30
    """
    require_pages()
    from ..server.pages.report import Report, report_html

    path = os.path.abspath(html)
    end = parse_since(until)
    begin = parse_since(since if since is not None or session is not None else "24h")
    with store.open_reader() as reader:
        title = f"Session {session}" if session else "What hooks decided"
        report = Report(title, everything=session is not None)
        count = 0
        selection = Selection(sessions=(session,) if session else (), since=begin)
        for entry in reader.entries(selection, oldest_first=True):
            if end is not None and entry.time > end:
                continue
            report.take(entry)
            count += 1
        if not count:
            what = f"session {session}" if session else f"the time since {clock_time(begin or 0.0)}"
            raise UsageError(f"nothing is recorded of {what}", where=reader.path, hint="`interpose log` shows what is")
        asked = [one for one in reader.questions(answered=True, limit=_QUESTIONS) if _is_in(one, session, begin, end)]
    write_privately(path, report_html(report.data(asked)).encode("utf-8", "replace"))
    print(f"{path}: {plural(count, 'record')}")
    return 0


def _is_in(question: StoredQuestion, session: str | None, begin: float | None, end: float | None) -> bool:
    if session is not None and not question.text("session_id").startswith(session):
        return False
    return (begin is None or question.time >= begin) and (end is None or question.time <= end)
