"""The audit store and a world that misbehaves: disks, files, locks, values, processes.

Two lines of the list of faults have no test, for there is nothing to test: an outcome that was never given out has let
nothing run, so that no record says that a firing has only begun; and no record is sent over a network.
"""

import asyncio
import json
import logging
import math
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import BUSY, eventually, within
from tests.unit.test_redaction import SECRETS

from interpose import Hooks, deny
from interpose.audit import Selection, entries, writer
from interpose.audit.completion import Completion, StoreDown
from interpose.audit.entries import LONGEST
from interpose.audit.reader import open_store
from interpose.audit.sqlite import database
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    return tmp_path / "state" / "audit.db"


@pytest.fixture
def quiet(caplog):
    """What was said about stores in the log."""
    caplog.set_level(logging.WARNING, logger="interpose")
    return caplog


class Host:
    """Hooks and a store."""

    def __init__(self, path: Any, **options: Any) -> None:
        self.store = AuditStore(path, **options)
        self.hooks = Hooks(session_id="s")
        self.hooks.record(self.store)

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def fire(self, **fields: Any):
        return self.hooks.fire_sync("PreToolUse", **{**CALL, **fields})

    def fire_in_loop(self, **fields: Any):
        return asyncio.run(self.hooks.fire("PreToolUse", **{**CALL, **fields}))


def commands(path):
    """What was recorded, oldest first."""
    with open_store(path) as reader:
        return [one.input["tool_input"].get("command") for one in reader.firings(oldest_first=True)]


def do(n: int) -> dict[str, Any]:
    return {"tool_input": {"command": n}}


def is_intact(path) -> bool:
    found = verify_store(str(path))
    assert not found.flaws, found.flaws
    return True


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Down.


def in_the_way_of(path: Path, what: str) -> None:
    if what == "a file where the directory should be":
        path.parent.write_text("")
        return
    path.parent.mkdir()
    match what:
        case "a FIFO":
            os.mkfifo(path)
        case "a directory":
            path.mkdir()
        case "a symbolic link":
            path.with_name("target").write_text("somebody's")
            path.symlink_to(path.with_name("target"))
        case "a symbolic link to nothing":
            path.symlink_to(path.with_name("nothing"))
        case "a symbolic link for its log":
            Path(f"{path}-wal").symlink_to(path.with_name("target"))
        case _:
            path.write_text("somebody's")


WAYS = ["a FIFO", "a directory", "a symbolic link", "a symbolic link to nothing", "a symbolic link for its log", "somebody's text",
        "a file where the directory should be"]  # fmt: skip


@pytest.mark.parametrize("what", WAYS)
def test_what_stands_in_the_way_is_left_alone_and_the_firing_goes_on(what, path, quiet):
    in_the_way_of(path, what)

    with within(BUSY), Host(path) as host:
        outcome = host.fire()
        assert not host.store.flush()
        health = host.store.health

    assert outcome.allowed
    assert (health.state, health.waiting) == ("down", 1)
    assert path.with_name("target").read_text() == "somebody's" if what == "a symbolic link" else True
    assert path.read_text() == "somebody's" if what == "somebody's text" else True
    assert not path.with_name("nothing").exists()
    assert [record.levelname for record in quiet.records if "not being recorded" in record.message] == ["ERROR"]


@pytest.mark.parametrize("fire", ["fire", "fire_in_loop"])
@pytest.mark.parametrize("what", WAYS)
def test_a_required_store_that_is_down_denies(what, fire, path, quiet):
    in_the_way_of(path, what)

    with within(BUSY), Host(path, required=True) as host:
        outcomes = [getattr(host, fire)() for _ in range(3)]

        assert [one.denied for one in outcomes] == [True] * 3
        assert outcomes[0].results[-1].hook == "recorder"
        assert host.store.health.denied == 3


def test_it_recovers_by_itself_and_writes_down_what_was_lost(path, quiet):
    in_the_way_of(path, "a directory")

    with Host(path, required=True) as host:
        denied = [host.fire().denied for _ in range(3)]
        path.rmdir()
        assert eventually(lambda: host.store.health.state == "up")
        allowed = host.fire().allowed

    assert (denied, allowed) == ([True] * 3, True)
    with open_store(path) as reader:
        [gap] = reader.gaps()
    assert (gap["kind"], gap["denied"]) == ("gap", 3)
    assert "regular file" in gap["why"] or "directory" in gap["why"]
    assert is_intact(path)


