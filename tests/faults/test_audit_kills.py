"""Processes that are killed in the middle of a stream of firings: the store opens, verifies, and has what it must have."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from interpose.audit.reader import open_store
from interpose.audit.verify import verify_store

LONGEST_TEST = 120.0

# Forks, since a hundred interpreters would take a hundred times as long to start as what is of interest here takes.
KILLER = """
    import json, os, random, signal, sys, time
    from interpose import Hooks
    from interpose.audit.store import AuditStore
    from interpose.audit import Selection, open_store
    from interpose.audit.verify import verify_store

    path, kind, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])

    def stream(name, pipe):
        hooks = Hooks(session_id=name)
        hooks.register("PreToolUse", lambda event: None, name="guard", inline=True)
        store = AuditStore(path, required=kind == "required")
        hooks.record(store)
        n = 0
        while True:
            n += 1
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"n": n})
            if kind == "required" or (n % 50 == 0 and store.flush()):
                os.write(pipe, b"%d\\n" % n)  # all of them up to here must be in the record

    worst = 0
    for number in range(kills):
        name = f"s-{number:03}"
        readable, pipe = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            stream(name, pipe)
        os.close(pipe)
        told = os.read(readable, 10)  # it has begun
        time.sleep(random.uniform(0.0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while data := os.read(readable, 65536):
            told = (told + data)[-30:]
        os.close(readable)
        promised = int(told.rsplit(b"\\n", 2)[-2])
        with open_store(path) as reader:
            found = [one.input["tool_input"]["n"] for one in reader.firings(Selection(sessions=(name,)), oldest_first=True)]
        assert found == list(range(1, len(found) + 1)), "there are holes"
        assert len(found) >= promised, f"{promised} were promised, {len(found)} are there"
        if number % 10 == 9:
            assert not verify_store(path).flaws, verify_store(path).flaws
    print(json.dumps({"ok": True}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kills", [20, pytest.param(100, marks=pytest.mark.more)])
@pytest.mark.parametrize("kind", ["flushed", "required"])
def test_kills_cost_nothing_that_was_promised(kind, kills, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    path = tmp_path / "audit.db"

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLER), str(path), kind, str(kills)],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {"ok": True}
    found = verify_store(str(path))
    assert (found.verdict, found.flaws, found.processes) == ("consistent", (), kills)
    assert sum("did not end in order" in note for note in found.notes) == kills
    with open_store(path) as reader:
        assert len(reader.sessions()) == kills
    assert not [name for name in os.listdir(tmp_path) if "damaged" in name]


# Several at once, each killed at another moment, with a key and an anchor; retention deletes meanwhile.
CROWD = """
    import os, random, signal, sys, time
    from interpose import Hooks
    from interpose import Retention
    from interpose.audit import verify
    from interpose.audit.sqlite import committer, pruning
    from interpose.audit.store import AuditStore

    folder, rounds = sys.argv[1], int(sys.argv[2])
    path, key, anchor = (os.path.join(folder, name) for name in ("audit.db", "key", "anchor"))
    committer._RETENTION_SECONDS, pruning._AT_ONCE = 0.0, 50

    def stream(pipe):
        hooks = Hooks()
        hooks.record(AuditStore(path, key=key, anchor=anchor, retention=Retention(size=300_000), required=True))
        begun = False
        while True:
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": os.urandom(4000).hex()})
            if not begun:
                begun = bool(os.write(pipe, b"."))

    for _ in range(rounds):
        readable, pipe = os.pipe()
        children = set()
        try:
            for _ in range(4):
                child = os.fork()
                if child == 0:
                    stream(pipe)
                children.add(child)
            got = b""
            while len(got) < 4:
                got += os.read(readable, 4)
            for child in list(children):
                time.sleep(random.uniform(0.0, 0.05))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                children.remove(child)
                found = verify.verify_store(path, key=open(key, "rb").read(), anchor=anchor)
                assert not found.flaws, found.flaws
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
"""


@pytest.mark.parametrize("rounds", [3, pytest.param(30, marks=pytest.mark.more)])
def test_processes_that_are_killed_side_by_side_break_neither_seal_nor_anchor(rounds, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "key").write_text("a key of more than sixteen bytes")

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CROWD), str(tmp_path), str(rounds)],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr[-2000:]
    found = verify_store(
        str(tmp_path / "audit.db"), key=b"a key of more than sixteen bytes", anchor=str(tmp_path / "anchor")
    )
    assert (found.verdict, found.flaws) == ("complete", ())
    assert sum("did not end in order" in note for note in found.notes) == found.processes
    assert [gap for gap in found.gaps if gap["kind"] == "retention"]
