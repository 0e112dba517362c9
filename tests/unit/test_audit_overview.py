"""What pages and lists read from a large store: sums, recent sessions, searches that end, sampled statistics."""

import time
from pathlib import Path

import pytest
from tests.databases import database

from interpose import AuditStore, Hooks, deny
from interpose.audit import Selection, open_store
from interpose.audit.protocol import Totals
from interpose.audit.verify import verify_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


def fire(path: Path, count: int = 1, *, session: str = "s1", command: str = "ls", **more: object) -> None:
    store = AuditStore(path)
    hooks = Hooks()
    hooks.record(store)

    @hooks.on("PreToolUse", name="guard")
    def guard(event):
        if "rm" in event.tool_input["command"]:
            return deny("no")
        if "boom" in event.tool_input["command"]:
            raise ValueError("boom")
        return None

    for _ in range(count):
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id=session, **more)
    store.close()


def test_the_sums_go_on_from_earlier_sums(path: Path) -> None:
    fire(path, 3)
    fire(path, command="rm -rf /")
    with open_store(path) as reader:
        first = reader.totals()
    fire(path, 2, command="boom")

    with open_store(path) as reader:
        second = reader.totals(before=first)
        whole = reader.totals()

    assert (first.firings, first.denies, first.failures) == (4, 1, 0)
    assert (second.firings, second.denies, second.failures) == (6, 1, 2)
    assert (second.firings, second.denies, second.failures, second.upto) == (
        whole.firings,
        whole.denies,
        whole.failures,
        whole.upto,
    )
    assert second.took == pytest.approx(whole.took)


def test_the_sums_of_a_time_without_records_are_zero(path: Path) -> None:
    fire(path)

    with open_store(path) as reader:
        found = reader.totals(time.time() + 3600)

    assert (found.firings, found.denies, found.took) == (0, 0, 0.0)


def test_an_empty_store_has_sums_and_no_sessions(path: Path) -> None:
    AuditStore(path).prepare_reading()  # there is no file yet, and none is made
    assert not path.exists()
    fire(path)
    with database(path) as base:
        base.execute("DELETE FROM records")

    with open_store(path) as reader:
        assert reader.totals() == Totals()
        assert reader.recent_sessions() == []
        assert reader.search(Selection(), limit=5, seconds=1).entries == ()


def test_sessions_come_with_the_latest_first_and_in_pages(path: Path) -> None:
    for name in ("one", "two", "three"):
        fire(path, session=name, agent_id=f"agent-{name}")
    fire(path, session="one", command="rm x")

    with open_store(path) as reader:
        first = reader.recent_sessions(limit=2)
        rest = reader.recent_sessions(limit=2, before=first[-1].last_record)

    assert [one.id for one in (*first, *rest)] == ["one", "three", "two"]
    assert (first[0].firings, first[0].denies, first[0].agents) == (2, 1, ("agent-one",))
    assert first[0].last_event == "PreToolUse"


@pytest.mark.parametrize("scanned", [20_000, 2], ids=["the latest records are enough", "all sessions are looked at"])
def test_the_latest_sessions_are_found_however_many_records_each_has(
    path: Path, monkeypatch: pytest.MonkeyPatch, scanned: int
) -> None:
    monkeypatch.setattr("interpose.audit.sql.overview._SCANNED", scanned)
    for name in ("one", "two", "one", "three", "two", "", "two"):
        fire(path, 2, session=name, command="boom")

    with open_store(path) as reader:
        found = reader.recent_sessions(limit=2)
        rest = reader.recent_sessions(limit=2, before=found[-1].last_record)
        whole = reader.recent_sessions()

    assert [one.id for one in found] == ["two", "three"]
    assert [one.id for one in rest] == ["one"]
    assert whole == [*found, *rest]
    assert [(one.firings, one.failures) for one in whole] == [(6, 6), (2, 2), (4, 4)]