def test_what_there_is_room_for_is_kept_while_it_is_down_and_the_rest_is_counted(path, quiet):
    in_the_way_of(path, "a directory")

    with Host(path, most_waiting=5) as host:
        host.fire(**do(0))
        assert eventually(lambda: host.store.health.state == "down")
        outcomes = [host.fire(**do(n)) for n in range(1, 9)]
        lost = host.store.health.lost
        path.rmdir()
        assert eventually(lambda: host.store.health.state == "up")

    assert all(one.allowed for one in outcomes)
    assert lost in (3, 4)  # the writer may have taken one that it does not yet count among those that wait
    assert ["not in the record" in str(one.results[-1].error) for one in outcomes[-lost:]] == [True] * lost
    assert commands(path) == list(range(9 - lost))
    with open_store(path) as reader:
        assert [gap["lost"] for gap in reader.gaps()] == [lost]


FULL = """
    import json, resource, signal, sys, time
    from interpose import Hooks
    from interpose.audit.store import AuditStore

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path, required = sys.argv[1], sys.argv[2] == "required"
    store = AuditStore(path, required=required, most_waiting=50)
    hooks = Hooks()
    hooks.record(store)

    def fire(n):
        return hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"command": n, "content": "x" * 20_000})

    assert fire(0).allowed and store.flush()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    said, states = [], set()
    for n in range(1, 100):
        said.append(fire(n).denied)
        states.add(store.health.state)
    if not required:
        store.flush()
        states.add(store.health.state)
    print(json.dumps(["down" in states, [n for n, denied in enumerate(said, 1) if denied]]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    deadline = time.monotonic() + 20
    while store.health.state != "up" and time.monotonic() < deadline:
        time.sleep(0.01)
    print(fire(100).denied, store.health.state)
    store.close()
"""


def test_a_full_disk_denies_where_the_record_is_required_until_there_is_room(path):
    first, then = run(FULL, str(path), "required").splitlines()

    was_down, denied = json.loads(first)
    assert was_down
    assert denied
    assert then == "False up"
    # A firing in between may be allowed: where the log of the database is written back, there is room for a while.
    assert commands(path) == [n for n in range(101) if n not in denied]
    with open_store(path) as reader:
        assert sum(gap["denied"] for gap in reader.gaps()) == len(denied)
    assert is_intact(path)


def test_a_full_disk_costs_no_decision_and_the_gap_is_in_the_record(path):
    first, then = run(FULL, str(path), "optional").splitlines()

    assert json.loads(first) == [True, []]
    assert then == "False up"
    found = commands(path)
    with open_store(path) as reader:
        lost = sum(gap["lost"] for gap in reader.gaps())
    assert len(found) + lost == 101
    assert lost > 0
    assert is_intact(path)


def test_the_alarm_is_sounded_once_a_minute(path, quiet, monkeypatch):
    monkeypatch.setattr(writer, "_BACKOFF", (0.001, 0.002))
    in_the_way_of(path, "a directory")

    with Host(path) as host:
        for _ in range(20):
            host.fire()
            host.store.flush()

    assert sum("not being recorded" in record.message for record in quiet.records) == 1


