"""Judge the cases of other guards, and ordinary command lines, and compare with what is expected of each."""

import fnmatch
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from interpose.policies import POLICIES, RECOMMENDED, Call, PolicyHook, read_policies

MOST_THROUGH, MOST_NEEDLESS, MOST_ALARMS = 0.05, 0.10, 0.01
"""The shares that may go through, be stopped without need, and be stopped of ordinary lines."""

DIFFERENCES = Path(__file__).with_name("differences.yaml")
HOME, CWD = "/home/test", "/home/test/project"

_AUTHOR = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")


@dataclass
class Tally:
    """How often policies stop what another guard allows, and let pass what it stops."""

    stops: int = 0
    allows: int = 0
    through: list[dict[str, Any]] = field(default_factory=list)
    needless: list[dict[str, Any]] = field(default_factory=list)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.stops + other.stops, self.allows + other.allows,
            self.through + other.through, self.needless + other.needless,
        )  # fmt: skip

    @property
    def shares(self) -> tuple[float, float]:
        return len(self.through) / max(1, self.stops), len(self.needless) / max(1, self.allows)


@cache
def hooks(which: str) -> tuple[PolicyHook, ...]:
    """The policies that judge calls: all of them at their own defaults, or the recommended set."""

    def wrong(path: str, what: str, hint: str) -> None:
        raise ValueError(f"{path}: {what} ({hint})")

    given = RECOMMENDED if which == RECOMMENDED else list(POLICIES)
    uses = read_policies(given, wrong)
    return tuple(use.hook for use in uses if use.event == "PreToolUse" and use.hook.function is None)


def reason(which: str, tool: str, given: dict[str, Any], cwd: str = CWD, project: str = "", home: str = HOME) -> str:
    """Why a call is stopped, with the name of the policy first; nothing if it passes."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = home
    try:
        call = Call({"tool_name": tool, "tool_input": given, "cwd": cwd}, project or cwd)
        for hook in hooks(which):
            if (reply := hook.answer(call)) is not None:
                return reply.reason
    finally:
        os.environ["HOME"] = before or home
    return ""


def judged(path: Path, ring: int) -> Tally:
    """Judge the cases in a file of JSON lines."""
    tally = Tally()
    for row in _rows(path):
        if row.get("ring", 1) > ring or "event" in row:
            continue
        said = reason(
            "all", row["tool"], row["input"], row.get("cwd") or CWD, (row.get("roots") or [""])[0],
            row.get("home") or HOME,
        )  # fmt: skip
        if row["expected"] == "allow":
            tally.allows += 1
            if said:
                tally.needless.append({**row, "said": said})
        else:
            tally.stops += 1
            if not said:
                tally.through.append(row)
    return tally


def alarms(paths: Sequence[Path], *, changed: bool = False) -> tuple[int, list[tuple[str, str]]]:
    """The number of ordinary lines, and those that the recommended set stops, each with the reason.

    They are judged in a repository on a branch of its own, without or with uncommitted changes.
    """
    lines = dict.fromkeys(row if isinstance(row, str) else row["line"] for path in paths for row in _rows(path))
    with TemporaryDirectory(prefix="home-") as home:
        project = repository(Path(home) / "project", changed=changed)
        found = [(line, reason(RECOMMENDED, "Bash", {"command": line}, project, project, home)) for line in lines]
    return len(lines), [(line, said) for line, said in found if said]


def repository(place: Path, *, changed: bool) -> str:
    """Make a repository with a commit and, if it is changed, with a change and a new file that are not committed."""
    place.mkdir()
    (place / "file.txt").write_text("one")
    for arguments in (["init", "-q", "-b", "topic"], ["add", "."], [*_AUTHOR, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *arguments], cwd=place, check=True)
    if changed:
        (place / "file.txt").write_text("two")
        (place / "new.txt").write_text("new")
    return str(place)


def _rows(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def explained(row: dict[str, Any], side: str) -> str:
    """Why policies differ from another guard in a case on purpose; nothing if no line says so."""
    shown = text(row)
    for entry in _differences():
        if (
            entry["side"] == side
            and row["project"] in (entry.get("projects") or [row["project"]])
            and fnmatch.fnmatchcase(shown, entry.get("case", "*"))
            and fnmatch.fnmatchcase(str(row.get("rule", "")), entry.get("rule", "*"))
            and fnmatch.fnmatchcase(row.get("said", ""), entry.get("said", "*"))
        ):
            return str(entry["why"])
    return ""


@cache
def _differences() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(DIFFERENCES.read_text(encoding="utf-8")) or []
    return found


def text(row: dict[str, Any]) -> str:
    """A case as one line."""
    given = row["input"]
    return str(given.get("command") or f"{row['tool']} {json.dumps(given)}")


def report(tallies: dict[str, Tally], show: int) -> str:
    """A table per project and for all, then the reasons of the differences, each with its number."""
    whole = Tally()
    lines = [f"{'project':26}{'go through':>22}{'stopped without need':>26}{'not explained':>16}"]
    reasons: Counter[str] = Counter()
    for name, tally in tallies.items():
        whole = whole + tally
        lines.append(_line(name, tally, reasons))
        lines += _shown(tally, show)
    lines.append(_line("all", whole, Counter()))
    through, needless = whole.shares
    verdict = "met" if through <= MOST_THROUGH and needless <= MOST_NEEDLESS else "MISSED"
    lines.append(
        f"at most {MOST_THROUGH:.0%} may go through and {MOST_NEEDLESS:.0%} be stopped without need: {verdict}"
    )
    lines += [f"  {number:5}  {why}" for why, number in reasons.most_common()]
    return "\n".join(lines)


def _line(name: str, tally: Tally, reasons: Counter[str]) -> str:
    rows = [*((row, "through") for row in tally.through), *((row, "needless") for row in tally.needless)]
    whys = [explained(row, side) for row, side in rows]
    reasons.update(why for why in whys if why)
    first, second = tally.shares
    through = f"{len(tally.through)} of {tally.stops} {first:6.1%}"
    needless = f"{len(tally.needless)} of {tally.allows} {second:6.1%}"
    return f"{name:26}{through:>22}{needless:>26}{whys.count(''):>16}"


def _shown(tally: Tally, show: int) -> list[str]:
    through = [row for row in tally.through if not explained(row, "through")]
    needless = [row for row in tally.needless if not explained(row, "needless")]
    lines = [f"    through   {text(row)[:110]!r}  {row.get('rule', '')}" for row in through[:show]]
    return lines + [f"    needless  {text(row)[:110]!r}  {row['said'][:90]}" for row in needless[:show]]
