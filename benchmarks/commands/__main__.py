"""`python -m benchmarks.commands`: make the environment and measure in it.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import subprocess
import sys
from collections.abc import Sequence

from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, environment, interpreter, own_requirements
from benchmarks.measure import clean_environment

PEER = "uvloop==0.22.*"


def main(arguments: Sequence[str]) -> int:
    chosen = parser("commands", "What a command costs as a hook.").parse_args(arguments)
    try:
        wanted = interpreter(chosen.python)
        try:
            python = environment("commands", wanted, [PEER, *own_requirements()])
        except Unavailable:  # the peer is not to be had for this interpreter; its line will say so
            python = environment("commands", wanted, own_requirements())
    except Unavailable as problem:
        return unmeasured(str(problem))
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    command = [str(python), "-m", "benchmarks.commands.rows", *arguments]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
