"""``interpose replay``: decide a recorded session again with another configuration. Runs hooks, and no tools."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from ..audit.places import is_url
from ..errors import InterposeError, UsageError
from ..events import TABLE
from ..hooks import Hooks
from ..model import Outcome, row_of
from ..replay import Group, Recording, group_differences, prepared, read_file, read_period, read_session, replay
from ..replay.recording import Recorded
from ..replay.runner import Replay, Replayed, deciders_of
from . import options
from .audit_store import NamedStore, Store, parse_since
from .engine import explain
from .loading import change_directory, load_hooks
from .render import cut, flat, paint, plural, print_problem, short_path
from .render.outcome import change_lines
from .render.streams import silence_log, stdout_to_stderr
from .render.table import Column, print_table

__all__ = ["DifferencePrinter", "run", "summary_of"]

_LONGEST = 160
_MOST_SINGLE = 10
"""How many differences are printed one by one."""
_OF_ONE_SESSION = ("session_id", "transcript_path", "cwd", "hook_event_name", "tool_use_id", "permission_mode",
                  "agent_id", "tool_name")  # fmt: skip

_DRY_COLUMNS = (
    Column("EVENT", "bold"),
    Column("HOOK", "cyan"),
    Column("TYPE"),
    Column("RUNS"),
    Column("SOURCE", "dim"),
)

Session = Annotated[
    str | None,
    typer.Argument(
        metavar="[SESSION]", show_default=False,
        help="The id of a session in the store, its beginning, or `latest`; or a file: a transcript of Claude Code "
             "(.jsonl), or the output of `interpose log export`.",
    ),
]  # fmt: skip
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against", "-a", metavar="FILE",
        help="The configuration that decides again, trusted because you name it; may be repeated. Default: the files "
             "that are found and trusted.",
    ),
]  # fmt: skip
Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Ask models, HTTP servers and MCP servers again; without it, the record answers for them."
    ),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="All sessions from then on: 90m, 2h, 7d, or a date."),
]
Each = Annotated[bool, typer.Option("--each", help="Print every difference, and not groups of them.")]
Dry = Annotated[bool, typer.Option("--dry", help="Show which hooks would run; run none.")]


def run(
    session: Session = None,
    since: Since = None,
    against: Against = None,
    each: Each = False,
    store: Store = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    dry: Dry = False,
    live: Live = False,
    as_json: options.AsJson = False,
) -> int:
    """Fires every recorded event again, in order, and compares the outcome with the recorded decision. No tool runs.
    Hooks run, commands too, with INTERPOSE_REPLAY=1 in their environment; --dry shows which. Those that ask a model, an
    HTTP server or an MCP server answer as they did then; one whose answer is not in the record is not asked, unless you
    say --live. More than ten differences are printed in groups, each with examples; --each prints all of them.

    Secrets are redacted in a store: a decision that depends on one may differ, and such events are marked. A transcript
    has no decisions of hooks; they are derived from the result of each call.

    Exit status: 0 if all decisions are the same, 1 if not.

    Example: interpose replay latest --against new.yaml

    Example: interpose replay --since 7d --against new.yaml
    """
    if (session is None) == (since is None):
        raise UsageError("which events?", hint="name a session, such as `latest`, or a time with --since 7d")
    place = os.path.abspath(session or "")
    files = [os.path.abspath(path) for path in against or ()]
    named = store if store is None or is_url(store) else os.path.abspath(store)
    change_directory(cwd)
    recording = _recording(session, place, named) if session is not None else _period(str(since), named)
    hooks = _engine(files, dialect, live=live)
    if dry:
        _print_dry(hooks, recording, as_json=as_json)
        return 0
    silence_log()
    done = replay(hooks, recording, around=stdout_to_stderr)
    groups = group_differences(done.results)
    if as_json:
        document = {
            "ok": not done.different,
            "against": files,
            **done.to_dict(),
            "groups": [one.to_dict() for one in groups],
        }
        if recording.kind == "period" and not each:
            document["results"] = []
        print(json.dumps(document, default=repr))
        return 1 if done.different else 0
    review = DifferencePrinter(recording)
    if each or done.different <= _MOST_SINGLE:
        for result in done.results:
            review(result)
    else:
        _print_groups(groups)
    review.print_summary(done)
    return 1 if done.different else 0


def _period(since: str, store: str | None) -> Recording:
    begin = parse_since(since)
    with NamedStore(store).open_reader() as reader:
        return read_period(reader, begin or 0.0, since)


def _print_groups(groups: list[Group]) -> None:
    """Print what became of how many events, with the hook that decides now, and examples."""
    for group in groups:
        print(paint(flat(group.title), "bold"))
        by = paint(flat(f"({', '.join(group.hooks)})"), "dim") if group.hooks else ""
        if group.reason or by:
            print("  " + " ".join(part for part in (cut(flat(group.reason), _LONGEST), by) if part))
        for example in group.examples:
            print(f"    {paint(flat(example['id']), 'dim')}  {cut(flat(example['call']), _LONGEST)}")
        if group.count > len(group.examples):
            print(paint(f"    and {group.count - len(group.examples):,} more", "dim"))
        print()


def _recording(session: str, place: str, store: str | None) -> Recording:
    """Read a file if there is one of that name, else a session of the store."""
    if os.path.isfile(place):
        return read_file(place)
    if os.sep in session or session.endswith(".jsonl"):
        raise UsageError("no such file", where=session, hint="check the path")
    with NamedStore(store).open_reader() as reader:
        return read_session(reader, session)


def _engine(files: list[str], dialect: str | None, *, live: bool) -> Hooks:
    hooks = load_hooks(files, dialect, None)
    if not hooks.origins:
        raise UsageError("no configuration was found here", hint="name one with --against")
    for warning in hooks.warnings:
        print_problem(warning, "replay")
    if not any(origin.trusted for origin in hooks.origins):
        # Without hooks the replay would compare nothing.
        raise UsageError("no configuration that was found here is trusted", hint="name one with --against")
    if not list(hooks):
        print("interpose replay: this configuration has no hooks", file=sys.stderr)
    return prepared(hooks, live=live)


def _print_dry(hooks: Hooks, recording: Recording, *, as_json: bool) -> None:
    """Print which hooks the events of a recording would run, and how often; run none."""
    counted: Counter[tuple[str, str, str, str]] = Counter()
    unknown = 0
    for recorded in recording.events:
        try:
            row, _ = hooks.events.find(recorded.event)
            facts = explain(hooks, row, recorded.fields).hooks
        except InterposeError:
            unknown += 1
            continue
        counted.update((row.name, fact.hook, fact.type, fact.source) for fact in facts if fact.would_run)
    if as_json:
        listed = [{"event": event, "hook": hook, "type": kind, "source": source, "runs": count}
                  for (event, hook, kind, source), count in counted.most_common()]  # fmt: skip
        print(json.dumps({"recording": recording.name, "kind": recording.kind, "events": len(recording.events),
                          "left_out": unknown, "notes": recording.notes, "hooks": listed}))  # fmt: skip
        return
    rows = [(event, hook, kind, str(count), short_path(source)) for (event, hook, kind, source), count
            in counted.most_common()]  # fmt: skip
    if rows:
        print_table(_DRY_COLUMNS, rows)
    runs = f"{plural(sum(counted.values()), 'run')} of {plural(len(counted), 'hook')}"
    text = f"{plural(len(recording.events), 'event')}, {runs}; nothing was run"
    print(text + (f"; {plural(unknown, 'event')} {'is' if unknown == 1 else 'are'} unknown" if unknown else ""))


class DifferencePrinter:
    """Prints every difference as in a code review, the old decision and the new one, and their number at the end."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __call__(self, result: Replayed) -> None:
        """Print one event if its decision differs, or if it could not be fired."""
        if result.error:
            print(f"{_headline(result.recorded)}\n{paint('! left out:', 'yellow')} {flat(result.error)}\n")
        elif result.differences:
            print("\n".join(_lines(result)) + "\n", flush=True)

    def print_summary(self, done: Replay) -> None:
        """Print how many events were fired, and how many decisions differ."""
        colour = "red" if done.different else "green"
        for note in (*self._recording.notes, *done.notes):
            print(f"{paint('note:', 'yellow')} {flat(note)}")
        print(paint(flat(summary_of(done)), colour, "bold"))


