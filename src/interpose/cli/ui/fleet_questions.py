"""The questions of a fleet for the pages: a connection in a thread of its own, and a list that is read again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from ...config.fleet import FleetSettings
from ...errors import InterposeError, UsageError
from ...handlers.nats_client import connect, explain
from ...runtime.tasks import end_tasks
from ...server.pages.elsewhere import QuestionElsewhere

if TYPE_CHECKING:
    from nats.aio.client import Client

    from ...fleet.answers import PostedQuestion
    from ...fleet.approving import Approving
    from ...fleet.keys import PrivateKey

__all__ = ["FleetQuestions"]

_T = TypeVar("_T")
_READ_SECONDS = 1.5
"""Seconds between two reads of the list, as long as a page asks for it."""
_ASKED_SECONDS = 30.0
_PATIENCE = 20.0


class FleetQuestions:
    """Lists and answers the questions of all nodes. Without a key it only lists."""

    def __init__(self, settings: FleetSettings, key: PrivateKey | None) -> None:
        self._settings, self._key = settings, key
        self._found: tuple[PostedQuestion, ...] = ()
        self._problem = "the questions of the fleet were not read yet"
        self._asked = monotonic()
        self._client: Client | None = None
        self._approving: Approving | None = None
        self._first = threading.Event()
        self._connecting = asyncio.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="interpose-fleet", daemon=True)
        self._thread.start()

    # What the pages ask for.

    def listed(self) -> tuple[list[QuestionElsewhere], str]:
        """Return the questions as they were read last, and what is wrong with the list."""
        self._asked = monotonic()
        self._first.wait(2.0)
        return [_shown(one) for one in self._found], self._problem

    def find(self, node: str, id: str) -> QuestionElsewhere | None:
        """Return one question as it is now; raise UsageError if it cannot be read."""
        found = self._wait_for(self._find(node, id))
        return None if found is None else _shown(found)

    def answer(
        self, found: QuestionElsewhere, *, approved: bool, who: Mapping[str, str], remembered: str, reason: str,
        tool_input: Any,
    ) -> tuple[str, str]:  # fmt: skip
        """Answer a question as it was found; raise UsageError if it cannot be answered."""
        said = {"approved": approved, "who": who, "remembered": remembered, "reason": reason, "tool_input": tool_input}
        return self._wait_for(self._answer(found, **said))

    def close(self) -> None:
        """End the connection and the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    # In the thread.

    def _wait_for(self, work: Coroutine[Any, Any, _T]) -> _T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(_PATIENCE)
        except TimeoutError:
            future.cancel()
            raise UsageError("the fleet gives no answer in time", hint="try it again") from None

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        reading = self._loop.create_task(self._read())
        self._loop.run_forever()
        reading.cancel()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        if self._client is not None:
            await self._client.close()
        await end_tasks(asyncio.all_tasks() - {asyncio.current_task()}, patience=2)
        await asyncio.sleep(0)  # a connection that is closed ends in the next round of the loop
        await asyncio.sleep(0)

    async def _read(self) -> None:
        """Read the list again and again."""
        while True:
            try:
                if monotonic() - self._asked < _ASKED_SECONDS:
                    listed = await (await self._fleet()).listed(everything=True)
                    self._found, count = listed.questions, len(listed.unreadable)
                    unread = f"{count} entries of the fleet cannot be read" if count else ""
                    self._problem = "; ".join(part for part in (unread, listed.left_out) if part)
            except InterposeError as error:
                self._problem = str(error)
            except Exception as error:
                self._problem = explain(error)
            self._first.set()
            await asyncio.sleep(_READ_SECONDS)

    async def _fleet(self) -> Approving:
        async with self._connecting:  # pages ask while the list is read: one connection is for all of them
            if self._approving is None:
                from ...fleet.approving import Approving

                self._client = await connect(self._settings.nats, name="interpose ui", forever=True)
                self._approving = Approving(self._client, self._settings)
            return self._approving

    async def _find(self, node: str, id: str) -> PostedQuestion | None:
        listed = await (await self._fleet()).listed(everything=True, node=node)
        return next((one for one in listed.questions if (one.node, one.id) == (node, id)), None)

    async def _answer(self, found: QuestionElsewhere, **said: Any) -> tuple[str, str]:
        if self._key is None:
            raise UsageError("these pages have no key to sign an answer with", hint="interpose ui --fleet --key FILE")
        question = await self._find(found.node, found.question.id)
        if question is None or question.digest != found.question.digest:
            raise UsageError("the question is not the one that was shown any more", hint="read it again")
        given = await (await self._fleet()).answer(question, self._key, **said)
        return given.how, given.other


def _shown(one: PostedQuestion) -> QuestionElsewhere:
    state = "expired" if one.state == "waiting" and not one.waits else one.state
    return QuestionElsewhere(
        node=one.node, question=one.question, state=state, left=one.left, intact=one.is_intact, by=one.by,
        reason=one.reason, ignored=one.ignored[1],
    )  # fmt: skip
