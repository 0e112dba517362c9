"""Tasks that miss a cancellation are ended nevertheless."""

import asyncio
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from interpose.runtime.tasks import end_tasks

SERVICE = """
import asyncio, sys
from interpose.cli.fleet import until_stopped
from tests.unit.test_tasks import misses

sys.exit(until_stopped(misses(int(sys.argv[1]), begun=lambda: print("begun", flush=True))))
"""


async def misses(count: int, begun: Any = lambda: None) -> None:
    """Run for ever, and take no notice of some cancellations."""
    for _ in range(count):
        begun()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue
    begun()
    await asyncio.Event().wait()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_task_is_cancelled_until_it_ends(count: int) -> None:
    async def main() -> "tuple[asyncio.Task[None], asyncio.Task[None]]":
        tasks = asyncio.create_task(misses(count)), asyncio.create_task(misses(0))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await end_tasks(tasks, pause=0.01)
        return tasks

    assert [task.cancelled() for task in asyncio.run(main())] == [True, True]


def test_an_answer_that_comes_with_the_cancellation_keeps_no_task_alive() -> None:
    async def asks() -> None:
        answer = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(answered.set)
        asyncio.get_running_loop().call_soon(answer.set_result, None)
        await asyncio.wait_for(answer, 60)
        await asyncio.Event().wait()

    async def main() -> "asyncio.Task[None]":
        task = asyncio.create_task(asks())
        async with asyncio.timeout(60):
            await answered.wait()
            await end_tasks([task], pause=0.01)
        return task

    answered = asyncio.Event()
    assert asyncio.run(main()).cancelled()


def test_tasks_that_do_not_end_are_waited_for_as_long_as_was_said() -> None:
    async def main() -> bool:
        left = asyncio.create_task(misses(1_000_000))
        await asyncio.sleep(0)
        await end_tasks([left], pause=0.01, patience=0.1)
        ended = left.done()
        left.get_coro().close()
        left.cancel()
        return ended

    assert not asyncio.run(main())


def test_there_may_be_no_task() -> None:
    asyncio.run(end_tasks([]))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_misses_a_signal_ends_at_the_second(number: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    with subprocess.Popen(
        [sys.executable, "-c", SERVICE, "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as service:
        assert service.stdout is not None
        for _ in range(2):
            assert service.stdout.readline() == "begun\n"
            service.send_signal(number)
        _, said = service.communicate(timeout=60)

    assert (service.returncode, said) == (0, "stopped\n")


@pytest.mark.slow
def test_a_service_that_misses_a_signal_ends_nevertheless() -> None:
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    with subprocess.Popen(
        [sys.executable, "-c", SERVICE, "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "begun\n"
        service.terminate()
        _, said = service.communicate(timeout=60)

    assert (service.returncode, said) == (0, "stopped\n")
