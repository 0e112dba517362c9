"""Questions of all nodes, for those who answer them: list them, answer one, and wait until its node has the answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from ..config.fleet import TOKEN, FleetSettings
from ..errors import UsageError, nearest
from ..records import Record, replace
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
_MOST_OF_NODE = 200
"""Questions of one node that wait and are listed with those of all nodes: as many as a store lets wait."""


class Listed(Record):
    """The questions of a fleet, and what is there and cannot be read."""

    questions: tuple[PostedQuestion, ...]
    unreadable: tuple[str, ...] = ()
    left_out: str = ""
    """Which questions are not in the list although they are there; empty if it is whole."""


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
        questions, unreadable, left_out = await self._read(node)
        chosen = sorted((one for one in questions if everything or one.waits), key=lambda one: one.asked)
        if not node:
            chosen, crowded = _of_every_node(chosen)
            left_out = "; ".join(part for part in (left_out, *crowded) if part)
        return Listed(questions=tuple(chosen), unreadable=tuple(unreadable), left_out=left_out)

    async def _read(self, node: str) -> tuple[list[PostedQuestion], list[str], str]:
        """Return the questions of all nodes or of one, what cannot be read, and what was not read."""
        if node and TOKEN.fullmatch(node) is None:
            raise UsageError(
                f"{node[:80]!a} is not the name of a node", hint="`interpose fleet status` lists the nodes"
            )
        found: list[PostedQuestion] = []
        unreadable = []
        values, whole = await values_of(self._client, self._names.questions, node)
        for key, stored in values.items():
            try:
                found.append(read_posted(stored.value, team=self._settings.team, key=key))
            except BadQuestion as error:
                unreadable.append(str(error))
        [(most, count)] = Counter(key.partition(".")[0] for key in values).most_common(1) or [("", 0)]
        said = (
            f"there are more entries than {len(values):,}, of which node {most} has {count:,}: name a node with --node"
        )
        return found, unreadable, "" if whole else said

    async def find(self, id: str, node: str = "") -> PostedQuestion:
        """Return the question with an id; raise UsageError if there is none, or one on several nodes."""
        everything, _, _ = await self._read(node)
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
                    is_same = (other.answer.question, other.answer.digest) == (question.id, question.digest)
                    if is_same and other.signature != question.ignored[0]:  # the node knows who counts
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
                    said = read_posted(entry.value, team=self._settings.team, key=question.key)
                    question = replace(said, text=question.text)  # what was signed stays what is shown
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


def _of_every_node(questions: Sequence[PostedQuestion]) -> tuple[list[PostedQuestion], list[str]]:
    """Return questions, of each node so many that wait and no more, and what is left out: no node hides the others."""
    counts: Counter[str] = Counter()
    chosen = []
    for one in questions:
        counts[one.node] += one.waits
        if not one.waits or counts[one.node] <= _MOST_OF_NODE:
            chosen.append(one)
    return chosen, [f"node {node} has {count - _MOST_OF_NODE:,} more questions: --node {node} lists them"
                    for node, count in counts.items() if count > _MOST_OF_NODE]  # fmt: skip
