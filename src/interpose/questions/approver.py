"""Questions that wait in the record until a person answers them: the approver of ``questions:`` in a configuration.

    hooks.session(approver=Questions(AuditStore("audit.db"), wait=300))

A question is written to the store of the record, and the call waits. ``interpose questions`` lists it, ``interpose
approve`` and ``interpose refuse`` answer it. A question without an answer is denied at its deadline. So is one that
cannot be written, whose store is removed, or whose answer is not the answer to what was asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from time import monotonic, sleep, time
from typing import Any

from ..audit.completion import StoreDown
from ..audit.entries import encode
from ..audit.json_values import plain
from ..audit.protocol import NotAStore, QuestionStore, StoreReader, StoreReplaced, StoreUnreadable, Submission
from ..audit.questions import StoredAnswer, StoredQuestion, id_of
from ..errors import UsageError
from ..executors.blocking import blocking_executor
from ..ids import new_id
from ..redaction import has_redacted
from ..replies import clean
from ..runtime.coroutines import drive
from ..session.answers import Question
from ..session.approval import Approval
from .answering import answer_body

__all__ = ["DEFAULT_WAIT", "Questions", "WaitingCall"]

DEFAULT_WAIT = 300.0
"""Seconds that a question waits if nothing else is said."""

_PAUSES = (0.02, 0.25)
"""Seconds between two looks at the store: the first, and the longest."""
_UNREADABLE = 5.0
"""Seconds for which a store may be unreadable before its question is denied."""


class Questions:
    """An approver that writes each question to the record, and waits for a person's answer for ``wait`` seconds.

    ``show`` is called with a line that says how the question is answered.
    """

    def __init__(
        self, store: QuestionStore, *, wait: float = DEFAULT_WAIT, show: Callable[[str], object] | None = None
    ) -> None:
        if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 < wait < float("inf"):
            raise UsageError(f"wait: {wait!r} is not a number of seconds", hint="such as wait=300")
        self.store = store
        self.wait = float(wait)
        self._show = show

    def __repr__(self) -> str:
        return f"<Questions in {self.store.path}, each waits {self.wait:g} s>"

    def __call__(self, question: Question) -> WaitingCall:
        """Ask; what is returned is awaited, or blocked on in a thread without an event loop."""
        return self.ask(question)

    def ask(self, question: Question, *, wait: float | None = None, event: str = "") -> WaitingCall:
        """Ask, and wait for another time than usual."""
        return WaitingCall(self, question, self.wait if wait is None else wait, event)

    def show(self, text: str) -> None:
        """Say how a question is answered."""
        if self._show is not None:
            self._show(text)

    def remembered(self, question: Question) -> Approval | None:
        """Return the answer that a person gave for the session to what this question asks, under this configuration.

        A host with a session needs it not: the session remembers. A process per event has only the record.
        """
        try:
            with self.store.read() as reader:
                store_id = reader.store_id()
                for one in reader.questions(session=question.session_id, answered=True):
                    answer = one.answer
                    if answer is None or answer.state != "approved" or answer.text("remembered") != "session":
                        continue
                    if "input" in answer.body:  # it is for one call
                        continue
                    if _asks_the_same(one, question, self.store.configuration) and not _why_doubted(
                        self.store, store_id, one.digest, answer
                    ):
                        return _approval(one.id, answer)
        except (NotAStore, StoreUnreadable):
            return None
        return None


def _asks_the_same(one: StoredQuestion, question: Question, configuration: str) -> bool:
    names = ("session_id", "agent_id", "tool_name", "rule", "hook", "place", "reason")
    same = all(one.text(name) == getattr(question, name) for name in names)
    return same and bool(question.session_id) and one.is_intact and one.text("config") == configuration


class WaitingCall:
    """A call whose question waits for an answer: to be awaited, or blocked on."""

    def __init__(self, questions: Questions, question: Question, wait: float, event: str) -> None:
        self._questions = questions
        self._store = questions.store
        self._question = question
        self._wait = wait
        self._event = event

    def block(self) -> Approval:
        """Wait in this thread."""
        return drive(self._answered(blocking_executor.wait))

    def __await__(self) -> Generator[Any, Any, Approval]:
        return self._answered(_await).__await__()

    async def _answered(self, wait: Callable[[Awaitable[None]], Awaitable[None]]) -> Approval:
        question = self._question
        if not _is_json(question.tool_input):
            return _nobody("its input is not JSON, so that a person cannot see the whole of it")
        deadline = monotonic() + self._wait
        body = {
            "event": self._event, **{name: getattr(question, name) for name in _PARTS},
            "wait": self._wait, "asked_at": time(), "nonce": new_id(),
        }  # fmt: skip
        try:
            asked = self._store.ask(body)
        except StoreDown as error:
            return _nobody(f"the question could not be written: {error}")
        try:
            return await self._asked(asked, deadline, wait)
        except BaseException:  # the host is interrupted, or cancels the call
            _withdraw(asked)
            raise

    async def _asked(
        self, asked: Submission, deadline: float, wait: Callable[[Awaitable[None]], Awaitable[None]]
    ) -> Approval:
        try:
            await wait(asked)
        except StoreDown as error:
            _withdraw(asked)  # if it is written after all
            return _nobody(f"the question could not be written: {error}")
        if asked.refused:
            return _nobody(f"the question was not asked: {asked.refused}")
        question = self._question
        call = clean(question.call).replace("\n", " ")
        shown = call if len(call) <= _LONGEST_SHOWN else f"{call[:_LONGEST_SHOWN]}…"
        self._questions.show(f"{shown} waits for an answer: interpose approve {asked.id}, or refuse")
        return await self._wait_for_answer(asked, deadline, wait)

    async def _wait_for_answer(
        self, asked: Submission, deadline: float, wait: Callable[[Awaitable[None]], Awaitable[None]]
    ) -> Approval:
        look = _Look(self._store, asked)
        pause = _PAUSES[0]
        try:
            while True:
                answer = look.answer()
                if look.problem:
                    _withdraw(asked, look.problem)
                    return _nobody(look.problem, asked.id)
                if answer is not None:
                    return _believed(self._store, look.store_id, asked, answer)
                left = deadline - monotonic()
                if left <= 0:
                    break
                await wait(_Pause(min(pause, left)))
                pause = min(pause * 1.5, _PAUSES[1])
            expired = self._store.answer(answer_body(asked.id, asked.digest, "expired"))
            why = f"no person has answered within {_words_of(self._wait)}"
            try:
                await wait(expired)
            except StoreDown as error:
                return _nobody(f"{why}, and that could not be recorded: {error}", asked.id)
            answer = look.answer(anew=True) if expired.refused else None
            if answer is not None:  # it came at the last moment
                return _believed(self._store, look.store_id, asked, answer)
            return _nobody(why, asked.id)
        finally:
            look.close()


def _withdraw(asked: Submission, reason: str = "") -> None:
    """Let the record say that nothing waits for an answer any more."""
    asked.withdraw(lambda: answer_body(asked.id, asked.digest, "withdrawn", reason=reason))


class _Look:
    """Looks whether a question has an answer, and reads the store only if it was written to."""

    def __init__(self, store: QuestionStore, asked: Submission) -> None:
        self._store = store
        self._id = asked.id
        self._reader: StoreReader | None = None
        self._change: object = None
        self._failing = 0.0
        self.store_id = ""
        self.problem = ""
        """Why there will be no answer; empty as long as there may be one."""

    def answer(self, *, anew: bool = False) -> StoredAnswer | None:
        """Return the answer, or None if there is none yet."""
        try:
            if self._reader is None:
                self._reader = self._store.read()
                self.store_id = self._reader.store_id()
            change = self._reader.change()
            if change == self._change and not anew:
                return None
            found = self._reader.question(self._id)
            self._change, self._failing = change, 0.0
        except (NotAStore, StoreUnreadable) as error:
            now = monotonic()
            self._failing = self._failing or now
            if isinstance(error, NotAStore | StoreReplaced) or now - self._failing > _UNREADABLE:
                self.problem = f"the question cannot be answered any more: {error.problem.what}"
            return None
        if found is None:
            self.problem = "the question cannot be answered any more: it is not in the record"
            return None
        return found.answer

    def close(self) -> None:
        """Close the store."""
        if self._reader is not None:
            self._reader.close()


class _Pause:
    """Some seconds: to be awaited, or slept in a thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def block(self) -> None:
        sleep(self._seconds)

    def __await__(self) -> Generator[Any, Any, None]:
        from asyncio import sleep as sleep_in_task

        return sleep_in_task(self._seconds).__await__()


