"""``interpose tail``: records as they are written, a line each, and questions answered in place."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Iterable
from typing import Annotated

import typer

from ..audit.completion import StoreDown
from ..audit.protocol import Selection, StoredFiring, StoredPermission, StoreReader
from ..audit.questions import StoredQuestion
from ..audit.store import AuditStore
from ..errors import UsageError
from ..person import why_no_person
from ..person.identity import this_person
from ..questions import answer_question
from ..records import replace
from ..session.answers import Question
from . import options
from .audit_store import NamedStore, names_store
from .log.filters import selects_records
from .log.show import LogTable
from .questions import as_words
from .render import flat, paint
from .render.question import question_lines

__all__ = ["run"]

_POLL_SECONDS = 0.2
_ANSWERS = {"y": (True, ""), "yes": (True, ""), "s": (True, "session"), "n": (False, ""), "no": (False, "")}

Last = Annotated[
    int, typer.Option("--last", "-n", metavar="N", min=0, help="Begin with so many records that are there already.")
]
NoQuestions = Annotated[bool, typer.Option("--no-questions", help="Show questions, and ask for no answer.")]


@names_store
@selects_records("since")
def run(
    *,
    selection: Selection,
    last: Last = 10,
    no_questions: NoQuestions = False,
    store: NamedStore,
    as_json: options.AsJson = False,
) -> int:
    """A line per firing and per permission, as `interpose log` prints them, until Ctrl-C. Of questions that wait, the
    oldest is shown with the whole call: type y to let it run, s for the rest of the session, n to deny it, or n and a
    reason. Answering takes a person at this terminal, outside of any agent; else questions are only shown.

    With --json, each line is a JSON document.

    Example: interpose tail --decision deny --decision ask
    """
    why = (
        "--no-questions"
        if no_questions or store.is_of_fleet
        else "--json"
        if as_json
        else why_no_person(typing_at=sys.stdin.fileno())
    )
    try:
        with store.open_reader() as reader:
            if why:
                _Tail(reader, selection, None, as_json=as_json).run(last)
            else:
                with store.open_writer() as writer:
                    _Tail(reader, selection, writer, as_json=as_json).run(last)
    except KeyboardInterrupt:
        pass  # Ctrl-C ends it
    return 0


class _Tail:
    """Follows a store; with a writer it asks about one question at a time."""

    def __init__(
        self, reader: StoreReader, selection: Selection, writer: AuditStore | None, *, as_json: bool
    ) -> None:  # fmt: skip
        self._reader, self._selection, self._writer, self._as_json = reader, selection, writer, as_json
        self._table = LogTable(heading=False, nodes=reader.has_nodes)
        self._shown: set[str] = set()
        self._asked: StoredQuestion | None = None

    def run(self, last: int) -> None:
        """Print what is there and what comes, without end."""
        found = list(self._reader.entries(self._selection, limit=last)) if last else []
        seen = self._reader.last_id()
        self._print(found[::-1])
        change: object = None
        while True:
            now = self._reader.change()
            if now != change:
                change = now
                upto = self._reader.last_id()
                if upto > seen:
                    some = replace(self._selection, after=seen, before=upto + 1)
                    self._print(self._reader.entries(some, oldest_first=True))
                    seen = upto
                self._show_questions()
            self._wait()

    def _print(self, entries: Iterable[StoredFiring | StoredPermission]) -> None:
        for entry in entries:
            if self._as_json:
                print(json.dumps(entry.to_dict()), flush=True)
            else:
                self._table.print([entry])

    def _show_questions(self) -> None:
        waiting = [one for one in self._reader.questions()[::-1] if one.state == "waiting"]
        if self._asked is not None and self._asked.id not in {one.id for one in waiting}:
            print(paint(f"{self._asked.id} was answered, or its time is over", "dim"), flush=True)
            self._asked = None
        for one in waiting:
            if self._as_json:
                if one.id not in self._shown:
                    print(json.dumps({"kind": "question", **one.to_dict()}), flush=True)
                self._shown.add(one.id)
            elif self._writer is None:
                if one.id not in self._shown:
                    self._show(one)
                self._shown.add(one.id)
            elif self._asked is None:
                self._asked = one
                self._show(one)
                _forget_typed()
                print(paint("  y: let it run   s: for the session   n [reason]: deny", "dim"), flush=True)

    def _show(self, question: StoredQuestion) -> None:
        asked = Question(tool_name=question.tool, tool_input=question.input, reason=question.text("reason"))
        who = ", ".join(part for part in (f"agent {question.text('agent_id')}" if question.text("agent_id") else "",
                                          f"session {question.text('session_id')[:8]}") if part)  # fmt: skip
        print(
            f"{paint('?', 'yellow', 'bold')} {paint(question.id, 'bold')}  {as_words(question.left)} left  {flat(who)}"
        )
        for line in question_lines(asked):
            print(f"  {line}")
        print(f"  asked by: {flat(question.asked_by)}")
        if self._writer is None:
            print(paint(f"  interpose approve {question.id}   or   interpose refuse {question.id}", "dim"), flush=True)

    def _wait(self) -> None:
        """Wait a moment; take an answer if one is typed."""
        if self._writer is None:
            time.sleep(_POLL_SECONDS)
            return
        line = _typed_line(_POLL_SECONDS)
        if line is None:
            return
        asked, (word, _, reason) = self._asked, line.strip().partition(" ")
        if asked is None:
            return
        if word.lower() not in _ANSWERS:
            print(paint(f"  {asked.id}: y, s, or n and a reason", "dim"), flush=True)
            return
        approved, remembered = _ANSWERS[word.lower()]
        self._asked = None
        try:
            found = answer_question(self._writer, asked, approved=approved, who=this_person(), remembered=remembered,
                                    reason=reason.strip())  # fmt: skip
        except (UsageError, StoreDown) as error:
            print(paint(f"  {flat(str(error))}", "red"), flush=True)
            return
        answer = found.answer
        if answer is not None:
            wanted = "approved" if approved else "refused"
            late = "" if answer.state == wanted else f" already, by {flat(answer.person)}: your answer has no effect"
            colour = "green" if answer.state == "approved" else "red"
            print(f"  {paint(answer.state, colour)}{late}  {asked.id}", flush=True)
        self._show_questions()


def _typed_line(seconds: float) -> str | None:
    """Return a line that was typed within some seconds, or None; raise KeyboardInterrupt at the end of input."""
    descriptor = sys.stdin.fileno()
    ready, _, _ = select.select([descriptor], [], [], seconds)
    if not ready:
        return None
    typed = os.read(descriptor, 4096)
    if not typed:
        raise KeyboardInterrupt
    return typed.decode("utf-8", "replace").splitlines()[0]  # further lines were typed before their question was seen


def _forget_typed() -> None:
    """Forget what was typed before a question is shown: it was meant for another one."""
    import termios

    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:  # it is not a terminal
        return