def summary_of(done: Replay) -> str:
    """Return the result of a replay in one sentence."""
    count = len(done.results)
    what = "session" if done.recording.kind == "store" else done.recording.kind
    said = f"{plural(count, 'event')} of {what} {done.recording.name}: "
    if what == "period":
        said = f"{plural(count, 'event')} since {done.recording.name}: "
    if done.different or not all(one.compared for one in done.results):
        said += f"{done.different or 'none'} would be decided differently"
    else:
        said += "all would be decided the same"
    for number, what in (
        (done.count(lambda one: one.reworded), "the same for another reason"),
        (
            done.count(lambda one: not one.compared and not one.error),
            "not compared, as their recorded decision is unknown",
        ),
        (done.count(lambda one: one.error), "left out"),
        (done.count(lambda one: one.broken), "in which a hook failed"),
        (done.count(lambda one: one.shadowed), "with decisions that are not enforced"),
    ):
        said += f", {number} {what}" if number else ""
    return said


def _lines(result: Replayed) -> Iterator[str]:
    then, now = result.recorded, result.outcome
    assert now is not None  # noqa: S101 - only an event with an outcome can differ
    yield _headline(then)
    yield from (f"  {line}" for line in _given(then))
    if set(result.differences) - set(row_of(now).modifies):
        yield paint(f"- was: {_was(then)}", "red")
        for permission in then.permissions:
            yield f"       {_permission(permission)}"
        yield paint(f"+ now: {_now(now)}", "green")
    for name, old, new in result.changes():
        yield from change_lines(flat(name), old, new)
    if result.not_asked:
        yield f"{paint('! not asked:', 'yellow')} {flat(', '.join(result.not_asked))}"
    for text in result.broken:
        yield f"{paint('! failed now:', 'yellow')} {flat(text)}"
    if now.shadow is not None:
        yield f"{paint('! not enforced:', 'yellow')} {flat(f'{now.shadow.decision} {now.shadow.reason}')}"
    if then.redacted:
        yield f"{paint('! redacted:', 'yellow')} the hooks did not see the redacted parts of this input"


