"""``interpose questions``: the calls that wait for a person, and what was answered."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ..audit.protocol import StoreReader
from ..audit.questions import StoredQuestion, read_id
from ..errors import UsageError, nearest
from ..replies import clean
from ..session.answers import Question
from . import options
from .audit_store import NamedStore, names_store
from .render import clock_time, flat, paint, plural
from .render.question import question_lines

__all__ = ["Id", "app", "as_words", "check_fleet_options", "find_question"]

app = typer.Typer(invoke_without_command=True, no_args_is_help=False, add_help_option=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a question, such as k7mq-2xtd.")]

_LONGEST_LISTED = 2_000
_POLL_SECONDS = 0.5
_COLOURS = {"waiting": "yellow", "approved": "green", "refused": "red", "expired": "red", "withdrawn": "dim"}


@app.callback()
@names_store
def run(
    *,
    context: typer.Context,
    all_: Annotated[
        bool, typer.Option("--all", help="List those too that were answered, have expired or were withdrawn.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, and print questions as they come, until Ctrl-C.")
    ] = False,
    fleet: options.Fleet = False,
    node: options.FleetNode = "",
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """A question is an ask that waits in the record until a person answers it, or its time is over, which denies it.
    `questions:` in a configuration lets asks wait. `interpose approve ID` and `interpose refuse ID` answer one.

    With --watch and --json, each line is a JSON document.

    Example: interpose questions --watch
    """
    if context.invoked_subcommand is not None:
        return 0
    check_fleet_options(fleet, node)
    if fleet:
        from .fleet.questions import list_of_fleet

        if watch:
            raise UsageError("--watch follows the questions of this machine", hint="leave it out, or leave out --fleet")
        return list_of_fleet(store.files, node=node, everything=all_, as_json=as_json)
    with store.open_reader() as reader:
        if watch:
            return _watch(reader, all_, as_json=as_json)
        found = _listed(reader, all_)
        path = reader.path
    if as_json:
        print(json.dumps({"store": path, "questions": [one.to_dict() for one in found]}))
        return 0
    for one in found:
        _print_listed(one)
    if not found:
        print("no question waits", file=sys.stderr)
    return 0


@app.command("show")
@names_store
def show(
    *,
    context: typer.Context,
    id: Id,
    fleet: options.Fleet = False,
    node: options.FleetNode = "",
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """Show one question with the whole input of the call, every control character as an escape.

    Example: interpose questions show k7mq-2xtd
    """
    above = context.parent.params if context.parent is not None else {}
    fleet, node = fleet or bool(above.get("fleet")), node or str(above.get("node") or "")
    check_fleet_options(fleet, node)
    if fleet:
        from .fleet.questions import show_of_fleet

        return show_of_fleet(id, store.files, node=node, as_json=as_json)
    with store.open_reader() as reader:
        question = find_question(reader, id)
    for line in [json.dumps(question.to_dict())] if as_json else _all_lines(question):
        print(line)
    return 0


def check_fleet_options(fleet: bool, *others: str | None) -> None:
    """Raise UsageError if an option of the fleet is there without it."""
    if any(others) and not fleet:
        raise UsageError("--node and --key are for questions of the fleet", hint="add --fleet")


def find_question(reader: StoreReader, typed: str) -> StoredQuestion:
    """Return the question with the id that was typed; raise UsageError if there is none."""
    wanted = read_id(typed)
    if not wanted:
        raise UsageError(
            f"{typed} is not the id of a question", hint="such as k7mq-2xtd; `interpose questions` lists them"
        )
    found = reader.question(wanted)
    if found is None:
        near = nearest(wanted, [one.id for one in reader.questions()])
        raise UsageError(f"there is no question {wanted}", where=reader.path,
                         hint=near or "`interpose questions` lists them; --store names another record")  # fmt: skip
    return found


def _listed(reader: StoreReader, everything: bool) -> list[StoredQuestion]:
    """Return the questions to list, the oldest first: it has waited longest."""
    found = reader.questions(answered=everything)[::-1]
    return found if everything else [one for one in found if one.state == "waiting"]


def _watch(reader: StoreReader, everything: bool, *, as_json: bool) -> int:
    seen: dict[str, str] = {}
    change: object = None
    while True:
        now = reader.change()
        if now != change:
            change = now
            for one in _listed(reader, everything):
                if seen.get(one.id) != one.state:
                    seen[one.id] = one.state
                    if as_json:
                        print(json.dumps(one.to_dict()))
                    else:
                        _print_listed(one)
            sys.stdout.flush()
        time.sleep(_POLL_SECONDS)


def _print_listed(question: StoredQuestion) -> None:
    call, *more = _call_lines(question)
    print(_headline(question))
    if len(call) > _LONGEST_LISTED:
        left = plural(len(call) - _LONGEST_LISTED, "more character")
        more.insert(0, f"… {left}: interpose questions show {question.id}")
        call = call[:_LONGEST_LISTED]
    for line in (call, *more, *_fate(question)):
        print(f"  {line}")


def _headline(question: StoredQuestion) -> str:
    state = question.state
    shown = f"{as_words(question.left)} left" if state == "waiting" else state
    agent, session = flat(question.text("agent_id")), flat(question.text("session_id"))[:8]
    who = ", ".join(
        part for part in (f"agent {agent}" if agent else "", f"session {session}" if session else "") if part
    )
    return f"{paint(question.id, 'bold')}  {paint(shown, _COLOURS[state])}  {paint(who, 'dim')}".rstrip()


def _call_lines(question: StoredQuestion) -> list[str]:
    """Return the call on one line, why it is asked about, and what is doubtful about it."""
    asked = Question(tool_name=question.tool, tool_input=question.input, reason=question.text("reason"))
    lines = list(question_lines(asked))
    if not question.is_intact:
        lines.insert(1, paint("careful: it was changed in the store since it was asked", "red"))
    return lines


def _fate(question: StoredQuestion) -> Iterator[str]:
    yield f"asked by: {flat(question.asked_by)}"
    answer = question.answer
    if answer is None:
        if question.state == "waiting":
            yield paint(f"interpose approve {question.id}   or   interpose refuse {question.id}", "dim")
        return
    who = f" by {flat(answer.person)}" if answer.person else ""
    held = " for the session" if answer.text("remembered") == "session" else ""
    reason = f": {flat(answer.text('reason'))}" if answer.text("reason") else ""
    yield f"{answer.state}{who} at {clock_time(answer.time)}{held}{reason}"


def _all_lines(question: StoredQuestion) -> Iterator[str]:
    yield _headline(question)
    call, *more = _call_lines(question)
    yield f"  {call}"
    for line in (*more, *_fate(question)):
        yield f"  {line}"
    asker: dict[str, Any] = question.asker
    where = f"process {asker.get('pid', '?')} on {asker.get('host', '?')}"
    yield f"  asked at {clock_time(question.time, full=True)} by {clean(where)}, record {question.record}"
    yield f"  the call above has {plural(len(call), 'character')}; its id is {question.id}"


def as_words(seconds: float) -> str:
    """Return the time that is left: ``4m 12s``."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"