def test_no_thread_to_be_had_is_a_store_that_is_down(path, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    for required, denied in ((True, True), (False, False)):
        with Host(path, required=required) as host, monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            outcome = host.fire()

            assert outcome.denied == denied
            assert "no thread" in str(outcome.results[-1].error)


# Files that change under it.


def test_a_store_that_is_moved_away_is_made_anew_and_nothing_is_lost(path):
    old = path.with_name("audit.db.1")

    with Host(path) as host:
        for n in range(5):
            host.fire(**do(n))
        assert host.store.flush()
        for beside in ("", "-wal", "-shm"):
            os.rename(f"{path}{beside}", f"{old}{beside}")
        for n in range(5, 8):
            host.fire(**do(n))
        assert host.store.flush()

    assert (commands(old), commands(path)) == ([0, 1, 2, 3, 4], [5, 6, 7])
    assert is_intact(old)
    assert is_intact(path)
    assert "is still running" in verify_store(str(old)).notes[0]


def test_a_directory_that_is_removed_is_made_again(path):
    with Host(path, required=True) as host:
        host.fire(**do(0))
        shutil.rmtree(path.parent)

        assert host.fire(**do(1)).allowed

    assert commands(path) == [1]
    assert is_intact(path)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc")
def test_a_descriptor_that_somebody_closes_is_opened_again(path):
    with Host(path, required=True) as host:
        host.fire(**do(0))
        for name in os.listdir("/proc/self/fd"):
            try:
                if os.readlink(f"/proc/self/fd/{name}") in (str(path), f"{path}-wal"):
                    os.close(int(name))
            except OSError:
                continue
        host.fire(**do(1))
        assert eventually(lambda: host.fire(**do(2)).allowed)

    assert set(commands(path)) >= {0, 2}
    assert is_intact(path)


@pytest.mark.parametrize("how", ["rubbish", "truncated"])
def test_a_damaged_store_is_moved_aside_and_never_replaced_in_silence(how, path, quiet):
    with Host(path) as host:
        for n in range(50):
            host.fire(**do(n))
    data = path.read_bytes()
    damaged = data[:200] + os.urandom(len(data) - 200) if how == "rubbish" else data[: len(data) // 2]
    path.write_bytes(damaged)

    with Host(path, required=True) as host:
        assert eventually(lambda: host.fire(**do(99)).allowed)
        moved = host.store.health.moved

    assert Path(moved).read_bytes() == damaged
    assert moved.startswith(f"{path}.damaged-")
    assert 99 in commands(path)
    with open_store(path) as reader:
        assert [gap["moved"] for gap in reader.gaps() if gap["kind"] == "moved"] == [moved]
    assert any(moved in record.message for record in quiet.records)
    assert is_intact(path)


def test_a_store_that_is_emptied_while_it_is_open_loses_nothing_that_comes_after(path, quiet):
    with Host(path) as host:
        for n in range(50):
            host.fire(**do(n))
        assert host.store.flush()
        for beside in ("", "-wal"):
            os.truncate(f"{path}{beside}", 0)
        for n in range(50, 60):
            host.fire(**do(n))
        assert eventually(host.store.flush)

    assert commands(path)[-10:] == list(range(50, 60))
    assert is_intact(path)


# Others who write.


@pytest.mark.slow
def test_many_processes_write_one_store(path):
    program = """
        import sys
        from interpose import Hooks
        from interpose.audit.store import AuditStore
        hooks = Hooks(session_id=sys.argv[2])
        hooks.record(AuditStore(sys.argv[1]))
        for n in range(150):
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": n, "content": "x" * (n * 470)})
    """
    children = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(path), f"s-{n}"]) for n in range(4)
    ]

    assert [child.wait(50) for child in children] == [0] * 4

    with open_store(path) as reader:
        for n in range(4):
            found = [
                one.input["tool_input"]["command"]
                for one in reader.firings(Selection(sessions=(f"s-{n}",)), oldest_first=True)
            ]
            assert found == list(range(150))
        assert reader.gaps() == []
    assert is_intact(path)


