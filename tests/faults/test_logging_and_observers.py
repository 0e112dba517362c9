"""Whoever listens to the engine, and misbehaves: handlers of the log, and observers."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, eventually, program, run, unharmed, within

from interpose import BadHook, Hooks, Outcome, Reply, deny

every_way = pytest.mark.parametrize("way", WAYS, ids=str)


def breaks(event: Any) -> None:
    raise ValueError("boom")


# Handlers of the log.


@contextmanager
def handled_by(handler: logging.Handler) -> Iterator[None]:
    """Let a handler listen to the engine's logger, alone."""
    logger = logging.getLogger("interpose")
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


class Raising(logging.Handler):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        raise self.error


@every_way
@pytest.mark.parametrize(
    "error", [ValueError("log is full"), OSError(28, "no space"), RecursionError()], ids=lambda e: type(e).__name__
)
def test_a_handler_of_the_log_that_raises_changes_nothing(way: Way, error: BaseException) -> None:
    """Fault 156: the failure of the hook is in the outcome; that of the log is not the host's problem."""
    handler = Raising(error)
    hooks = Hooks()
    way.register(hooks, breaks, name="broken")
    way.register(hooks, lambda event: deny("seen"), name="next")

    with handled_by(handler), within(BUSY):
        outcome = way.fire(hooks)

    assert handler.count > 0
    assert [result.status for result in outcome.results] == ["failed", "ok"]
    assert outcome.reason == "seen"


class Firing(logging.Handler):
    """A handler that fires the very event whose failing hook it is told of."""

    def __init__(self, hooks: Hooks) -> None:
        super().__init__()
        self.hooks = hooks
        self.outcomes: list[Outcome] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.outcomes.append(self.hooks.fire_sync("PreToolUse", **CALL))


@every_way
def test_a_handler_of_the_log_that_fires_hooks_comes_to_an_end(way: Way) -> None:
    """Fault 156: the hook fails inside the handler too; that is neither a deadlock nor a recursion without end."""
    hooks = Hooks()
    way.register(hooks, breaks, name="broken", timeout=2)
    handler = Firing(hooks)

    with handled_by(handler), within(BUSY):
        outcome = way.fire(hooks)

    assert [result.status for result in outcome.results] == ["failed"]
    assert 1 <= len(handler.outcomes) <= 8


@pytest.mark.slow
@pytest.mark.parametrize("awaits", [False, True])
def test_a_handler_of_the_log_that_is_slow_takes_no_more_than_its_own_time(awaits: bool) -> None:
    """Fault 156: a hook that has answered is not late because the log is."""
    release = threading.Event()

    class Slow(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            release.wait(2.5)

    async def broken(event: Any) -> None:
        breaks(event)

    async def sees(event: Any) -> Reply:
        return deny("seen")

    hooks = Hooks()
    hooks.register("PreToolUse", broken if awaits else breaks, name="broken", timeout=2)
    hooks.register("PreToolUse", sees if awaits else lambda event: deny("seen"), timeout=2)

    with handled_by(Slow()), within(2.5 + BUSY):
        outcome = run(hooks.fire("PreToolUse", **CALL))
    release.set()

    assert [result.status for result in outcome.results] == ["failed", "ok"]


def test_what_a_hook_says_is_logged_without_control_characters(caplog: pytest.LogCaptureFixture) -> None:
    """Fault 156: what a hook says is logged without control characters."""

    def nasty(event: Any) -> None:
        raise ValueError("a\x1b[2Jb\x07")

    with caplog.at_level(logging.ERROR, logger="interpose"):
        WAYS[1].outcome(nasty, name="nasty")

    assert caplog.records[0].getMessage() == "hook nasty at PreToolUse failed (hook_crash): raised ValueError: ab"


def test_a_name_with_control_characters_is_not_logged_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """Fault 156: refused at registration, or shown without them."""
    try:
        WAYS[1].outcome(breaks, name="red\x1b[31m\nhook")
    except BadHook:
        return

    assert "\x1b" not in caplog.records[0].getMessage()


# Observers.


def test_an_observer_that_blocks_slows_no_firing_and_loses_what_it_is_too_slow_for() -> None:
    """Fault 156, of observers: what does not fit into its queue is counted."""
    release, inside = threading.Event(), threading.Event()

    def observer(message: Any) -> None:
        inside.set()
        release.wait(20)

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, inline=True)
    subscription = hooks.observe(observer)
    hooks.fire_sync("PreToolUse", **CALL)
    assert inside.wait(30)

    began = time.monotonic()
    for _ in range(6000):
        hooks.fire_sync("PreToolUse", **CALL)
    took = time.monotonic() - began

    assert took < BUSY  # to wait for the observer once takes 20 s
    assert subscription.dropped == 2 * 6001 - 1 - 10_000
    release.set()
    subscription.close()


