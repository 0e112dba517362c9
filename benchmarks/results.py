"""What a run of a table has found, as it is kept: the verdicts, without the single timings."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.environment import HOME
from benchmarks.measure import Verdict

KEPT = Path(__file__).parent / "results"
"""What `docs/performance.md` shows."""
LAST = HOME / "results"
"""The last run of each table, which git ignores."""

ORDER = ("dispatch", "commands", "session", "audit", "cli", "resident")
"""How the tables are run and shown: from within outwards. Others follow."""

_DIGITS = 4


@dataclass(frozen=True)
class MeasuredRow:
    """A row of a table and what became of its limits and checks."""

    key: str
    title: str
    verdicts: Sequence[Verdict]


@dataclass(frozen=True)
class Run:
    """One table, measured once."""

    table: str
    what: str
    date: str
    machine: str
    load: float
    """Before the run began."""
    took: float
    """Seconds."""
    about: Mapping[str, str]
    """Versions of Python and of the peers, and the number of rounds."""
    rows: Sequence[MeasuredRow]

    @property
    def python(self) -> str:
        """As people name it: 3.11."""
        return ".".join(self.about["Python"].split(".")[:2])

    @property
    def name(self) -> str:
        """What its files are called after."""
        return f"{self.table}-{self.python}"

    @property
    def judged(self) -> list[tuple[MeasuredRow, Verdict]]:
        """Every verdict on something that was promised."""
        return [(row, verdict) for row in self.rows for verdict in row.verdicts if verdict.met is not None]

    @property
    def missed(self) -> list[tuple[MeasuredRow, Verdict]]:
        return [(row, verdict) for row, verdict in self.judged if not verdict.met]


def order(table: str) -> tuple[int, str]:
    """Where a table stands among the others."""
    return (ORDER.index(table) if table in ORDER else len(ORDER), table)


def rows_of(document: Mapping[str, Any]) -> tuple[dict[str, str], list[MeasuredRow]]:
    """What a table was measured with, and its rows, from the file that it writes with `--json`."""
    about = {name: str(value) for name, value in document.items() if name != "rows"}
    return about, [
        MeasuredRow(row["row"], row["title"], [_verdict(verdict) for verdict in row["verdicts"]])
        for row in document["rows"]
    ]


def write(run: Run, directory: Path) -> Path:
    """Keep a run in place of the last one of the same table on the same Python."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{run.name}.json"
    path.write_text(json.dumps(asdict(run), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_all(directory: Path) -> list[Run]:
    """The runs that are kept there, in the order of the tables."""
    runs = [_run(json.loads(path.read_text(encoding="utf-8"))) for path in directory.glob("*.json")]
    return sorted(runs, key=lambda run: (order(run.table), [int(part) for part in run.python.split(".")]))


def _run(document: Mapping[str, Any]) -> Run:
    rows = [
        MeasuredRow(row["key"], row["title"], [_verdict(verdict) for verdict in row["verdicts"]])
        for row in document["rows"]
    ]
    return Run(**{**document, "rows": rows})


def _verdict(written: Mapping[str, Any]) -> Verdict:
    quartiles = written["quartiles"]
    return Verdict(
        **{
            **{name: _rounded(value) for name, value in written.items()},
            "quartiles": quartiles and (_rounded(quartiles[0]), _rounded(quartiles[1])),
        }
    )


def _rounded(value: Any) -> Any:
    """A number with as many digits as mean something."""
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def count_met(runs: Iterable[Run]) -> tuple[int, int]:
    """How many limits and checks are met, and how many there are."""
    judged = [verdict.met for run in runs for _, verdict in run.judged]
    return sum(bool(met) for met in judged), len(judged)