def locked(path) -> sqlite3.Connection:
    """Be another program that keeps the store locked."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


@pytest.mark.parametrize("fire", ["fire", "fire_in_loop"])
def test_a_required_record_is_waited_for_as_long_as_patience_lasts(fire, path, quiet, monkeypatch):
    monkeypatch.setattr(database, "BUSY", 0.2)
    with Host(path, required=True, patience=1.0) as host:
        assert host.fire().allowed
        other = locked(path)
        try:
            with within(BUSY):
                outcome = getattr(host, fire)()
        finally:
            other.close()
        assert eventually(lambda: host.fire().allowed)

    assert outcome.denied
    assert is_intact(path)


def test_a_locked_store_holds_nobody_up_who_does_not_require_it(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY", 0.2)
    with Host(path) as host:
        host.fire(**do(0))
        assert host.store.flush()
        other = locked(path)
        began = time.monotonic()
        try:
            for n in range(1, 100):
                host.fire(**do(n))
            took = time.monotonic() - began
        finally:
            other.close()
        assert eventually(host.store.flush)

    assert took < BUSY  # to wait for the lock each time takes 20 s
    assert commands(path) == list(range(100))


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_firing_waits_while_the_queue_is_full(kind, path, monkeypatch):
    with Host(path, most_waiting=3, patience=20) as host:
        host.fire(**do(0))
        assert host.store.flush()
        other = locked(path)
        done: list[int] = []

        def many() -> None:
            if kind == "sync":
                for n in range(1, 20):
                    host.fire(**do(n))
                    done.append(n)
                return

            async def main() -> None:
                for n in range(1, 20):
                    await host.hooks.fire("PreToolUse", **{**CALL, **do(n)})
                    done.append(n)

            asyncio.run(main())

        thread = threading.Thread(target=many)
        thread.start()
        eventually(lambda: len(done) >= 3)
        time.sleep(0.2)  # time in which it must not go on
        so_far = len(done)
        other.close()
        thread.join(20)
        assert host.store.flush()
        lost = host.store.health.lost

    assert 3 <= so_far <= 8
    assert (lost, commands(path)) == (0, list(range(20)))


def test_large_records_count_by_their_size_too(path, monkeypatch):
    monkeypatch.setattr("interpose.audit.store.MOST_BYTES", 100_000)
    with Host(path) as host:
        host.fire(**do(0))
        assert host.store.flush()
        other = locked(path)
        full = []
        for n in range(3):
            host.fire(tool_input={"command": n, "content": "x" * 40_000})
            full.append(host.store._writer.is_full())
        other.close()
        assert eventually(host.store.flush)
        full.append(host.store._writer.is_full())

    assert full == [False, False, True, False]


# Values.


class Hostile(dict[str, Any]):
    def items(self) -> Any:
        raise SystemExit("no")

    __iter__ = keys = values = items


def cycle() -> Any:
    made: dict[str, Any] = {}
    made["self"] = [made]
    return made


def deep() -> Any:
    made: Any = "bottom"
    for _ in range(5000):
        made = [made]
    return made


ODD = {
    "a lone surrogate": ("\ud800 x", "\ud800 x"),
    "bytes": (b"ab\xff", "ab\\xff"),
    "not a number": (math.nan, "nan"),
    "infinity": (-math.inf, "-inf"),
    "a huge number": (1 << 100_000, hex(1 << 100_000)),
    "a set": ({1}, [1]),
    "an object": (object(), "<object>"),
    "a cycle": (cycle(), {"self": ["<itself>"]}),
    "a key that is no text": (
        {(1, 2): 3, None: 4, True: 5},
        {"<nested deeper than 100 levels>": 3, "None": 4, "True": 5},
    ),
    "control characters": ("\x1b[2J\x07\n\u202e", "\x1b[2J\x07\n\u202e"),
    "a mapping that fights": (Hostile(a=1), {"a": 1}),
}


@pytest.mark.parametrize("what", ODD)
def test_a_record_is_always_written(what, path):
    given, recorded = ODD[what]

    with Host(path, required=True) as host:
        outcome = host.fire(tool_input={"odd": given})

    assert outcome.allowed
    with open_store(path) as reader:
        [found] = reader.firings()
    assert found.input["tool_input"] == {"odd": recorded}
    assert is_intact(path)


def test_a_record_of_something_very_deep_is_written_too(path):
    with Host(path, required=True) as host:
        assert host.fire(tool_input={"odd": deep()}).allowed

    with open_store(path) as reader:
        said = json.dumps(next(reader.firings()).input)
    assert "nested deeper than" in said or said.count("[") > 500  # how deep JSON may be is for Python to say


@pytest.mark.parametrize(
    "name", ['x\n{"a": 1}', "\x1b]0;owned\x07", "\ud800", "a" * 10_000, "'; DROP TABLE records; --"]
)
def test_a_name_cannot_break_out_of_its_record(name, path):
    with Host(path) as host:
        host.fire(tool_name=name)
        assert host.store.flush()
        with closing(sqlite3.connect(path)) as base:
            [(body,)] = base.execute("SELECT body FROM bodies")

    assert body.isascii()
    assert body.isprintable()
    assert json.loads(body)["subject"] == name
    assert is_intact(path)


def test_a_session_that_is_no_text_is_recorded(path):
    with Host(path) as host:
        host.fire(session_id=7)

    with open_store(path) as reader:
        [found] = reader.firings()
    assert (found.session, found.input["session_id"]) == ("", 7)
    assert is_intact(path)


def test_of_a_record_that_is_too_long_the_texts_are_cut_with_their_length_and_hash(path):
    secret = SECRETS["github"]
    cut_through = "x" * (64 * 1024 - 10) + secret + "y" * 5_000_000

    with Host(path) as host:
        host.fire(tool_input={"command": "ls", "content": cut_through, "many": ["z" * 100] * 50_000})

    with open_store(path) as reader:
        [found] = reader.firings()
    kept = found.input["tool_input"]
    assert len(json.dumps(found.body)) <= LONGEST
    assert kept["command"] == "ls"
    assert f"[truncated: {len(cut_through)} characters, sha256 " in kept["content"]
    assert secret[:9] not in json.dumps(found.body)
    assert found.body["truncated"]["characters"] > 10_000_000
    assert is_intact(path)


@pytest.mark.slow
def test_a_record_of_very_many_small_things_is_cut_too(path):
    with Host(path) as host:
        host.fire(tool_input={f"k{n}": {f"j{m}": m for m in range(100)} for n in range(3000)}, other="kept")

    with open_store(path) as reader:
        [found] = reader.firings()
    assert len(json.dumps(found.body, separators=(",", ":"))) <= LONGEST
    assert found.input["other"] == "kept"


def test_the_order_of_records_does_not_depend_on_the_clock_of_the_wall(path, monkeypatch):
    clock = iter(range(10**18, 0, -(10**15)))
    monkeypatch.setattr(entries, "time_ns", lambda: next(clock))

    with Host(path) as host:
        for n in range(5):
            host.fire(**do(n))

    with open_store(path) as reader:
        found = list(reader.firings(oldest_first=True))
    assert [one.input["tool_input"]["command"] for one in found] == [0, 1, 2, 3, 4]
    assert [one.id for one in found] == [1, 2, 3, 4, 5]
    assert sorted(one.time for one in found) == [one.time for one in found][::-1]
    assert sorted(one.monotonic for one in found) == [one.monotonic for one in found]


def test_durable_records_wait_for_the_disk(path):
    with Host(path, durable=True) as host:
        host.fire(**do(0))
        found = commands(path)
        host_writes = host.store._writer.durable

    assert (found, host_writes) == ([0], True)


# Secrets.


def test_secrets_are_nowhere_in_the_files(path, monkeypatch):
    monkeypatch.setenv("DEPLOY_PASSWORD", "correct horse battery")
    planted = [*SECRETS.values(), "correct horse battery", "hunter2hunter2"]

    def echo(event):
        raise ValueError(" ".join(planted))

    with Host(path, redact={"badge": "EMP-[0-9]{6}"}) as host:
        host.hooks.register("PreToolUse", echo, name="breaks")
        host.hooks.register("PreToolUse", lambda event: deny(event.tool_input["text"]), name="denies")
        host.hooks.register("PreToolUse", type="command", command="cat >&2; exit 3", name="cat", priority=1)
        for secret in planted:
            host.fire(tool_input={"text": f"x {secret} y", "password": "hunter2hunter2", "badge": "EMP-123456"})
        host.fire(tool_name=SECRETS["github"], session_id=SECRETS["gitlab"], agent_id=SECRETS["npm"])
        assert host.store.flush()
        data = b"".join(file.read_bytes() for file in path.parent.iterdir())

    for secret in [*planted, "EMP-123456"]:
        assert secret.encode() not in data, secret
        assert json.dumps(secret)[1:-1].encode() not in data, secret
    assert data.count(b"[redacted:") > len(planted)
    assert is_intact(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# The end.


def test_a_firing_after_the_store_was_closed_opens_it_again(path):
    with Host(path) as host:
        host.fire(**do(0))
        writer = host.store._writer
        writer.stop(5)  # as at the end of a process
        host.fire(**do(1))

    assert writer.health.state == "closed"
    assert commands(path) == [0, 1]


def test_what_comes_too_late_for_a_writer_is_written_by_another(path):
    with Host(path, required=True) as host:
        host.fire(**do(0))
        writer = host.store._writer
        writer.stop(5)
        late = entries.PendingRecord('{"input":{"tool_input":{"command":1}}}')
        late.completion = Completion()
        writer.put(late)
        late.completion.block(5)

    assert commands(path) == [0, 1]


def test_what_comes_when_no_thread_can_be_had_any_more_is_counted_and_told(path, quiet, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with Host(path, required=True) as host, monkeypatch.context() as patched:
        host.fire(**do(0))
        writer = host.store._writer
        writer.stop(5)
        patched.setattr(threading.Thread, "start", refuse)
        late = entries.PendingRecord("{}")
        late.completion = Completion()
        writer.put(late)
        with pytest.raises(StoreDown, match="closed"):
            late.completion.block(5)

    assert writer.health.lost == 1
    assert any("came after the end" in record.message for record in quiet.records)


def test_firings_from_many_threads_while_the_store_is_closed_again_and_again_are_all_recorded(path):
    with Host(path) as host:
        stop = threading.Event()
        fired: list[int] = []

        def fire(thread: int) -> None:
            for n in range(200):
                host.fire(tool_input={"command": thread * 1000 + n})
                fired.append(thread * 1000 + n)

        def close() -> None:
            while not stop.is_set():
                host.store.close()

        threads = [threading.Thread(target=fire, args=(number,)) for number in range(3)]
        closer = threading.Thread(target=close)
        for thread in (*threads, closer):
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        closer.join()

    assert sorted(commands(path)) == sorted(fired)
    assert is_intact(path)
