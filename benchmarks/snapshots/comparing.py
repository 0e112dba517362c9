"""Fire the events of projects in place, in place again, and from a snapshot, and compare what each script did.

Where a script does something else from a snapshot, the events are fired from the snapshot once more: what happens once
and not again, such as a program that takes too long on a busy machine, is no difference of the snapshot.
"""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.snapshots.projects import Copies, Fired, Project

LEAST_SAME, LEAST_SCRIPTS, LEAST_REPOSITORIES = 0.95, 100, 15

SLOW, MISSING, VARIES, ONCE, NEVER, UNREAD = (
    "does not end within ten seconds", "needs a program or a file that is not here", "does not agree with itself",
    "differs once from a snapshot, and not again", "no event reaches it", "its file cannot be loaded",
)  # fmt: skip
_NO_FILE = re.compile(r"no such file|can't open file|cannot open ", re.IGNORECASE)
"""What interpreters say of a script that is not there; some exit with 2, like a hook that denies."""
_NO_PROGRAM = re.compile(r"cannot find module|not found|no module named", re.IGNORECASE)


@dataclass
class Script:
    """A command of a repository, and what became of it in all firings."""

    repository: str
    line: str
    same: int = 0
    different: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def verdict(self) -> str:
        if self.different:
            return "different"
        if self.same:
            return "same"
        return next((why for why in (SLOW, MISSING, VARIES, ONCE, UNREAD) if self.left_out[why]), NEVER)


@dataclass
class Comparison:
    """What became of the scripts of projects."""

    scripts: list[Script] = field(default_factory=list)
    elsewhere: dict[str, list[str]] = field(default_factory=dict)
    """By project, the files that appear or change in it in place, and not from a snapshot."""


def compared(projects: Iterable[Project], python: str, told: Callable[[str], None]) -> Comparison:
    """Compare the scripts of projects, several projects at a time."""

    def one(project: Project) -> Comparison:
        with tempfile.TemporaryDirectory(prefix="snapshots-", ignore_cleanup_errors=True) as scratch:
            found = _compared(project, Path(scratch), python)
        verdicts = Counter(script.verdict for script in found.scripts)
        told(f"{project.name}: {', '.join(f'{number} {verdict}' for verdict, number in verdicts.items())}")
        return found

    whole = Comparison()
    merged: dict[tuple[str, str], Script] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, projects):
            whole.elsewhere |= found.elsewhere
            for script in found.scripts:
                known = merged.setdefault((script.repository, script.line), Script(script.repository, script.line))
                known.same += script.same
                known.different += script.different
                known.left_out += script.left_out
    whole.scripts = list(merged.values())
    return whole


def _compared(project: Project, scratch: Path, python: str) -> Comparison:
    copies = Copies(project, scratch, python)
    events = list(project.events(str(copies.place)))
    first, second = copies.fire(events, trusted=False), copies.fire(events, trusted=False)
    if copies.untrusted:
        third = Fired([{"problem": copies.untrusted}] * len(events), first.files)
    else:
        third = copies.fire(events, trusted=True)
    scripts = _scripts(project, events, (first, second, third), copies.neutral)
    if not copies.untrusted and any(script.different for script in scripts):
        again = copies.fire(events, trusted=True)
        scripts = _scripts(project, events, (first, second, third, again), copies.neutral)
    gone = sorted((first.files & second.files) - third.files)
    return Comparison(scripts, {project.name: gone} if gone else {})


def _scripts(
    project: Project, events: Sequence[tuple[str, Mapping[str, Any]]], runs: Sequence[Fired],
    neutral: Callable[[str], str],
) -> list[Script]:  # fmt: skip
    """Compare what each event made the scripts of a project do: twice in place, then from a snapshot."""
    scripts: dict[str, Script] = {}
    for at, (event, fields) in enumerate(events):
        said = f"{event} {fields.get('tool_input', '')}"
        _compare(project, scripts, [run.firings[at] for run in runs], neutral, said)
    return list(scripts.values())


