"""Functions in worker processes: they can be ended, replaced, and cannot take the host along."""

import asyncio
import errno
import gc
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults import isolated_hooks
from tests.faults.commands import alive
from tests.faults.hosts import BUSY, PROMISE, eventually, within

from interpose import BadHook, Hooks, Outcome

pytestmark = pytest.mark.slow

HOSTS = ["on a loop", "without a loop"]


@pytest.fixture(params=HOSTS)
def fire(request: pytest.FixtureRequest) -> Any:
    """Both kinds of host."""

    def on_a_loop(hooks: Hooks, **fields: Any) -> Outcome:
        return asyncio.run(hooks.fire(fields.pop("event", "PreToolUse"), **fields))

    def without(hooks: Hooks, **fields: Any) -> Outcome:
        return hooks.fire_sync(fields.pop("event", "PreToolUse"), **fields)

    return on_a_loop if request.param == "on a loop" else without


def isolated(function: Any, event: str = "PreToolUse", **options: Any) -> Hooks:
    hooks = Hooks()
    hooks.register(event, function, isolate="process", **options)
    return hooks


def call(command: str = "ls", **more: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command, **more}}


def time_to_start(fire: Any) -> float:
    """Return a timeout that starting processes does not use up on this machine as busy as it is, at least 0.5 s."""
    began = time.monotonic()
    fire(isolated(isolated_hooks.hangs, timeout=60), **call())
    return max(0.5, 4 * (time.monotonic() - began))


# It works like a function in this process.


def test_it_is_told_the_event_and_its_answer_counts(fire: Any) -> None:
    outcome = fire(isolated(isolated_hooks.well), **call())

    assert (outcome.reason, outcome.context) == ("no Bash ls", ["note"])


def test_it_may_be_async_named_or_in_the_style_of_the_sdk(fire: Any) -> None:
    said = [
        fire(isolated(hook), **call(), tool_use_id="call-1").reason
        for hook in (
            isolated_hooks.later,
            "tests.faults.isolated_hooks.later",
            isolated_hooks.in_the_style_of_the_sdk,
        )
    ]

    assert said == ["later", "later", "call-1 Bash"]


def test_every_part_of_a_reply_arrives(fire: Any) -> None:
    outcome = fire(isolated(isolated_hooks.every_part, "PostToolUse"), event="PostToolUse", **call())

    assert outcome.tool_response == "changed"
    assert outcome.context == ["one", "two"]
    assert [(item.content, item.strategy) for item in outcome.inject] == [("beside", "user_message")]


def test_one_process_serves_event_after_event_and_it_is_not_the_host(fire: Any) -> None:
    hooks = isolated(isolated_hooks.pid)

    said = {fire(hooks, **call()).reason for _ in range(3)}

    assert len(said) == 1
    assert said != {str(os.getpid())}


def test_events_at_the_same_time_have_processes_of_their_own() -> None:
    hooks = isolated(isolated_hooks.pid)

    async def host() -> set[str]:
        return {one.reason for one in await asyncio.gather(*(hooks.fire("PreToolUse", **call()) for _ in range(3)))}

    assert len(asyncio.run(host())) == 3


# It misbehaves.


def test_one_that_hangs_is_ended_with_all_it_has_started_and_replaced(fire: Any, tmp_path: Path) -> None:
    """Faults 129, 130, 131: what no thread can do."""
    timeout = time_to_start(fire)
    hooks = isolated(isolated_hooks.hangs, timeout=timeout, on_error="abort")
    assert fire(hooks, **call()).results[0].status == "ok"  # the process is there now, and only the hang takes time

    with within(timeout + PROMISE + BUSY):
        outcome = fire(hooks, **call("hang", note=str(tmp_path / "pid")))

    assert (outcome.denied, outcome.results[0].status) == (True, "timeout")
    assert not alive(int((tmp_path / "pid").read_text()))
    assert fire(hooks, **call()).results[0].status == "ok"


@pytest.mark.parametrize("status", [0, 3])
def test_one_that_exits_has_failed_whatever_its_status(status: int, fire: Any) -> None:
    """Fault 152: also if a process before it was killed by us, whose supervisor goes on."""
    hooks = isolated(isolated_hooks.exits, on_error="abort")

    for _ in range(3):
        outcome = fire(hooks, **call(str(status)))

        assert outcome.denied
        assert f"its process ended (status {status})" in outcome.reason


