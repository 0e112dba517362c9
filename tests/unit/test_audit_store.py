"""The audit store as a recorder: what is written of a firing, and how it is read."""

import asyncio
import json
import os
import stat
import subprocess
import sys
import textwrap
import threading

import pytest
from tests.databases import database
from tests.faults.hosts import eventually, until

from interpose import Hooks, UsageError, allow, ask, context, deny, inject, modify
from interpose.audit import Selection, open_store
from interpose.audit.protocol import NotAStore, StoredFiring
from interpose.audit.store import AuditStore

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    return tmp_path / "state" / "audit.db"


@pytest.fixture
def hooks(path):
    made = Hooks(session_id="s-1")
    with AuditStore(path) as store:
        made.record(store)
        made.store = store  # type: ignore[attr-defined]
        yield made


def firings(hooks, /, limit=None, oldest_first=False, **filters):
    assert hooks.store.flush()
    with open_store(hooks.store.path) as reader:
        return list(reader.firings(Selection(**filters), limit=limit, oldest_first=oldest_first))


def test_a_firing_is_recorded_with_everything_that_was_said(hooks):
    hooks.register("PreToolUse", lambda event: deny("no"), name="guard", priority=1)
    hooks.register("PreToolUse", lambda event: None, name="never")

    hooks.fire_sync("PreToolUse", agent_id="a-1", **CALL)

    [found] = firings(hooks)
    assert (found.id, found.event, found.subject, found.session, found.agent) == (1, "PreToolUse", "Bash", "s-1", "a-1")
    assert (found.decision, found.reason) == ("deny", "no")
    assert found.input["tool_input"] == {"command": "ls"}
    assert found.input["cwd"] == os.getcwd()
    assert [(run["hook"], run["status"], run["decision"], run["reason"]) for run in found.runs] == [
        ("guard", "ok", "deny", "no"),
        ("never", "skipped", "none", ""),
    ]
    assert found.process == 1


def test_what_a_firing_said_beside_its_decision_is_recorded(hooks):
    hooks.register("PreToolUse", lambda event: ask("sure?"))
    hooks.register("PreToolUse", lambda event: context("look"))
    hooks.register("PreToolUse", lambda event: inject("here"))
    hooks.register("PreToolUse", lambda event: deny("in the shadow"), enforce=False, name="shade")

    outcome = hooks.fire_sync("PreToolUse", **CALL)

    [found] = firings(hooks)
    assert found.decision == "ask"
    assert found.body["context"] == ["look"]
    assert found.body["ignored"] == [item.to_dict() for item in outcome.ignored]
    assert found.body["shadow"] == {"decision": "deny", "reason": outcome.shadow.reason}
    assert [run["enforced"] for run in found.runs] == [True, True, True, False]


def test_the_input_is_recorded_as_it_was_given_and_as_it_became(hooks):
    hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "ls -l"}), name="changes")
    hooks.register("PreToolUse", lambda event: None, name="guard", on_error="abort", priority=1)

    hooks.fire_sync("PreToolUse", **CALL)

    [found] = firings(hooks)
    assert (found.input["tool_input"], found.given["tool_input"]) == ({"command": "ls -l"}, {"command": "ls"})
    assert found.body["given"] == {"tool_input": {"command": "ls"}}
    assert [(run["hook"], run["round"]) for run in found.runs] == [("guard", 1), ("changes", 1), ("guard", 2)]


def test_a_hook_that_fails_is_recorded_with_its_error_and_its_evidence(hooks):
    hooks.register("PreToolUse", lambda event: 1 / 0, name="breaks")
    hooks.register("PreToolUse", type="command", command="echo tail >&2; exit 3", name="exits")

    hooks.fire_sync("PreToolUse", **CALL)

    [found] = firings(hooks)
    assert [run["status"] for run in found.runs] == ["failed", "failed"]
    assert found.runs[0]["error"] == {"code": "hook_crash", "text": "raised ZeroDivisionError: division by zero"}
    assert (found.runs[1]["evidence"]["exit"], found.runs[1]["evidence"]["stderr"].strip()) == (3, "tail")
    assert found.runs[1]["type"] == "command"
    assert found.runs[1]["duration_ms"] > 0


