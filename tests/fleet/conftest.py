"""Servers that the tests of fleets share."""

from collections.abc import Iterator

import pytest
from tests.fleet.postgres_servers import PostgresServer, a_postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL that tests share, each with a database of its own; a test that stops it starts it again."""
    with a_postgres_server() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    """The URL of an empty database."""
    return postgres.new_database()
