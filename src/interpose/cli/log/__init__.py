"""``interpose log``: what was decided and why, from an audit store. Only reads the store."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ...audit.reader import StoredFiring, StoreReader
from ...errors import UnknownEvent, UsageError, nearest
from ...events import TABLE
from .. import options
from ..audit_store import Since, Store, open_reader, parse_since, store_path
from ..render import paint

__all__ = ["app"]

app = typer.Typer(invoke_without_command=True, no_args_is_help=False, add_help_option=True)

_DECISIONS = ("deny", "ask", "allow", "none")
_FILTERS = ("event", "hook", "decision", "session", "since", "limit", "follow", "as_json")
_WHICH = "Which firings"

Event = Annotated[str | None, typer.Option("--event", metavar="NAME", rich_help_panel=_WHICH, help="Of this event.")]
Hook = Annotated[
    str | None, typer.Option("--hook", metavar="NAME", rich_help_panel=_WHICH, help="In which this hook ran.")
]
Decision = Annotated[
    str | None,
    typer.Option(
        "--decision", metavar="WHAT", rich_help_panel=_WHICH, help="With this decision: deny, ask, allow or none."
    ),
]
Session = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="ID", rich_help_panel=_WHICH, help="Of this session; the beginning of its id is enough."
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=0, rich_help_panel=_WHICH, help="At most so many; 0 means all.")
]
Follow = Annotated[bool, typer.Option("--follow", "-F", help="Print firings as they are recorded, until Ctrl-C.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a firing, or `latest`.")]


@app.callback()
def run(
    context: typer.Context,
    event: Event = None,
    hook: Hook = None,
    decision: Decision = None,
    session: Session = None,
    since: Since = None,
    limit: Limit = 20,
    follow: Follow = False,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """A line per firing, newest first: time, id, session, event and subject, decision, duration, the hooks that ran
    (! failed) and the reason. A decision in brackets was recorded and not enforced; `keep` means that the agent was
    kept going.

    With --follow and --json, each line is a JSON document.

    Example: interpose log --decision deny --since 2h
    """
    if context.invoked_subcommand is not None:
        _refuse_early_options(context)
        return 0
    filters = _filters(event, hook, decision, session)
    filters["since"] = parse_since(since)
    with open_reader(store, config, dialect, cwd) as reader:
        if follow:
            return _follow(reader, filters, as_json=as_json)
        _check_hook(reader, hook)
        found = _list(reader, reader.firings(**filters, limit=limit or None), as_json=as_json)
    if not found:
        near = nearest(event, TABLE.spellings()) if event is not None and event not in TABLE.spellings() else ""
        print(f"no recorded firing matches{near and f' ({near})'}", file=sys.stderr)
    return 0


@app.command("show")
def show(
    context: typer.Context,
    id: Id,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Show everything that was recorded about one firing.

    Example: interpose log show 1042
    """
    with _open_reader(context, store, config, dialect, cwd) as reader:
        firing = _one(reader, id)
        configuration = reader.configuration(firing.configuration) if firing.configuration else None
    if as_json:
        print(json.dumps({**firing.to_dict(), "files": (configuration or {}).get("files", [])}))
        return 0
    from .show import firing_lines

    for line in firing_lines(firing, configuration):
        print(line)
    return 0


@app.command("export", short_help="Write firings for other programs: JSON lines or CSV.")
def export(
    context: typer.Context,
    format: Annotated[str, typer.Option("--format", metavar="jsonl|csv", help="The format.")] = "jsonl",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write; - is standard output.")
    ] = None,
    event: Event = None,
    hook: Hook = None,
    decision: Decision = None,
    session: Session = None,
    since: Since = None,
    limit: Limit = 0,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
) -> int:
    """Write firings for other programs, oldest first: JSON lines, which `interpose replay` reads, or CSV for
    spreadsheets.

    Example: interpose log export --format csv --since 7d -o week.csv
    """
    from .export import FORMATS, open_output
    from .export import export as write

    if format not in FORMATS:
        raise UsageError(f"--format: there is no format {format}", hint=" or ".join(FORMATS))
    filters = _filters(event, hook, decision, session)
    with _open_reader(context, store, config, dialect, cwd) as reader, open_output(output) as file:
        _check_hook(reader, hook)
        write(reader.firings(**filters, since=parse_since(since), limit=limit or None, oldest_first=True), format, file)
        _report_gaps(reader)
    return 0


