"""Ctrl-C, other signals and the end of a coroutine that are meant for the host, and those that a hook makes up."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest
from tests.faults.hosts import (
    BUSY,
    CALL,
    WAYS,
    Program,
    Way,
    program,
    run,
    unharmed,
    within,
)  # fmt: skip

from interpose import Hooks

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
