"""Ctrl-C and cancellation that are meant for the host, and those that a hook makes up."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from tests.faults.hosts import (
    BUSY,
    CALL,
    WAYS,
    Program,
    Way,
    eventually,
    kept_now,
    program,
    run,
    unharmed,
    until,
    within,
)  # fmt: skip

from interpose import Hooks, Outcome, context

# A real Ctrl-C: the program runs a hook, gets SIGINT, and must end as an interrupted program does.

PREAMBLE = """
import asyncio, os, signal, sys, threading, time
from collections.abc import Mapping
from interpose import Hooks

signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background is born deaf to it
hooks = Hooks()

def fire_without_a_loop():
    return hooks.fire_sync("PreToolUse", tool_name="Bash")

def fire_with_asyncio_run():
    return asyncio.run(hooks.fire("PreToolUse", tool_name="Bash"))

def fire_on_a_plain_loop():
    return asyncio.new_event_loop().run_until_complete(hooks.fire("PreToolUse", tool_name="Bash"))

def running():
    os.write(1, b"running\\n")  # a whole line at once, also from two threads

def for_a_minute():
    # In small steps: a signal that strikes just before a long wait is not noticed before its end.
    until = time.monotonic() + 60
    while time.monotonic() < until:
        yield

def blocks(event):
    running()
    for _ in for_a_minute():
        threading.Event().wait(0.05)

def computes(event):
    running()
    for _ in for_a_minute():
        pass

async def awaits(event):
    running()
    await asyncio.sleep(60)

async def blocks_the_loop(event):
    running()
    for _ in for_a_minute():
        time.sleep(0.05)

class Answer(Mapping):
    def __iter__(self):
        running()
        for _ in for_a_minute():
            pass

    __len__ = __getitem__ = __iter__

def raise_it(number, frame):
    raise KeyboardInterrupt
"""

EPILOGUE = """
try:
    outcome = {fire}()
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
    sys.exit(130)
print("not interrupted", outcome)
"""

INTERRUPTED = {
    "a function in a thread": ("hooks.register('PreToolUse', blocks)", "fire_without_a_loop"),
    "a coroutine elsewhere": ("hooks.register('PreToolUse', awaits)", "fire_without_a_loop"),
    "an inline function that waits": ("hooks.register('PreToolUse', blocks, inline=True)", "fire_without_a_loop"),
    "an inline function that computes": ("hooks.register('PreToolUse', computes, inline=True)", "fire_without_a_loop"),
    "an answer that is read": ("hooks.register('PreToolUse', lambda _: Answer(), inline=True)", "fire_without_a_loop"),
    "a Claude answer that is read": (
        "hooks.register('PreToolUse', lambda _: Answer(), inline=True, dialect='claude')",
        "fire_without_a_loop",
    ),
    "hooks side by side": (
        "for _ in 'ab': hooks.register('PreToolUse', blocks, parallel=True)",
        "fire_without_a_loop",
    ),
    "asyncio, a function in a thread": ("hooks.register('PreToolUse', blocks)", "fire_with_asyncio_run"),
    "asyncio, a coroutine": ("hooks.register('PreToolUse', awaits)", "fire_with_asyncio_run"),
    "asyncio, an inline coroutine": ("hooks.register('PreToolUse', awaits, inline=True)", "fire_with_asyncio_run"),
    "a plain loop, an answer that is read": (
        "hooks.register('PreToolUse', lambda _: Answer(), inline=True)",
        "fire_on_a_plain_loop",
    ),
    "a plain loop, a coroutine": ("hooks.register('PreToolUse', awaits)", "fire_on_a_plain_loop"),
    "a plain loop, a coroutine that blocks": ("hooks.register('PreToolUse', blocks_the_loop)", "fire_on_a_plain_loop"),
    "a plain loop, an inline function": (
        "hooks.register('PreToolUse', computes, inline=True)",
        "fire_on_a_plain_loop",
    ),
}


@pytest.mark.parametrize(("register", "fire"), INTERRUPTED.values(), ids=INTERRUPTED.keys())
@pytest.mark.parametrize("handler", ["default", "of the host's own"])
def test_ctrl_c_reaches_the_host_while_a_hook_runs(register: str, fire: str, handler: str) -> None:
    """Fault 122: also where the host has a handler in Python, whose exception looks like any other."""
    own = "signal.signal(signal.SIGINT, raise_it)" if handler != "default" else ""

    with Program("\n".join([PREAMBLE, own, register, EPILOGUE.format(fire=fire)])) as host:
        assert host.line() == "running"
        with within(BUSY):
            host.send(signal.SIGINT)
            status, said, complained = host.end()

    assert status == 130, complained
    assert "interrupted" in said.splitlines()  # a hook in another thread may begin after it


@pytest.mark.parametrize("kind", ["function", "coroutine", "functions side by side"])
def test_ctrl_c_reaches_a_host_without_a_loop_whichever_thread_the_signal_strikes(kind: str) -> None:
    """Fault 122: the host's own wait is not broken off then; it has to look up now and then."""
    register = f"""
def function(event):
    running()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    for _ in for_a_minute():
        time.sleep(0.05)

async def coroutine(event):
    running()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    await asyncio.sleep(60)

for name in ("one", "two"):
    hooks.register("PreToolUse", coroutine if {kind!r} == "coroutine" else function, name=name,
                   parallel={kind!r} == "functions side by side")
"""

    with Program("\n".join([PREAMBLE, register, EPILOGUE.format(fire="fire_without_a_loop")])) as host:
        assert host.line() == "running"
        with within(BUSY):
            status, said, complained = host.end()

    assert status == 130, complained
    assert "interrupted" in said.splitlines()  # a hook in another thread may begin after it


