"""Run Python callables in worker processes, so that one that hangs can be killed and a crash does not end the host.

A worker is started and ended like any command, and kept for the next event. A worker that does not answer is killed
with all it has started, and the next event gets a new one.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from ..errors import BadHook
from ..event import Event
from ..model import Hook, Injection
from ..replies import Failure, HookFailed, Reply
from ..runtime.coroutines import drive
from ..runtime.faults import type_name
from ..runtime.forks import after_fork
from ..runtime.held_signals import HeldSignals
from ..strict_json import LONGEST, BadJson, decode
from . import hold_to_trust
from ._command_run import GRACE, ProcessHandle
from ._environment import trace_variables
from ._process import Start
from ._runner import starters
from ._watch import LoopWatch, PollWatch, Watch
from .python import ModulePlace

__all__ = ["IsolatedHandler"]

_PROGRAM = str(Path(__file__).with_name("_worker.py"))
_MOST_IDLE = 4
_LONGEST_ANSWER = 16 * 1024 * 1024


class _WorkerPool:
    """A callable, and the idle worker processes for it."""

    def __init__(self, handler: Any, where: ModulePlace) -> None:
        self.setup = _setup(handler, where)
        self._idle: list[_WorkerProcess] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._idle)
        after_fork(self.forget)

    def take(self) -> _WorkerProcess:
        """Return an idle worker, or a new one."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.pid == os.getpid():
                    return worker
        return _WorkerProcess(self.setup)

    def give_back(self, worker: _WorkerProcess) -> None:
        """Keep a worker that has answered; kill one that has not."""
        with self._lock:
            if worker.fit and len(self._idle) < _MOST_IDLE:
                self._idle.append(worker)
                return
        worker.close()

    def forget(self) -> None:
        """Reset after a fork: the workers belong to the parent."""
        self._lock = threading.Lock()
        for worker in self._idle:
            worker.forget()
        self._idle.clear()


def _close_all(workers: list[_WorkerProcess]) -> None:
    for worker in workers:
        worker.close()
    workers.clear()