def _headline(then: Recorded) -> str:
    row = TABLE.get(then.event)
    subject: Any = then.fields.get(row.subject) if row is not None and row.subject else ""
    shown = f" {paint(flat(subject), 'cyan')}" if isinstance(subject, str) and subject else ""
    return f"{paint(flat(then.event), 'bold')}{shown}  {paint(flat(f'{then.time}  {then.id}'), 'dim')}"


def _given(then: Recorded) -> Iterator[str]:
    """Return the fields of the event that identify it, one line each."""
    for name, value in then.fields.items():
        if name in _OF_ONE_SESSION or value in ("", None, {}):
            continue
        parts: Mapping[str, Any] = value if isinstance(value, Mapping) else {name: value}
        for key, part in parts.items():
            text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=repr)
            yield f"{flat(str(key))}: {cut(flat(text), _LONGEST)}"


def _was(then: Recorded) -> str:
    if then.derived:
        return flat(f"{then.derived}{f': {then.reason}' if then.reason else ''}")
    return _decided(then.decision, then.granted, then.keep_going, then.continues, then.reason, then.deciders)


def _permission(found: Mapping[str, Any]) -> str:
    """Return what was decided about the call beside the hooks; a replay fires hooks alone, and decides it not again."""
    rule, place, reason = (str(found.get(name) or "") for name in ("rule", "place", "reason"))
    by = f"{found.get('by', '')} {found.get('hook') or found.get('mode') or ''}".strip()
    why = "; ".join(part for part in (f"{rule} ({place})" if rule and place else rule, reason) if part)
    return flat(f"and the call was {found.get('verdict', '')} by {by}{f': {why}' if why else ''}")


def _now(now: Outcome) -> str:
    reason = now.reason or now.stop_reason
    return _decided(now.decision, now.granted, now.keep_going, now.continue_, reason, tuple(deciders_of(now)))


def _decided(
    decision: str, granted: bool, keep_going: bool, continues: bool, reason: str, deciders: tuple[str, ...]
) -> str:
    said = "keep going" if keep_going else "granted" if granted else "go on" if decision == "none" else decision
    stops = "" if continues else ", and the agent stops"
    by = f" ({', '.join(deciders)})" if deciders else ""
    return flat(f"{said}{stops}{f' {reason}' if reason else ''}{by}")
