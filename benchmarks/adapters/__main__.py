"""`python -m benchmarks.adapters`: make the environment and measure in it.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import subprocess
import sys
import tomllib
from collections.abc import Sequence

from benchmarks.command import parser, unmeasured
from benchmarks.environment import ROOT, Unavailable, environment, interpreter, own_requirements
from benchmarks.measure import clean_environment

FRAMEWORKS = ("pydantic-ai", "langchain", "agent-framework")


def main(arguments: Sequence[str]) -> int:
    chosen = parser("adapters", "What hooks cost in an agent of a framework.").parse_args(arguments)
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    needs = [*own_requirements(), *(one for name in FRAMEWORKS for one in extras[name])]
    try:
        python = environment("adapters", interpreter(chosen.python), needs)
    except Unavailable as problem:
        return unmeasured(str(problem))
    env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
    command = [str(python), "-m", "benchmarks.adapters.rows", *arguments]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
