"""``interpose fleet collect``: the record of all nodes, in PostgreSQL."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from ...person import require_no_agent
from .. import options
from ..render import flat, paint, plural
from . import Config, fleet_of, until_stopped

if TYPE_CHECKING:
    from ...audit.postgres.verify import VerifiedStore

__all__ = ["collect_records"]

_DAY = 86_400.0

To = Annotated[
    str,
    typer.Option("--to", metavar="URL", envvar="INTERPOSE_RECORD",
                 help="The database: postgresql://user@host/database. Put a password into ~/.pgpass or PGPASSWORD."),
]  # fmt: skip
Keep = Annotated[
    str | None,
    typer.Option("--retention", metavar="AGE", help="Drop the records of whole days that are older: 90d, 1y."),
]
Once = Annotated[bool, typer.Option("--once", help="Collect what is there, and end.")]
Verify = Annotated[
    bool, typer.Option("--verify", help="Collect nothing: verify the chain of every node. Exit status 1 if one breaks.")
]


def collect_records(
    to: To,
    retention: Keep = None,
    once: Once = False,
    verify: Verify = False,
    config: Config = None,
    as_json: options.AsJson = False,
) -> int:
    """Collect the record of all nodes into PostgreSQL, each record once, until Ctrl-C. The chain of each node is
    verified as its records come; where one breaks is told and written down, and collecting goes on. Messages that are
    no records are kept in a table of their own. Several collectors may run at once.

    `interpose log`, `stats`, `replay`, `report`, `tail` and `ui` read the database with `--store URL`.

    Example: interpose fleet collect --to postgresql://interpose@db/records --retention 90d
    """
    from ...audit.places import is_url, shown_url

    if not is_url(to):
        raise UsageError("--to is not the URL of a database", hint="postgresql://user@host:5432/database")
    if verify:
        return _verify(to, as_json=as_json)
    require_no_agent("collecting the record")
    settings = fleet_of(config)
    days = _days(retention)
    from ...fleet.collect import Collected, collect

    done = Collected()

    async def work() -> None:
        nonlocal done
        done = await collect(settings, to, days=days, once=once, tell=_tell)

    _tell(f"collecting the record of team {settings.team} into {shown_url(to)}")
    status = until_stopped(work())
    if once:
        counts = {"records": done.records, "repeated": done.repeated, "quarantined": done.quarantined,
                  "flaws": done.flaws}  # fmt: skip
        print(json.dumps(counts) if as_json else f"{plural(done.records, 'record')} collected")
    return status


def _tell(what: str) -> None:
    print(f"interpose fleet collect: {flat(what)}", file=sys.stderr, flush=True)


def _days(retention: str | None) -> int | None:
    if retention is None:
        return None
    from ...audit.retention import retention_of

    found = retention_of({"age": retention}).age
    if found is None or found < _DAY:
        raise UsageError(f"--retention: {retention} is less than a day", hint="such as 90d or 1y")
    return int(found // _DAY)


def _verify(url: str, *, as_json: bool) -> int:
    from ...audit.postgres.verify import verify_stores

    broken = False
    documents = []
    for found in verify_stores(url):
        broken = broken or bool(_flaws(found))
        if as_json:
            documents.append(_document(found))
        else:
            _print_store(found)
    if as_json:
        print(json.dumps({"ok": not broken, "stores": documents}))
    return int(broken)


def _flaws(found: VerifiedStore) -> list[tuple[int, str]]:
    """Return what was found while collecting and now, each once."""
    return list(dict.fromkeys([*found.state.flaws, *found.flaws]))


def _document(found: VerifiedStore) -> dict[str, Any]:
    state = found.state
    return {
        "node": state.node, "store": state.store, "records": found.records, "last": state.last,
        "missing": [list(one) for one in state.missing], "more_flaws": state.more_flaws + found.more_flaws,
        "flaws": [{"record": number, "what": what} for number, what in _flaws(found)],
    }  # fmt: skip


def _print_store(found: VerifiedStore) -> None:
    state, flaws = found.state, _flaws(found)
    verdict = paint("broken", "red") if flaws else paint("verified", "green")
    count = plural(found.records, "record")
    print(f"{flat(state.node)}  store {flat(state.store)}: {verdict}, {count}, the last is {state.last}")
    for number, what in flaws:
        print(f"  record {number} {flat(what)}")
    if more := state.more_flaws + found.more_flaws:
        print(f"  … and {more} more")
    for first, last in state.missing:
        print(paint(f"  not collected: {first}{f' to {last}' if last != first else ''}", "yellow"))
