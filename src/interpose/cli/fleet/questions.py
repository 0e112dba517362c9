"""Questions of the fleet on the command line: ``interpose questions --fleet``, ``approve`` and ``refuse --fleet``.

What nodes have posted was written by models, and by every program that may write for a node: it is shown as
an escape where a terminal would hide it, and each question within bounds, so that none pushes another out of sight.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from ...audit.questions import read_id
from ...config.fleet import FleetSettings
from ...errors import UsageError
from ...person import require_person
from ...person.identity import this_person
from ...session.answers import Question
from ..render import cut, flat, paint, plural
from ..render.question import question_lines
from . import fleet_of
from .shown import note_shown, require_shown

if TYPE_CHECKING:
    from ...fleet.answers import PostedQuestion
    from ...fleet.approving import Approving, Given
    from ...fleet.keys import PrivateKey

__all__ = ["answer_of_fleet", "list_of_fleet", "load_approver_key", "show_of_fleet"]

_T = TypeVar("_T")
_LONGEST_LISTED = 600
_LONGEST_PART = 200
_COLOURS = {"waiting": "yellow", "approved": "green", "refused": "red", "expired": "red", "withdrawn": "dim"}


def _with_fleet(settings: FleetSettings, work: Callable[[Approving], Awaitable[_T]]) -> _T:
    from ...fleet.approving import Approving
    from ...handlers.nats_client import connect

    async def main() -> _T:
        client = await connect(settings.nats, name="interpose questions")
        try:
            return await work(Approving(client, settings))
        finally:
            await client.close()

    return asyncio.run(main())


def load_approver_key(key: str | None) -> PrivateKey:
    """Return the private key that signs answers: the named one, or that of ``interpose fleet key``."""
    from ...fleet.keys import load_private
    from ...state.directories import state_path

    place = os.path.abspath(os.path.expanduser(key)) if key else state_path(os.path.join("fleet", "signing.key"))
    return load_private(place)


def list_of_fleet(config: list[str] | None, *, node: str, everything: bool, as_json: bool) -> int:
    """List the questions of all nodes."""
    settings = fleet_of(config)
    found = _with_fleet(settings, lambda fleet: fleet.listed(everything=everything, node=node))
    note_shown(found.questions)
    if as_json:
        questions = [one.to_dict() for one in found.questions]
        print(json.dumps({"team": settings.team, "questions": questions, "unreadable": list(found.unreadable),
                          "left_out": found.left_out}))  # fmt: skip
        return 0
    for one in found.questions:
        for line in _listed(one):
            print(line)
    if found.unreadable:
        shown = "; ".join(cut(flat(one), _LONGEST_PART) for one in found.unreadable[:3])
        print(f"{plural(len(found.unreadable), 'entry', 'entries')} cannot be read: {shown}", file=sys.stderr)
    if found.left_out:
        print(f"{paint('not all', 'yellow')}: {flat(found.left_out)}", file=sys.stderr)
    if not found.questions:
        print("no question waits", file=sys.stderr)
    return 0


def show_of_fleet(typed: str, config: list[str] | None, *, node: str, as_json: bool) -> int:
    """Show one question of a node with the whole input of the call."""
    found = _with_fleet(fleet_of(config), lambda fleet: fleet.find(_id(typed), node))
    note_shown([found])
    if as_json:
        print(json.dumps(found.to_dict()))
        return 0
    print(_headline(found))
    for line in (*_call_lines(found, whole=True), *_fate(found)):
        print(f"  {line}")
    return 0


def answer_of_fleet(
    typed: str, config: list[str] | None, *, approved: bool, node: str, key: str | None, reason: str, remembered: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Answer a question of a node, and say what became of the answer."""
    require_person("approving a call" if approved else "refusing a call")
    settings = fleet_of(config)
    private = load_approver_key(key)
    wanted = _id(typed)

    async def answer(fleet: Approving) -> Given:
        question = await fleet.find(wanted, node)
        if approved:
            require_shown(question)
        return await fleet.answer(
            question, private, approved=approved, who=this_person(), reason=reason, remembered=remembered
        )

    given = _with_fleet(settings, answer)
    state = "approved" if approved else "refused"
    counts = given.how in ("confirmed", "other") and given.question.state == state
    if as_json:
        print(json.dumps({**given.question.to_dict(), "how": given.how, "other": given.other}))
    else:
        print(_said(given, state))
        print(f"  {next(iter(_call_lines(given.question)))}")
    return 0 if counts else 1