def test_standard_error_of_a_hook_that_succeeds_is_recorded_without_its_secrets(hooks):
    secret = "ghp_" + "a1" * 18
    hooks.register("PreToolUse", type="command", command=f"echo used {secret} >&2", name="talks")

    hooks.fire_sync("PreToolUse", **CALL)

    [found] = firings(hooks)
    assert found.runs[0]["status"] == "ok"
    assert found.runs[0]["evidence"]["stderr"].startswith("used [redacted:")
    assert secret not in json.dumps(found.body)


def test_what_the_host_changes_afterwards_changes_no_record(hooks):
    given = {"command": "ls"}

    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=given)
    given["command"] = "rm -rf /"

    assert firings(hooks)[0].input["tool_input"] == {"command": "ls"}


def test_the_call_id_in_the_record_is_the_one_that_the_host_gets(hooks):
    outcome = hooks.fire_sync("PreToolUse", **CALL)

    assert firings(hooks)[0].input["tool_use_id"] == outcome.tool_use_id


def test_firings_with_and_without_a_loop_and_those_that_nobody_wants_are_recorded(hooks):
    async def main():
        await hooks.fire("Stop")
        await asyncio.gather(*[hooks.fire("PreToolUse", **CALL) for _ in range(20)])

    asyncio.run(main())
    hooks.fire_sync("SessionEnd")

    assert [found.event for found in firings(hooks, oldest_first=True)] == ["Stop", *["PreToolUse"] * 20, "SessionEnd"]


def test_a_hook_in_the_background_is_recorded_when_it_has_ended(hooks):
    async def later(event):
        await asyncio.sleep(0.01)
        return deny("too late")

    hooks.register("PreToolUse", later, async_=True, name="later")

    async def main():
        await hooks.fire("PreToolUse", **CALL)
        await until(lambda: len(firings(hooks)) == 2)

    asyncio.run(main())

    now, then = firings(hooks, oldest_first=True)
    assert (now.decision, now.runs[0]["evidence"]) == ("none", {"background": True})
    assert (then.decision, then.body["background"], then.runs[0]["decision"]) == ("none", True, "deny")


def test_firings_are_read_newest_first_by_every_filter_there_is(hooks):
    hooks.register("PreToolUse", lambda event: deny("no"), matcher="Write", name="writes")
    hooks.register("PreToolUse", lambda event: ask("?"), matcher="Edit", name="edits")
    hooks.register("PreToolUse", lambda event: allow(), matcher="Read", name="reads")
    for tool in ("Bash", "Write", "Edit", "Read"):
        hooks.fire_sync("PreToolUse", tool_name=tool, session_id=f"session-{tool}")
    hooks.fire_sync("Stop", session_id="other")

    def found(**filters):
        return [one.subject or one.event for one in firings(hooks, **filters)]

    assert found() == ["Stop", "Read", "Edit", "Write", "Bash"]
    assert found(oldest_first=True, limit=2) == ["Bash", "Write"]
    assert found(events=("Stop",)) == ["Stop"]
    assert found(events=("Stop", "PreToolUse"), limit=2) == ["Stop", "Read"]
    assert found(decisions=("deny",)) == ["Write"]
    assert found(decisions=("none",)) == ["Stop", "Bash"]
    assert found(decisions=("deny", "ask")) == ["Edit", "Write"]
    assert found(hooks=("edits",)) == ["Edit"]
    assert found(hooks=("edits", "reads")) == ["Read", "Edit"]
    assert found(tools=("Bash", "Read")) == ["Read", "Bash"]
    assert found(tools=("Stop",)) == []
    assert found(sessions=("session-",)) == ["Read", "Edit", "Write", "Bash"]
    assert found(sessions=("session-Bash", "oth")) == ["Stop", "Bash"]
    assert found(tools=("Bash", "Write"), decisions=("deny",)) == ["Write"]
    assert found(after=3) == ["Stop", "Read"]
    assert found(before=3) == ["Write", "Bash"]
    assert found(since=9e9) == []
    assert found(events=("nothing",), hooks=("other",)) == []
    with pytest.raises(UsageError, match="not a decision"):
        found(decisions=("perhaps",))


