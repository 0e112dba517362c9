"""Reading from PostgreSQL says what reading the same records from SQLite says, with the node of each."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.fleet.postgres_servers import PostgresServer, needs_postgres
from tests.fleet.records import a_connection, a_writer, arrived, batches_of, rows, write_records

from interpose import AuditStore, Hooks, ask, deny
from interpose.audit import Selection, open_store
from interpose.audit.places import is_url, shown_url
from interpose.audit.postgres.connection import without_secrets
from interpose.audit.protocol import NotAStore, StoredFiring, StoreReader, StoreUnreadable
from interpose.errors import UsageError
from interpose.person.permission import Permission
from interpose.records import replace

pytestmark = [
    needs_postgres,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:uvicorn", "ignore::DeprecationWarning:websockets"),
]

Read = Callable[[StoreReader], Any]


def write_everything(path: Path) -> None:
    """Firings, failures, permissions, questions with and without answers, changes, and texts of any kind."""
    store = AuditStore(path)
    hooks = Hooks()
    hooks.record(store)

    @hooks.on("PreToolUse", name="guard", matcher="Bash")
    def guard(event):
        command = event.tool_input["command"]
        if "boom" in command:
            raise ValueError("boom")
        return deny("no") if "rm" in command else ask("sure?") if "push" in command else None

    @hooks.on("PreToolUse", name="second")
    def second(event):
        return None

    for number, command in enumerate(("ls", "rm -rf /", "git push", "boom", "é ß Ä", "100% _sure_!", 'a"b\\c')):
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id=f"s{number % 3}",
                        tool_use_id=f"c{number}", agent_id="a" if number % 2 else "")  # fmt: skip
    hooks.fire_sync("PreToolUse", tool_name="Write", tool_input={"command": "x"}, session_id="s0", client="codex")
    hooks.fire_sync("SessionEnd", session_id="s1")
    for verdict in ("allowed", "denied", "denied"):
        store.record_permission(Permission(
            tool_name="Bash", tool_use_id="c2", verdict=verdict, by="person", session_id="s2", person="p"))  # fmt: skip
    asked = [store.ask({"tool_name": "Bash", "session_id": "s0", "asked_at": time.time(), "wait": 60.0, "nonce": str(one),
                        "tool_input": {}, "reason": "r"}) for one in range(2)]  # fmt: skip
    for one in asked:
        one.block()
    store.answer({"question": asked[0].id, "digest": asked[0].digest, "state": "approved", "person": "p"}).block()
    store.record_change({"hook": "guard", "to": "observe"}).block()
    store.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> tuple[Path, str]:
    """The same records in SQLite and in PostgreSQL."""
    path, database = tmp_path_factory.mktemp("both") / "audit.db", postgres.new_database()
    write_everything(path)
    writer = a_writer(database)
    for batch in batches_of(path, 4):
        writer.write([arrived("one", batch)])
    writer.close()
    return path, database


SELECTIONS = [
    Selection(), Selection(events=("SessionEnd",)), Selection(tools=("Bash",)), Selection(agents=("a",)),
    Selection(agents=("codex",)), Selection(hooks=("guard",)), Selection(hooks=("second",), decisions=("deny", "ask")),
    Selection(decisions=("none",)), Selection(sessions=("s1",)), Selection(sessions=("s",)), Selection(texts=("RM -RF",)),
    Selection(texts=("100% _",)), Selection(texts=("É SS",)), Selection(texts=('a"b',)), Selection(texts=("nowhere",)),
    Selection(after=3, before=9), Selection(since=0.0), Selection(since=9e9),
]  # fmt: skip

READS: dict[str, Read] = {
    "last_id": lambda reader: reader.last_id(),
    "gaps": lambda reader: reader.gaps(),
    "totals": lambda reader: reader.totals(),
    "totals since": lambda reader: reader.totals(time.time() - 36_000),
    "recent sessions": lambda reader: reader.recent_sessions(),
    "recent sessions in pages": lambda reader: reader.recent_sessions(limit=1, before=12),
    "sessions": lambda reader: reader.sessions(),
    "one session": lambda reader: (reader.session("s0"), reader.session("nothing"), reader.session("")),
    "session ids": lambda reader: reader.session_ids(),
    "statistics": lambda reader: sorted(reader.hook_stats(), key=lambda one: (one.event, one.hook)),
    "sampled statistics": lambda reader: sorted(
        reader.hook_stats(0.0, sample=3), key=lambda one: (one.event, one.hook)
    ),
    "statistics of the future": lambda reader: reader.hook_stats(time.time() + 3600),
    "permission counts": lambda reader: reader.permission_counts(),
    "question counts": lambda reader: reader.question_counts(),
    "questions": lambda reader: [(one.id, one.digest, one.answer is None) for one in reader.questions(answered=True)],
    "open questions": lambda reader: [one.id for one in reader.questions(session="s0")],
    "changes": lambda reader: reader.changes(limit=-1),
    "last fired": lambda reader: reader.last_fired(),
    "permissions of calls": lambda reader: {
        call: [one.body for one in found] for call, found in reader.permissions_of(["c2", "nothing"]).items()
    },
    "search": lambda reader: [
        one.id for one in reader.search(Selection(decisions=("deny",)), limit=5, seconds=9).entries
    ],
    "entry": lambda reader: (reader.entry(2) is not None, reader.entry(10**6)),
    "oldest first": lambda reader: [one.id for one in reader.entries(oldest_first=True, limit=4)],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_both_databases_say_the_same(both: tuple[Path, str], read: Read) -> None:
    with open_store(both[0]) as local, open_store(both[1]) as fleet:
        assert read(fleet) == read(local)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_both_databases_select_the_same(both: tuple[Path, str], selection: Selection) -> None:
    with open_store(both[0]) as local, open_store(both[1]) as fleet:
        found = list(fleet.entries(selection))

        assert [replace(one, node="", process=1) for one in found] == list(local.entries(selection))
        assert {one.node for one in found} <= {"one"}


def test_records_of_one_node_can_be_selected(both: tuple[Path, str]) -> None:
    with open_store(both[1]) as fleet, open_store(both[0]) as local:
        assert len(list(fleet.entries(Selection(nodes=("one", "two"))))) == len(list(fleet.entries()))
        assert list(fleet.entries(Selection(nodes=("two",)))) == []
        with pytest.raises(UsageError, match="no nodes"):
            list(local.entries(Selection(nodes=("one",))))


def test_a_record_that_hides_behind_a_nul_is_found_by_its_agent(tmp_path: Path, database: str) -> None:
    write_records(tmp_path / "a.db", 1, command="x\0y\ud800", agent_id="sly")
    a_writer(database).write([arrived("one", one) for one in batches_of(tmp_path / "a.db")])

    with open_store(database) as reader:
        assert len(list(reader.entries(Selection(agents=("sly",), tools=("Bash",))))) == 1
        assert reader.sessions()[0].agents == ("sly",)


def test_values_that_postgresql_does_not_take_select_nothing(both: tuple[Path, str]) -> None:
    with open_store(both[1]) as reader:
        for text in ("\0", "\ud800", "'; DROP TABLE records; --", "%s", "?"):
            assert list(reader.entries(Selection(sessions=(text,), agents=(text,), texts=(text,)))) == []
        assert reader.last_id()


def test_following_sees_records_in_the_order_in_which_they_are_collected(tmp_path: Path, database: str) -> None:
    write_records(tmp_path / "a.db", 9)
    first, *rest = batches_of(tmp_path / "a.db", 2)
    writer = a_writer(database)
    writer.write([arrived("one", first)])

    with open_store(database) as reader:
        before = reader.change()
        following = reader.follow(Selection(after=0))
        found = [next(following).id for _ in range(2)]
        for one in reversed(rest):
            writer.write([arrived("one", one)])
        found += [next(following).id for _ in range(7)]

        assert reader.change() != before
    assert found == sorted(found)


def test_a_reader_changes_nothing_and_names_a_database_without_a_record(both: tuple[Path, str], database: str) -> None:
    with pytest.raises(NotAStore, match="no record of a fleet"):
        open_store(database)
    with open_store(both[1]) as reader, pytest.raises(psycopg.Error):
        reader._base.execute("DELETE FROM records")  # type: ignore[attr-defined]


def test_a_connection_that_is_lost_is_an_error_of_the_store(both: tuple[Path, str]) -> None:
    with open_store(both[1]) as reader:
        rows(
            both[1],
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'interpose'",
        )

        with pytest.raises(StoreUnreadable):
            reader.last_id()


# Passwords.


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:secret@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgres://u:se?cr#et@h/d?password=secret", "postgres://u@h/d"),
        ("postgresql://u:s@cr@t@h/d", "postgresql://u@h/d"),
        ("postgresql://h/d?password=secret&x=1", "postgresql://h/d"),
        ("postgresql://u:secret", "postgresql://u:***"),
        ("postgresql://[::1]:5/d", "postgresql://[::1]:5/d"),
        ("postgresql:///d?password=a@b", "postgresql:///d"),
    ],
)
def test_a_password_is_not_shown(url: str, shown: str) -> None:
    assert is_url(url)
    found = shown_url(url)

    assert found == shown or "secret" not in found
    assert "secret" not in found
    assert "cr@t" not in found


def test_a_password_is_cut_from_what_the_driver_says() -> None:
    said = without_secrets("postgresql://u:pa%40ss/x@h/d?password=hidden", 'host "ss/x@h" pa@ss hidden failed')

    assert "hidden" not in said
    assert "ss/x" not in said


# Commands.


def interpose(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "interpose.cli", *arguments], check=False, capture_output=True, text=True, timeout=120
    )


def test_commands_read_the_record_of_a_fleet(both: tuple[Path, str], tmp_path: Path) -> None:
    url = both[1].replace("interpose@", "interpose:s3cret@")

    listed = json.loads(interpose("log", "--store", url, "--node", "one", "--json").stdout)
    shown = interpose("log", "--store", url)
    stats = json.loads(interpose("stats", "--store", url, "--json").stdout)
    verified = interpose("log", "verify", "--store", url)
    nowhere = interpose("log", "--store", url.replace("/d", "/no"))
    local = interpose("log", "--store", str(both[0]), "--node", "one")

    assert {one["node"] for one in listed["firings"]} == {"one"}
    assert "NODE" in shown.stdout.splitlines()[0]
    assert "one" in shown.stdout.splitlines()[1].split()
    assert {one["hook"] for one in stats["hooks"]} == {"guard", "second"}
    assert verified.returncode == 0, verified.stderr
    assert nowhere.returncode == 1
    assert local.returncode == 1
    assert "no nodes" in local.stderr
    for one in (shown, verified, nowhere):
        assert "s3cret" not in one.stdout + one.stderr
    assert "s3cret" not in json.dumps(listed) + json.dumps(stats)


def test_a_session_of_a_fleet_is_replayed_exported_and_reported(both: tuple[Path, str], tmp_path: Path) -> None:
    rules = tmp_path / "new.yaml"
    rules.write_text("hooks:\n  PreToolUse:\n    - {name: all, type: script, handler: /deny never}\n")

    replayed = interpose("replay", "s0", "--against", str(rules), "--store", both[1], "--json")
    exported = interpose("log", "export", "--store", both[1])
    reported = interpose("report", "--store", both[1], "--html", str(tmp_path / "report.html"))

    assert json.loads(replayed.stdout), replayed.stderr
    assert len(exported.stdout.splitlines()) == 12
    assert reported.returncode == 0, reported.stderr


def test_verify_of_collect_says_which_node_and_record(tmp_path: Path, database: str) -> None:
    write_records(tmp_path / "a.db", 5)
    a_writer(database).write([arrived("one", one) for one in batches_of(tmp_path / "a.db")])
    whole = interpose("fleet", "collect", "--to", database, "--verify")
    a_connection(database).execute("UPDATE records SET time = time + 1 WHERE number = 3")

    broken = interpose("fleet", "collect", "--to", database, "--verify", "--json")

    assert (whole.returncode, broken.returncode) == (0, 1)
    assert "verified, 6 records" in whole.stdout
    [found] = json.loads(broken.stdout)["stores"]
    assert (found["node"], found["flaws"][0]["record"]) == ("one", 3)


def test_pages_show_the_record_of_a_fleet_read_only(both: tuple[Path, str]) -> None:
    from interpose.audit.completion import StoreDown
    from interpose.audit.read_only import ReadOnlyStore

    store = ReadOnlyStore(both[1].replace("interpose@", "interpose:s3cret@"))

    with store.read() as reader:
        assert isinstance(next(reader.firings(limit=1)), StoredFiring)
    assert "s3cret" not in store.path
    with pytest.raises(StoreDown, match="only read"):
        store.answer({})


def test_every_page_is_made_from_the_record_of_a_fleet(both: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.unit.test_pages import Served

    from interpose.audit.read_only import ReadOnlyStore

    served = Served(both[0], read_only=True)
    try:
        monkeypatch.setattr(served.pages, "_store", ReadOnlyStore(both[1]))
        served.pages.prepare()
        served.sign_in()
        found = {path: served.get(path) for path in ("/now", "/questions", "/sessions", "/sessions/s0", "/events/2",
                                                     "/hooks", "/search?node=one", "/search?node=two")}  # fmt: skip
    finally:
        served.close()

    assert {path: status for path, (status, _, _) in found.items()} == dict.fromkeys(found, 200)
    assert "<dt>Node</dt><dd>one</dd>" in found["/events/2"][2]
    assert "rm -rf /" in found["/search?node=one"][2]
    assert "No record matches" in found["/search?node=two"][2]
