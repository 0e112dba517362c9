"""What was found, for people and for programs: durations, ratios and verdicts in words, the table as text, JSON."""

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Finding, Verdict

HEADINGS = ("what", "costs", "against", "which costs", "ratio", "half of them", "at most", "")

WORDS = {True: "met", False: "MISSED", None: "shown only"}


def table(findings: Sequence[Finding]) -> str:
    """The findings as plain text, one block per row of the table."""
    lines: list[tuple[str, ...] | str] = []
    for finding in findings:
        lines += ["", finding.row.title]
        for verdict in finding.verdicts:
            first, *others = cells(verdict)
            lines.append((f"  {first}", *others))
        if not finding.row.limits:
            lines += [(f"  {name}", duration(statistics.median(of))) for name, of in finding.costs.items()]
    judged = any(finding.row.limits for finding in findings)
    return aligned([HEADINGS if judged else HEADINGS[:2], *lines])


def cells(verdict: Verdict) -> tuple[str, ...]:
    """A verdict under the headings."""
    at_most = "" if verdict.at_most is None else f"{verdict.at_most:g} ×"
    if verdict.ratio is None or verdict.quartiles is None:
        return (verdict.what, "", verdict.against, "", "", "", at_most, said(verdict))
    low, high = verdict.quartiles
    return (
        verdict.what,
        duration(verdict.cost or 0.0),
        verdict.against,
        duration(verdict.baseline or 0.0),
        f"{figure(verdict.ratio)} ×",
        f"{figure(low)} to {figure(high)}",
        at_most,
        said(verdict),
    )


def said(verdict: Verdict) -> str:
    """The verdict in a word, with why it could not be had, and whether the next run may say something else."""
    word = WORDS[verdict.met]
    if verdict.note:
        return f"{word}: {verdict.note}"
    return f"{word}, but close" if verdict.close else word


def figure(ratio: float) -> str:
    """A ratio with as many digits as mean something."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def aligned(lines: Sequence[tuple[str, ...] | str]) -> str:
    """Lines whose cells stand below each other; a line that is only text stays as it is."""
    rows = [line for line in lines if isinstance(line, tuple)]
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(max(map(len, rows), default=0))]
    return "\n".join(
        line if isinstance(line, str) else "  ".join(map(str.ljust, line, widths)).rstrip() for line in lines
    )


def write_json(path: Path, findings: Sequence[Finding], about: Mapping[str, str]) -> None:
    """Every number that was taken, in seconds, with what they were taken on."""
    rows = [
        {
            "row": finding.row.key,
            "title": finding.row.title,
            "met": finding.met,
            "verdicts": [vars(verdict) for verdict in finding.verdicts],
            "seconds": finding.costs,
        }
        for finding in findings
    ]
    path.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
