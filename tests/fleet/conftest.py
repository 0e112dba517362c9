"""Servers that the tests of fleets share."""

from collections.abc import Iterator

import pytest
from tests.fleet.postgres_servers import PostgresServer, a_postgres_server
from tests.fleet.records import OPENED


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
