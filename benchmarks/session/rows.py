"""The table: what is promised of a session, who is measured for it, and the limit.

Runs in the environment that `benchmarks.session` makes.
"""

import asyncio
import sys
from collections.abc import Callable
from functools import partial

from benchmarks.command import parser, run
from benchmarks.measure import Check, Contestant, Limit, Row, in_event_loop
from benchmarks.session import calls
from interpose import Hooks

AT_MOST = 1.05


def async_tool(runner: asyncio.Runner) -> Row:
    direct, governed = calls.Direct(), calls.Governed()
    return Row(
        "async",
        f"{calls.CALLS} calls of an async tool that takes 1 ms, no hooks",
        [
            Contestant("through a session", in_event_loop(runner, governed.run), calls.CALLS),
            Contestant("called directly", in_event_loop(runner, direct.run), calls.CALLS),
        ],
        [Limit("session.tool()", "through a session", "called directly", AT_MOST)],
        [Check("every call was made and answered", lambda: runner.run(governed.problem()))],
    )


def sync_tool(runner: asyncio.Runner) -> Row:
    return Row(
        "sync",
        f"{calls.CALLS} calls of a tool that takes 1 ms, without an event loop, no hooks",
        [
            Contestant("through a session", partial(calls.governed_sync, Hooks()), calls.CALLS),
            Contestant("called directly", calls.direct_sync, calls.CALLS),
        ],
        [Limit("session.tool()", "through a session", "called directly")],
        [Check("every call was made and answered", calls.problem_sync)],
    )


def overhead(runner: asyncio.Runner) -> Row:
    """What stays the same however long a tool takes."""
    direct, governed = calls.Direct(calls.nothing), calls.Governed(calls.nothing)
    return Row(
        "overhead",
        f"{calls.CALLS} calls of a tool that does nothing, no hooks",
        [
            Contestant("through a session", in_event_loop(runner, governed.run), calls.CALLS),
            Contestant("called directly", in_event_loop(runner, direct.run), calls.CALLS),
        ],
        [Limit("session.tool()", "through a session", "called directly")],
    )


ROWS: dict[str, Callable[[asyncio.Runner], Row]] = {"async": async_tool, "sync": sync_tool, "overhead": overhead}


def main() -> int:
    options = parser("session", "What a session costs.").parse_args()
    with asyncio.Runner() as runner:
        return run(options, {key: partial(row, runner) for key, row in ROWS.items()}, {})


if __name__ == "__main__":
    sys.exit(main())
