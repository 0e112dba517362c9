"""`python -m benchmarks.audit`: make the environment and measure in it.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import subprocess
import sys
from collections.abc import Sequence

from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, environment, interpreter, own_requirements
from benchmarks.measure import clean_environment


def main(arguments: Sequence[str]) -> int:
    chosen = parser("audit", "What recording costs.").parse_args(arguments)
    try:
        python = environment("audit", interpreter(chosen.python), own_requirements())
    except Unavailable as problem:
        return unmeasured(str(problem))
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    command = [str(python), "-m", "benchmarks.audit.rows", *arguments]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
