"""A team whose questions are answered elsewhere: a node in this process, people with keys, and a real server."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from tests.asking import Asking

from interpose import AuditStore, Question, Questions
from interpose.config.fleet import FleetSettings
from interpose.fleet.answers import GivenAnswer, PostedQuestion, sign_answer
from interpose.fleet.approving import Approving
from interpose.fleet.buckets import read_latest
from interpose.fleet.keys import PrivateKey, load_private, make_key, public_of
from interpose.fleet.node import Node
from interpose.fleet.questions import carry_questions
from interpose.fleet.setup import create_all
from interpose.handlers.nats_client import NatsOptions, connect
from interpose.records import replace
from interpose.runtime.tasks import end_tasks

CALL = Question(
    tool_name="Bash", tool_input={"command": "git push"}, reason="a push?", session_id="s1", agent_id="main", hook="guard"
)  # fmt: skip
WHO = {"user": "ann", "terminal": "/dev/pts/7", "host": "desk"}


async def eventually(holds: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Return what a function returns once it is true."""
    async with asyncio.timeout(seconds):
        while not (found := holds()):  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0.02)
    return found


class QuestionTeam:
    """A team with two approvers, alice and bob, and the node one."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.alice, self.bob, self.mallory = (self._key(name) for name in ("alice", "bob", "mallory"))
        self.settings = FleetSettings(
            nats=NatsOptions(servers=(url,)), team="payments", node="one",
            approvers=(("alice", public_of(self.alice)), ("bob", public_of(self.bob))),
        )  # fmt: skip
        self.store_path = folder / "audit.db"

    def _key(self, name: str) -> PrivateKey:
        path = self.folder / f"{name}.key"
        make_key(str(path))
        return load_private(str(path))

    @contextlib.asynccontextmanager
    async def fleet(self, **changed: Any) -> AsyncIterator[Approving]:
        """What a person who answers has: a connection."""
        client = await connect(self.settings.nats, name="person")
        try:
            await create_all(client, self.settings)
            yield Approving(client, replace(self.settings, **changed))
        finally:
            await client.close()

    @contextlib.asynccontextmanager
    async def node(self, **changed: Any) -> AsyncIterator[Node]:
        """A node that carries questions while this is open."""
        settings = replace(self.settings, **changed)
        folder = self.folder / "nodes" / settings.node
        folder.mkdir(parents=True, exist_ok=True)
        client = await connect(settings.nats, name="node", forever=True)
        await create_all(client, settings)
        node = Node(settings, client, str(folder))
        task = asyncio.create_task(carry_questions(node))
        try:
            yield node
            assert not task.done() or task.cancelled() or task.exception() is None
        finally:
            await end_tasks([task])
            await client.close()

    @contextlib.contextmanager
    def store(self) -> Any:
        store = AuditStore(self.store_path)
        try:
            yield store
        finally:
            store.close()

    def ask(self, store: AuditStore, *, wait: float = 60.0, question: Question = CALL) -> Asking:
        return Asking(Questions(store, wait=wait), question)

    async def posted(self, fleet: Approving) -> PostedQuestion:
        """The question that waits, once it is posted."""
        async with asyncio.timeout(30):
            while not (found := (await fleet.listed()).questions):  # noqa: ASYNC110 - it happens elsewhere
                await asyncio.sleep(0.02)
        return found[0]

    def answer(self, question: PostedQuestion, key: PrivateKey, /, **changed: Any) -> bytes:
        """A signed answer that approves a question, with some parts changed before it is signed."""
        made = GivenAnswer(team=question.team, node=question.node, question=question.id, digest=question.digest,
                      state="approved", time=1.0, key=public_of(key), user="ann", host="desk")  # fmt: skip
        return sign_answer(replace(made, **changed), key)[0]

    async def put_answer(self, question: PostedQuestion, stored: bytes, key: str = "") -> None:
        """Write an answer to the bucket, whatever is there."""
        client = await connect(self.settings.nats, name="writer")
        try:
            bucket = f"interpose_{self.settings.team}_answers"
            await client.jetstream().publish(f"$KV.{bucket}.{key or question.key}", stored)
        finally:
            await client.close()

    async def stored_question(self, key: str) -> dict[str, Any]:
        client = await connect(self.settings.nats, name="reader")
        try:
            entry = await read_latest(client, f"interpose_{self.settings.team}_questions", key)
        finally:
            await client.close()
        assert entry is not None
        found: dict[str, Any] = json.loads(entry.value or b"{}")
        return found
