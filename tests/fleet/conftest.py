"""Servers that the tests of fleets share. All of these tests start servers or processes, and take long."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.postgres_servers import PostgresServer, a_postgres_server
from tests.fleet.records import OPENED, a_team

from interpose.config.fleet import FleetSettings

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder the mark ``slow``."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL that tests share, each with a database of its own; a test that stops it starts it again."""
    with a_postgres_server() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The URL of an empty database; connections to it that the test has left open are closed."""
    yield postgres.new_database()
    while OPENED:
        OPENED.pop().close()


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "interpose"


@pytest.fixture
def team(tmp_path: Path) -> Iterator[FleetSettings]:
    """The settings of a team with a server that keeps its stream."""
    with a_team(tmp_path) as (_, settings):
        yield settings
