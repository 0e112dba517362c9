"""Signals that are held while a process is started and ended: their handlers run later, and none is lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from tests.faults.hosts import program

from interpose.runtime.held_signals import HeldSignals
from interpose.runtime.signals import raised_by_signal


class Terminated(Exception):
    """What the host's handler of SIGTERM raises."""


def terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


@contextmanager
def interrupted(kind: type[BaseException] = KeyboardInterrupt) -> Iterator[list[BaseException]]:
    """Check that a signal interrupts what is done here."""
    errors: list[BaseException] = []
    try:
        yield errors
    except kind as error:
        errors.append(error)
    assert errors, "nothing was interrupted"


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A host that Ctrl-C interrupts, and that ends when it gets SIGTERM."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, terminate),
    }

    yield

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is terminate
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_a_signal_interrupts_at_the_end_of_the_block(number: int, error: type[BaseException]) -> None:
    done = []

    with interrupted(error), HeldSignals():
        signal.raise_signal(number)
        done.append("started")

    assert done == ["started"]


def test_a_signal_that_has_arrived_interrupts_the_next_wait() -> None:
    done = []

    with interrupted(), HeldSignals() as signals:
        signal.raise_signal(signal.SIGINT)
        signals.hear()
        done.append("waited")

    assert done == []


def test_a_signal_interrupts_a_wait_at_once() -> None:
    done = []

    with interrupted(), HeldSignals() as signals:
        signals.hear()
        signal.raise_signal(signal.SIGINT)
        done.append("waited")

    assert done == []


def test_after_a_wait_signals_are_held_again() -> None:
    done = []

    with interrupted(), HeldSignals() as signals:
        signals.hear()
        signals.heard = False
        signal.raise_signal(signal.SIGINT)
        done.append("ended")

    assert done == ["ended"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_has_arrived_is_heard_at_once_and_the_next_is_held(number: int) -> None:
    done = []

    with interrupted(), HeldSignals() as signals:
        signal.raise_signal(number)
        with interrupted(BaseException):
            signals.hear_at_once()
        signal.raise_signal(signal.SIGINT)
        done.append("ended")

    assert done == ["ended"]


def test_every_handler_runs_in_the_order_of_the_signals() -> None:
    with interrupted() as errors, HeldSignals():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)

    assert isinstance(errors[0].__context__, Terminated)


def test_a_handler_that_raises_nothing_does_not_interrupt() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))

    with HeldSignals():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []

    assert heard == [signal.SIGTERM]
    signal.signal(signal.SIGTERM, before)


def test_an_event_that_is_fired_meanwhile_can_be_interrupted() -> None:
    done = []

    with interrupted(), HeldSignals(), HeldSignals() as inner:
        inner.hear()
        signal.raise_signal(signal.SIGINT)
        done.append("waited")

    assert done == []


def test_what_a_handler_raises_later_is_still_known_as_raised_by_a_signal() -> None:
    with HeldSignals():
        with interrupted(Terminated) as errors, HeldSignals():
            signal.raise_signal(signal.SIGTERM)

        assert raised_by_signal(errors[0])


def test_a_handler_that_the_host_sets_meanwhile_stays() -> None:
    def another(number: int, frame: FrameType | None) -> None:
        raise Terminated

    with HeldSignals():
        signal.signal(signal.SIGTERM, another)

    assert signal.signal(signal.SIGTERM, terminate) is another


def test_a_signal_that_ends_the_process_or_is_ignored_is_left_to_the_system() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL), signal.signal(signal.SIGALRM, signal.SIG_IGN)

    with HeldSignals():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN

    signal.signal(signal.SIGHUP, before[0])
    signal.signal(signal.SIGALRM, before[1])


def test_another_thread_holds_nothing() -> None:
    handlers: list[object] = []

    def look() -> None:
        with HeldSignals() as signals:
            handlers.append(signal.getsignal(signal.SIGINT))
            signals.hear()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert handlers == [signal.default_int_handler]


def test_a_handler_that_the_host_has_kept_meanwhile_still_works() -> None:
    with HeldSignals():
        kept = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, kept)

    with interrupted(Terminated):
        signal.raise_signal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, terminate)


