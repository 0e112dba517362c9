"""The peers alone, without Interpose and without limits: to check the adapters against known figures.

Runs in the environment that `benchmarks.dispatch --peers` makes.
"""

import asyncio
import sys

from benchmarks.command import parser, run
from benchmarks.dispatch import peers
from benchmarks.dispatch.contestants import ASYNC, SYNC, Kinds, contestants, versions
from benchmarks.measure import Row


def main() -> int:
    options = parser("dispatch --peers", "What firing an event costs elsewhere.").parse_args()
    kinds: Kinds = {**ASYNC, "pydantic-ai, no timeout": peers.PydanticAIUntimed}
    with asyncio.Runner() as runner:
        rows = {
            "async": lambda: Row("async", "Async hooks", contestants(runner, kinds, (0, 1, 10))),
            "sync": lambda: Row("sync", "Sync hooks", contestants(runner, SYNC, (1, 10))),
        }
        return run(options, rows, versions())


if __name__ == "__main__":
    sys.exit(main())