def test_ctrl_c_ends_the_coroutine_that_a_host_without_a_loop_waits_for() -> None:
    """Fault 122: the loop that it runs on goes on, and so would the hook."""
    program = """
cancelled = threading.Event()

async def hook(event):
    running()
    try:
        await asyncio.sleep(60)
    finally:
        cancelled.set()

hooks.register("PreToolUse", hook, timeout=600)
try:
    fire_without_a_loop()
except KeyboardInterrupt:
    print("cancelled" if cancelled.wait(20) else "still running")
"""

    with Program(f"{PREAMBLE}\n{program}") as host:
        assert host.line() == "running"
        host.send(signal.SIGINT)
        _, said, complained = host.end()

    assert said.splitlines() == ["cancelled"], complained


TERMINATED = {
    "a function in a thread": ("hooks.register('PreToolUse', blocks)", "fire_without_a_loop"),
    "an inline function": ("hooks.register('PreToolUse', computes, inline=True)", "fire_without_a_loop"),
    "a coroutine": ("hooks.register('PreToolUse', awaits)", "fire_with_asyncio_run"),
    "a coroutine that blocks the loop": ("hooks.register('PreToolUse', blocks_the_loop)", "fire_with_asyncio_run"),
}


@pytest.mark.parametrize(("register", "fire"), TERMINATED.values(), ids=TERMINATED.keys())
def test_a_signal_handler_of_the_host_that_exits_ends_the_host_and_not_the_hook(register: str, fire: str) -> None:
    """Fault 121: the SystemExit is the host's own, wherever the signal struck."""
    handler = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(43))"

    with Program("\n".join([PREAMBLE, handler, register, EPILOGUE.format(fire=fire)])) as host:
        assert host.line() == "running"
        with within(BUSY):
            host.send(signal.SIGTERM)
            status, _, complained = host.end()

    assert status == 43, complained


def test_a_signal_handler_of_the_host_that_is_an_object_ends_the_host_and_not_the_hook() -> None:
    ended = program("""
        import signal, sys
        from interpose import Hooks

        class Ends:
            def __call__(self, number, frame):
                sys.exit(43)

        def hook(event):
            signal.raise_signal(signal.SIGTERM)

        signal.signal(signal.SIGTERM, Ends())
        hooks = Hooks()
        hooks.register("PreToolUse", hook, inline=True)
        hooks.fire_sync("PreToolUse")
    """)

    assert ended.returncode == 43, ended.stderr


@pytest.mark.parametrize("place", ["copied", "recorded", "logged"])
def test_an_alarm_of_the_host_ends_the_host_wherever_it_strikes(place: str) -> None:
    """What its handler raises is an Exception, such as those that are caught of values, recorders and logs."""
    ended = program(f"""
        import logging, signal
        from interpose import Hooks

        def alarm(number, frame):
            raise TimeoutError

        class Strikes(logging.Handler):
            def __deepcopy__(self, memo):
                signal.raise_signal(signal.SIGALRM)

            __call__ = emit = __deepcopy__

        def hook(event):
            if {place!r} == "logged":
                raise ValueError

        signal.signal(signal.SIGALRM, alarm)
        hooks = Hooks()
        hooks.register("PreToolUse", hook, inline=True)
        if {place!r} == "logged":
            logging.getLogger("interpose").addHandler(Strikes())
        if {place!r} == "recorded":
            hooks.record(Strikes())
        try:
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=Strikes() if {place!r} == "copied" else {{}})
        except TimeoutError:
            print("timeout")
    """)

    assert ended.stdout == "timeout\n", ended.stderr