@pytest.mark.parametrize(
    "error", [ValueError("boom"), SystemExit(1), KeyboardInterrupt()], ids=lambda e: type(e).__name__
)
def test_an_observer_that_raises_is_told_the_next_message_all_the_same(error: BaseException) -> None:
    """Fault 156, of observers: counted, complained of once, never the host's problem."""
    seen: list[str] = []

    def observer(message: Any) -> None:
        seen.append(message["subtype"])
        raise error

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)
    with hooks.observe(observer) as subscription:
        outcomes = [run(hooks.fire("PreToolUse", **CALL)) for _ in range(5)]
        assert subscription.flush()

    assert all(outcome.allowed for outcome in outcomes)
    assert seen == ["hook_started", "hook_response"] * 5
    assert subscription.failed == 10


def test_an_observer_that_changes_its_message_changes_nobody_elses() -> None:
    """Fault 139, of observers."""
    seen: list[Any] = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, name="hook")

    with hooks.observe(lambda message: message.clear()) as first, hooks.observe(seen.append) as second:
        hooks.fire_sync("PreToolUse", **CALL)
        assert first.flush()
        assert second.flush()

    assert [message["hook_name"] for message in seen] == ["hook", "hook"]


def test_an_observer_may_fire_register_and_leave() -> None:
    """Fault 143, of observers: in a thread of its own, at any time."""
    outcomes: list[Outcome] = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)

    def observer(message: Any) -> None:
        subscription.close()
        hooks.register("Stop", lambda event: {"decision": "deny", "reason": "observed"}, name="new")
        outcomes.append(hooks.fire_sync("Stop"))

    subscription = hooks.observe(observer)
    hooks.fire_sync("PreToolUse", **CALL)

    assert eventually(lambda: bool(outcomes))
    assert outcomes[0].reason == "observed"


def test_an_observer_that_is_closed_is_told_no_more_and_its_thread_ends() -> None:
    """Fault 144, of observers."""
    seen: list[Any] = []
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None)
    subscription = hooks.observe(seen.append)
    hooks.fire_sync("PreToolUse", **CALL)
    assert subscription.flush()

    subscription.close()
    subscription.close()
    hooks.fire_sync("PreToolUse", **CALL)

    assert len(seen) == 2


@every_way
def test_every_hook_that_starts_is_told_to_have_ended_also_if_it_fails(way: Way) -> None:
    """Fault 120, of observers: two messages for every run, whatever became of it."""
    seen: list[Any] = []
    hooks = Hooks()
    way.register(hooks, breaks, name="broken")
    way.register(hooks, lambda event: None, name="fine")

    with hooks.observe(seen.append) as subscription:
        way.fire(hooks)
        assert subscription.flush()

    told = [(message["subtype"], message["hook_name"], message.get("outcome")) for message in seen]
    assert told == [
        ("hook_started", "broken", None),
        ("hook_response", "broken", "error"),
        ("hook_started", "fine", None),
        ("hook_response", "fine", "success"),
    ]


def test_many_observers_come_and_go_while_events_are_fired() -> None:
    """Fault 144, of observers: nothing locks up and no thread stays."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, inline=True)
    stop = threading.Event()

    def comes_and_goes() -> None:
        while not stop.is_set():
            hooks.observe(lambda message: None).close()

    threads = [threading.Thread(target=comes_and_goes) for _ in range(2)]
    for thread in threads:
        thread.start()
    outcomes = [unharmed(lambda: hooks.fire_sync("PreToolUse", **CALL)) for _ in range(200)]
    stop.set()
    for thread in threads:
        thread.join(30)

    assert all(outcome.allowed for outcome in outcomes)


def test_a_hook_left_behind_is_told_to_have_ended_once() -> None:
    """Fault 133, of observers: when it was given up, and not again when it ends after all."""
    release, ended = threading.Event(), threading.Event()
    seen: list[Any] = []

    def late(event: Any) -> None:
        release.wait(5)
        ended.set()

    hooks = Hooks()
    hooks.register("PreToolUse", late, timeout=0.05)

    with hooks.observe(seen.append) as subscription:
        asyncio.run(hooks.fire("PreToolUse", **CALL))
        release.set()
        assert ended.wait(30)
        assert subscription.flush()

    assert [message["subtype"] for message in seen] == ["hook_started", "hook_response"]


def test_a_signal_that_strikes_while_an_observer_is_told_keeps_no_other_thread_from_firing() -> None:
    """The signal strikes in the method of the standard library that takes the lock of a condition."""
    ended = program("""
        import sys, threading
        from interpose import Hooks

        def strike(frame, happened, argument):
            if frame.f_code is threading.Condition.__enter__.__code__ and happened == "return":
                raise KeyboardInterrupt
            return strike

        def fire():
            hooks.fire_sync("PreToolUse")

        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: None, inline=True)
        hooks.observe(print)
        sys.settrace(strike)
        try:
            fire()
        except KeyboardInterrupt:
            pass
        sys.settrace(None)
        other = threading.Thread(target=fire, daemon=True)
        other.start()
        other.join(10)
        sys.stderr.write("hangs" if other.is_alive() else "fires")
    """)

    assert ended.stderr == "fires"
