"""What is new in the record, for open pages: one thread looks, and every page gets the same lines.

However many records are written, a page gets at most so many lines at a time and a number for the rest: so the page
stays responsive, and memory stays as it is. A browser that does not read gets the newest lines when it does.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from ...audit.protocol import NotAStore, Selection, StoreReader, StoreUnreadable, Totals
from ...audit.questions import StoredQuestion
from .views import question_view, row_of, running_sessions, since_midnight, totals_of

__all__ = ["Live"]

_PERIOD = 0.3
_LINES = 40
"""How many lines a page gets at a time."""
_PAUSE = 1.0
"""Seconds until the next lines, if there were more than a page gets: so many are counted, not read."""
_KEEP_ALIVE = 15.0


class Live:
    """Looks at the record as long as a page is open. ``render`` makes HTML of rows and of questions."""

    def __init__(self, open_reader: Callable[[], StoreReader], render: Callable[[str, dict[str, Any]], str]) -> None:
        self._open, self._render = open_reader, render
        self._listeners: dict[object, tuple[asyncio.AbstractEventLoop, asyncio.Queue[str]]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._totals: tuple[float, Totals] | None = None

    def totals(self, reader: StoreReader) -> Totals:
        """Return the sums of today; what was counted before is not counted again."""
        today = since_midnight()
        with self._lock:
            before = self._totals[1] if self._totals is not None and self._totals[0] == today else None
        found = reader.totals(today, before)
        with self._lock:
            self._totals = (today, found)
        return found

    def stop(self) -> None:
        """End the thread and every stream."""
        self._stopped.set()
        with self._lock:
            listeners = list(self._listeners.values())
        for loop, queue in listeners:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_put, queue, "")

    async def stream(self, after: int | None) -> AsyncIterator[str]:
        """Yield server-sent events until the pages end, beginning with what is newer than the page itself."""
        key, queue = object(), asyncio.Queue[str](maxsize=4)
        with self._lock:
            self._listeners[key] = (asyncio.get_running_loop(), queue)
        try:
            yield "retry: 2000\n\n"
            for text in await asyncio.to_thread(self._begin, after):
                yield text
            while not self._stopped.is_set():
                try:
                    text = await asyncio.wait_for(queue.get(), _KEEP_ALIVE)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if text:
                    yield text
        finally:
            with self._lock:
                self._listeners.pop(key, None)

    def _begin(self, after: int | None) -> list[str]:
        """Return what is newer than a page; then a thread looks, beginning where this ends."""
        try:
            with self._open() as reader:
                seen, told = self._entries(reader, reader.last_id() if after is None else after)
                _, more = self._questions(reader, "?")
        except (NotAStore, StoreUnreadable):
            seen, told, more = 0, [], []
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, args=(seen,), name="interpose-pages", daemon=True)
                self._thread.start()
        return [*told, *more]

    def _watch(self, seen: int) -> None:
        """Look at the record until no page is open."""
        reader: StoreReader | None = None
        change, asked, looked, rests = None, "?", 0.0, 0.0
        while not self._stopped.wait(_PERIOD):
            with self._lock:
                if not self._listeners:
                    self._thread = None
                    break
            try:
                if reader is None:
                    reader = self._open()
                    change = None
                now = reader.change()
                if now == change and monotonic() - looked < 5:
                    continue
                change, looked = now, monotonic()
                asked, told = self._questions(reader, asked)
                if monotonic() >= rests:
                    before = seen
                    seen, more = self._entries(reader, seen)
                    rests = monotonic() + _PAUSE if seen - before > _LINES else 0.0
                    told += more
                else:
                    change = None  # look again, although nothing may be written any more
            except (NotAStore, StoreUnreadable):
                if reader is not None:
                    reader.close()
                    reader = None
                continue
            for text in told:
                self._send(text)
        if reader is not None:
            reader.close()

    def _entries(self, reader: StoreReader, seen: int) -> tuple[int, list[str]]:
        last = reader.last_id()
        if last <= seen:
            return min(seen, last), []
        found = reader.search(Selection(after=seen, before=last + 1), limit=_LINES, seconds=1.0)
        rows = [row_of(entry) for entry in found.entries]
        left = last - seen - len(rows) if found.searched is not None else 0
        totals = totals_of(self.totals(reader))
        running = self._render("running", {"running": running_sessions(reader)})
        data = {
            "html": self._render("rows", {"rows": rows}), "count": last - seen, "left": left, "totals": totals,
            "sessions": list(dict.fromkeys(row["session"] for row in rows)),
            "sums": self._render("sums", {"totals": totals}), "running": running,
        }  # fmt: skip
        return last, [_event("entries", data)]

    def _questions(self, reader: StoreReader, before: str) -> tuple[str, list[str]]:
        found = waiting_questions(reader)
        state = ",".join(one.id for one in found)
        if state == before:
            return state, []
        shown = [{"id": one.id, "html": self._render("question", {"question": question_view(one)})} for one in found]
        return state, [_event("questions", {"questions": shown})]

    def _send(self, text: str) -> None:
        with self._lock:
            listeners = list(self._listeners.values())
        for loop, queue in listeners:
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(_put, queue, text)


def waiting_questions(reader: StoreReader) -> list[StoredQuestion]:
    """Return the questions that wait, the oldest first: a new one does not move those that are shown."""
    return [one for one in reader.questions(limit=300) if one.state == "waiting"][::-1]


def _put(queue: asyncio.Queue[str], text: str) -> None:
    if queue.full():
        queue.get_nowait()  # the browser does not read: it gets the newest
    queue.put_nowait(text)


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