def _compare(
    project: Project, scripts: dict[str, Script], runs: Sequence[dict[str, Any]], neutral: Callable[[str], str],
    event: str,
) -> None:  # fmt: skip
    """Compare what one event made each script do."""
    first, second, *there = runs
    if "problem" in first:
        scripts.setdefault("", Script(project.repository, project.name)).left_out[UNREAD] += 1
        return
    ran: list[Script] = []
    for key, line in first["armed"].items():
        script = scripts.setdefault(line, Script(project.repository, line))
        ended = first["ended"].get(key)
        if ended is None:
            continue
        if why := _left_out(ended, second.get("ended", {}).get(key), neutral):
            script.left_out[why] += 1
            continue
        wrong = [run.get("problem") or _difference(ended, run["ended"].get(key), neutral) for run in there]
        if all(wrong):
            script.different.append(f"{event}: {wrong[0]}")
        elif any(wrong):
            script.left_out[ONCE] += 1
        else:
            script.same += 1
            ran.append(script)
    said, again, *now = (neutral(str(run.get("said"))) for run in runs)
    if said == again and said not in now and len(ran) == len(first["ended"]):
        for script in ran:
            script.different.append(f"{event}: the outcome is {now[0][:300]!r}, not {said[:300]!r}")


def _left_out(first: Mapping[str, Any], second: Mapping[str, Any] | None, neutral: Callable[[str], str]) -> str:
    if first["failure"] == "timeout":
        return SLOW
    if first["status"] in (126, 127) or first["failure"]:
        return MISSING
    if first["status"] != 0 and _NO_FILE.search(first["stderr"]):
        return MISSING
    if first["status"] not in (0, 2) and _NO_PROGRAM.search(first["stderr"]):
        return MISSING
    return VARIES if _difference(first, second, neutral) else ""


def _difference(one: Mapping[str, Any], other: Mapping[str, Any] | None, neutral: Callable[[str], str]) -> str:
    """What is different about two ends of a command, or nothing."""
    if other is None:
        return "it does not run"
    for name in ("failure", "status", "stderr", "stdout"):
        before, now = neutral(str(one[name])), neutral(str(other[name]))
        if before != now:
            return f"{name} is {now[-300:]!r}, not {before[-300:]!r}"
    return ""


def problem(scripts: Sequence[Script]) -> str:
    """What is wrong with what was found, if anything is."""
    counted = [script for script in scripts if script.verdict in ("same", "different")]
    repositories = {script.repository for script in counted}
    if len(counted) < LEAST_SCRIPTS or len(repositories) < LEAST_REPOSITORIES:
        return f"{len(counted)} scripts of {len(repositories)} repositories are too few to say"
    share = sum(script.verdict == "same" for script in counted) / len(counted)
    return "" if share >= LEAST_SAME else f"only {share:.1%} run as in place"


def report(found: Comparison) -> str:
    """How many scripts run the same, and by name those that do not, and why others are left out."""
    scripts = found.scripts
    verdicts = Counter(script.verdict for script in scripts)
    same, different = verdicts.pop("same", 0), verdicts.pop("different", 0)
    counted = {script.repository for script in scripts if script.verdict in ("same", "different")}
    share = same / max(1, same + different)
    lines = [
        f"{same + different} scripts of {len(counted)} repositories",
        f"  {same:4}  run from a snapshot as they run in place ({share:.1%}; at least {LEAST_SAME:.0%})",
        f"  {different:4}  do not",
    ]
    for script in scripts:
        if script.verdict == "different":
            lines += [f"        {script.repository}: {script.line[:150]}", f"            {script.different[0]}"]
    lines.append(f"{verdicts.total()} scripts left out")
    lines += [f"  {number:4}  {why}" for why, number in verdicts.most_common()]
    once = [script for script in scripts if script.left_out[ONCE]]
    if once:
        lines.append(f"{len(once)} scripts that differ once from a snapshot at some event, and not again")
    lines += [f"        {script.repository}: {script.line[:150]} ({script.left_out[ONCE]})" for script in once]
    if found.elsewhere:
        lines.append(f"{len(found.elsewhere)} projects whose hooks write files elsewhere than in place")
    lines += [f"        {name}: {', '.join(files[:4])}" for name, files in found.elsewhere.items()]
    return "\n".join(lines)
