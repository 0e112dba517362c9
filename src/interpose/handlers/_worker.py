"""The program of a worker process, which runs one Python callable for one event after the other.

Requests are pickled, since the host is trusted; answers are JSON, since the hook is not. Standard output is moved
first, so that a hook that prints does not disturb the answers.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

__all__ = ["main"]

_TRACE = ("TRACEPARENT", "TRACESTATE")
"""The variables that name the span of an event."""


def main() -> None:
    """Serve until the host closes the connection."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    setup = _receive(requests)
    if setup is None:
        return
    sys.path[:] = setup["sys_path"]
    worker = CallableWorker(setup)
    while (request := _receive(requests)) is not None:
        data = worker.answer(request)
        data = len(data).to_bytes(4, "little") + data
        while data:
            data = data[answers.write(data) :]


def _receive(requests: BinaryIO) -> Any:
    header = requests.read(4)
    if len(header) < 4:
        return None
    return pickle.loads(requests.read(int.from_bytes(header, "little")))  # noqa: S301 - our host has written it


class CallableWorker:
    """Calls one callable. The package is imported after sys.path is set."""

    def __init__(self, setup: dict[str, Any]) -> None:
        from interpose import event, replies, strict_json
        from interpose.runtime import faults

        self._setup = setup
        self._faults, self._event, self._replies, self._json = faults, event, replies, strict_json
        self._rows: dict[str, Any] = {}
        self._call: Any = None
        self._silence: bytes = strict_json.encode({})
        self._inherited = {name: os.environ[name] for name in _TRACE if name in os.environ}
        self._plain = tuple(replies.Reply._parts.keys() - {"inject", "continue_", "problem"})

    def answer(self, request: dict[str, Any]) -> bytes:
        """Call the callable for one event; return the answer or the failure as bytes."""
        try:
            if self._call is None:
                self._call = self._load()
            if "row" in request:
                self._rows.update(request["row"])
            for name in _TRACE:
                os.environ.pop(name, None)  # of the event before
            os.environ.update(request.get("trace", self._inherited))
            said = self._said(self._value(request))
        except BaseException as error:
            said = self._failed(error)
        if not said:
            return self._silence
        try:
            return self._json.encode(said)
        except self._json.Unencodable as error:
            why = f"its answer cannot be sent to the host: {error}"
            return self._json.encode({"failed": ["bad_reply", why, ""]})

    def _value(self, request: dict[str, Any]) -> Any:
        try:
            fields = pickle.loads(request["fields"])  # noqa: S301 - see above
        except Exception as error:  # a class of the host that is not found here
            why = f"the input cannot be read by a worker: {self._faults.type_name(error)}"
            raise self._replies.HookFailed("payload", why) from None
        event = self._event.event_of(self._rows[request["event"]], fields)
        value = self._call(event)
        if value is None or not self._faults.is_awaitable(value):
            return value
        import asyncio

        async def wait() -> Any:
            return await value

        return asyncio.run(wait())

    def _said(self, value: Any) -> dict[str, Any]:
        if value is None:
            return {}
        if isinstance(value, self._replies.Reply):
            # Empty parts are not sent.
            said = {name: part for name in self._plain if (part := getattr(value, name))}
            if value.inject:
                said["inject"] = [item.to_dict() for item in value.inject]
            if value.continue_ is not None:
                said["continue_"] = value.continue_
            return {"reply": said}
        if isinstance(value, dict) and all(isinstance(key, str) for key in dict.keys(value)):
            return {"answer": value}
        return {"other": self._faults.type_name(value)}

    def _load(self) -> Any:
        from interpose.errors import BadHook
        from interpose.handlers.python import LazyFunction, ModulePlace, unified

        setup = self._setup
        if setup["path"]:
            return LazyFunction(setup["path"], ModulePlace(setup["directory"], setup["first"]))
        try:
            found = _module(setup)
            for part in setup["name"].split("."):
                found = getattr(found, part)
        except BaseException as error:
            why = f"cannot import {setup['name']}: {self._replies.describe(error).text}"
            raise self._replies.HookFailed("import_failed", why) from error
        try:
            return unified(found, setup["name"])
        except BadHook as error:
            raise self._replies.HookFailed("bad_handler", str(error)) from None

    def _failed(self, error: BaseException) -> dict[str, Any]:
        failure = self._replies.describe(error)
        return {"failed": [failure.code, failure.text, failure.trace]}


def _module(setup: dict[str, Any]) -> Any:
    if setup["main"]:
        import runpy
        from types import SimpleNamespace

        return SimpleNamespace(**runpy.run_path(setup["main"], run_name="__interpose_main__"))
    import importlib

    return importlib.import_module(setup["module"])


if __name__ == "__main__":
    main()
