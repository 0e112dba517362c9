"""One function that a worker serves: a request in, a reply or a failure out, through the engine.

The function runs as the only hook of an engine, so that deadlines, failures and replies mean what they mean elsewhere.
A failure comes back as an error with its code, never as an allow and never as silence. A request that comes twice, by
its id, runs once, and both get the answer.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import monotonic, perf_counter_ns
from typing import Any

from ..dialects.reply import reply_body
from ..errors import InterposeError
from ..events import TABLE, EventSpec
from ..handlers import depth
from ..handlers.nats_names import FAILURE_HEADER
from ..handlers.python import LazyFunction, ModulePlace, is_async
from ..hooks import Hooks
from ..model import Hook, Outcome
from ..records import Record
from ..replies import HookFailed, clean
from ..runtime.faults import said
from ..strict_json import BadJson, decode, encode

__all__ = ["Counts", "Response", "ServedFunction", "load_function"]

_DEFAULT_DEADLINE = 30.0
_LONGEST_DEADLINE = 3600.0
_MARGIN = 0.95
"""The part of the asker's time that the function gets: its failure has to arrive in the rest."""
_MOST_ENGINES = 200
_KEPT_SECONDS = 120.0
_KEPT_BYTES = 16 * 1024 * 1024
_KEPT_COUNT = 10_000
_ADDED = ("hook_event_name", "hook_type", "timestamp", "protocol", "tool_output", "async_phase")
"""Fields that the asker's engine adds, and the engine here adds again."""


class Response(Record):
    """What is sent back: data, and headers that say what failed."""

    data: bytes = b""
    headers: Mapping[str, str]

    @property
    def failed(self) -> bool:
        """Whether it is a failure."""
        return FAILURE_HEADER in self.headers


class Counts:
    """What a function did since the worker started."""

    def __init__(self) -> None:
        self.requests = self.errors = self.nanoseconds = self.repeated = 0
        self.last_error = ""


def load_function(path: str, directory: str) -> Callable[[Any], Any]:
    """Import ``module:function`` and return it as a hook; raise HookFailed or BadHook if that cannot be."""
    lazy = LazyFunction(path, ModulePlace(directory))
    call = lazy.load()
    if not lazy.awaits or is_async(call):
        return call

    async def awaited(event: Any) -> Any:
        return await call(event)

    return awaited