def _setup(handler: Any, where: ModulePlace) -> dict[str, Any]:
    """Return how a worker finds the callable; raise BadHook if another process cannot find it."""
    if isinstance(handler, str):
        return {"path": handler, "directory": where.directory, "first": where.first, "main": ""}
    module, name = getattr(handler, "__module__", None), getattr(handler, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        raise BadHook("isolate: another process cannot find this callable", hint="use a function of a module")
    main = ""
    if module == "__main__":
        main = getattr(sys.modules["__main__"], "__file__", None) or ""
        if not os.path.isfile(main):
            raise BadHook("isolate: another process cannot find a function of an interactive session",
                          hint="put it into a module")  # fmt: skip
        main = os.path.abspath(main)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not handler:
        raise BadHook(f"isolate: {module}.{name} is another object than this one", hint="use a function of a module")
    return {"path": "", "directory": "", "main": main, "module": module, "name": name}


class _WorkerProcess:
    """A worker process and the two pipes to it."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.pid = os.getpid()
        self.fit = False
        self.rows: set[str] = set()
        self._setup = setup
        self.running: ProcessHandle | None = None
        self.requests = self.answers = -1

    def begin(self, starter: Callable[[list[int]], ProcessHandle]) -> bytes:
        """Start the process; return the first bytes to send to it."""
        theirs: list[int] = []
        try:
            self._open_pipes(theirs)
            self.running = starter([*theirs, 2])
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return _framed({**self._setup, "sys_path": sys.path})

    def _open_pipes(self, theirs: list[int]) -> None:
        try:
            reader, self.requests = os.pipe()
            theirs.append(reader)
            self.answers, writer = os.pipe()
            theirs.append(writer)
        except OSError as error:
            raise HookFailed("spawn_resource", f"no pipe can be made: {error.strerror}") from None
        os.set_blocking(self.requests, False)
        os.set_blocking(self.answers, False)

    def close(self) -> None:
        """Kill the process with all it has started."""
        self.forget()
        if self.running is not None:
            self.running.close()

    def forget(self) -> None:
        """Let go of our ends of the pipes."""
        for descriptor in (self.requests, self.answers):
            if descriptor >= 0:
                os.close(descriptor)
        self.requests = self.answers = -1


def _framed(value: Any) -> bytes:
    data = pickle.dumps(value)
    return len(data).to_bytes(4, "little") + data


def _pickled(event: Event) -> bytes:
    """Return the fields of an event, apart from the rest of a request: a worker that cannot read them answers so."""
    try:
        data = pickle.dumps(dict(event))
    except Exception as error:  # whatever the event is made of
        raise HookFailed("payload", f"the input cannot be sent to a worker: {type_name(error)}") from None
    if len(data) > LONGEST:
        raise HookFailed("payload_too_big", f"the input has {len(data)} bytes, more than {LONGEST}")
    return data


class _Exchange:
    """One event and its answer: told of readable pipes and of time, like a run."""

    def __init__(self, worker: _WorkerProcess, watch: Watch, event: Event, deadline: float) -> None:
        self.worker, self._watch, self._deadline = worker, watch, deadline
        self._event = event
        self._received = b""
        self._sending = memoryview(b"")
        self.failure: Failure | None = None
        self.answer: bytes | None = None
        self.over = False

    def begin(self) -> None:
        """Send the event, starting the worker first if need be."""
        worker, row = self.worker, self._event.row
        request: dict[str, Any] = {"event": row.name, "fields": _pickled(self._event)}
        if row.name not in worker.rows:
            request["row"] = {row.name: row}
        if trace := trace_variables():
            request["trace"] = trace
        data = _framed(request)
        worker.rows.add(row.name)
        if worker.running is None:
            data = worker.begin(_starter()) + data
        worker.fit = False
        self._sending = memoryview(data)
        self._watch.on_readable(worker.answers, self._readable)
        self._watch.at(self._deadline, self._late)
        self._writable()
        if self._sending and not self.over:
            self._watch.on_writable(worker.requests, self._writable)

    def _writable(self) -> None:
        try:
            self._sending = self._sending[os.write(self.worker.requests, self._sending) :]
        except BlockingIOError:
            return
        except OSError:
            self._crashed()
            return
        if not self._sending:
            self._watch.forget(self.worker.requests)

    def _readable(self) -> None:
        try:
            data = os.read(self.worker.answers, 65536)
        except BlockingIOError:
            return
        if not data:
            self._watch.forget(self.worker.answers)
            self._crashed()
            return
        self._received += data
        size = int.from_bytes(self._received[:4], "little") + 4
        if size > _LONGEST_ANSWER:
            self._fail(Failure("bad_reply", "its answer is too long"))
        elif len(self._received) >= max(size, 4):
            self.answer = self._received[4:size]
            self.worker.fit = len(self._received) == size
            self._done()

    def _on_update(self) -> None:
        running = _running(self.worker)
        running.update()
        if self.failure is not None:
            if running.ended:
                self._done()
            elif running.exited:
                running.kill()
        elif running.failure is not None:
            self._fail(running.failure)
        elif running.exited and not self.over:
            status = running.status
            how = f"signal:{-status}" if status < 0 else f"status {status}"
            self._fail(Failure("hook_crash", f"its process ended ({how})"))

    def _crashed(self) -> None:
        """The pipe is closed; the exit status of the process follows."""
        self._watch.on_readable(_running(self.worker).fileno(), self._on_update)
        self._watch.at(monotonic() + GRACE, lambda: self._fail(Failure("hook_crash", "its process ended")))

    def _late(self) -> None:
        self._fail(Failure("timeout", "its process was ended"))

    def _fail(self, failure: Failure) -> None:
        """Note why there is no answer, and kill the worker with all it has started before returning."""
        if self.over or self.failure is not None:
            return
        self.failure = failure
        running = _running(self.worker)
        if not running.ended:
            running.kill()
        if running.ended:
            self._done()
        else:
            self._watch.forget(self.worker.answers)
            self._watch.on_readable(running.fileno(), self._on_update)
            self._watch.at(monotonic() + GRACE, self._done)

    def _done(self) -> None:
        if not self.over:
            self.close()
            self._watch.done()

    def close(self) -> None:
        """Stop watching."""
        if not self.over:
            self.over = True
            for descriptor in (self.worker.requests, self.worker.answers):
                if descriptor >= 0:
                    self._watch.forget(descriptor)
            if self.worker.running is not None:
                self._watch.forget(self.worker.running.fileno())


def _running(worker: _WorkerProcess) -> ProcessHandle:
    if worker.running is None:
        raise HookFailed("spawn_resource", "the worker was not started")
    return worker.running


class IsolatedHandler:
    """Runs the callable of a hook in a worker process."""

    ends_itself = True
    only_reads = True

    def __init__(self, function: Any, where: ModulePlace) -> None:
        self._isolated = _WorkerPool(function, where)

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Any:
        """Run it while the event loop goes on."""
        import asyncio

        watch = LoopWatch(asyncio.get_running_loop())

        async def wait() -> None:
            await watch.finished

        hold_to_trust(hook.binding.seal)
        return await self._run(event, deadline, watch, wait)

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Any:
        """Run it while the calling thread waits."""
        with HeldSignals() as signals:
            watch = PollWatch(signals)

            async def wait() -> None:
                watch.wait()

            hold_to_trust(hook.binding.seal)
            return drive(self._run(event, deadline, watch, wait))

    async def _run(self, event: Event, deadline: float, watch: Watch, wait: Callable[[], Any]) -> Any:
        isolated = self._isolated
        worker = isolated.take()
        exchange = _Exchange(worker, watch, event, deadline)
        try:
            exchange.begin()
            if not exchange.over:
                await wait()
        finally:
            exchange.close()
            isolated.give_back(worker)
        if exchange.failure is not None:
            return exchange.failure
        return _read(exchange.answer or b"")


def _starter() -> Callable[[list[int]], ProcessHandle]:
    start = Start(sys.executable, [sys.executable, _PROGRAM], dict(os.environb))
    return starters(None, start)[0]


def _read(data: bytes) -> Any:
    """Return the callable's answer as the native dialect reads it."""
    try:
        said = decode(data)
    except BadJson as error:
        return Failure("bad_reply", f"the worker's answer is not JSON: {error}")
    if "failed" in said:
        code, text, trace = said["failed"]
        return Failure(code, text, trace=trace)
    if "other" in said:
        return Failure("bad_reply", f"returned {said['other']}, which is not an answer")
    if "reply" not in said:
        return said.get("answer")
    reply = said["reply"]
    for name in reply.keys() & {"context", "messages", "ignored"}:
        reply[name] = tuple(reply[name])
    if "inject" in reply:
        reply["inject"] = tuple(Injection(**item) for item in reply["inject"])
    return Reply(**reply)
