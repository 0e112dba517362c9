"""`python -m benchmarks.fleet.pushes`: seconds until a push and a rollback have reached every one of many nodes.

The nodes are simulated in a few processes: the real code that verifies and takes over, each with a folder of its own.
The floor is one node alone in the same run: what it takes without the others.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fleet.test_many_nodes import check_crowd

LIMIT = 5.0
"""Seconds for 200 nodes."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet.pushes", description=__doc__)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--processes", type=int, default=4)
    options = parser.parse_args(arguments)
    figures = {}
    for count, processes in ((1, 1), (options.nodes, options.processes)):
        with TemporaryDirectory(prefix="interpose-pushes-") as folder:
            figures[count] = check_crowd(Path(folder).resolve(), count, processes)
    for count, (pushed, back, used) in figures.items():
        cost = f"{used * 1000:.0f} ms of processor time per node"
        print(f"{count:>5} nodes: push {pushed:.2f} s, rollback {back:.2f} s, {cost}")
    met = max(figures[options.nodes][:2]) < LIMIT
    print(f"limit {LIMIT:g} s: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
