"""Hosts for misbehaving hooks: every way in which a hook can run, and what the tests ask of all of them."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import interpose
from interpose import Hooks, Outcome
from interpose.executors.base import kept

T = TypeVar("T")

PROMISE = 0.25
"""Seconds beyond its deadline after which a firing has returned."""

BUSY = 15.0
"""The same on a machine that has other things to do; what hangs in these tests hangs for 30 s or more."""

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


kept_before = [0]
"""How many tasks and threads were kept when the test began."""


def kept_now() -> int:
    """How many tasks and threads are kept by hooks of this test."""
    return kept.count - kept_before[0]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the block takes longer."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"took {took:.2f} s where {seconds:.2f} s were allowed"


@contextmanager
def computing(seconds: float) -> Iterator[None]:
    """Fail if this process computes longer in the block; how long it waits for a core does not count."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < seconds, f"computed for {took:.2f} s where {seconds:.2f} s were allowed"


def run(main: Coroutine[Any, Any, T]) -> T:
    """Be a host on asyncio, and check that no task is left when the host is done."""

    async def host() -> T:
        result = await main
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks that outlive their firing: {left}"
        return result

    return asyncio.run(host())


def unharmed(fire: Callable[[], T]) -> T:
    """Turn whatever a firing raises into a plain failure: what escapes may be made to break the one who shows it."""
    try:
        return fire()
    except AssertionError:
        raise
    except BaseException as error:
        kind = type.__dict__["__name__"].__get__(type(error))
        trace = "".join(traceback.format_tb(sys.exc_info()[2])[-4:])
    raise AssertionError(f"the host got an exception, {kind}:\n{trace}")


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Wait for something that nobody announces; say whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def halt(pid: int) -> None:
    """Stop a process, and wait until it stands still: on a busy machine its threads go on for a moment."""
    os.kill(pid, signal.SIGSTOP)
    assert eventually(lambda: _stands_still(pid)), "it does not stop"


def _stands_still(pid: int) -> bool:
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # that thread has ended
            if stat.read_text().rpartition(")")[2].split()[0] not in "Tt":
                return False
    return True


async def until(condition: Callable[[], bool]) -> None:
    """Wait, on a loop, for something that nobody announces."""
    while not condition():  # noqa: ASYNC110 - it happens outside this loop
        await asyncio.sleep(0)


def in_threads(count: int, work: Any) -> None:
    """Run something in many threads at once; raise what any of them raised."""
    start, errors = threading.Barrier(count, timeout=10), []

    def body(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if errors:
        raise errors[0]


@dataclass(frozen=True)
class Way:
    """One way for a hook to run: what kind of function it is, and what kind of host fires it."""

    name: str
    awaits: bool
    inline: bool
    loop: bool

    def __str__(self) -> str:
        return self.name

    def hook(self, body: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a hook that does what the body does, as the kind of function that runs this way."""
        if not self.awaits:
            return body

        async def hook(event: Any) -> Any:
            return body(event)

        return hook

    def register(self, hooks: Hooks, body: Callable[[Any], Any], **options: Any) -> None:
        """Register a body so that it runs this way."""
        hooks.register("PreToolUse", self.hook(body), inline=self.inline, **options)

    def fire(self, hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
        """Fire the way this host does."""
        fields = fields or CALL
        if self.loop:
            return unharmed(lambda: run(hooks.fire(event, **fields)))
        return unharmed(lambda: hooks.fire_sync(event, **fields))

    def outcome(self, body: Callable[[Any], Any], **options: Any) -> Outcome:
        """Return what comes out if this body is the only hook."""
        hooks = Hooks()
        self.register(hooks, body, **options)
        return self.fire(hooks)


WAYS = (
    Way("a coroutine in a task", awaits=True, inline=False, loop=True),
    Way("a function in a thread", awaits=False, inline=False, loop=True),
    Way("a coroutine inline", awaits=True, inline=True, loop=True),
    Way("a function inline", awaits=False, inline=True, loop=True),
    Way("a coroutine without a loop", awaits=True, inline=False, loop=False),
    Way("a function in a thread without a loop", awaits=False, inline=False, loop=False),
    Way("a function inline without a loop", awaits=False, inline=True, loop=False),
)


def environment(**more: str) -> dict[str, str]:
    """Return this environment, in which the package under test is found."""
    return {**os.environ, "PYTHONPATH": str(Path(interpose.__file__).parents[1]), **more}


def program(
    text: str, *flags: str, seconds: float = 60.0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh interpreter to its end."""
    return subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(text)],
        env=environment(**(env or {})),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


class Program:
    """A program in a fresh interpreter that is still running: told by signals, heard line by line."""

    def __init__(self, text: str, *flags: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *flags, "-c", textwrap.dedent(text)],
            env=environment(PYTHONUNBUFFERED="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # a buffer would take in lines beyond the one that is asked for, and communicate() reads past it
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def line(self) -> str:
        """Wait for its next line."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode().rstrip("\n")

    def send(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def end(self, seconds: float = 60.0) -> tuple[int, str, str]:
        """Wait for its end; return its status, what it said since, and what it complained about."""
        said, complained = self._process.communicate(timeout=seconds)
        return self._process.returncode, said.decode(), complained.decode()
