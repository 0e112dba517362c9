"""`python -m benchmarks.ui`: make the environment, and a store of a million runs, and measure in it.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import subprocess
import sys
import tomllib
from collections.abc import Sequence

from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, environment, interpreter, own_requirements
from benchmarks.measure import clean_environment


def main(arguments: Sequence[str]) -> int:
    chosen = parser("ui", "What a page costs, with a store of a million runs.").parse_args(arguments)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        extras = project["optional-dependencies"]
        requirements = [*own_requirements(), *extras["ui"], *extras["browser"]]
        python = environment("ui", interpreter(chosen.python), requirements)
    except Unavailable as problem:
        return unmeasured(str(problem))
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    command = [str(python), "-m", "benchmarks.ui.rows", *arguments]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