def _id(typed: str) -> str:
    found = read_id(typed)
    if not found:
        raise UsageError(f"{cut(flat(typed), 80)} is not the id of a question",
                         hint="such as k7mq-2xtd; `interpose questions --fleet` lists them")  # fmt: skip
    return found


def _said(given: Given, wanted: str) -> str:
    question, other = given.question, cut(flat(given.other), _LONGEST_PART)
    place = f"{question.id} on {question.node}"
    if given.how == "confirmed":
        return f"{paint(wanted, 'green' if wanted == 'approved' else 'red')}: node {question.node} has it  {place}"
    if given.how == "ignored":
        return f"{paint('ignored', 'red')}: node {question.node} does not take this answer: it {other}  {place}"
    if given.how == "other":
        state = question.state if question.state != "waiting" else "answered"
        by = f" by {other}" if other else ""
        return f"{paint(state, _COLOURS.get(state, 'yellow'))} already{by}: your answer has no effect  {place}"
    return (f"{paint('sent', 'yellow')}: node {question.node} is silent; the answer counts if it comes back before "
            f"the question expires  {place}")  # fmt: skip


def _listed(question: PostedQuestion) -> Iterator[str]:
    yield _headline(question)
    for line in (*_call_lines(question), *_fate(question)):
        yield f"  {line}"


def _headline(question: PostedQuestion) -> str:
    from ..questions import as_words

    asked = question.question
    shown = f"{as_words(question.left)} left" if question.state == "waiting" else question.state
    agent, session = cut(flat(asked.text("agent_id")), 40), flat(asked.text("session_id"))[:8]
    who = ", ".join(
        part for part in (f"agent {agent}" if agent else "", f"session {session}" if session else "") if part
    )
    colour = _COLOURS[question.state]
    return f"{paint(question.id, 'bold')}  {paint(question.node, 'cyan')}  {paint(shown, colour)}  {who}".rstrip()


def _call_lines(question: PostedQuestion, *, whole: bool = False) -> Iterator[str]:
    """Return the call on one line, why it is asked about, and what is doubtful about it."""
    asked = question.question
    call, *more = question_lines(
        Question(tool_name=asked.tool, tool_input=asked.input, reason=cut(asked.text("reason"), _LONGEST_LISTED))
    )
    if not whole and len(call) > _LONGEST_LISTED:
        left = plural(len(call) - _LONGEST_LISTED, "more character")
        more.insert(0, f"… {left}: interpose questions show {question.id} --fleet --node {question.node}")
        call = call[:_LONGEST_LISTED]
    yield call
    if not question.is_intact:
        yield paint("careful: its content is not what its id was made from; it cannot be answered from here", "red")
    yield from more


def _fate(question: PostedQuestion) -> Iterator[str]:
    asked = question.question
    yield f"asked by: {cut(flat(asked.asked_by), _LONGEST_PART)}"
    if question.ignored[1]:
        yield paint(f"an answer was ignored: it {cut(flat(question.ignored[1]), _LONGEST_PART)}", "red")
    if question.state == "waiting":
        more = f" --fleet --node {question.node}"
        yield paint(f"interpose approve {question.id}{more}   or   interpose refuse {question.id}{more}", "dim")
        return
    by = f" by {cut(flat(question.by), _LONGEST_PART)}" if question.by else ""
    reason = f": {cut(flat(question.reason), _LONGEST_PART)}" if question.reason else ""
    yield f"{question.state}{by}{reason}"