@app.command("case", short_help="Turn a recorded firing into a case for `interpose test`.")
def case(
    context: typer.Context,
    id: Id,
    to: Annotated[
        str | None,
        typer.Option("--append", metavar="FILE", help="Append it to this file of cases, which is created if needed."),
    ] = None,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Turn a recorded firing into a case for `interpose test`: the same event, and the recorded decision as the
    expectation.

    Example: interpose log case 1042 --append .interpose/cases.yaml
    """
    from ...replay.recording import has_redacted
    from .case import append, case_of, to_yaml

    with _open_reader(context, store, config, dialect, cwd) as reader:
        made = case_of(_one(reader, id))
    if has_redacted(made):
        print("interpose log case: secrets were redacted when it was recorded; the case has marks in their place",
              file=sys.stderr)  # fmt: skip
    if to is not None:
        append(made, to)
    if as_json:
        print(json.dumps({"case": made, "file": to}))
    elif to is None:
        print(to_yaml(made), end="")
    return 0


@app.command("verify", short_help="Check that a store was not changed.")
def verify(
    context: typer.Context,
    key: Annotated[
        str | None, typer.Option("--key", metavar="FILE", help="The key that signs the heads of the chains.")
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            "--anchor", metavar="FILE", help="The anchor file, which holds copies of the heads of the chains."
        ),
    ] = None,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Check that a store was not changed: report what was changed, what is missing, and where.

    Exit status: 0 if it is intact, 1 otherwise.

    Example: interpose log verify --store audit.db --anchor /mnt/elsewhere/heads
    """
    from .verify import verify as check

    where = _store_options(context, store, config, dialect, cwd)
    # A file that is no store any more is not intact either.
    return 1 if check(store_path(*where), key=key, anchor=anchor, json=as_json) else 0


def _filters(event: str | None, hook: str | None, decision: str | None, session: str | None) -> dict[str, Any]:
    if decision is not None and decision not in _DECISIONS:
        raise UsageError(f"--decision: {decision} is not a decision", hint=nearest(decision, _DECISIONS)
                         or f"one of {', '.join(_DECISIONS)}")  # fmt: skip
    return {"event": _as_recorded(event), "hook": hook, "decision": decision, "session": session}


def _as_recorded(event: str | None) -> str | None:
    """Return the name under which an event is recorded; an unknown event may be a host's own."""
    try:
        return event and TABLE.find(event)[0].name
    except UnknownEvent:
        return event


def _check_hook(reader: StoreReader, hook: str | None) -> None:
    """Raise UsageError for a hook that has never run, instead of searching the whole store."""
    ran = {name for _, name in reader.last_fired()}
    if hook is not None and hook not in ran:
        raise UsageError(f"--hook: no run of a hook {hook} is recorded", where=reader.path,
                         hint=nearest(hook, ran) or "`interpose stats` lists those that have")  # fmt: skip


def _refuse_early_options(context: typer.Context) -> None:
    """Raise UsageError for an option before the subcommand that only holds behind it."""
    for name in _FILTERS:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--json" if name == "as_json" else f"--{name}"
            raise UsageError(f"{option} stands before {context.invoked_subcommand}", hint="write it after that")


def _store_options(context: typer.Context, *own: Any) -> tuple[Any, ...]:
    """Return the options that name the store: those after the subcommand, else those before it."""
    above = context.parent.params if context.parent is not None else {}
    names = ("store", "config", "dialect", "cwd")
    return tuple(said or above.get(name) for name, said in zip(names, own, strict=True))


def _open_reader(context: typer.Context, *own: Any) -> Any:
    return open_reader(*_store_options(context, *own))


def _one(reader: StoreReader, id: str) -> StoredFiring:
    if id == "latest":
        firing = next(reader.firings(limit=1), None)
    elif id.isascii() and id.isdigit() and len(id) < 19:
        firing = reader.firing(int(id))
    else:
        raise UsageError(f"{id} is not an id", hint="a number that `interpose log` shows, or `latest`")
    if firing is None:
        raise UsageError(f"there is no firing {id}", where=reader.path, hint="`interpose log` lists them")
    return firing


def _list(reader: StoreReader, firings: Iterator[StoredFiring], *, as_json: bool) -> bool:
    """Print firings; return whether there were any, or True for JSON, where an empty list says it."""
    if as_json:
        # StoredFiring by firing, so that a large store is never in memory as a whole.
        print(f'{{"store": {json.dumps(reader.path)}, "gaps": {json.dumps(reader.gaps())}, "firings": [', end="")
        for number, firing in enumerate(firings):
            print(f"{', ' if number else ''}{json.dumps(firing.to_dict())}", end="")
        print("]}")
        return True
    from .show import FiringTable

    count = FiringTable(heading=True).print(firings)
    _report_gaps(reader)
    return bool(count)


def _follow(reader: StoreReader, filters: dict[str, Any], *, as_json: bool) -> int:
    from .show import FiringTable

    table = FiringTable(heading=False)
    try:
        for firing in reader.follow(**filters):
            if as_json:
                print(json.dumps(firing.to_dict()), flush=True)
            else:
                table.print([firing])
    except KeyboardInterrupt:
        pass  # Ctrl-C ends --follow
    return 0


def _report_gaps(reader: StoreReader) -> None:
    """Print on standard error how many firings are not in the store."""
    gaps = [gap for gap in reader.gaps() if gap["kind"] == "gap"]
    lost = sum(int(gap.get("lost", 0)) for gap in gaps)
    denied = sum(int(gap.get("denied", 0)) for gap in gaps)
    for count, what in ((lost, "not in the store"), (denied, "denied without a record")):
        if count:
            were = " is" if count == 1 else "s are"
            said = f"{count} firing{were} {what}: `interpose log verify` shows when and why"
            print(paint(said, "yellow", stream=sys.stderr), file=sys.stderr)
