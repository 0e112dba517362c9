"""The command line that all benchmarks share: options, and the end of a run."""

import argparse
import platform
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Finding, Idle, Row, Verdict, measure, not_measured
from benchmarks.telling import table, write_json

ROUNDS, QUICK = 31, 7

MET, MISSED, UNMEASURED = 0, 1, 2
"""Exit statuses."""


def parser(name: str, what: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=what)
    add_common_options(made)
    made.add_argument("--only", action="append", metavar="ROW", help="just this row (may be repeated)")
    made.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    return made


def add_common_options(made: argparse.ArgumentParser) -> None:
    """Those that mean the same for one table and for all."""
    made.add_argument("--python", metavar="VERSION", help="interpreter: 3.12, or a path (default: this one)")
    made.add_argument("--rounds", type=_count, metavar="N", help=f"turns per contestant (default: {ROUNDS})")
    made.add_argument("--quick", action="store_true", help=f"{QUICK} rounds: a first look, no more")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def rounds_of(options: argparse.Namespace) -> int:
    return options.rounds or (QUICK if options.quick else ROUNDS)


def run(options: argparse.Namespace, rows: Mapping[str, Callable[[], Row]], versions: Mapping[str, str]) -> int:
    """Measure the rows that are asked for, print the table and return the exit status."""
    chosen = options.only or list(rows)
    if unknown := sorted(set(chosen) - set(rows)):
        return unmeasured(f"no such row: {', '.join(unknown)} (there are: {', '.join(rows)})")
    rounds = rounds_of(options)
    about = {"Python": platform.python_version(), **versions, "rounds": str(rounds)}
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    findings: list[Finding] = []
    broken: list[str] = []
    for key in chosen:
        print(f"measuring: {key}", file=sys.stderr, flush=True)
        try:
            findings.append(measure(rows[key](), rounds=rounds))
        except Exception as problem:  # the other rows are measured all the same
            if not isinstance(problem, Idle):
                traceback.print_exc()
            findings.append(_not_measured(key, problem))
            broken.append(key)
    print(table(findings))
    if options.json:
        write_json(options.json, findings, about)
    status = _concluded(findings)
    return unmeasured(f"could not be measured: {', '.join(broken)}") if broken else status


def _not_measured(key: str, problem: Exception) -> Finding:
    said = str(problem) if isinstance(problem, Idle) else f"{type(problem).__name__}: {problem}"
    return Finding(Row(key, key, ()), {}, [Verdict("the whole row", "", met=False, note=not_measured(said))])


def _concluded(findings: Sequence[Finding]) -> int:
    judged = [verdict.met for finding in findings for verdict in finding.verdicts if verdict.met is not None]
    if judged:
        print(f"\n{sum(judged)} of {len(judged)} met")
    return MET if all(judged) else MISSED


def unmeasured(problem: str) -> int:
    print(f"benchmarks: {problem}", file=sys.stderr)
    return UNMEASURED
