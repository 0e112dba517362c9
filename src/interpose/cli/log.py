"""``interpose log``: what was decided and why, from an audit store. Reads only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ..audit.reader import StoredFiring, StoreReader
from ..errors import UnknownEvent, UsageError, nearest
from ..events import TABLE
from . import options
from .audited import Since, Store, epoch_of, opened, store_path
from .words import paint

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
    typer.Option("--decision", metavar="WHAT", rich_help_panel=_WHICH, help="Decided so: deny, ask, allow or none."),
]
Session = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", rich_help_panel=_WHICH, help="Of this session; its beginning will do."),
]
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=0, rich_help_panel=_WHICH, help="At most so many; 0: all.")
]
Follow = Annotated[
    bool, typer.Option("--follow", "-F", help="Show further firings as they are recorded, until Ctrl-C.")
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The number of a firing, or `latest`.")]


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
    """Newest first, a line each: when, its id, the session, the event and what it was about, what was decided, how long
    the hooks took, which ran (! failed) and why. A decision in brackets was recorded and not enforced; `keep` means
    that the agent was kept going.

    With --follow and --json there is a JSON document on each line.

    Example: interpose log --decision deny --since 2h
    """
    if context.invoked_subcommand is not None:
        _only_where_from(context)
        return 0
    filters = _filters(event, hook, decision, session)
    filters["since"] = epoch_of(since)
    with opened(store, config, dialect, cwd) as reader:
        if follow:
            return _follow(reader, filters, as_json=as_json)
        _check_hook(reader, hook)
        found = _list(reader, reader.firings(**filters, limit=limit or None), as_json=as_json)
    if not found:
        near = nearest(event, TABLE.spellings()) if event is not None and event not in TABLE.spellings() else ""
        print(f"no firing is recorded that matches{near and f' ({near})'}", file=sys.stderr)
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
    """Show everything that was recorded of one firing.

    Example: interpose log show 1042
    """
    with _from_group(context, store, config, dialect, cwd) as reader:
        firing = _one(reader, id)
        configuration = reader.configuration(firing.configuration) if firing.configuration else None
    if as_json:
        print(json.dumps({**firing.to_dict(), "files": (configuration or {}).get("files", [])}))
        return 0
    from .log_show import lines_of

    for line in lines_of(firing, configuration):
        print(line)
    return 0


@app.command("export", short_help="Write firings for other programs: JSON lines or CSV.")
def export(
    context: typer.Context,
    format: Annotated[str, typer.Option("--format", metavar="jsonl|csv", help="How to write it.")] = "jsonl",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is standard output.")
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
    """Write firings for other programs, oldest first: a JSON document on each line, or CSV for spreadsheets. `interpose
    replay` takes the first of these.

    Example: interpose log export --format csv --since 7d -o week.csv
    """
    from .log_export import FORMATS, target
    from .log_export import export as write

    if format not in FORMATS:
        raise UsageError(f"--format: there is no format {format}", hint=" or ".join(FORMATS))
    filters = _filters(event, hook, decision, session)
    with _from_group(context, store, config, dialect, cwd) as reader, target(output) as file:
        _check_hook(reader, hook)
        write(reader.firings(**filters, since=epoch_of(since), limit=limit or None, oldest_first=True), format, file)
        _tell_of_gaps(reader)
    return 0


@app.command("case", short_help="Make a recorded firing a case of `interpose test`.")
def case(
    context: typer.Context,
    id: Id,
    to: Annotated[
        str | None, typer.Option("--append", metavar="FILE", help="Add it to this file of cases, or make the file.")
    ] = None,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Make a recorded firing a case of `interpose test`: what was given is given again, and what was decided then is
    expected.

    Example: interpose log case 1042 --append .interpose/cases.yaml
    """
    from ..replay.recording import has_redacted
    from .log_case import append, case_of, written

    with _from_group(context, store, config, dialect, cwd) as reader:
        made = case_of(_one(reader, id))
    if has_redacted(made):
        print("interpose log case: secrets were taken out of it before it was recorded; the case has their marks "
              "instead", file=sys.stderr)  # fmt: skip
    if to is not None:
        append(made, to)
    if as_json:
        print(json.dumps({"case": made, "file": to}))
    elif to is None:
        print(written(made), end="")
    return 0