def test_the_status_of_a_run_is_its_own_although_the_one_before_was_ended_by_us(fire: Any, tmp_path: Path) -> None:
    hooks = isolated(isolated_hooks.hangs, timeout=0.3)
    fire(hooks, **call("hang", note=str(tmp_path / "pid")))
    hooks.register("PreToolUse", command="echo mine >&2; exit 2")

    assert fire(hooks, **call()).reason == "mine"


FAILURES = {
    "is killed": (isolated_hooks.is_killed, "hook_crash"),
    "raises": (isolated_hooks.raises, "hook_crash"),
    "calls sys.exit": (isolated_hooks.leaves, "hook_crash"),
    "is not there": ("tests.faults.isolated_hooks.nowhere", "import_failed"),
    "is in no module": ("no_such_module.function", "import_failed"),
    "takes no arguments": (isolated_hooks.takes_nothing, "bad_handler"),
    "answers what is no answer": (isolated_hooks.answers_five, "bad_reply"),
    "answers what cannot be sent": (isolated_hooks.answers_with_an_object, "bad_reply"),
}


@pytest.mark.parametrize(("function", "code"), FAILURES.values(), ids=FAILURES)
def test_whatever_it_does_is_a_failure_in_the_outcome(function: Any, code: str, fire: Any) -> None:
    """Faults 120, 121, 136, 152, 158"""
    try:
        hooks = isolated(function, on_error="abort")
    except BadHook:
        assert code == "bad_handler"  # found out before anything runs
        return

    outcome = fire(hooks, **call())

    assert outcome.denied
    assert [one.error.code for one in outcome.results if one.error] == [code]


def test_what_it_prints_does_not_disturb_its_answers(fire: Any) -> None:
    """Fault 155"""
    hooks = isolated(isolated_hooks.prints)

    assert [fire(hooks, **call()).reason for _ in range(2)] == ["printed", "printed"]


def test_an_input_that_cannot_be_sent_is_a_failure(fire: Any) -> None:
    """Fault 38"""
    hooks = isolated(isolated_hooks.pid, on_error="abort")

    outcome = fire(hooks, tool_name="Bash", tool_input={"lock": threading.Lock()})

    assert outcome.denied
    assert fire(hooks, **call()).denied


def test_a_large_event_arrives_whole(fire: Any) -> None:
    """Fault 33"""
    outcome = fire(isolated(isolated_hooks.well), **call("x" * 3_000_000))

    assert len(outcome.reason) == len("no Bash ") + 3_000_000


# What could never work is refused at once.


def test_a_function_that_another_process_cannot_find_is_refused() -> None:
    def local(event: Any) -> None:
        return None

    for function in (local, lambda event: None):
        with pytest.raises(BadHook, match="another process cannot find"):
            isolated(function)
    with pytest.raises(BadHook, match="isolate: 'thread' is not a choice"):
        Hooks().register("PreToolUse", isolated_hooks.well, isolate="thread")  # type: ignore[arg-type]
    with pytest.raises(BadHook, match="inline"):
        isolated(isolated_hooks.well, inline=True)


# Nothing is left.


def test_the_process_ends_when_its_hooks_are_gone(fire: Any) -> None:
    hooks = isolated(isolated_hooks.pid)
    worker = int(fire(hooks, **call()).reason)
    assert alive(worker)

    del hooks
    gc.collect()

    assert eventually(lambda: not alive(worker))


def test_a_cancelled_firing_ends_it(tmp_path: Path) -> None:
    """Fault 149"""
    hooks = isolated(isolated_hooks.hangs, timeout=30)
    note = tmp_path / "pid"

    async def host() -> None:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **call("hang", note=str(note))))
        while not (note.exists() and note.read_text()):  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    asyncio.run(host())
    assert eventually(lambda: not alive(int(note.read_text())))


def test_a_worker_for_which_there_is_one_pipe_only_has_failed_and_leaves_no_descriptor(
    fire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pipe() -> tuple[int, int]:
        if pipes:
            raise OSError(errno.EMFILE, "Too many open files")
        pipes.append(make())
        return pipes[0]

    make, pipes = os.pipe, list[tuple[int, int]]()
    fire(isolated(isolated_hooks.well), **call())  # what it takes to start one is there
    monkeypatch.setattr(os, "pipe", pipe)

    [result] = fire(isolated(isolated_hooks.well), **call()).results

    assert (result.error.code, str(result.error)) == ("spawn_resource", "no pipe can be made: Too many open files")
    for descriptor in pipes[0]:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