def test_a_session_names_its_agents_and_not_what_they_write(path: Path) -> None:
    fire(path, agent_id="main", command='{"agent_id":"forged"}')
    fire(path, agent_id="main")
    fire(path, agent_id='b\u00fc"ro')
    fire(path, tool_input_of={"agent_id": "nested"})

    with open_store(path) as reader:
        (found,) = reader.recent_sessions()

    assert found.agents == ('b\u00fc"ro', "main")


def test_a_search_says_how_far_it_came_and_goes_on_from_there(path: Path) -> None:
    fire(path, 7)

    with open_store(path) as reader:
        first = reader.search(Selection(), limit=5, seconds=10)
        assert first.searched is not None
        rest = reader.search(Selection(before=first.searched), limit=5, seconds=10)

    assert len(first.entries) == 5
    assert not first.late
    assert len(rest.entries) == 2
    assert rest.searched is None
    assert {one.id for one in first.entries} & {one.id for one in rest.entries} == set()


def test_a_search_without_time_stops_and_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpose.audit.sql.reader._FIRST_RANGE", 2)
    fire(path, 7)

    with open_store(path) as reader:
        found = reader.search(Selection(texts=("nowhere",)), limit=5, seconds=-1)

    assert found.late
    assert found.entries == ()
    assert found.searched is not None


@pytest.mark.parametrize(
    ("command", "text"),
    [("echo 100%_done!", "100%_DONE!"), ("say Ünïcode", "ÜNÏCODE"), ('say "hi"', '"HI"'), ("a\\b", "A\\B"), ("\u212aelvin", "kelvin")],
)  # fmt: skip
def test_a_text_is_found_whatever_its_letters(path: Path, command: str, text: str) -> None:
    fire(path, command=command)
    fire(path, command="something else")

    with open_store(path) as reader:
        found = reader.search(Selection(texts=(text,)), limit=5, seconds=10)

    assert [one.body["input"]["tool_input"]["command"] for one in found.entries] == [command]


def test_sampled_statistics_count_as_the_exact_ones_do(path: Path) -> None:
    fire(path, 3)
    fire(path, 2, command="rm x")
    fire(path, command="boom")

    with open_store(path) as reader:
        (exact,), (sampled,) = reader.hook_stats(), reader.hook_stats(sample=2)

    names = ("hook", "event", "runs", "skipped", "denies", "asks", "observed", "failures", "timeouts", "last_fired")
    assert [getattr(sampled, name) for name in names] == [getattr(exact, name) for name in names]
    assert sampled.total == pytest.approx(exact.total)
    assert sampled.runs == 6


def test_a_change_is_in_the_record_with_the_person(path: Path) -> None:
    fire(path)
    with AuditStore(path) as store:
        store.record_change({"what": "switch", "hook": "guard", "to": "observe", "user": "alice"}).block()

    with open_store(path) as reader:
        (found,) = reader.changes()

    assert {name: found.body[name] for name in ("what", "hook", "to", "user")} == {
        "what": "switch", "hook": "guard", "to": "observe", "user": "alice",
    }  # fmt: skip
    assert verify_store(str(path)).flaws == ()


def test_a_store_of_an_earlier_version_gets_its_indexes_and_is_intact_before_and_after(path: Path) -> None:
    fire(path, 3)
    with database(path, unnoticed=True) as base:
        names = [
            name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        ]
        ours = [name for name in names if name not in ("permissions_of_calls", "open_questions")]
        for name in ours:
            base.execute(f"DROP INDEX {name}")
    assert len(ours) == 5
    assert verify_store(str(path)).flaws == ()

    AuditStore(path).prepare_reading()

    with database(path, unnoticed=True) as base:
        assert {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'index'")} >= set(ours)
    assert verify_store(str(path)).flaws == ()


def test_an_index_that_is_not_ours_is_a_flaw(path: Path) -> None:
    fire(path)
    with database(path, unnoticed=True) as base:
        base.execute("CREATE INDEX mine ON records (subject)")

    assert [flaw.what for flaw in verify_store(str(path)).flaws] == ["the tables are not as they were made"]