@app.command("verify", short_help="Say whether a store is as it was written.")
def verify(
    context: typer.Context,
    key: Annotated[
        str | None, typer.Option("--key", metavar="FILE", help="The key that the heads of the chains are signed with.")
    ] = None,
    anchor: Annotated[
        str | None, typer.Option("--anchor", metavar="FILE", help="The second sink, which has heads of the chains.")
    ] = None,
    store: Store = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
) -> int:
    """Say whether a store is as it was written: what was changed, what is missing, and where.

    Exit status: 0 if it is intact, 1 otherwise.

    Example: interpose log verify --store audit.db --anchor /mnt/elsewhere/heads
    """
    from .verify import verify as check

    where = _where_from(context, store, config, dialect, cwd)
    # A store whose first bytes were changed is no store any more; that is not intact either.
    return 1 if check(store_path(*where), key=key, anchor=anchor, json=as_json) else 0


def _filters(event: str | None, hook: str | None, decision: str | None, session: str | None) -> dict[str, Any]:
    if decision is not None and decision not in _DECISIONS:
        raise UsageError(f"--decision: {decision} is no decision", hint=nearest(decision, _DECISIONS)
                         or f"one of {', '.join(_DECISIONS)}")  # fmt: skip
    return {"event": _as_recorded(event), "hook": hook, "decision": decision, "session": session}


def _as_recorded(event: str | None) -> str | None:
    """Return the name under which an event is recorded; one that we do not know may be a host's own."""
    try:
        return event and TABLE.find(event)[0].name
    except UnknownEvent:
        return event


def _check_hook(reader: StoreReader, hook: str | None) -> None:
    """Refuse a hook that has never run, before all of a large store is searched for it."""
    ran = {name for _, name in reader.last_fired()}
    if hook is not None and hook not in ran:
        raise UsageError(f"--hook: no hook {hook} has run in what is recorded", where=reader.path,
                         hint=nearest(hook, ran) or "`interpose stats` lists those that have")  # fmt: skip


def _only_where_from(context: typer.Context) -> None:
    """Refuse what a subcommand would not see: before its name only the store can be said."""
    for name in _FILTERS:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--json" if name == "as_json" else f"--{name}"
            raise UsageError(f"{option} stands before {context.invoked_subcommand}", hint="write it behind that")


def _where_from(context: typer.Context, *own: Any) -> tuple[Any, ...]:
    """Return where the store is: as said behind the subcommand, else before it."""
    above = context.parent.params if context.parent is not None else {}
    names = ("store", "config", "dialect", "cwd")
    return tuple(said or above.get(name) for name, said in zip(names, own, strict=True))


def _from_group(context: typer.Context, *own: Any) -> Any:
    return opened(*_where_from(context, *own))


def _one(reader: StoreReader, id: str) -> StoredFiring:
    if id == "latest":
        firing = next(reader.firings(limit=1), None)
    elif id.isascii() and id.isdigit() and len(id) < 19:
        firing = reader.firing(int(id))
    else:
        raise UsageError(f"{id} is no id", hint="it is a number: `interpose log` shows them; or `latest`")
    if firing is None:
        raise UsageError(f"there is no firing {id}", where=reader.path, hint="`interpose log` lists those that are")
    return firing


def _list(reader: StoreReader, firings: Iterator[StoredFiring], *, as_json: bool) -> bool:
    """Show firings; say whether there was anything to show, which a program sees by itself."""
    if as_json:
        # Piece by piece: all of a large store need not be held at once.
        print(f'{{"store": {json.dumps(reader.path)}, "gaps": {json.dumps(reader.gaps())}, "firings": [', end="")
        for number, firing in enumerate(firings):
            print(f"{', ' if number else ''}{json.dumps(firing.to_dict())}", end="")
        print("]}")
        return True
    from .log_lines import Lines

    found = Lines(headed=True).show(firings)
    _tell_of_gaps(reader)
    return bool(found)


def _follow(reader: StoreReader, filters: dict[str, Any], *, as_json: bool) -> int:
    from .log_lines import Lines

    lines = Lines(headed=False)
    try:
        for firing in reader.follow(**filters):
            if as_json:
                print(json.dumps(firing.to_dict()), flush=True)
            else:
                lines.show([firing])
    except KeyboardInterrupt:
        pass  # that is how it ends
    return 0


def _tell_of_gaps(reader: StoreReader) -> None:
    """Say on standard error what is not in the record."""
    gaps = [gap for gap in reader.gaps() if gap["kind"] == "gap"]
    lost = sum(int(gap.get("lost", 0)) for gap in gaps)
    denied = sum(int(gap.get("denied", 0)) for gap in gaps)
    for count, what in ((lost, "not in the record"), (denied, "denied for want of a record")):
        if count:
            were = " is" if count == 1 else "s are"
            said = f"{count} firing{were} {what}: `interpose log verify` says when and why"
            print(paint(said, "yellow", stream=sys.stderr), file=sys.stderr)
