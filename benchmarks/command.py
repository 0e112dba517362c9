"""The command line that all benchmarks share: options, and the end of a run."""

import argparse
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Finding, Idle, Row, measure, table, write_json

ROUNDS, QUICK = 31, 7

MET, OVER, UNMEASURED = 0, 1, 2
"""Exit statuses."""


def parser(name: str, what: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=what)
    made.add_argument("--python", metavar="VERSION", help="interpreter: 3.12, or a path (default: this one)")
    made.add_argument("--rounds", type=int, metavar="N", help=f"turns per contestant (default: {ROUNDS})")
    made.add_argument("--quick", action="store_true", help=f"{QUICK} rounds: a first look, no more")
    made.add_argument("--only", action="append", metavar="ROW", help="just this row (may be repeated)")
    made.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    return made


def run(options: argparse.Namespace, rows: Mapping[str, Callable[[], Row]], versions: Mapping[str, str]) -> int:
    """Measure the rows that are asked for, print the table and return the exit status."""
    chosen = options.only or list(rows)
    if unknown := sorted(set(chosen) - set(rows)):
        return unmeasured(f"no such row: {', '.join(unknown)} (there are: {', '.join(rows)})")
    rounds = options.rounds or (QUICK if options.quick else ROUNDS)
    about = {"Python": platform.python_version(), **versions, "rounds": str(rounds)}
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    findings = []
    for key in chosen:
        print(f"measuring: {key}", file=sys.stderr, flush=True)
        try:
            findings.append(measure(rows[key](), rounds=rounds))
        except Idle as problem:
            return unmeasured(str(problem))
    print(table(findings))
    if options.json:
        write_json(options.json, findings, about)
    return _concluded(findings)


def _concluded(findings: Sequence[Finding]) -> int:
    judged = [verdict.met for finding in findings for verdict in finding.verdicts if verdict.met is not None]
    if judged:
        print(f"\n{sum(judged)} of {len(judged)} met")
    return MET if all(judged) else OVER


def unmeasured(problem: str) -> int:
    print(f"benchmarks: {problem}", file=sys.stderr)
    return UNMEASURED
