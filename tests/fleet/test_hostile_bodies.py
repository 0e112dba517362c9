"""Records of a hostile node have any body: commands and pages still show those of others."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.fleet.postgres_servers import PostgresServer
from tests.fleet.records import a_writer, arrived, batches_of
from tests.fleet.test_postgres_reader import READS, interpose, write_everything
from tests.unit.test_pages import Served

from interpose.audit.chain import begin, genesis, link
from interpose.audit.raw import RawBatch, RawProcess, RawRecord
from interpose.audit.read_only import ReadOnlyStore
from interpose.audit.reader import open_store

pytestmark = pytest.mark.slow
HUGE = "9" * 400
STRANGE = ("null", "true", HUGE, f"-{HUGE}", "1e308", "1e999", '"x"', '"\\u001b[2J\\ud800\\u0000<script>"', "[]", "{}", '[["x"]]',
           '{"x": {"y": 1}}', '[{}]', "[null, 5]")  # fmt: skip


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a value at which another value can be put; three levels, because no more are looked at."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items if len(path) < 4 else ():
        yield from paths_of(part, (*path, key))


def with_value(value: Any, path: tuple[Any, ...], mark: str) -> Any:
    if not path:
        return mark
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = with_value(made[path[0]], path[1:], mark)
    return made


def hostile_bodies(body: str) -> Iterator[str]:
    """A real body with each of its parts replaced by each strange one, and what is no body at all."""
    yield from ("5", "[]", "x", '"x"', "null", "[" * 5000, '{"event":' * 3000, '{"event": 1, "event": 2}')
    real = json.loads(body)
    for path in paths_of(real):
        for strange in STRANGE:
            yield json.dumps(with_value(real, path, "@mark@")).replace('"@mark@"', strange)


def hostile_batches(path: Path) -> Iterator[RawBatch]:
    for real in {one.kind: one for batch in batches_of(path) for one in batch.records}.values():
        store = f"kind{real.kind}"
        digest, records = begin(genesis(store), "u", HUGE), list[RawRecord]()
        for number, body in enumerate(hostile_bodies(real.body), 1):
            at = (real.time, (1 << 63) - 1, -(1 << 63) + 1)[number % 3]
            digest = link(digest, number, 1, real.kind, at, at, body.encode())
            records.append(RawRecord(number, 1, real.kind, at, at, digest, body))
        yield RawBatch(
            store=store, before=genesis(store), records=tuple(records), processes=(RawProcess(1, "u", HUGE),)
        )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> tuple[Path, str, list[int]]:
    """A store, a database with its records and those of a hostile node, and the ids of the hostile ones."""
    path, database = tmp_path_factory.mktemp("hostile") / "audit.db", postgres.new_database()
    write_everything(path)
    writer = a_writer(database)
    for batch in batches_of(path, 100):
        writer.write([arrived("good", batch)])
    with open_store(database) as reader:
        first = reader.last_id() + 1
    for batch in hostile_batches(path):
        writer.write([arrived("evil", batch)])
    for batch in batches_of(path, 100):
        writer.write([arrived("later", batch)])
    with open_store(database) as reader:
        last = reader.last_id()
    writer.close()
    return path, database, list(range(first, last + 1))


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_everything_can_be_read_beside_hostile_records(hostile: tuple[Path, str, list[int]], read: Any) -> None:
    with open_store(hostile[1]) as reader:
        read(reader)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_everything_can_be_read_by_several_processes_of_postgresql(
    hostile: tuple[Path, str, list[int]], read: Any
) -> None:
    always = "-c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0"
    with open_store(f"{hostile[1]}?options={quote(always)}") as reader:
        read(reader)


def test_each_hostile_record_can_be_read(hostile: tuple[Path, str, list[int]]) -> None:
    with open_store(hostile[1]) as reader:
        for one in reader.entries():
            json.dumps(one.to_dict())


def test_every_page_is_made_beside_hostile_records(
    hostile: tuple[Path, str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, database, ids = hostile
    served = Served(path, read_only=True)
    try:
        monkeypatch.setattr(served.pages, "_store", ReadOnlyStore(database))
        served.pages.prepare()
        served.sign_in()
        pages = [
            "/now",
            "/questions",
            "/sessions",
            "/sessions/s0",
            "/sessions/x",
            "/hooks",
            "/search?node=evil",
            "/search",
        ]
        pages += [f"/events/{number}" for number in ids[::7]]
        found = {page: served.get(page) for page in pages}
    finally:
        served.close()

    assert {page: status for page, (status, _, _) in found.items() if status not in (200, 404)} == {}
    assert not [page for page, (_, _, text) in found.items() if re.search(r"<script>(?!\s*$)", text) and "2J" in text]


def test_every_command_reads_beside_hostile_records(hostile: tuple[Path, str, list[int]], tmp_path: Path) -> None:
    rules = tmp_path / "new.yaml"
    rules.write_text("hooks:\n  PreToolUse:\n    - {name: all, type: script, handler: /deny never}\n")
    commands = (
        ["log", "--limit", "100000"], ["log", "export"], ["log", "changes"], ["stats"], ["questions", "--all"],
        ["report", "--html", str(tmp_path / "report.html")], ["replay", "s0", "--against", str(rules)],
    )  # fmt: skip

    ended = {" ".join(command): interpose(*command, "--store", hostile[1]) for command in commands}

    wrong = {line: one.stderr[-600:] for line, one in ended.items() if "Traceback" in one.stderr}
    assert wrong == {}
    assert [line for line, one in ended.items() if "--json" not in line and "\x1b[2J" in one.stdout] == []
    assert {line: one.returncode for line, one in ended.items() if one.returncode and "replay" not in line} == {}