async def _await(awaitable: Awaitable[None]) -> None:
    await awaitable


_LONGEST_SHOWN = 200
_PARTS = ("tool_name", "tool_input", "reason", "tool_use_id", "session_id", "agent_id", "rule", "hook", "place")
"""What the record has of a question as the session asks it."""


def _is_json(value: Any) -> bool:
    """Say whether a value is written to the record as it is, and nothing of it is replaced by a description."""
    try:
        return encode(plain(value)) == encode(value)
    except (TypeError, ValueError, RecursionError):
        return False


def _believed(store: QuestionStore, store_id: str, asked: Submission, answer: StoredAnswer) -> Approval:
    """Return what an answer says, if it is the answer to what was asked."""
    if doubt := _why_doubted(store, store_id, asked.digest, answer):
        return _nobody(f"the answer in the record does not count: {doubt}", asked.id)
    return _approval(asked.id, answer)


def _why_doubted(store: QuestionStore, store_id: str, digest: str, answer: StoredAnswer) -> str:
    if answer.text("question") != id_of(digest) or answer.text("digest") != digest:
        return "it is the answer to another question"
    if not store.believes(answer.body, store_id):
        return "it is not sealed with the key of the record"
    return ""


def _approval(id: str, answer: StoredAnswer) -> Approval:
    if answer.state in ("expired", "withdrawn"):
        return _nobody(f"the question was {answer.state}", id)
    reason, who = answer.text("reason"), answer.person or "a person"
    edited = answer.body.get("input")
    if has_redacted(edited):
        return _nobody("the person has edited the input, and secrets in it were redacted in the record", id)
    said = f"{answer.state} by {who}{', with an edited input' if edited is not None else ''}"
    return Approval(
        approved=answer.state == "approved", reason=f"{said}: {reason}" if reason else said, person=who, question=id,
        remembered="session" if answer.text("remembered") == "session" and edited is None else "", tool_input=edited,
    )  # fmt: skip


def _nobody(reason: str, id: str = "") -> Approval:
    return Approval(approved=False, reason=reason, by="nobody", question=id)


def _words_of(seconds: float) -> str:
    """Return a time in words, such as ``5 min`` or ``30 s``."""
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 30 == 0 else f"{seconds:.3g} s"
