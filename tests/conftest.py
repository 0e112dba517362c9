"""How the suite runs: what pytest keeps between two runs, and how many processes share the tests."""

import os
import sys

# Where the environment forbids Python to write bytecode, every process would rewrite the assertions of every test file
# at every run, which takes longer than all of tests/conformance. Processes that tests start keep their environment.
sys.dont_write_bytecode = False


def pytest_xdist_auto_num_workers() -> int | None:
    """Return three processes for two cores: many tests wait for a process or a deadline and need no core meanwhile."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2
