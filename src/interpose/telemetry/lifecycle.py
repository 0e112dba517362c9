"""Lifecycle messages: what hooks are doing, told to anyone who listens.

Messages have the shape of Claude Code's stream. An observer has a queue and a thread of its own: one that blocks,
raises or never reads loses messages (counted), and cannot slow or break a firing.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from ..ids import new_id

__all__ = ["Observers", "Subscription"]

MOST_WAITING = 10_000
"""How many messages may wait for one observer before further ones are dropped."""

Observer = Callable[[dict[str, Any]], object]


class Subscription:
    """One observer's connection; ``close()`` ends it, ``dropped`` counts what it was too slow for."""

    def __init__(self, observer: Observer, closed: Callable[[Subscription], None]) -> None:
        self._observer = observer
        self._closed = closed
        self._waiting: deque[dict[str, Any]] = deque()
        self._news = threading.Condition()
        self._busy = False
        self._open = True
        self.dropped = 0
        self.failed = 0
        threading.Thread(target=self._run, name="interpose-observer", daemon=True).start()

    def put(self, message: dict[str, Any]) -> None:
        """Hand over a message, or count it as dropped."""
        with self._news:
            if len(self._waiting) >= MOST_WAITING:
                self.dropped += 1
                return
            self._waiting.append(message)
            self._news.notify()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything told so far was seen; say whether that was so in time."""
        with self._news:
            return self._news.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self) -> None:
        """Stop observing."""
        self._closed(self)
        with self._news:
            self._open = False
            self._news.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while True:
            with self._news:
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
    """Everyone who listens to one engine."""

    def __init__(self) -> None:
        self.forget()
        _all_observers.add(self)

    def forget(self) -> None:
        """Listen to nobody: after a fork the observers' threads are the parent's."""
        self._subscriptions: tuple[Subscription, ...] = ()
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._subscriptions)

    def add(self, observer: Observer, on_change: Callable[[], None]) -> Subscription:
        """Connect an observer."""

        def closed(subscription: Subscription) -> None:
            with self._lock:
                self._subscriptions = tuple(other for other in self._subscriptions if other is not subscription)
            on_change()

        subscription = Subscription(observer, closed)
        with self._lock:
            self._subscriptions = (*self._subscriptions, subscription)
        on_change()
        return subscription

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to all of them."""
        for subscription in self._subscriptions:
            subscription.put(dict(message))


_all_observers: weakref.WeakSet[Observers] = weakref.WeakSet()


def _after_fork() -> None:
    for observers in list(_all_observers):
        observers.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


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
