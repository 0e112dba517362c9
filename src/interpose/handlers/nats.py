"""Workers elsewhere as hooks: the event is a request to a subject of NATS, and the reply of a worker is the answer.

A subject is served by a queue group: one of its workers gets each request. No worker is a failure at once. A worker
that does not answer within half of the time is taken for hung, and the same request is sent once more, with the same
id; the first answer counts. A hook with ``once`` is never sent twice.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..event import Event
from ..ids import new_id
from ..model import Hook
from ..records import Record
from ..replies import Ended, Failure, HookFailed
from ..runtime.held_signals import HeldSignals
from ..runtime.regex import regex
from . import depth, hold_to_trust
from ._encoded import check_text, encoded_event
from ._environment import trace_variables
from ._watch import wait_until
from .nats_client import NatsOptions
from .nats_names import FAILURE_HEADER, WORKER_HEADER

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ._nats_pool import NatsAnswer, NatsPool

__all__ = ["LARGEST_ANSWER", "NatsHandler", "NatsService", "nats_service_of"]

LARGEST_ANSWER = 1024 * 1024
"""How many bytes an answer may have: as many as the standard output of a command."""
_ERROR_CODE, _ERROR = "Nats-Service-Error-Code", "Nats-Service-Error"
_SENDABLE = regex(r"[\x20-\x7e]{1,1000}")
_MARKS = {"Interpose-Doctor": "INTERPOSE_DOCTOR", "Interpose-Replay": "INTERPOSE_REPLAY"}
_CODES = {"unloadable": "nats_worker_unloadable", "misstated": "nats_worker_misstated", "late": "timeout",
          "unasked": "nats_worker_unasked", "broken": "nats_worker_failed"}  # fmt: skip
"""What the failure of a worker's function is here, by the line of the failure table that it belongs to there."""


class NatsService(Record):
    """The workers that a hook asks, as declared."""

    subject: str
    nats: NatsOptions | None = None
    """Where NATS is; None if no configuration says so."""
    dialect: str
    write: Callable[[Event], Mapping[str, Any]]
    """Writes an event in the hook's dialect."""

    _hidden = frozenset({"nats", "write"})

    @property
    def identity(self) -> tuple[object, ...]:
        """What two hooks that do the same have in common."""
        return self.subject, self.nats


def nats_service_of(hook: Hook) -> NatsService | None:
    """Return the workers that a hook asks; None if it runs something else."""
    target = hook.binding.target
    return target if isinstance(target, NatsService) else None


class NatsHandler:
    """Asks the workers of a hook, and returns the answer as a command's end."""

    ends_itself = True
    only_reads = True

    def __init__(self) -> None:
        self._pool: NatsPool | None = None

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Ask while the current event loop goes on."""
        import asyncio

        asked = _Asked(hook, event)
        try:
            call = self._begin(asked, deadline)
        except HookFailed as error:
            return asked.ended(error.failure)
        waiting = asyncio.wrap_future(call)
        try:
            await asyncio.wait({waiting}, timeout=max(0.0, deadline - monotonic()))
        finally:
            if not waiting.done():
                waiting.cancel()  # and with it the request
            elif not waiting.cancelled():
                waiting.exception()  # it is read from the call
        return asked.read(call)

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Ask while the calling thread waits."""
        asked = _Asked(hook, event)
        with HeldSignals() as signals:
            try:
                call = self._begin(asked, deadline)
            except HookFailed as error:
                return asked.ended(error.failure)
            wait_until(deadline, call, signals)
            return asked.read(call)

    def close(self) -> None:
        """Close the connections that are kept; a later event makes new ones."""
        if self._pool is not None:
            self._pool.close()

    def _begin(self, asked: _Asked, deadline: float) -> Future[NatsAnswer]:
        from ._nats_pool import NatsPool, NatsRequest

        hook, event, service = asked.hook, asked.event, asked.service
        hold_to_trust(hook.binding.seal)
        if service.nats is None:
            raise HookFailed("nats_no_fleet", "no fleet is configured, whose NATS it could ask (fleet: in your own "
                             "configuration, or in the file that is named)")  # fmt: skip
        data = encoded_event(event, service.dialect, service.write)
        check_text(hook, data)
        request = NatsRequest(
            subject=service.subject, headers=_headers(asked), data=data, deadline=deadline, hedged=not hook.once
        )
        if self._pool is None:
            self._pool = NatsPool()
            weakref.finalize(self, self._pool.close)
        return self._pool.ask(service.nats, request)


class _Asked:
    """One event for one hook: what is sent, and how the answer is read."""

    def __init__(self, hook: Hook, event: Event) -> None:
        service = nats_service_of(hook)
        if service is None:
            raise TypeError(f"{hook.label} has no subject")
        self.hook, self.event, self.service = hook, event, service
        self.request = new_id()
        self.evidence: dict[str, Any] = {"hook": hook.label, "subject": service.subject, "request": self.request}
        if service.dialect != "native":
            self.evidence["tool_name"] = event.get("tool_name", "")

    def read(self, call: Future[NatsAnswer]) -> Ended:
        """Return the answer to a request that has ended, or was given up."""
        if call.cancelled() or not call.done():
            return self.ended(Failure("timeout", f"no worker of {self.service.subject} has answered"))
        try:
            answer = call.result()
        except HookFailed as error:
            return self.ended(error.failure)
        self.evidence |= {"hedged": answer.hedged, "reused": answer.reused}
        if worker := answer.headers.get(WORKER_HEADER, ""):
            self.evidence["worker"] = worker[:100]
        if len(answer.data) > LARGEST_ANSWER:
            failure = Failure("nats_answer_too_large", f"the answer has more than {LARGEST_ANSWER:,} bytes")
            return self.ended(failure, answer.data[:LARGEST_ANSWER])
        return self.ended(_failure_of(answer), answer.data)

    def ended(self, failure: Failure | None, stdout: bytes = b"") -> Ended:
        """Return how it ended, with what is known about it."""
        if failure is not None:
            failure = Failure(failure.code, failure.text, trace=failure.trace, evidence=self.evidence)
        return Ended(stdout=stdout, failure=failure, evidence=self.evidence, only_json=True)


def _headers(asked: _Asked) -> dict[str, str]:
    sent = {"Interpose-Event": asked.hook.event, "Interpose-Dialect": asked.service.dialect,
            "Interpose-Request": asked.request, "Interpose-Depth": str(depth.get())}  # fmt: skip
    sent |= {name.lower(): value for name, value in trace_variables().items()}
    sent |= {name: "1" for name, variable in _MARKS.items() if os.environ.get(variable) == "1"}
    return {name: value for name, value in sent.items() if _SENDABLE.fullmatch(value)}


def _failure_of(answer: NatsAnswer) -> Failure | None:
    """Return the failure that a worker reports; None if it has answered."""
    code, what = answer.headers.get(_ERROR_CODE, ""), answer.headers.get(_ERROR, "")
    own = answer.headers.get(FAILURE_HEADER, "")
    if not code and not own:
        return None
    kind = Failure(own, "").kind if own else "broken"
    said = " ".join(f"{own or code}: {what}".split())[:1000]
    return Failure(_CODES[kind], f"the worker's function failed: {said}")