def test_a_second_ctrl_c_ends_a_hook_that_blocks_the_loop() -> None:
    """Fault 122: the first one only cancels the host's task, which this hook does not let run."""
    register = """
async def blocks_twice(event):
    handler = signal.getsignal(signal.SIGINT)

    def heard(number, frame):
        signal.signal(signal.SIGINT, handler)
        running()
        handler(number, frame)

    signal.signal(signal.SIGINT, heard)
    running()
    for _ in for_a_minute():
        time.sleep(0.05)

hooks.register("PreToolUse", blocks_twice)
"""

    with Program("\n".join([PREAMBLE, register, EPILOGUE.format(fire="fire_with_asyncio_run")])) as host:
        assert host.line() == "running"
        with within(BUSY):
            host.send(signal.SIGINT)
            assert host.line() == "running"  # the first has been heard: the two cannot arrive as one
            host.send(signal.SIGINT)
            status, said, complained = host.end()

    assert status == 130, complained
    assert "interrupted" in said.splitlines()  # a hook in another thread may begin after it


def test_a_hook_that_raises_keyboard_interrupt_does_not_interrupt_the_host() -> None:
    """Fault 122: however it does that; the process was sent no signal."""

    def raises(event: Any) -> None:
        raise KeyboardInterrupt

    def raises_again(event: Any) -> None:
        try:
            raises(event)
        except KeyboardInterrupt:
            seen.append(event)
            raise

    def raises_in_a_block(event: Any) -> None:
        with lock:
            try:
                raises(event)
            finally:
                del event

    lock = threading.Lock()
    seen: list[Any] = []
    for way in WAYS:
        for body in (raises, raises_again, raises_in_a_block):
            outcome = way.outcome(body)

            assert [result.status for result in outcome.results] == ["failed"]


def test_a_keyboard_interrupt_out_of_a_future_does_not_interrupt_the_host() -> None:
    """Fault 122: put there by the hook itself, it comes out of no ``raise``."""

    async def hook(event: Any) -> None:
        future = asyncio.get_running_loop().create_future()
        future.set_exception(KeyboardInterrupt())
        await future

    hooks = Hooks()
    hooks.register("PreToolUse", hook)

    try:
        outcome = run(hooks.fire("PreToolUse", **CALL))
    except KeyboardInterrupt:
        pytest.fail("the host was interrupted", pytrace=False)

    assert [result.status for result in outcome.results] == ["failed"]


def test_a_keyboard_interrupt_that_is_asked_of_a_future_does_not_interrupt_a_host_with_a_handler_of_its_own() -> None:
    """A host on ``asyncio.run()`` has one: what that raises has a frame of it."""

    async def hook(event: Any) -> None:
        future = asyncio.get_running_loop().create_future()
        future.set_exception(KeyboardInterrupt())
        future.result()

    hooks = Hooks()
    hooks.register("PreToolUse", hook)

    outcome = unharmed(lambda: run(hooks.fire("PreToolUse", **CALL)))

    assert [result.status for result in outcome.results] == ["failed"]


# The end of a coroutine, and what looks like it.


def ends_a_generator() -> None:
    """Raise GeneratorExit without a ``raise``."""

    def generator() -> Iterator[None]:
        yield

    begun = generator()
    next(begun)
    begun.throw(GeneratorExit)  # type: ignore[attr-defined]


async def ends_an_awaited_generator(event: Any) -> None:
    async def generator() -> AsyncIterator[None]:
        yield

    begun = generator()
    await anext(begun)
    await begun.athrow(GeneratorExit)  # type: ignore[attr-defined]


async def awaits_the_end_of_a_generator(event: Any) -> None:
    await asyncio.sleep(0)
    await ends_an_awaited_generator(event)


class Ended:
    """A value whose comparison ends a generator."""

    def __ne__(self, other: object) -> bool:
        ends_a_generator()
        return True

    def __deepcopy__(self, memo: object) -> "Ended":
        return self


