"""`python -m benchmarks.dispatch`: make the environment with the peers and measure in it.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import subprocess
import sys
from collections.abc import Sequence

from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, environment, interpreter, own_requirements
from benchmarks.measure import clean_environment

PEERS = ("strands-agents==1.62.*", "pydantic-ai-slim==2.66.*")
MASSGEN = "massgen==0.1.97"
MASSGEN_HOOKS_NEED = ("loguru", "PyYAML")
"""MassGen asks for half a hundred packages and all of theirs; its hooks use these."""


def main(arguments: Sequence[str]) -> int:
    options = parser("dispatch", "What firing an event costs.")
    options.add_argument("--peers", action="store_true", help="the peers alone, without Interpose")
    chosen = options.parse_args(arguments)
    try:
        requirements = [*PEERS, *MASSGEN_HOOKS_NEED, *own_requirements()]
        python = environment("dispatch", interpreter(chosen.python), requirements, alone=[MASSGEN])
    except Unavailable as problem:
        return unmeasured(str(problem))
    module = "benchmarks.dispatch.among_peers" if chosen.peers else "benchmarks.dispatch.rows"
    passed_on = [argument for argument in arguments if argument != "--peers"]
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    return subprocess.run([str(python), "-m", module, *passed_on], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
