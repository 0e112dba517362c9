"""``interpose log``: what was decided and why, from an audit store. Only reads the store."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from ...audit.protocol import Selection, StoredFiring, StoredPermission, StoreReader
from ...dialects.agents import AGENTS
from ...errors import UsageError, nearest
from ...events import TABLE
from .. import options
from ..audit_store import NamedStore, Since, names_store, parse_since
from ..render import paint, plural
from .filters import FILTERS, PANEL, selects_records

__all__ = ["app"]

app = typer.Typer(invoke_without_command=True, no_args_is_help=False, add_help_option=True)

_LATER = (*FILTERS, "limit", "follow", "as_json")
"""Options that belong behind a subcommand."""
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=0, rich_help_panel=PANEL, help="At most so many; 0 means all.")
]
Follow = Annotated[bool, typer.Option("--follow", "-F", help="Print records as they are written, until Ctrl-C.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a record, or `latest`.")]


@app.callback()
@names_store
@selects_records()
def run(
    *,
    context: typer.Context,
    selection: Selection,
    limit: Limit = 20,
    follow: Follow = False,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """A line per firing and per permission, newest first: time, id, session, event and subject, decision, duration, the
    hooks that ran (! failed), the call and the reason. A decision in brackets was recorded and not enforced; `keep`
    means that the agent was kept going. A permission says who or what decided: a person, a rule, a mode or a hook.

    A record must match every option; of several values of one option, any is enough. With --follow and --json, each
    line is a JSON document.

    Example: interpose log --tool Bash --decision deny --since 2h
    """
    if context.invoked_subcommand is not None:
        _refuse_early_options(context)
        return 0
    with store.open_reader() as reader:
        if follow:
            return _follow(reader, selection, as_json=as_json)
        _check_hooks(reader, selection.hooks)
        found = _list(reader, selection, limit or None, as_json=as_json)
    if not found:
        given = [(name, TABLE.spellings()) for name in selection.events]
        given += [(name, AGENTS) for name in selection.agents]
        near = next((nearest(name, known) for name, known in given if name not in known), "")
        print(f"no record matches{near and f' ({near})'}", file=sys.stderr)
    return 0


@app.command("sessions", short_help="List sessions.")
@names_store
def sessions(
    *,
    since: Since = None,
    limit: Limit = 20,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """List sessions, the most recently active first: what the coding agent calls it, begin, end, agents, calls of
    tools, denials, questions (asks), and runs of hooks that failed.

    Example: interpose log sessions --since 7d
    """
    from ...replay.session_client import client_of

    with store.open_reader() as reader:
        found = [(one, client_of(reader, one.id)) for one in reader.sessions(parse_since(since), limit or None)]
        path = reader.path
    from .sessions import as_document, print_sessions

    if as_json:
        print(json.dumps({"store": path, "sessions": [as_document(*one) for one in found]}))
    elif found:
        print_sessions(found)
    else:
        print("no session is recorded", file=sys.stderr)
    return 0


@app.command("changes", short_help="List what persons have changed about hooks.")
@names_store
def changes(
    *,
    limit: Limit = 20,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """List what persons have switched, the newest first: when, who and where, which hook, to what, in which project.

    Example: interpose log changes
    """
    with store.open_reader() as reader:
        found = reader.changes(limit=limit or -1)
        path = reader.path
    if as_json:
        print(json.dumps({"store": path, "changes": [one.to_dict() for one in found]}))
    elif found:
        from .changes import print_changes

        print_changes(found)
    else:
        print("no change of a hook is recorded", file=sys.stderr)
    return 0


@app.command("show")
@names_store
def show(
    *,
    id: Id,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """Show everything that was recorded about one firing, with the permission of its call; or about one permission.

    Example: interpose log show 1042
    """
    from .show import firing_lines, permission_lines

    with store.open_reader() as reader:
        entry = _one(reader, id)
        if isinstance(entry, StoredPermission):
            _print_one(entry.to_dict(), permission_lines(entry), as_json=as_json)
            return 0
        configuration = reader.configuration(entry.configuration) if entry.configuration else None
        of_call = reader.permissions_of([entry.call]).get(entry.call, [])
    permissions = [one for one in of_call if one.session == entry.session]
    files = (configuration or {}).get("files", [])
    document = {**entry.to_dict(), "files": files, "permissions": [one.to_dict() for one in permissions]}
    _print_one(document, firing_lines(entry, configuration, permissions), as_json=as_json)
    return 0


def _print_one(document: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    for line in [json.dumps(document)] if as_json else lines:
        print(line)


@app.command("export", short_help="Write records for other programs: JSON lines or CSV.")
@names_store
@selects_records()
def export(
    *,
    format: Annotated[str, typer.Option("--format", metavar="jsonl|csv", help="The format.")] = "jsonl",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write; - is standard output.")
    ] = None,
    selection: Selection,
    limit: Limit = 0,
    store: NamedStore,
) -> int:
    """Write firings and permissions for other programs, oldest first: JSON lines, which `interpose replay` reads, or
    CSV for spreadsheets.

    Example: interpose log export --format csv --since 7d -o week.csv
    """
    from .export import FORMATS, open_output
    from .export import export as write

    if format not in FORMATS:
        raise UsageError(f"--format: there is no format {format}", hint=" or ".join(FORMATS))
    with store.open_reader() as reader, open_output(output) as file:
        _check_hooks(reader, selection.hooks)
        write(reader.entries(selection, limit=limit or None, oldest_first=True), format, file)
        _report_gaps(reader)
    return 0


@app.command("case", short_help="Turn a recorded firing into a case for `interpose test`.")
@names_store
def case(
    *,
    id: Id,
    to: Annotated[
        str | None,
        typer.Option("--append", metavar="FILE", help="Append it to this file of cases, which is created if needed."),
    ] = None,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """Turn a recorded firing into a case for `interpose test`: the same event, and the recorded decision as the
    expectation.

    Example: interpose log case 1042 --append .interpose/cases.yaml
    """
    from ...redaction import has_redacted
    from .case import append, case_of, to_yaml

    with store.open_reader() as reader:
        entry = _one(reader, id, firings_only=True)
        if not isinstance(entry, StoredFiring):
            raise UsageError(f"{id} is a permission", hint="only a firing can be a case")
        made = case_of(entry)
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
@names_store
def verify(
    *,
    key: Annotated[
        str | None, typer.Option("--key", metavar="FILE", help="The key that signs the heads of the chains.")
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            "--anchor", metavar="FILE", help="The anchor file, which holds copies of the heads of the chains."
        ),
    ] = None,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """Check that a store was not changed: report what was changed, what is missing, and where.

    The key and the anchor are those that the configuration names for this store; --key and --anchor name others.

    Exit status: 0 if it is intact, 1 otherwise.

    Example: interpose log verify --store audit.db --anchor /mnt/elsewhere/heads
    """
    from .verify import verify as check

    named_key, named_anchor = (os.path.abspath(path) if path and not path.startswith("env:") else path
                               for path in (key, anchor))  # fmt: skip
    place = store.find()
    # A file that is no store any more is not intact either.
    found = check(place.path, key=named_key or place.key, anchor=named_anchor or place.anchor, json=as_json)
    return 1 if found else 0


def _check_hooks(reader: StoreReader, hooks: tuple[str, ...]) -> None:
    """Raise UsageError for a hook that has never run, instead of searching the whole store."""
    if not hooks:
        return
    ran = {name for _, name in reader.last_fired()}
    for hook in hooks:
        if hook not in ran:
            raise UsageError(f"--hook: no run of a hook {hook} is recorded", where=reader.path,
                             hint=nearest(hook, ran) or "`interpose stats` lists those that have")  # fmt: skip


def _refuse_early_options(context: typer.Context) -> None:
    """Raise UsageError for an option before the subcommand that only holds behind it."""
    for name in _LATER:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--json" if name == "as_json" else f"--{name}"
            raise UsageError(f"{option} stands before {context.invoked_subcommand}", hint="write it after that")


def _one(reader: StoreReader, id: str, *, firings_only: bool = False) -> StoredFiring | StoredPermission:
    entry: StoredFiring | StoredPermission | None
    if id == "latest":
        entry = next(reader.firings(limit=1) if firings_only else reader.entries(limit=1), None)
    elif id.isascii() and id.isdigit() and len(id) < 19:
        entry = reader.entry(int(id))
    else:
        raise UsageError(f"{id} is not an id", hint="a number that `interpose log` shows, or `latest`")
    if entry is None:
        raise UsageError(f"there is no firing {id}", where=reader.path, hint="`interpose log` lists them")
    return entry


def _list(reader: StoreReader, selection: Selection, limit: int | None, *, as_json: bool) -> bool:
    """Print records; return whether there were any, or True for JSON, where an empty list says it."""
    entries = reader.entries(selection, limit=limit)
    if as_json:
        # Firing by firing, so that a large store is never in memory as a whole.
        print(f'{{"store": {json.dumps(reader.path)}, "gaps": {json.dumps(reader.gaps())}, "firings": [', end="")
        permissions, comma = list[dict[str, Any]](), ""
        for entry in entries:
            if isinstance(entry, StoredPermission):
                permissions.append(entry.to_dict())
            else:
                print(f"{comma}{json.dumps(entry.to_dict())}", end="")
                comma = ", "
        print(f'], "permissions": {json.dumps(permissions)}}}')
        return True
    from .show import LogTable

    count = LogTable(heading=True, nodes=reader.has_nodes).print(entries)
    _report_gaps(reader)
    return bool(count)


def _follow(reader: StoreReader, selection: Selection, *, as_json: bool) -> int:
    from .show import LogTable

    table = LogTable(heading=False, nodes=reader.has_nodes)
    try:
        for entry in reader.follow(selection):
            if as_json:
                print(json.dumps(entry.to_dict()), flush=True)
            else:
                table.print([entry])
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
            are = "is" if count == 1 else "are"
            said = f"{plural(count, 'firing')} {are} {what}: `interpose log verify` shows when and why"
            print(paint(said, "yellow", stream=sys.stderr), file=sys.stderr)
