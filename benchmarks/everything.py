"""`python -m benchmarks`: every table, one after the other, whatever becomes of one; then a verdict over all.

Exit status 0: every table was measured; 1: with `--strict`, a limit is missed; 2: something could not be measured.
"""

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import page, results
from benchmarks.command import MET, MISSED, UNMEASURED, add_common_options, rounds_of
from benchmarks.environment import ROOT
from benchmarks.machine import load, machine
from benchmarks.plot import drawn
from benchmarks.results import KEPT, LAST, Run, count_met
from benchmarks.telling import aligned, figure

_PATIENCE, _PER_ROUND = 1800, 60
"""Seconds: no table takes as long, unless it hangs; then the others are still to be measured."""


@dataclass(frozen=True)
class Ended:
    """How a table ended: with a run, with what went wrong, or with both if only some rows could be measured."""

    table: str
    run: Run | None = None
    problem: str = ""


def tables() -> list[str]:
    """Every benchmark that there is: a package with a `__main__.py`."""
    return sorted((path.parent.name for path in Path(__file__).parent.glob("*/__main__.py")), key=results.order)


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    chosen = [table for table in tables() if not options.only or table in options.only]
    for ending in (signal.SIGINT, signal.SIGTERM):  # in an orderly way: the table that is running ends too
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    ended = [_measured(table, options) for table in chosen]
    runs = [one.run for one in ended if one.run]
    print(f"\n{summary(ended)}")
    for path in _written(runs, keep=options.keep):
        print(path.relative_to(ROOT))
    if any(one.problem for one in ended):
        return UNMEASURED
    return MISSED if options.strict and any(run.missed for run in runs) else MET


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure every table; say of each limit whether it is met; draw it.",
        epilog="Exit status: 0 if everything was measured, 1 with --strict if a limit is missed, 2 if something could"
        " not be measured. The options of one table: python -m benchmarks.TABLE --help",
    )
    add_common_options(made)
    made.add_argument(
        "--only", action="append", choices=tables(), metavar="TABLE",
        help=f"just this table (may be repeated): {', '.join(tables())}",
    )  # fmt: skip
    made.add_argument("--keep", action="store_true", help="show the results in docs/performance.md from now on")
    made.add_argument("--strict", action="store_true", help="exit with 1 if a limit is missed")
    return made


# --- One table ----------------------------------------------------------------------------------------------


def _measured(table: str, options: argparse.Namespace) -> Ended:
    """Measure a table in a process of its own, and end whatever it leaves if it does not end itself."""
    print(f"\n=== {table}", flush=True)
    before, began = load(), time.monotonic()
    with TemporaryDirectory() as scratch:
        numbers = Path(scratch) / "numbers.json"
        rounds = rounds_of(options)
        command = [sys.executable, "-m", f"benchmarks.{table}", "--rounds", str(rounds), "--json", str(numbers)]
        if options.python:
            command += ["--python", options.python]
        problem = _problem(command, patience=max(_PATIENCE, rounds * _PER_ROUND))
        if not numbers.is_file():
            return Ended(table, problem=problem or "it has written no numbers")
        about, rows = results.rows_of(json.loads(numbers.read_text(encoding="utf-8")))
    run = Run(
        table=table,
        what=importlib.import_module(f"benchmarks.{table}").__doc__ or "",
        date=datetime.now(UTC).date().isoformat(),
        machine=machine(),
        load=before,
        took=round(time.monotonic() - began),
        about=about,
        rows=rows,
    )
    return Ended(table, run, problem)


def _problem(command: Sequence[str], *, patience: float) -> str:
    """Run a table's command to its end and return what went wrong, if anything did; a missed limit is nothing wrong."""
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        status = process.wait(patience)
    except subprocess.TimeoutExpired:
        return f"it did not end within {patience:.0f} s"
    finally:
        if process.poll() is None:  # also when we are interrupted; it has processes of its own
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return "" if status in (MET, MISSED) else f"see above (exit status {status})"


# --- All of them --------------------------------------------------------------------------------------------


def summary(ended: Sequence[Ended]) -> str:
    """What was missed, line by line, and how each table did."""
    lines: list[tuple[str, ...] | str] = []
    for one in ended:
        for row, verdict in one.run.missed if one.run else ():
            against = f" against {verdict.against}" if verdict.against else ""
            found = "" if verdict.ratio is None else f"{figure(verdict.ratio)} ×"
            limit = "" if verdict.at_most is None else f"at most {verdict.at_most:g} ×"
            note = "close" if verdict.close else verdict.note
            lines.append((f"  {one.table}", row.key, f"{verdict.what}{against}", found, limit, note))
    told = ["Missed:", aligned(lines), ""] if lines else []
    return "\n".join([*told, aligned([_line(one) for one in ended]), _total(ended)])


def _line(one: Ended) -> tuple[str, ...]:
    if one.run is None:
        return (one.table, "not measured", "", one.problem)
    met, judged = count_met([one.run])
    return (one.table, f"{met} of {judged} met", f"{one.run.took:.0f} s", one.problem)


def _total(ended: Sequence[Ended]) -> str:
    met, judged = count_met([one.run for one in ended if one.run])
    return f"in all: {met} of {judged} met"


def _written(runs: Sequence[Run], *, keep: bool) -> list[Path]:
    """Write what was found, with pictures: for this machine's user, or for the readers of the documentation."""
    if keep:
        written = [results.write(run, KEPT) for run in runs]
        page.write()
        return [*written, *(page.PAGE.with_name(name) for name in page.pictures(runs)), page.PAGE]
    written = [results.write(run, LAST) for run in runs]
    for run in runs:
        picture = LAST / f"{run.name}.svg"
        picture.write_text(drawn(run), encoding="utf-8")
        written.append(picture)
    return written
