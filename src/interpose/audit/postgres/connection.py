"""Connections to PostgreSQL. psycopg is imported when one is opened; a password is never in a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..places import shown_url
from ..protocol import NotAStore

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresUnavailable", "connect", "without_secrets"]

_PATIENCE = 10
_HIDDEN = "***"
_OPTIONS = "-c search_path=interpose -c timezone=UTC -c synchronous_commit=on"
"""Set for each connection: what is acknowledged to nodes has to survive a crash of the server."""


class PostgresUnavailable(NotAStore):
    """PostgreSQL cannot be asked: the package is missing, no server answers, or it refuses."""

    code = "postgres_unavailable"


def without_secrets(url: str, text: object) -> str:
    """Return what an error says, in one line, without any part of the URL that may be secret."""
    said = " ".join(str(text).split())
    rest = url.partition("://")[2]
    login = rest.rpartition("@")[0].partition(":")[2]
    options = re.findall(r"(?:password|passfile|sslpassword|sslkey)=([^&#]*)", rest)
    parts = [part for secret in (login, *options) for part in (secret, *re.split(r"[@/:?#]", secret))]
    for part in sorted({*parts, *map(unquote, parts)}, key=len, reverse=True):
        if part:
            said = said.replace(part, _HIDDEN)
    return said[:500]


def connect(url: str, *, name: str, autocommit: bool = True) -> Connection[Any]:
    """Return a connection whose queries see the tables of the record; raise PostgresUnavailable."""
    try:
        import psycopg
    except ImportError:
        raise PostgresUnavailable("the package psycopg is not installed", where=shown_url(url),
                                  hint="pip install 'interpose[fleet]'") from None  # fmt: skip
    try:
        made = psycopg.connect(
            url, autocommit=autocommit, connect_timeout=_PATIENCE, application_name=name,
            options=_OPTIONS, keepalives_idle=15, keepalives_interval=5,
            keepalives_count=3,
        )  # fmt: skip
    except (psycopg.Error, ValueError) as error:
        raise PostgresUnavailable(without_secrets(url, error), where=shown_url(url),
                                  hint="postgresql://user@host:5432/database; a password can be in ~/.pgpass or in "
                                  "PGPASSWORD") from None  # fmt: skip
    made.adapters.register_loader("numeric", _whole_numbers())
    return made


def _whole_numbers() -> Any:
    from psycopg.adapt import Loader

    class WholeNumber(Loader):
        """Sums of whole numbers, which PostgreSQL returns as decimals."""

        def load(self, data: Any) -> int | float:
            text = bytes(data)
            return float(text) if b"." in text else int(text)

    return WholeNumber