def test_firings_are_found_by_their_agent_and_by_any_text_in_them(hooks):
    hooks.register("PreToolUse", lambda event: deny('it says "NO"'), matcher="Write", name="writes")
    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "echo Straße"}, agent_id="main")
    hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"content": ["a", {"b": "näher"}]}, agent_id="other")
    hooks.fire_sync("SubagentStop", agent_type="Bash", agent_id="main")

    def found(**filters):
        return [one.id for one in firings(hooks, **filters)]

    assert found(agents=("main",)) == [3, 1]
    assert found(agents=("main", "other"), tools=("Write",)) == [2]
    assert found(tools=("Bash",)) == [1]
    assert found(texts=("STRASSE",)) == [1]
    assert found(texts=("Näher", "straße")) == [2, 1]
    assert found(texts=('says "no"',), limit=1) == [2]
    assert found(texts=("\\u00e4",)) == []


def test_a_text_is_found_behind_many_records_without_it(hooks, monkeypatch):
    monkeypatch.setattr("interpose.audit.sql.reader._PAGE", 3)
    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "needle"})
    for _ in range(10):
        hooks.fire_sync("Stop")

    assert [one.id for one in firings(hooks, texts=("needle",), limit=1)] == [1]


def test_pages_are_put_together(hooks, monkeypatch):
    monkeypatch.setattr("interpose.audit.sql.reader._PAGE", 3)
    for _ in range(10):
        hooks.fire_sync("Stop")

    assert [one.id for one in firings(hooks)] == list(range(10, 0, -1))
    assert [one.id for one in firings(hooks, limit=7, oldest_first=True)] == list(range(1, 8))


def test_one_firing_is_found_by_its_number(hooks):
    hooks.fire_sync("Stop")
    hooks.store.flush()

    with open_store(hooks.store.path) as reader:
        found = reader.entry(1)
        assert isinstance(found, StoredFiring)
        assert json.loads(json.dumps(found.to_dict()))["event"] == found.event == "Stop"
        assert reader.entry(2) is None


def test_a_store_is_followed_from_now_on(hooks):
    hooks.fire_sync("Stop")
    hooks.store.flush()

    with open_store(hooks.store.path) as reader:
        follower = reader.follow(Selection(after=0, events=("Stop",)))
        first = next(follower)
        hooks.fire_sync("PreCompact")
        hooks.fire_sync("Stop")
        second = next(follower)

    assert (first.id, second.id) == (1, 3)


def test_statistics_of_hooks(hooks):
    hooks.register("PreToolUse", lambda event: deny("no") if event.tool_name == "Write" else None, name="guard")
    hooks.register("PreToolUse", lambda event: 1 / 0, name="breaks")
    for tool, session in (("Bash", "a"), ("Write", "a"), ("Bash", "b")):
        hooks.fire_sync("PreToolUse", tool_name=tool, session_id=session)
    hooks.store.flush()

    with open_store(hooks.store.path) as reader:
        guard, breaks = reader.hook_stats()
        last = reader.last_fired()
        sessions = reader.sessions()
        none = reader.hook_stats(since=9e9)

    assert (guard.hook, guard.event, guard.runs, guard.denies, guard.sessions) == ("guard", "PreToolUse", 3, 1, 2)
    assert (breaks.runs, breaks.skipped, breaks.failures) == (2, 1, 2)
    assert 0 <= guard.p50 <= guard.p95 <= guard.p99 <= guard.total
    assert guard.last_fired == last["PreToolUse", "guard"] > last["PreToolUse", "breaks"] - 60
    assert [(one.id, one.firings, one.denies) for one in sessions] == [("b", 1, 0), ("a", 2, 1)]
    assert none == []


def test_the_files_are_their_owners_alone_whatever_the_umask_is(path):
    before = os.umask(0)
    try:
        with AuditStore(path) as store:
            hooks = Hooks()
            hooks.record(store)
            hooks.fire_sync("Stop")
            assert store.flush()
            modes = {name.name: stat.S_IMODE(name.stat().st_mode) for name in path.parent.iterdir()}
    finally:
        os.umask(before)

    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_two_stores_of_one_path_share_a_writer_and_a_chain(path):
    with AuditStore(path) as one, AuditStore(path) as other:
        for store in (one, other):
            hooks = Hooks()
            hooks.record(store)
            hooks.fire_sync("Stop")
        assert one._writer is other._writer

    with open_store(path) as reader:
        assert [(one.process, one.id) for one in reader.firings()] == [(1, 2), (1, 1)]


def test_two_stores_of_one_path_must_agree(path):
    with AuditStore(path) as one, AuditStore(path, anchor="elsewhere") as other:
        hooks = Hooks()
        hooks.record(one)
        hooks.fire_sync("Stop")
        hooks.record(other)
        outcome = hooks.fire_sync("Stop")

    assert "open already" in str(outcome.results[0].error)


