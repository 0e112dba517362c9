"""Lifecycle messages: what hooks are doing, told to observers.

Messages have the shape of Claude Code's stream. An observer has a queue and a thread of its own: one that blocks,
raises or never reads loses messages (counted), and cannot slow or break a firing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from ..decide import HookRun
from ..engine import Engine
from ..errors import UsageError
from ..ids import new_id
from ..model import Outcome
from ..replies import Ended
from ..routes import Step
from ..run import Run
from ..runtime.forks import after_fork

__all__ = ["Observer", "Observers", "Subscription"]

MOST_WAITING = 10_000
"""How many messages may wait for one observer before further ones are dropped."""

Observer = Callable[[dict[str, Any]], object]


class Subscription:
    """One observer's connection; ``close()`` ends it, ``dropped`` counts what it was too slow for."""

    def __init__(self, observer: Observer, closed: Callable[[Subscription], None]) -> None:
        self._observer = observer
        self._closed = closed
        self._waiting: deque[dict[str, Any]] = deque()
        # Taken itself, not through the condition: a signal that strikes in a method of that leaves the lock taken.
        self._lock = threading.RLock()
        self._news = threading.Condition(self._lock)
        self._busy = False
        self._open = True
        self.dropped = 0
        self.failed = 0
        threading.Thread(target=self._run, name="interpose-observer", daemon=True).start()

    def put(self, message: dict[str, Any]) -> None:
        """Hand over a message, or count it as dropped."""
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                self.dropped += 1
                return
            self._waiting.append(message)
            self._news.notify()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything told so far was seen; say whether that was so in time."""
        with self._lock:
            return self._news.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self) -> None:
        """Stop observing."""
        self._closed(self)
        with self._lock:
            self._open = False
            self._news.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._busy = False
                self._news.notify_all()
                self._news.wait_for(lambda: self._waiting or not self._open)
                if not self._waiting:
                    return
                message = self._waiting.popleft()
                self._busy = True
            try:
                self._observer(message)
            except BaseException as error:
                self.failed += 1
                if self.failed == 1:
                    _complain(self._observer, error)


def _complain(observer: Observer, error: BaseException) -> None:
    import logging

    logging.getLogger("interpose").warning("an observer raised %s; it is told further messages", type(error).__name__)


class Observers:
    """The observers of one engine. It listens to the engine as long as there is one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reset()
        after_fork(self.reset)

    def _reset(self) -> None:
        self._subscriptions: tuple[Subscription, ...] = ()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Drop all observers: after a fork their threads are the parent's."""
        self._reset()
        self._engine.listen(self, False)

    def add(self, observer: Observer) -> Subscription:
        """Connect an observer."""
        if not callable(observer):
            raise UsageError(f"an observer is called with what happens, and {observer!r} cannot be called")
        subscription = Subscription(observer, self._remove)
        with self._lock:
            self._subscriptions = (*self._subscriptions, subscription)
            self._engine.listen(self, True)
        return subscription

    def _remove(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions = tuple(other for other in self._subscriptions if other is not subscription)
            self._engine.listen(self, bool(self._subscriptions))

    def run_begins(self, run: Run) -> _ObservedRun:
        """Send messages about the hooks of a run."""
        return _ObservedRun(self, run)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to all of them."""
        for subscription in self._subscriptions:
            subscription.put(dict(message))


class _ObservedRun:
    """Is told of one run, and sends a message for every hook that starts, writes and answers."""

    def __init__(self, observers: Observers, run: Run) -> None:
        self._observers = observers
        self._run = run
        self._hook_id = ""
        """Names the current run of a hook in its messages."""

    def part_begins(self, part: Run) -> _ObservedRun:
        """Send messages about a hook that runs beside others, or in the background."""
        return _ObservedRun(self._observers, part)

    def hook_begins(self, step: Step) -> None:
        """Say that a hook starts; once, although it may go on in another place."""
        if not self._hook_id:
            self._hook_id = new_id()
            self._send("hook_started", step)

    def hook_writes(self, step: Step, stream: str, text: str) -> None:
        """Say what a command has written."""
        self.hook_begins(step)
        self._send("hook_progress", step, **{"stdout": "", "stderr": "", stream: text, "output": text})

    def hook_ends(self, step: Step | None, run: HookRun, ended: Ended | None) -> None:
        """Say what became of a hook; every hook that ends has started."""
        if step is None or run.status == "skipped":
            return
        self.hook_begins(step)
        wrote: dict[str, Any] = {}
        if ended is not None:
            stdout = ended.stdout.decode("utf-8", "replace")
            status = None if ended.failure is not None else ended.status
            output = stdout + ended.stderr
            wrote = {"stdout": stdout, "stderr": ended.stderr, "output": output, "exit_code": status}
        self._send("hook_response", step, **wrote, outcome="success" if run.status == "ok" else "error")
        self._hook_id = ""

    def run_ends(self, outcome: Outcome | None) -> None:
        """Say nothing: every hook was told of."""

    def _send(self, subtype: str, step: Step, **more: Any) -> None:
        self._observers.tell(message(
            subtype, hook_id=self._hook_id, hook_name=step.hook.label, event=self._run.route.row.name,
            session_id=str(self._run.fields["session_id"]), **more,
        ))  # fmt: skip


def message(subtype: str, *, hook_id: str, hook_name: str, event: str, session_id: str, **more: Any) -> dict[str, Any]:
    """Return a lifecycle message in the shape of Claude Code's stream."""
    return {
        "type": "system",
        "subtype": subtype,
        "hook_id": hook_id,
        "hook_name": hook_name,
        "hook_event": event,
        **more,
        "uuid": new_id(),
        "session_id": session_id,
    }
