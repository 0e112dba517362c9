"""`python -m benchmarks.adapters`: measure each adapter in the environment in which it is tested.

Frameworks do not fit into one environment. Within a row, the agent with hooks and the same agent without them take
turns in one process.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import json
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.adapters import interpreter

from benchmarks.adapters.rows import LIMITS
from benchmarks.command import MET, UNMEASURED, parser, rounds_of, unmeasured
from benchmarks.environment import ROOT, Unavailable
from benchmarks.environment import interpreter as find_python
from benchmarks.measure import clean_environment


def main(arguments: Sequence[str]) -> int:
    chosen = parser("adapters", "What hooks cost in an agent of a framework.").parse_args(arguments)
    if unknown := sorted(set(chosen.only or ()) - set(LIMITS)):
        return unmeasured(f"no such row: {', '.join(unknown)} (there are: {', '.join(LIMITS)})")
    documents: list[Any] = []
    statuses = [_measure(name, chosen, documents) for name in chosen.only or LIMITS]
    if chosen.json and documents:
        rows = [row for document in documents for row in document["rows"]]
        chosen.json.write_text(json.dumps({**documents[0], "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return max(statuses, default=MET)


def _measure(name: str, chosen: Namespace, documents: list[Any]) -> int:
    """Measure one row in its environment; add what it writes to the documents."""
    try:
        python = interpreter(name, find_python(chosen.python))
    except Unavailable as problem:
        return unmeasured(f"{name}: {problem}")
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / "row.json"
        command = [str(python), "-m", "benchmarks.adapters.rows", "--only", name, "--rounds", str(rounds_of(chosen)),
                   "--json", str(written)]  # fmt: skip
        env = clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
        status = subprocess.run(command, env=env, check=False).returncode
        if not written.is_file():
            return UNMEASURED
        documents.append(json.loads(written.read_text("utf-8")))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