def test_a_child_that_another_thread_forks_meanwhile_holds_nothing() -> None:
    ended = program("""
        import os, signal, threading
        from interpose.runtime.held_signals import HeldSignals

        def fork():
            child = os.fork()
            if not child:
                signal.raise_signal(signal.SIGTERM)
                os._exit(1)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(7))
        with HeldSignals():
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()
    """)

    assert ended.stdout == "7\n", ended.stderr


def test_a_command_denies_in_another_interpreter_of_the_process() -> None:
    ended = program("""
        try:
            import _interpreters
        except ImportError:  # until Python 3.12
            import _xxsubinterpreters as _interpreters

        _interpreters.run_string(_interpreters.create(), '''if True:
            import os
            from interpose import Hooks

            hooks = Hooks()
            hooks.register("PreToolUse", command="exit 2")
            outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
            os.write(1, b"denied" if outcome.denied else b"not denied")
        ''')
    """)

    assert ended.stdout == "denied", ended.stderr


def test_a_handler_may_raise_any_error_before_it_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(number: int, frame: FrameType | None) -> None:
        raise ValueError

    def replace(number: int, handler: object) -> None:
        signal.raise_signal(signal.SIGTERM)  # it has arrived already

    before = signal.signal(signal.SIGTERM, fails)
    monkeypatch.setattr("interpose.runtime.held_signals.signal.signal", replace)
    with interrupted(ValueError), HeldSignals():
        pass

    monkeypatch.undo()
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("block", "number", "error"),
    [(False, signal.SIGTERM, Terminated), (True, signal.SIGINT, KeyboardInterrupt)],
    ids=["replaced", "put back"],
)
def test_all_handlers_are_put_back_if_one_raises_while_others_are(
    block: bool, number: int, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def strike(asked: int) -> object:
        if asked == signal.SIGTERM and striking and striking.pop():
            signal.raise_signal(number)
        return get(asked)

    get, striking = signal.getsignal, [True]
    monkeypatch.setattr("interpose.runtime.held_signals.signal.getsignal", strike)
    if block:
        striking.append(False)  # not at the beginning
    with interrupted(error), HeldSignals():
        pass

    assert not striking
    monkeypatch.undo()


def test_a_signal_that_is_held_already_is_heard_if_another_one_raises_before_it_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def strike(asked: int) -> object:
        if asked == signal.SIGTERM and striking and striking.pop():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
        return get(asked)

    get, striking = signal.getsignal, [True]
    monkeypatch.setattr("interpose.runtime.held_signals.signal.getsignal", strike)
    with interrupted() as errors, HeldSignals():
        pass

    assert isinstance(errors[0].__context__, Terminated)
    monkeypatch.undo()


def test_a_signal_that_strikes_while_a_host_waits_for_its_turn_keeps_no_other_command_from_its_own() -> None:
    """The signal strikes in the method of the standard library that takes the lock of an event, in which it stays."""
    ended = program("""
        import sys, threading
        from time import sleep
        from interpose import Hooks
        from interpose.handlers._slots import MOST_RUNNING, slots

        def end_another():
            while not slots._waiting:
                sleep(0.001)
            slots.give_back(turns.pop())
            given_back.append(True)

        def strike(frame, happened, argument):
            if frame.f_code is threading.Condition.__enter__.__code__ and happened == "return":
                while not given_back:
                    sleep(0.001)
                raise KeyboardInterrupt
            return strike

        hooks = Hooks()
        hooks.register("PreToolUse", command="exit 2")
        turns, given_back = [slots.take() for _ in range(MOST_RUNNING)], []
        other = threading.Thread(target=end_another, daemon=True)
        other.start()
        sys.settrace(strike)
        try:
            hooks.fire_sync("PreToolUse")
        except KeyboardInterrupt:
            pass
        sys.settrace(None)
        print(hooks.fire_sync("PreToolUse").decision)
    """, seconds=20)  # fmt: skip

    assert ended.stdout == "deny\n", ended.stderr
