"""``interpose worker``: serve Python functions to hooks of type ``nats``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ..config.nats_hooks import check_subject
from ..errors import UsageError
from ..replies import HookFailed
from . import options
from .fleet import Config, fleet_of
from .render import flat, format_duration, paint
from .render.table import Column, print_table

__all__ = ["run"]

Functions = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODULE:FUNCTION]…", show_default=False, help="What to serve, such as checks:licences."),
]
Subjects = Annotated[
    list[str] | None,
    typer.Option("--subject", metavar="SUBJECT", show_default=False,
                 help="The subject to serve; one for each function. Default: module.function."),
]  # fmt: skip
Queue = Annotated[
    str | None,
    typer.Option("--queue", metavar="NAME", show_default=False,
                 help="The queue group: one worker of it gets each request. Default: interpose-workers."),
]  # fmt: skip
Concurrency = Annotated[
    int, typer.Option("--concurrency", metavar="COUNT", min=1, max=10_000, help="Requests that run at once.")
]
List = Annotated[bool, typer.Option("--list", help="Show the workers that answer, and end.")]


def run(
    functions: Functions = None,
    subject: Subjects = None,
    queue: Queue = None,
    concurrency: Concurrency = 32,
    list_: List = False,
    config: Config = None,
    as_json: options.AsJson = False,
) -> int:
    """Serve Python functions to hooks of type nats, for checks that need a GPU, a database or a model. A function is an
    ordinary Python hook. Ctrl-C and SIGTERM end the worker after it has answered the requests that it has.

    Example: interpose worker checks:licences --subject checks.licences
    """  # fmt: skip
    if list_:
        if functions:
            raise UsageError("--list serves nothing", hint="leave the functions out")
        return _list(config, as_json)
    if not functions:
        raise UsageError("which functions?", hint="interpose worker module:function, or interpose worker --list")
    if os.environ.get("INTERPOSE_OFF"):
        raise UsageError("INTERPOSE_OFF is set, so that every function would have no effect", hint="unset it")
    subjects = _subjects(functions, subject)
    settings = fleet_of(config)
    from ..fleet.worker import QUEUE, Worker

    worker = Worker(settings, check_subject(queue) if queue else QUEUE)
    return asyncio.run(_serve(worker, functions, subjects, concurrency))


def _subjects(functions: Sequence[str], given: list[str] | None) -> list[str]:
    if given and len(given) != len(functions):
        raise UsageError(f"{len(functions)} functions and {len(given)} subjects", hint="one --subject per function")
    subjects = [check_subject(one) for one in given or [one.replace(":", ".") for one in functions]]
    if len(set(subjects)) < len(subjects):
        raise UsageError("two functions have one subject", hint="give each its own --subject")
    return subjects


async def _serve(worker: Any, functions: Sequence[str], subjects: Sequence[str], concurrency: int) -> int:
    from ..fleet.served import ServedFunction, load_function

    slots = asyncio.Semaphore(concurrency)
    served = []
    for name, subject in zip(functions, subjects, strict=True):
        try:
            served.append(ServedFunction(name, subject, load_function(name, os.getcwd()), slots))
        except HookFailed as error:
            raise UsageError(str(error), hint="it is looked for here, and among what is installed") from None
    stopping, loop, main = asyncio.Event(), asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if stopping.is_set() and main is not None:  # the second time: at once
            main.cancel()
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    await worker.start(served)
    for one in served:
        print(f"serving {paint(one.subject, 'bold')}  {one.name}", flush=True)
    try:
        await stopping.wait()
        print("stopping: requests that are here are answered first", file=sys.stderr)
        await worker.stop()
    except asyncio.CancelledError:
        print("stopped at once", file=sys.stderr)
        return 1
    return 0


def _list(config: list[str] | None, as_json: bool) -> int:
    from ..fleet.worker import find_workers

    found = asyncio.run(find_workers(fleet_of(config)))
    if as_json:
        print(json.dumps({"workers": found}))
        return 0
    rows = [row for worker in found for row in _rows(worker)]
    if not rows:
        print("no worker answers", file=sys.stderr)
        return 0
    columns = [
        Column("subject", "bold"), Column("function"), Column("worker", drop=2), Column("requests", right=True),
        Column("errors", right=True), Column("mean", right=True), Column("last error", fills=True, drop=1),
    ]  # fmt: skip
    print_table(columns, sorted(rows))
    return 0


def _rows(worker: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each function of a worker. Another program may have answered: nothing is taken for granted."""
    about = worker.get("metadata")
    about = about if isinstance(about, dict) else {}
    place = f"{about.get('host', '?')}/{about.get('pid', '?')}"
    rows = []
    endpoints = worker.get("endpoints")
    for one in endpoints if isinstance(endpoints, list) else ():
        if not isinstance(one, dict):
            continue
        data = one.get("data")
        function = data.get("function", "") if isinstance(data, dict) else one.get("name", "")
        mean = one.get("average_processing_time")
        cells = [one.get("subject", ""), function, place, one.get("num_requests", ""), one.get("num_errors", ""),
                 format_duration(mean / 1e9) if isinstance(mean, int) else "", one.get("last_error", "")]  # fmt: skip
        rows.append([flat(str(cell))[:200] for cell in cells])
    return rows
