"""Which requirements have a test: every id of requirements.tsv is named in a test or listed in pending.txt.

    python tests/conformance/coverage.py                    say what is missing
    python tests/conformance/coverage.py --update-pending   write it to pending.txt

A test covers a requirement by naming its id, such as S0-1, anywhere in a file below tests/.
"""

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent
REQUIREMENTS = HERE / "requirements.tsv"
PENDING = HERE / "pending.txt"

# These name ids to count them, not to test them.
BOOKKEEPING = {REQUIREMENTS, PENDING, HERE / "coverage.py", HERE / "test_coverage.py"}

ID = re.compile(r"(?<![A-Za-z0-9])S[0-4]-\d+")

PENDING_HEADER = """\
# Requirements that no test names yet: an id or a range of ids per line.
# Written by: python tests/conformance/coverage.py --update-pending
"""


@dataclass(frozen=True)
class Coverage:
    """What the tests cover, set against what they should. All in the order of ``required``."""

    required: list[str]
    named: set[str]
    pending: set[str]

    @property
    def missing(self) -> list[str]:
        """No test names them."""
        return [row for row in self.required if row not in self.named]

    @property
    def forgotten(self) -> list[str]:
        """No test names them and pending.txt does not say so."""
        return [row for row in self.missing if row not in self.pending]

    @property
    def done(self) -> list[str]:
        """A test names them and pending.txt still lists them."""
        return [row for row in self.required if row in self.named & self.pending]

    @property
    def unknown(self) -> list[str]:
        """A test names them and there is no such requirement."""
        return sorted(self.named - set(self.required))


def measure() -> Coverage:
    """The coverage of this source tree."""
    required = read_requirements()
    return Coverage(required, ids_named_below(TESTS), read_pending(PENDING.read_text("utf-8"), required))


def read_requirements() -> list[str]:
    """Every requirement's id, in order."""
    with REQUIREMENTS.open(encoding="utf-8", newline="") as lines:
        return [row["id"] for row in csv.DictReader(lines, dialect=csv.excel_tab, quoting=csv.QUOTE_NONE)]


def ids_named_below(folder: Path) -> set[str]:
    """The ids that any text file below ``folder`` names."""
    named: set[str] = set()
    for path in folder.rglob("*"):
        if path.is_file() and path not in BOOKKEEPING and "__pycache__" not in path.parts:
            named.update(ID.findall(path.read_text("utf-8", errors="ignore")))
    return named


def read_pending(text: str, required: list[str]) -> set[str]:
    """The ids that pending.txt lists; a range holds the requirements from its first to its last."""
    pending: set[str] = set()
    for line in text.splitlines():
        entry = line.partition("#")[0].strip()
        if entry:
            first, _, last = entry.partition("..")
            pending.update(required[required.index(first) : required.index(last or first) + 1])
    return pending


def write_pending(missing: list[str], required: list[str]) -> str:
    """The text of a pending.txt that lists ``missing``, neighbours as ranges."""
    lines = [run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs(missing, required)]
    return PENDING_HEADER + "".join(f"{line}\n" for line in lines)


def runs(ids: list[str], required: list[str]) -> Iterator[list[str]]:
    """``ids`` cut into stretches that follow one another in ``required`` and belong to one source (S0, S1, …)."""
    run: list[str] = []
    for row in ids:
        if run and not (required.index(row) == required.index(run[-1]) + 1 and row[:2] == run[-1][:2]):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def main() -> int:
    """Print what is missing; the exit status is 1 if pending.txt is not up to date."""
    parser = argparse.ArgumentParser(description="List the requirements that no test names.")
    parser.add_argument("--update-pending", action="store_true", help="write them to pending.txt")
    options = parser.parse_args()

    if options.update_pending:
        required = read_requirements()
        missing = Coverage(required, ids_named_below(TESTS), set()).missing
        PENDING.write_text(write_pending(missing, required), "utf-8")

    coverage = measure()
    for run in runs(coverage.missing, coverage.required):
        print(*run)
    print(f"{len(coverage.missing)} of {len(coverage.required)} requirements have no test")
    for ids, what in [
        (coverage.forgotten, "not in pending.txt"),
        (coverage.done, "covered, but still in pending.txt"),
        (coverage.unknown, "named in a test, but not a requirement"),
    ]:
        if ids:
            print(f"{what}:", *ids)
    return 1 if coverage.forgotten or coverage.done else 0


if __name__ == "__main__":
    sys.exit(main())