class ServedFunction:
    """A function, its engines, and the answers that it gave lately."""

    def __init__(self, name: str, subject: str, function: Callable[[Any], Any], slots: asyncio.Semaphore) -> None:
        self.name, self.subject = name, subject
        self.counts = Counts()
        self._function, self._slots = function, slots
        self._engines: OrderedDict[float, tuple[Hooks, dict[str, Hook]]] = OrderedDict()
        self._answers: OrderedDict[bytes, tuple[float, asyncio.Task[Response]]] = OrderedDict()
        self._bytes = 0

    async def respond(self, data: bytes, headers: Mapping[str, str]) -> Response:
        """Return the response to a request; it never raises."""
        began = perf_counter_ns()
        self.counts.requests += 1
        key = self._key(data, headers)
        known = self._answers.get(key) if key else None
        if known is not None:
            self.counts.repeated += 1
            task = known[1]
        else:
            task = asyncio.ensure_future(self._run(data, headers))
            if key:
                self._remember(key, task)
        response = await asyncio.shield(task)
        self.counts.nanoseconds += perf_counter_ns() - began
        if response.failed:
            self.counts.errors += 1
            self.counts.last_error = response.headers.get("Nats-Service-Error", "")
        return response

    # Requests that come twice.

    @staticmethod
    def _key(data: bytes, headers: Mapping[str, str]) -> bytes:
        """Return what two copies of one request have in common: their id and their content."""
        request = headers.get("Interpose-Request", "")
        return hashlib.sha256(request.encode("utf-8", "replace") + b"\0" + data).digest() if request else b""

    def _remember(self, key: bytes, task: asyncio.Task[Response]) -> None:
        self._answers[key] = (monotonic(), task)
        task.add_done_callback(self._forget_oldest)

    def _forget_oldest(self, task: asyncio.Task[Response]) -> None:
        self._bytes += len(task.result().data)
        while self._answers:
            key, (began, oldest) = next(iter(self._answers.items()))
            fits = self._bytes <= _KEPT_BYTES and len(self._answers) <= _KEPT_COUNT
            if not oldest.done() or (fits and monotonic() - began < _KEPT_SECONDS):
                return
            del self._answers[key]
            self._bytes -= len(oldest.result().data)

    # One run.

    async def _run(self, data: bytes, headers: Mapping[str, str]) -> Response:
        try:
            deadline = monotonic() + _seconds(headers.get("Interpose-Deadline", "")) * _MARGIN
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + deadline - monotonic()):
                    await self._slots.acquire()
            except TimeoutError:
                return failure("timeout", "its turn did not come in time: the worker is busy")
            try:
                return await self._fire(data, headers, deadline)
            finally:
                self._slots.release()
        except HookFailed as error:
            return failure(error.failure.code, error.failure.text)
        except InterposeError as error:
            return failure("bad_input", str(error))
        except Exception as error:  # a mistake of ours must not be silence
            return failure("hook_crash", f"the worker failed: {said(error)}")

    async def _fire(self, data: bytes, headers: Mapping[str, str], deadline: float) -> Response:
        row, fields = _event(data, headers)
        hooks, hook = self._engine(row, deadline - monotonic())
        level = headers.get("Interpose-Depth", "")
        if level.isascii() and level.isdigit() and len(level) < 9:
            depth.set(max(depth.get(), int(level)))
        outcome = await hooks.fire(row.name, **dict(fields))
        [result] = outcome.results
        if result.status != "ok" or result.error is not None:
            hook.health.failures = 0  # the asker has a breaker of its own; one node must not open it for another
            code = result.error.code if result.error is not None else "hook_crash"
            return failure(code, str(result.error or result.status))
        dialect = "claude" if headers.get("Interpose-Dialect") == "claude" else "native"
        return Response(data=encode(_body(dialect, outcome, fields)), headers={})

    def _engine(self, row: EventSpec, left: float) -> tuple[Hooks, Hook]:
        """Return an engine whose deadline is at most what is left; engines are kept for the next request."""
        timeout = _rounded(max(0.01, left))
        found = self._engines.get(timeout)
        if found is None:
            found = self._engines[timeout] = Hooks(), {}
            if len(self._engines) > _MOST_ENGINES:
                self._engines.popitem(last=False)
        self._engines.move_to_end(timeout)
        hooks, known = found
        if row.name not in known:
            known[row.name] = hooks.register(row.name, self._function, name=self.name, timeout=timeout)
        return hooks, known[row.name]


def failure(code: str, text: str) -> Response:
    """Return a failure as a service of NATS reports one, with the code of the engine."""
    shown = " ".join(clean(text).split()).encode("ascii", "backslashreplace").decode()[:500] or code
    safe = "".join(letter for letter in code if letter.isalnum() or letter in "_:") or "hook_crash"
    return Response(headers={"Nats-Service-Error-Code": "500", "Nats-Service-Error": shown, FAILURE_HEADER: safe})


def _body(dialect: str, outcome: Outcome, fields: Mapping[str, Any]) -> dict[str, Any]:
    body = reply_body(dialect, outcome, fields)
    if dialect == "native" and outcome.ignored:
        wishes = [str(one.wish) for one in outcome.ignored]
        body["extra"] = {**body.get("extra", {}), "ignored_by_worker": wishes}
    return body


def _event(data: bytes, headers: Mapping[str, str]) -> tuple[EventSpec, dict[str, Any]]:
    """Return the row of an event and its fields; raise HookFailed if a request is none."""
    try:
        fields = decode(data)
    except BadJson as error:
        raise HookFailed("bad_input", f"the request is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise HookFailed("bad_input", "the request is not a JSON object")
    name = headers.get("Interpose-Event") or fields.get("hook_event_name")
    if not isinstance(name, str):
        raise HookFailed("bad_input", "the request names no event (Interpose-Event)")
    row, _ = TABLE.find(name)
    kept = {key: value for key, value in fields.items() if key in row.known or key not in _ADDED}
    kept.pop("hook_event_name", None)
    if kept.get("agent_id", "") is None:
        del kept["agent_id"]
    return row, kept


def _seconds(milliseconds: str) -> float:
    if not (milliseconds.isascii() and milliseconds.isdigit() and len(milliseconds) < 12):
        return _DEFAULT_DEADLINE
    return min(int(milliseconds) / 1000, _LONGEST_DEADLINE)


def _rounded(seconds: float) -> float:
    """Return a time with two digits, rounded down, so that few engines are needed."""
    unit = 0.001
    while seconds >= unit * 100:
        unit *= 10
    return max(0.01, int(seconds / unit) * unit)