class Unreadable(Mapping[str, Any]):
    """A mapping that ends a generator when it is read."""

    def __getitem__(self, key: str) -> Any:
        ends_a_generator()

    def __iter__(self) -> Iterator[str]:
        ends_a_generator()
        return iter(())

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_hook_that_ends_a_generator_of_its_own_does_not_end_the_host(way: Way) -> None:
    outcome = way.outcome(lambda event: ends_a_generator(), on_error="abort")

    assert (outcome.denied, [result.status for result in outcome.results]) == (True, ["failed"])


@pytest.mark.parametrize("hook", [ends_an_awaited_generator, awaits_the_end_of_a_generator])
@pytest.mark.parametrize("inline", [False, True])
def test_a_coroutine_that_ends_a_generator_of_its_own_does_not_end_the_host(hook: Any, inline: bool) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", hook, inline=inline, on_error="abort")

    assert unharmed(lambda: run(hooks.fire("PreToolUse", **CALL))).denied
    assert unharmed(lambda: hooks.fire_sync("PreToolUse", **CALL)).denied


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_values_whose_methods_end_a_generator_do_not_end_the_host(way: Way) -> None:
    hooks = Hooks()
    for name in ("one", "other"):
        way.register(hooks, lambda event: {"x-said": Ended()}, name=name)
    way.register(hooks, lambda event: Unreadable(), name="unreadable")

    outcome = way.fire(hooks)

    assert [result.status for result in outcome.results] == ["ok", "ok", "failed"]


@pytest.mark.parametrize("inline", [False, True])
def test_no_hook_begins_after_the_coroutine_of_the_host_was_closed(inline: bool) -> None:
    ended = program(f"""
        import asyncio, gc
        from interpose import Hooks

        async def waits(event):
            print("waits")
            await asyncio.sleep(30)

        hooks = Hooks()
        hooks.register("PreToolUse", waits, inline={inline})
        hooks.register("PreToolUse", lambda event: print("next"), inline={inline})
        loop = asyncio.new_event_loop()
        firing = hooks.fire("PreToolUse")
        loop.call_soon(firing.send, None)
        for _ in range(3):
            loop.call_soon(loop.stop)
            loop.run_forever()
        firing.close()
        loop.close()
        gc.collect()
    """)

    assert ended.stdout == "waits\n", ended.stderr


# Cancellation of the host's own task.


async def cancelled_while(hooks: Hooks, running: Callable[[], bool]) -> bool:
    """Fire in a task, cancel that as soon as a hook runs; say whether the cancellation came back."""
    firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
    await until(running)
    firing.cancel()
    try:
        await firing
    except asyncio.CancelledError:
        return True
    return False


@pytest.mark.parametrize(
    ("inline", "parallel"), [(False, False), (True, False), (False, True)], ids=["in a task", "inline", "side by side"]
)
def test_cancelling_the_host_cancels_the_coroutine_and_comes_back(inline: bool, parallel: bool) -> None:
    """Fault 149: the hook may clean up, nothing after it runs, and the host gets its CancelledError."""
    log: list[str] = []

    async def hook(event: Any) -> None:
        log.append("began")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        finally:
            await asyncio.sleep(0)
            log.append("cleaned")

    hooks = Hooks()
    hooks.register("PreToolUse", hook, inline=inline, parallel=parallel)
    if parallel:
        hooks.register("PreToolUse", hook, name="twin", parallel=True)
    hooks.register("PreToolUse", lambda event: log.append("next"), priority=200)

    with within(BUSY):
        assert run(cancelled_while(hooks, lambda: log.count("began") == 1 + parallel))

    times = 1 + parallel
    assert sorted(log) == sorted(["began", "cancelled", "cleaned"] * times)


def test_no_hook_begins_after_one_that_takes_the_cancellation_of_the_host_for_its_own() -> None:
    """Fault 149: it returns as if nothing were, and the firing is over all the same."""
    log: list[str] = []

    async def takes_it(event: Any) -> None:
        log.append("began")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            log.append("went on")

    async def next_one(event: Any) -> None:
        log.append("next")

    hooks = Hooks()
    hooks.register("PreToolUse", takes_it)
    hooks.register("PreToolUse", next_one)

    with within(BUSY):
        assert run(cancelled_while(hooks, lambda: "began" in log))

    assert log == ["began", "went on"]


