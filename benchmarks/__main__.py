"""`python -m benchmarks`: every benchmark, one after the other, with the same options."""

import sys

from benchmarks.cli.__main__ import main as cli
from benchmarks.commands.__main__ import main as commands
from benchmarks.dispatch.__main__ import main as dispatch

sys.exit(max([benchmark(sys.argv[1:]) for benchmark in (dispatch, commands, cli)]))
