"""Questions of all nodes, for those who answer them: list them, answer one, and wait until its node has the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from ..config.fleet import FleetSettings
from ..errors import UsageError, nearest
from ..records import Record
from .answers import (
    BadAnswer,
    BadQuestion,
    GivenAnswer,
    PostedQuestion,
    SignedAnswer,
    read_answer,
    read_posted,
    sign_answer,
)
from .bucket_pages import values_of
from .buckets import read_latest, write_over
from .keys import PrivateKey, public_of
from .names import TeamNames

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["Approving", "Given", "Listed"]

_LOOKS = (0.05, 0.3)
"""Seconds between two looks for the node's confirmation: the first, and the longest."""


class Listed(Record):
    """The questions of a fleet, and what is there and cannot be read."""

    questions: tuple[PostedQuestion, ...]
    unreadable: tuple[str, ...] = ()


class Given(Record):
    """What became of an answer."""

    how: str
    """``confirmed``: the node has taken it. ``other``: another answer counts. ``ignored``: the node does not take it.
    ``silent``: the node has not said anything yet."""
    question: PostedQuestion
    other: str = ""
    """Who gave the other answer, or why this one is ignored."""


class Approving:
    """The questions of a team, over one connection."""

    def __init__(self, client: Client, settings: FleetSettings) -> None:
        self._client, self._settings = client, settings
        self._names = TeamNames(settings.team)

    async def listed(self, *, everything: bool = False, node: str = "") -> Listed:
        """Return the questions that wait, the oldest first; with ``everything`` those too that do not any more."""
        found: list[PostedQuestion] = []
        unreadable = []
        for key, value in (await values_of(self._client, self._names.questions)).items():
            try:
                found.append(read_posted(value, team=self._settings.team, key=key))
            except BadQuestion as error:
                unreadable.append(str(error))
        chosen = [one for one in found if (everything or one.waits) and node in ("", one.node)]
        return Listed(questions=tuple(sorted(chosen, key=lambda one: one.asked)), unreadable=tuple(unreadable))

    async def find(self, id: str, node: str = "") -> PostedQuestion:
        """Return the question with an id; raise UsageError if there is none, or one on several nodes."""
        everything = (await self.listed(everything=True, node=node)).questions
        found = [one for one in everything if one.id == id]
        if not found:
            of = f" of node {node}" if node else ""
            raise UsageError(f"there is no question {id}{of} in the fleet",
                             hint=nearest(id, [one.id for one in everything])
                             or "`interpose questions --fleet` lists them")  # fmt: skip
        if len(found) > 1:
            nodes = ", ".join(sorted(one.node for one in found))
            raise UsageError(f"{id} waits on several nodes: {nodes}", hint="name one with --node")
        return found[0]

    async def answer(
        self, question: PostedQuestion, key: PrivateKey, *, approved: bool, who: Mapping[str, str],
        reason: str = "", remembered: str = "", tool_input: Any = None, wait: float = 5.0,
    ) -> Given:  # fmt: skip
        """Answer a question, if it has no answer yet, and wait for what its node says.

        Raises UsageError if it cannot be answered. The answer holds for the content that ``question`` has here, and
        for no other.
        """
        if not question.is_intact:
            raise UsageError(f"{question.id} is not what node {question.node} has asked: its content has been changed",
                             hint="answer it on the node itself")  # fmt: skip
        if question.state in ("approved", "refused"):
            return Given(how="other", question=question, other=question.by)
        if not question.waits:
            state = question.state if question.state != "waiting" else "expired"
            raise UsageError(f"{question.id} cannot be answered any more: it was {state}")
        answer = GivenAnswer(
            team=question.team, node=question.node, question=question.id, digest=question.digest,
            state="approved" if approved else "refused", reason=reason[:2000], remembered=remembered, input=tool_input,
            user=who.get("user", "")[:200], terminal=who.get("terminal", "")[:200], host=who.get("host", "")[:200],
            time=time(), key=public_of(key),
        )  # fmt: skip
        stored, signature = sign_answer(answer, key)
        other = await self._write(question, stored)
        return await self._confirmed(question, "" if other is not None else signature, other, wait)

    async def _write(self, question: PostedQuestion, stored: bytes) -> SignedAnswer | None:
        """Write an answer if there is none that counts; return the other one if there is."""
        revision = 0
        for _ in range(10):
            if await write_over(self._client, self._names.answers, question.key, stored, revision):
                return None
            entry = await read_latest(self._client, self._names.answers, question.key)
            if entry is None:
                revision = 0
                continue
            revision = entry.revision
            if entry.value:
                try:
                    known = bool(self._settings.approvers)
                    other = read_answer(entry.value, self._settings, node=question.node, known=known)
                    if (other.answer.question, other.answer.digest) == (question.id, question.digest):
                        return other
                except BadAnswer:
                    continue  # it counts nowhere: this one takes its place
        raise UsageError(f"{question.id}: others write to its place all the time", hint="answer it on the node itself")

    async def _confirmed(
        self, question: PostedQuestion, signature: str, other: SignedAnswer | None, wait: float
    ) -> Given:
        """Wait until the node has said what counts."""
        end, pause = monotonic() + wait, _LOOKS[0]
        while True:
            entry = await read_latest(self._client, self._names.questions, question.key)
            if entry is not None and entry.value:
                try:
                    question = read_posted(entry.value, team=self._settings.team, key=question.key)
                except BadQuestion:
                    pass
            if question.state != "waiting":
                won = bool(signature) and question.signature == signature
                return Given(how="confirmed" if won else "other", question=question, other=question.by)
            if signature and question.ignored[0] == signature:
                return Given(how="ignored", question=question, other=question.ignored[1])
            if monotonic() > end:
                how = "silent" if other is None else "other"
                return Given(how=how, question=question, other="" if other is None else other.who)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LOOKS[1])