def test_cancelling_the_host_leaves_a_thread_behind_and_comes_back() -> None:
    """Fault 149: a thread cannot be cancelled; the host does not wait for it."""
    release, began = threading.Event(), threading.Event()
    ran: list[Any] = []
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def stuck(event: Any) -> None:
        began.set()
        release.wait(5)

    hooks.register("PreToolUse", ran.append, name="next")

    with within(BUSY):
        assert run(cancelled_while(hooks, began.is_set))
    release.set()

    assert eventually(lambda: kept_now() == 0)
    assert ran == []


def test_a_thread_that_ends_after_its_host_was_cancelled_disturbs_no_loop() -> None:
    """Fault 149: nothing waits for its end any more."""
    release, began = threading.Event(), threading.Event()
    complaints: list[Any] = []
    hooks = Hooks()

    @hooks.on("PreToolUse", matcher="Bash")
    def stuck(event: Any) -> None:
        began.set()
        release.wait(30)

    hooks.register("PreToolUse", lambda event: None, matcher="Edit")

    async def host() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        assert await cancelled_while(hooks, began.is_set)
        release.set()
        await until(lambda: kept_now() == 0)
        for _ in range(20):  # in the same thread, if that is free again
            await hooks.fire("PreToolUse", tool_name="Edit")
            await asyncio.sleep(0)

    with within(2 * BUSY):
        run(host())

    assert complaints == []


async def deaf(event: Any) -> None:
    """Waits for ever, whatever is thrown at it."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


@pytest.mark.parametrize("parallel", [False, True], ids=["", "side by side"])
@pytest.mark.parametrize("impatience", [1, 2, 5])
def test_cancelling_the_host_while_a_hook_swallows_cancellation_comes_back(impatience: int, parallel: bool) -> None:
    """Fault 149: and the loop can end afterwards, however often the host was cancelled."""
    began: list[int] = []

    async def hook(event: Any) -> None:
        began.append(1)
        await deaf(event)

    hooks = Hooks()
    hooks.register("PreToolUse", hook, parallel=parallel)
    if parallel:
        hooks.register("PreToolUse", hook, name="twin", parallel=True)

    async def host() -> bool:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        await until(lambda: len(began) == 1 + parallel)
        for _ in range(impatience):
            firing.cancel()
            await asyncio.sleep(0)
        try:
            await firing
        except asyncio.CancelledError:
            return True
        return False

    with within(2 * BUSY):
        assert asyncio.run(host())

    assert eventually(lambda: kept_now() == 0)


def test_a_firing_inside_a_time_limit_of_the_host_ends_with_it() -> None:
    """Fault 149: ``asyncio.timeout`` around a firing gives TimeoutError, and the task is as good as new."""

    async def slow(event: Any) -> None:
        await asyncio.sleep(60)

    async def host() -> int:
        hooks = Hooks()
        hooks.register("PreToolUse", slow)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await hooks.fire("PreToolUse", **CALL)
        task = asyncio.current_task()
        return task.cancelling() if task else 0

    with within(0.05 + BUSY):
        assert run(host()) == 0


def test_cancelling_the_host_after_a_deadline_passed_still_comes_back() -> None:
    """Fault 149: the hook was cancelled for its deadline already; this one is the host's."""
    cancelled: list[int] = []

    async def slow_to_end(event: Any) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(1)
            await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", slow_to_end, timeout=0.05)

    with within(BUSY):
        assert run(cancelled_while(hooks, lambda: bool(cancelled)))


def test_an_inline_hook_that_is_past_its_deadline_does_not_hide_the_hosts_cancellation() -> None:
    """Fault 149: both happen to one task; the host's is not taken for the deadline's."""
    began: list[int] = []

    async def hook(event: Any) -> None:
        began.append(1)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            began.append(2)
            await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", hook, timeout=0.05, inline=True)

    with within(0.05 + BUSY):
        assert run(cancelled_while(hooks, lambda: 2 in began))


@pytest.mark.parametrize("way", [way for way in WAYS if way.loop], ids=str)
def test_a_hook_that_raises_cancelled_error_does_not_cancel_the_host(way: Way) -> None:
    """Fault 123: nobody has cancelled anything; it is a failure, and the task goes on."""

    def body(event: Any) -> None:
        raise asyncio.CancelledError("made up")

    async def host() -> tuple[Outcome, int]:
        hooks = Hooks()
        way.register(hooks, body)
        way.register(hooks, lambda event: context("next"))
        outcome = await hooks.fire("PreToolUse", **CALL)
        await asyncio.sleep(0)
        task = asyncio.current_task()
        return outcome, task.cancelling() if task else 0

    outcome, cancelling = run(host())

    assert [result.status for result in outcome.results] == ["failed", "ok"]
    assert cancelling == 0


