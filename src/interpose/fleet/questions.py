"""The part of a node that carries questions: it posts those that wait here, and takes the answers to them.

An answer that counts is written to the local store as one that is given here: the first one wins there, and the process
that waits sees no difference. Without a connection a question waits here as before.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, time
from typing import TYPE_CHECKING, Any, TypeVar

from ..audit.completion import StoreDown
from ..audit.questions import StoredQuestion, read_id
from ..errors import UsageError
from ..records import replace
from ..runtime.faults import log
from ..state.directories import write_privately
from .answers import BadAnswer, BadQuestion, PostedQuestion, SignedAnswer, posted, read_answer, read_posted
from .buckets import BucketProblem, read_latest
from .node import Node
from .question_stores import LocalQuestion, QuestionStores, audit_of

if TYPE_CHECKING:
    from nats.aio.msg import Msg

__all__ = ["carry_questions"]

_T = TypeVar("_T")
_POLL = 0.25
"""Seconds between two looks at the stores."""
_LOOK = 5.0
"""Seconds between two looks for answers whose message was lost."""
_PATIENCE = 5.0
_HEADERS = 1024
"""Bytes of a message beside its payload."""
_PROBLEM_SECONDS = 600.0
"""How long the report shows that an answer was ignored."""
_MOST_NOTES = 100
"""Ignored answers that are written to the record, per hour: their sender must not be able to fill it."""


async def carry_questions(node: Node) -> None:
    """Post questions and take answers, as long as the node runs. This is the part ``questions`` of a node."""
    if not node.settings.approvers:  # no answer would count, so questions are not shown to others
        node.has_problem("questions", "")
        await asyncio.Event().wait()
    with ThreadPoolExecutor(1, thread_name_prefix="interpose-questions") as thread:
        stores = await asyncio.get_running_loop().run_in_executor(
            thread, lambda: QuestionStores(audit_of(node.settings))
        )
        carrier = _Carrier(node, stores, thread)
        subject = f"{node.names.answer_changes}.{node.settings.node}.*"
        subscription = await node.client.subscribe(subject, cb=carrier.wake)
        try:
            node.has_problem("questions", "")
            await carrier.resume()
            await carrier.run()
        finally:
            await subscription.unsubscribe()
            thread.submit(stores.close)


class _Carrier:
    def __init__(self, node: Node, stores: QuestionStores, thread: ThreadPoolExecutor) -> None:
        self._node, self._stores, self._thread = node, stores, thread
        self._posted: dict[str, PostedQuestion] = {}
        """What the bucket has of each question that waits, or whose fate is not posted yet."""
        self._not_posted: set[str] = set()
        """Questions that cannot be posted."""
        self._to_read: set[str] = set()
        """Questions for which an answer may be there."""
        self._woken = asyncio.Event()
        self._seen: dict[str, int] = {}
        """The revision of the answer that was looked at, by question."""
        self._notes: list[float] = []
        self._problem_until = 0.0
        self._looked = 0.0

    async def wake(self, message: Msg) -> None:
        """Note that an answer was stored; it is read from the bucket, and not from this message."""
        self._to_read.add(message.subject.rpartition(".")[2])
        self._woken.set()

    async def resume(self) -> None:
        """Go on with the questions that an earlier process of this node has posted."""
        for noted in await self._in_thread(self._noted):
            key = f"{self._node.settings.node}.{noted}"
            entry = await read_latest(self._node.client, self._node.names.questions, key)
            try:
                found = read_posted(entry.value or b"", team=self._node.settings.team, key=key) if entry else None
            except BadQuestion:
                continue
            if found is not None and found.state == "waiting":
                self._posted[noted] = found

    async def run(self) -> None:
        """Post questions and take answers without end."""
        while True:
            try:
                await self._step()
            except (BucketProblem, TimeoutError) as error:  # it waits here, and is posted when the server is there
                self._problem(f"questions are not posted now: {error}", seconds=30)
                await asyncio.sleep(1)
            if self._problem_until and monotonic() > self._problem_until:
                self._problem_until = 0.0
                self._node.has_problem("questions", "")
            try:
                async with asyncio.timeout(_POLL):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()

    async def _in_thread(self, work: Callable[..., _T], *given: Any) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)

    async def _step(self) -> None:
        waiting = await self._in_thread(self._stores.waiting)
        for local in waiting.values():
            if local.question.id not in self._posted and local.question.id not in self._not_posted:
                await self._post_new(local)
        if monotonic() - self._looked > _LOOK:
            self._looked = monotonic()
            self._to_read.update(self._posted)
        while self._to_read:
            await self._look_for_answer(next(iter(self._to_read)))
        for over in [one for one in self._posted if one not in waiting]:
            await self._post_fate(over)
        self._not_posted.intersection_update(waiting)

    # Questions.

    async def _post_new(self, local: LocalQuestion) -> None:
        question = local.question
        try:
            most = self._node.client.max_payload - _HEADERS
            made = posted(self._node.settings, question, time() + question.left, most=most)
        except BadQuestion as error:
            self._not_posted.add(question.id)
            self._problem(str(error))
            return
        await self._in_thread(self._note_ids, [*self._posted, question.id])
        await self._post(made)
        self._to_read.add(question.id)

    async def _post(self, made: PostedQuestion) -> None:
        stream = self._node.client.jetstream(timeout=_PATIENCE)
        try:
            await stream.publish(f"$KV.{self._node.names.questions}.{made.key}", made.written())
        except TimeoutError:
            raise
        except Exception as error:
            raise BucketProblem(str(error) or type(error).__name__, where=self._node.names.questions) from None
        if made.state == "waiting":
            self._posted[made.id] = made
        else:
            self._posted.pop(made.id, None)
            await self._in_thread(self._note_ids, [*self._posted])

    @property
    def _notes_path(self) -> str:
        return os.path.join(self._node.folder, "posted-questions.json")

    def _note_ids(self, ids: list[str]) -> None:
        """Write down which questions are posted, so that their fate is posted after a restart too."""
        try:
            write_privately(self._notes_path, json.dumps(ids).encode())
        except OSError as error:
            self._problem(f"{self._notes_path}: {error}")

    def _noted(self) -> list[str]:
        try:
            with open(self._notes_path, "rb") as opened:
                found = json.loads(opened.read(1024 * 1024))
        except (OSError, ValueError):
            return []
        return [one for one in found if isinstance(one, str) and read_id(one)] if isinstance(found, list) else []

    async def _post_fate(self, id: str) -> None:
        """Post what became of a question that does not wait any more."""
        local = await self._in_thread(self._stores.find, id)
        before = self._posted[id]
        if local is None:
            await self._post(replace(before, state="withdrawn", by="its store is not there any more"))
            return
        await self._post(_with_fate(before, local.question))

    # Answers.

    async def _look_for_answer(self, id: str) -> None:
        """Take the answer to a question, if there is one; the id was received, and may be anything."""
        key = f"{self._node.settings.node}.{id}"
        entry = await read_latest(self._node.client, self._node.names.answers, key)
        self._to_read.discard(id)
        if entry is None or not entry.value or self._seen.get(id) == entry.revision:
            return
        try:
            signed = read_answer(entry.value, self._node.settings, node=self._node.settings.node)
            await self._take(id, signed)
        except (BadAnswer, UsageError) as error:
            await self._ignore(id, entry.value, str(error))
        except StoreDown as error:
            self._problem(f"the answer to {id} could not be written: {error}")
            return  # and is tried again
        self._seen[id] = entry.revision
        if len(self._seen) > 10_000:
            self._seen = {one: revision for one, revision in self._seen.items() if one in self._posted}

    async def _take(self, id: str, signed: SignedAnswer) -> None:
        answer = signed.answer
        if answer.question != id:
            raise BadAnswer(f"is the answer to {answer.question}, not to {id}")
        local = await self._in_thread(self._stores.find, id)
        if local is None:
            raise BadAnswer("is the answer to a question that is not here")
        question = local.question
        if question.digest != answer.digest:
            raise BadAnswer("is the answer to a question with another content")
        if question.state in ("expired", "withdrawn"):
            raise BadAnswer(f"came too late: the question was {question.state}")
        if question.answer is not None:  # another answer was first, and the person who gave this one is told so
            if id in self._posted:
                await self._post(_with_fate(self._posted[id], question))
            return
        question = await self._in_thread(self._stores.answer, local, signed)
        log("info", "fleet: question %s: %s by %s", id, answer.state, signed.who)
        if id in self._posted:
            await self._post(_with_fate(self._posted[id], question))

    async def _ignore(self, id: str, stored: bytes, why: str) -> None:
        """Say in the report, in the record and in the bucket that an answer does not count."""
        log("warning", "fleet: the answer to %s is ignored: it %s", id, why)
        self._problem(f"an answer to {id} was ignored: it {why}")
        who, signature = _claimed(stored)
        now = monotonic()
        self._notes = [moment for moment in self._notes if now - moment < 3600]
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(now)
            await self._in_thread(self._stores.note, id, who, why)
        if id in self._posted:
            await self._post(replace(self._posted[id], ignored=(signature, why[:500])))

    def _problem(self, what: str, seconds: float = _PROBLEM_SECONDS) -> None:
        self._problem_until = monotonic() + seconds
        self._node.has_problem("questions", what[:500])


def _with_fate(before: PostedQuestion, question: StoredQuestion) -> PostedQuestion:
    """Return a posted question with what became of it in the store."""
    answer = question.answer
    if answer is None:
        return replace(before, state=question.state)
    return replace(before, state=answer.state, by=answer.person[:500], reason=answer.text("reason")[:2000],
                   signature=answer.text("proof"))  # fmt: skip


def _claimed(stored: bytes) -> tuple[str, str]:
    """Return who an answer says it is from, for the record, and its signature, for the one who waits for a reply."""
    try:
        found = json.loads(stored)
        answer = json.loads(found["answer"])
        return f"claims to be {str(answer['user'])[:60]!a}", str(found["signature"])[:200]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "unknown", ""
