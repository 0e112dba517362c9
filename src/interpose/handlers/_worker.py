"""The program of a kept worker process: it runs one Python callable, event after event.

What comes in is pickled, for the host is to be trusted; what goes out is JSON, for a hook is not. Standard output is
moved away first, so that a hook that prints does not disturb the answers.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

__all__ = ["main"]


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
    call: Any = None
    rows: dict[str, Any] = {}
    while (request := _receive(requests)) is not None:
        try:
            if call is None:
                call = _load(setup)
            rows.update(request.get("row", {}))
            answer = _answer(call, rows[request["event"]], request["fields"])
        except BaseException as error:
            answer = _failed(error)
        _send(answers, answer)


def _receive(requests: BinaryIO) -> Any:
    header = requests.read(4)
    if len(header) < 4:
        return None
    return pickle.loads(requests.read(int.from_bytes(header, "little")))  # noqa: S301 - our host has written it


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    from interpose.wire import Unencodable, encode

    try:
        data = encode(answer)
    except Unencodable as error:
        data = encode({"failed": ["bad_reply", f"its answer cannot be sent to the host: {error}", ""]})
    data = len(data).to_bytes(4, "little") + data
    while data:
        data = data[answers.write(data) :]


def _load(setup: dict[str, Any]) -> Any:
    from interpose.errors import BadHook
    from interpose.handlers.python import LazyFunction, unified
    from interpose.replies import HookFailed

    if setup["path"]:
        return LazyFunction(setup["path"], setup["directory"])
    found: Any
    if setup["main"]:
        import runpy
        from types import SimpleNamespace

        found = SimpleNamespace(**runpy.run_path(setup["main"], run_name="__interpose_main__"))
    else:
        import importlib

        found = importlib.import_module(setup["module"])
    for part in setup["name"].split("."):
        found = getattr(found, part)
    try:
        return unified(found, setup["name"])
    except BadHook as error:
        raise HookFailed("bad_handler", str(error)) from None


def _answer(call: Any, row: Any, fields: dict[str, Any]) -> dict[str, Any]:
    from interpose.faults import is_awaitable, type_name
    from interpose.payload import event_type
    from interpose.replies import Reply

    event = event_type(row)(fields)
    event._rest = None
    value = call(event)
    if is_awaitable(value):
        import asyncio

        async def wait() -> Any:
            return await value

        value = asyncio.run(wait())
    if value is None:
        return {}
    if isinstance(value, Reply):
        said = {name: getattr(value, name) for name in value.__dataclass_fields__}
        return {"reply": {**said, "problem": None, "inject": [item.to_dict() for item in value.inject]}}
    if isinstance(value, dict):
        return {"answer": value}
    return {"other": type_name(value)}


def _failed(error: BaseException) -> dict[str, Any]:
    from interpose.faults import describe

    failure = describe(error)
    code = failure.code
    if code == "hook_crash" and isinstance(error, (ImportError, AttributeError)) and not _in_a_hook(error):
        code = "import_failed"
    return {"failed": [code, failure.text, failure.trace]}


def _in_a_hook(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "_answer":
            return True
        trace = trace.tb_next
    return False


if __name__ == "__main__":
    main()