def test_a_store_that_was_closed_opens_again_as_another_process(path):
    store = AuditStore(path)
    hooks = Hooks()
    hooks.record(store)
    for _ in range(2):
        hooks.fire_sync("Stop")
        store.close()
        assert store.health.state == "closed"

    with open_store(path) as reader:
        assert [(one.process, one.id) for one in reader.firings()] == [(3, 3), (1, 1)]


def test_a_record_that_comes_after_a_store_was_closed_is_written_and_keeps_nothing_open(path):
    store = AuditStore(path)
    hooks = Hooks()
    hooks.record(store)
    outcome = hooks.fire_sync("Stop")
    store.close()

    store.record_background(outcome)

    assert eventually(lambda: not [one for one in threading.enumerate() if one.name.endswith(str(path))])
    with open_store(path) as reader:
        assert [(one.process, one.id) for one in reader.firings()] == [(3, 3), (1, 1)]


def test_an_answer_that_comes_after_a_store_was_closed_is_written_and_keeps_nothing_open(path):
    store = AuditStore(path)
    asked = store.ask({**CALL, "session_id": "s1", "wait": 60, "nonce": "n"})
    asked.block()
    store.close()

    store.answer({"question": asked.id, "digest": asked.digest, "state": "expired"}).block()

    assert eventually(lambda: not [one for one in threading.enumerate() if one.name.endswith(str(path))])
    with open_store(path) as reader:
        assert [one.state for one in reader.questions(answered=True)] == ["expired"]


def test_a_record_that_comes_after_a_store_was_closed_is_written_when_the_process_ends(path):
    program = f"""
        from interpose import Hooks
        from interpose.audit.store import AuditStore
        hooks, store = Hooks(), AuditStore({str(path)!r})
        hooks.record(store)
        outcome = hooks.fire_sync("Stop")
        store.close()
        for _ in range(100):
            store.record_background(outcome)
    """

    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)

    with open_store(path) as reader:
        assert len(list(reader.firings())) == 101


def test_what_is_left_is_written_when_the_process_ends(path):
    program = f"""
        from interpose import Hooks
        from interpose.audit.store import AuditStore
        hooks = Hooks()
        hooks.record(AuditStore({str(path)!r}))
        for _ in range(100):
            hooks.fire_sync("Stop")
    """

    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)

    with open_store(path) as reader:
        assert len(list(reader.firings())) == 100


def test_a_child_after_a_fork_has_a_chain_of_its_own(path):
    program = f"""
        import os
        from interpose import Hooks
        from interpose.audit.store import AuditStore
        hooks = Hooks()
        hooks.record(AuditStore({str(path)!r}))
        hooks.fire_sync("Stop", session_id="before")
        child = os.fork()
        for _ in range(10):
            hooks.fire_sync("Stop", session_id="child" if child == 0 else "parent")
        if child:
            assert os.waitpid(child, 0)[1] == 0
    """

    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)

    with open_store(path) as reader:
        found = {(one.process, one.session) for one in reader.firings()}
        counts = {one.id: one.firings for one in reader.sessions()}
    assert counts == {"before": 1, "child": 10, "parent": 10}
    assert len({process for process, _ in found}) == 2


def test_the_old_module_of_the_reader_is_there_with_a_warning():
    with pytest.warns(DeprecationWarning, match="interpose.audit.reading is interpose.audit now"):
        from interpose.audit.reading import open_store as old

    assert old is open_store


def test_something_else_is_no_store(tmp_path):
    text, other = tmp_path / "text", tmp_path / "other.db"
    text.write_text("no database")
    with database(other) as base:
        base.execute("CREATE TABLE a (b)")
    base.close()

    for path, words in ((tmp_path / "nothing", "no audit store"), (tmp_path, "not a file"), (text, "cannot be read"),
                        (other, "another program")):  # fmt: skip
        with pytest.raises(NotAStore, match=words):
            open_store(path)


def test_a_store_of_a_later_version_is_left_alone(hooks):
    hooks.fire_sync("Stop")
    hooks.store.close()
    with database(hooks.store.path) as base:
        base.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    base.close()

    hooks.fire_sync("Stop")

    assert not hooks.store.flush()
    assert "later version" in hooks.store.health.why
    with pytest.raises(NotAStore, match="later version"):
        open_store(hooks.store.path)
