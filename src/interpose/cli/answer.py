"""``interpose approve`` and ``interpose refuse``: a person answers a question that waits in the record."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from ..audit.completion import StoreDown
from ..audit.questions import StoredQuestion
from ..errors import UsageError
from ..person import require_person
from ..person.identity import this_person
from ..questions import answer_question
from ..runtime.named_tuples import NamedTuple
from ..session.answers import Question
from . import options
from .audit_store import NamedStore, names_store
from .questions import Id, check_fleet_options, find_question
from .render import flat, paint
from .render.question import question_lines

__all__ = ["approve", "refuse"]

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the agent is told, and the record has it.")]
Session = Annotated[
    bool,
    typer.Option(
        "--session",
        help="For the rest of the session: calls of this tool that the same rule or hook asks about for the same "
        "reason run without a question.",
    ),
]


@names_store
def approve(
    *,
    id: Id,
    session: Session = False,
    reason: Reason = "",
    fleet: options.Fleet = False,
    node: options.FleetNode = "",
    key: options.FleetKey = None,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """The call runs. If the question has an answer already, that one counts, and you are told.

    Approving takes a person at a terminal, outside of any agent. With --fleet the question is one of another machine,
    and your key signs the answer; the node confirms it, or says that another answer counts.

    Exit status: 0 if the call was approved, also by another person; 1 otherwise.

    Example: interpose approve k7mq-2xtd --session
    """
    check_fleet_options(fleet, node, key)
    answer = _Given(True, "session" if session else "", reason)
    return _answer_in_fleet(id, answer, node, key, store, as_json) if fleet else _answer(id, answer, store, as_json)


@names_store
def refuse(
    *,
    id: Id,
    reason: Reason = "",
    fleet: options.Fleet = False,
    node: options.FleetNode = "",
    key: options.FleetKey = None,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """The call is denied. If the question has an answer already, that one counts, and you are told.

    Refusing takes a person at a terminal, outside of any agent. With --fleet the question is one of another machine,
    and your key signs the answer.

    Exit status: 0 if the call was refused, also by another person; 1 otherwise.

    Example: interpose refuse k7mq-2xtd --reason 'not on a Friday'
    """
    check_fleet_options(fleet, node, key)
    answer = _Given(False, "", reason)
    return _answer_in_fleet(id, answer, node, key, store, as_json) if fleet else _answer(id, answer, store, as_json)


class _Given(NamedTuple):
    """What a person answers."""

    approved: bool
    remembered: str
    """``session``, or nothing."""
    reason: str


def _answer_in_fleet(id: str, answer: _Given, node: str, key: str | None, store: NamedStore, as_json: bool) -> int:
    from .fleet.questions import answer_of_fleet

    return answer_of_fleet(id, store.files, **answer._asdict(), node=node, key=key, as_json=as_json)


def _answer(id: str, answer: _Given, store: NamedStore, as_json: bool) -> int:
    require_person("approving a call" if answer.approved else "refusing a call")
    with store.open_writer() as writer:
        with writer.read() as reader:
            asked = find_question(reader, id)
        try:
            found = answer_question(writer, asked, **answer._asdict(), who=this_person())
        except StoreDown as error:
            raise UsageError(f"the answer could not be written: {error}") from None
    wanted = "approved" if answer.approved else "refused"
    is_late = asked.answer is not None or not _is_ours(found)
    if as_json:
        print(json.dumps({**found.to_dict(), "late": is_late}))
    else:
        for line in _lines(found, is_late):
            print(line)
    return 0 if found.answer is not None and found.answer.state == wanted else 1


def _is_ours(question: StoredQuestion) -> bool:
    return question.answer is not None and question.answer.body.get("pid") == os.getpid()


def _lines(question: StoredQuestion, is_late: bool) -> list[str]:
    answer = question.answer
    if answer is None:
        return []
    colour = "green" if answer.state == "approved" else "red"
    already = f" already{f', by {flat(answer.person)}' if answer.person else ''}: your answer has no effect"
    held = " for the session" if answer.text("remembered") == "session" else ""
    asked = Question(tool_name=question.tool, tool_input=question.input)
    call = next(iter(question_lines(asked)))
    return [f"{paint(answer.state, colour)}{held}{already if is_late else ''}  {question.id}", f"  {call}"]