def test_a_host_that_cleans_up_after_a_cancellation_is_not_cancelled_by_the_deadline_of_an_inline_hook() -> None:
    """Fault 149: its own cancellation is behind it; the second one is the hook's."""

    async def hook(event: Any) -> None:
        await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", hook, inline=True, timeout=0.05)

    async def firing() -> list[str]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            outcome = await hooks.fire("PreToolUse", **CALL)
            return [result.status for result in outcome.results]
        return []

    async def host() -> list[str]:
        task = asyncio.create_task(firing())
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert run(host()) == ["timeout"]


def test_a_hook_that_cancels_its_own_task_harms_nobody_else() -> None:
    """Fault 123: the chain's task is not the host's, and the next hook runs."""

    async def cancels_itself(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    hooks = Hooks()
    hooks.register("PreToolUse", cancels_itself)
    hooks.register("PreToolUse", lambda event: context("next"))

    with within(BUSY):
        outcome = run(hooks.fire("PreToolUse", **CALL))

    assert [result.status for result in outcome.results] == ["failed", "ok"]


def test_a_hook_that_cancels_its_own_task_leaves_no_cancellation_for_the_next_one() -> None:
    """Fault 122: what waits for its own tasks or its own time asks how often its task was cancelled."""
    hooks = Hooks()
    counted: list[int] = []

    async def cancels_itself(event: Any) -> None:
        for _ in range(2):
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        await asyncio.sleep(60)

    async def looks(event: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        counted.append(task.cancelling())

    hooks.register("PreToolUse", cancels_itself, name="cancels itself", on_error="log")
    hooks.register("PreToolUse", looks, name="looks")

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert [result.status for result in outcome.results] == ["failed", "ok"]
    assert counted == [0]


# Cancellation of what the host waits for besides hooks: its recorder.


class Recorder:
    """A recorder whose record is required, and that waits until it is cancelled; or is cancelled at once."""

    required = True

    def __init__(self, seconds: float = 30) -> None:
        self.seconds = seconds
        self.waits = threading.Event()

    async def __call__(self, outcome: Outcome) -> None:
        self.waits.set()
        await asyncio.sleep(self.seconds)
        raise asyncio.CancelledError


@pytest.mark.parametrize("loop", [True, False])
def test_a_recorder_that_is_cancelled_has_lost_a_record_and_does_not_cancel_the_host(loop: bool) -> None:
    hooks = Hooks()
    hooks.record(Recorder(0))

    outcome = unharmed(lambda: run(hooks.fire("PreToolUse")) if loop else hooks.fire_sync("PreToolUse"))

    assert (outcome.denied, outcome.reason) == (
        True, "recorder failed: raised RuntimeError: what was waited for was cancelled"
    )  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
def test_a_host_that_is_cancelled_while_its_recorder_waits_ends(early: bool) -> None:
    async def main() -> bool:
        firing = asyncio.create_task(hooks.fire("PreToolUse"))
        if early:
            hooks.register("PreToolUse", lambda event: firing.cancel() and None, inline=True)
        else:
            await until(recorder.waits.is_set)
            firing.cancel()
        await asyncio.wait([firing])
        return firing.cancelled()

    hooks, recorder = Hooks(), Recorder()
    hooks.record(recorder)

    with within(BUSY):
        assert run(main())


def test_a_hook_that_cancels_everything_on_the_background_loop_cancels_no_other_host_that_waits_there() -> None:
    async def cancels_everything(event: Any) -> None:
        for task in asyncio.all_tasks():
            task.cancel()

    def host() -> None:
        outcomes.append(unharmed(lambda: recorded.fire_sync("PreToolUse")))

    outcomes: list[Outcome] = []
    recorded, recorder, others = Hooks(), Recorder(), Hooks()
    recorded.record(recorder)
    others.register("PreToolUse", cancels_everything)
    other = threading.Thread(target=host)
    other.start()
    recorder.waits.wait(BUSY)

    others.fire_sync("PreToolUse")

    other.join(BUSY)
    assert [outcome.denied for outcome in outcomes] == [True]
