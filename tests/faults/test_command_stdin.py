"""What goes to a command: readers that do not read, and events that cannot be written."""

import asyncio
import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import DENY, HOSTS, SHORT, Host, on_both_hosts, register
from tests.faults.hosts import CALL, program

from interpose import Hooks
from interpose.strict_json import encode

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]

LARGE: dict[str, Any] = {**CALL, "tool_input": {"content": "x" * 20_000_000}}
"""Far more than a pipe holds."""


# Readers.


@on_both_hosts
@pytest.mark.parametrize("fields", [CALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(
    "line",
    ["exec <&-; exit 2", "exit 2", "head -c 1 > /dev/null; exit 2", f"exec <&-; {DENY}"],
    ids=["closes it", "does not read", "reads a byte", "closes it and answers"],
)
def test_a_command_that_does_not_read_its_input_is_heard(host: Host, line: str, fields: dict[str, Any]) -> None:
    """Fault 31: a broken pipe is no failure, however much was still to be written."""
    outcome = host.outcome(line, fields=fields)

    assert (outcome.decision, outcome.results[0].status) == ("deny", "ok")


@on_both_hosts
@pytest.mark.parametrize("line", ["sleep 30", "exec <&-; sleep 30"], ids=["keeps it open", "closes it"])
def test_a_command_that_neither_reads_nor_ends_is_ended_in_time(host: Host, line: str) -> None:
    """Fault 32: nobody waits for the pipe."""
    host.fails(line, code="timeout", timeout=SHORT, fields=LARGE)


def test_a_command_that_does_not_read_never_holds_up_the_loop() -> None:
    """Fault 32: what else the host does goes on meanwhile."""
    hooks = Hooks()
    register(hooks, "sleep 30", timeout=2)
    gaps = []

    async def tick() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - began)

    async def host() -> None:
        fields = {**CALL, "tool_input": {"content": "x" * 1_000_000}}  # to make it takes a moment of its own
        ticking = asyncio.create_task(tick())
        await asyncio.sleep(0)
        assert (await hooks.fire("PreToolUse", **fields)).results[0].status == "timeout"
        ticking.cancel()

    asyncio.run(host())
    assert max(gaps) < 1  # a loop that writes to the pipe by itself stands still for two seconds


@on_both_hosts
def test_a_command_that_writes_much_before_it_reads_much_is_heard(host: Host) -> None:
    """Fault 33: both directions are served together, or each would wait for the other."""
    line = f"""head -c 500000 /dev/zero | tr '\\0' ' '; cat | wc -c > /dev/null; {DENY}"""

    outcome = host.outcome(line, fields=LARGE)

    assert (outcome.decision, outcome.results[0].status) == ("deny", "ok")


@on_both_hosts
def test_a_slow_reader_is_bounded_by_its_deadline_alone(host: Host) -> None:
    """Fault 34: and is heard if it makes it."""
    slow = "while dd bs=65536 count=1 of=/dev/null 2> /dev/null; do sleep 0.05; done"
    host.fails(slow, code="timeout", timeout=SHORT, fields=LARGE)
    some = {**CALL, "tool_input": {"content": "x" * 300_000}}
    outcome = host.outcome(f"for i in 1 2 3 4; do head -c 65536 > /dev/null; sleep 0.02; done; {DENY}", fields=some)

    assert outcome.denied


@on_both_hosts
@pytest.mark.parametrize("size", [10, 65_000, 65_536, 70_000, 3_000_000])
def test_the_whole_event_arrives_and_then_the_end(host: Host, size: int, tmp_path: Path) -> None:
    """Faults 35, 36: one line, one newline, and the end of the file, whatever its size."""
    seen = tmp_path / "seen"

    outcome = host.outcome(f"cat > '{seen}'", fields={**CALL, "tool_input": {"content": "x" * size}})

    data = seen.read_bytes()
    assert outcome.results[0].status == "ok"
    assert (data.count(b"\n"), data[-2:]) == (1, b"}\n")
    assert json.loads(data)["tool_input"] == {"content": "x" * size}


@on_both_hosts
def test_a_command_that_reads_a_line_gets_one(host: Host, tmp_path: Path) -> None:
    """Fault 36: `read` fails without a newline at the end."""
    outcome = host.outcome(f"read -r line && {DENY}")

    assert outcome.reason == "not here"


@on_both_hosts
def test_a_system_that_grants_only_small_pipes_loses_nothing(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 35: Linux gives a user with many pipes (1,024) only a page or two for each further one."""
    plain_pipe = os.pipe

    def small_pipe() -> tuple[int, int]:
        reader, writer = plain_pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        return reader, writer

    monkeypatch.setattr(os, "pipe", small_pipe)
    seen = tmp_path / "seen"

    outcome = host.outcome(f"cat > '{seen}'", fields={**CALL, "tool_input": {"content": "x" * 20_000}})

    assert outcome.results[0].status == "ok"
    assert json.loads(seen.read_bytes())["tool_input"] == {"content": "x" * 20_000}


@on_both_hosts
def test_the_terminal_of_the_host_is_out_of_reach(host: Host, tmp_path: Path) -> None:
    """Fault 37: its streams are pipes, always, and it has no terminal that it could open."""
    line = "for n in 0 1 2; do [ -p /dev/fd/$n ] || exit 1; done; (: < /dev/tty) 2> /dev/null && exit 3; exit 2"

    assert host.outcome(line).denied


# Events.


class Fights:
    """Breaks whoever looks."""

    def __deepcopy__(self, memo: object) -> "Fights":
        return self

    def __repr__(self) -> str:
        raise ValueError("\x1b[2Jno")


def circular() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["self"] = made
    return made


def nested(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"": made}
    return made


UNWRITABLE: dict[str, Any] = {
    "a set": {"x": {1}},
    "bytes": {"x": b"1"},
    "an object": {"x": object()},
    "an object that fights": {"x": Fights()},
    "itself": circular(),
    "a number with 5,000 digits": {"x": 10**5000},
    "not a number": {"x": float("nan")},
    "infinity": {"x": float("inf")},
    "a key that is no text": {(1, 2): 3},
    "101 levels": nested(101),
    "100,000 levels": nested(100_000),
}


@on_both_hosts
@pytest.mark.parametrize("what", UNWRITABLE)
def test_an_event_that_cannot_be_written_fails_before_anything_is_started(
    host: Host, what: str, tmp_path: Path
) -> None:
    """Faults 38, 39: a guard denies."""
    trace = tmp_path / "it ran"

    host.fails(f"touch '{trace}'", code="payload", fields={"tool_name": "Bash", "tool_input": UNWRITABLE[what]})

    assert not trace.exists()


@on_both_hosts
def test_brackets_in_a_text_are_no_levels(host: Host) -> None:
    """Fault 39."""
    fields = {**CALL, "tool_input": {"content": '[{"\\' * 1000, "more": [{}] * 200}}

    assert host.outcome(f"cat > /dev/null; {DENY}", fields=fields).reason == "not here"


def test_levels_are_counted_in_time() -> None:
    """Fault 39: a large file that is written, with more brackets than levels are allowed, is no reason to be late."""
    value = {"content": "x" * 10_000_000, "edits": [{}] * 200}

    def seconds(write: Callable[[Any], object]) -> float:
        began = time.process_time()
        write(value)
        return time.process_time() - began

    # A look at each character takes twenty times as long as writing it.
    assert min(seconds(encode) for _ in range(3)) < 8 * min(seconds(json.dumps) for _ in range(3))


def test_an_event_of_more_than_50_megabytes_fails(tmp_path: Path) -> None:
    """Fault 40: and a guard denies."""
    fields = {**CALL, "tool_input": {"content": "x" * (50 * 1024 * 1024)}}

    result = HOSTS[1].fails("true", code="payload_too_big", fields=fields, timeout=60)  # to write it takes long

    assert "52428" in str(result.error)


@pytest.mark.parametrize("how", ["by Python", "behind its back"])
@pytest.mark.parametrize("fire", ["hooks.fire_sync", "fire_on_a_loop"])
def test_a_host_that_a_broken_pipe_would_kill_survives(how: str, fire: str) -> None:
    """Fault 41: somebody has set SIGPIPE to its default, with or without Python's knowledge."""
    deaf = {
        "by Python": "signal.signal(signal.SIGPIPE, signal.SIG_DFL)",
        "behind its back": "ctypes.CDLL(None).signal(int(signal.SIGPIPE), None)",
    }
    ended = program(f"""
        import asyncio, ctypes, signal
        from interpose import Hooks

        {deaf[how]}
        hooks = Hooks()
        hooks.register("PreToolUse", command="exec <&-; exit 2", timeout=5)

        def fire_on_a_loop(event, **fields):
            return asyncio.run(hooks.fire(event, **fields))

        for _ in range(3):
            outcome = {fire}("PreToolUse", tool_name="Bash", tool_input={{"content": "x" * 3_000_000}})
            print(outcome.decision, flush=True)
    """)

    assert (ended.returncode, ended.stdout.split()) == (0, ["deny"] * 3), ended.stderr
