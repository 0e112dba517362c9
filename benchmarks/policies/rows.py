"""The table: what policies cost, against the start of a process and against their own cost on a shorter line.

Runs in the environment that `benchmarks.policies` makes.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.command import MET, MISSED, run
from benchmarks.measure import Contestant, Limit, Row
from benchmarks.policies.__main__ import options
from benchmarks.policies.judging import CWD, MOST_ALARMS, MOST_NEEDLESS, MOST_THROUGH, Tally, alarms, judged, report
from interpose import Hooks
from interpose.matching.shell import read_line
from interpose.policies import POLICIES, RECOMMENDED
from interpose.policies.effects import effects_of_line
from interpose.replay.scan import policies_only, scan
from interpose.replay.transcripts import find_transcripts

ORDINARY = 'cd packages/api && npm ci && git add -A && git commit -m "Mend the parser" && git push origin fix-parser'


def all_policies() -> Hooks:
    hooks = Hooks()
    for name in POLICIES:
        hooks.use(name)
    return hooks


def fired(hooks: Hooks, line: str, times: int) -> float:
    """Fire a call so often, nothing cached."""
    began = time.perf_counter()
    for _ in range(times):
        read_line.cache_clear()
        effects_of_line.cache_clear()
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": line}, cwd=CWD, session_id="")
    return time.perf_counter() - began


def bare_process(times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return time.perf_counter() - began


def long_line(size: int) -> str:
    """An ordinary line of that many characters: commands, quotes, expansions and pipes."""
    part = (
        'git commit -m "Mend the parser, which took the second of two equal names for a mistake" src/parser.py && '
        'grep -rn "equal names" src docs tests | head -20; rm -rf build/* "dist/$VERSION"; '
    )
    return (part * (size // len(part) + 1))[:size].rpartition(";")[0]


def one_line() -> Row:
    return Row(
        "line",
        f"{len(POLICIES)} policies on one command line, nothing cached",
        [
            Contestant("all policies", partial(fired, all_policies(), ORDINARY)),
            Contestant("a process of Python that does nothing", bare_process),
        ],
        [Limit("fire_sync()", "all policies", "a process of Python that does nothing", 1.0)],
    )


def linear() -> Row:
    hooks = all_policies()
    return Row(
        "long",
        "all policies on a line of 96 kB and on one of 24 kB",
        [
            Contestant("96 kB", partial(fired, hooks, long_line(96_000))),
            Contestant("24 kB", partial(fired, hooks, long_line(24_000))),
        ],
        [Limit("four times as long", "96 kB", "24 kB", 6.0)],
        most_rounds=5,
    )


LINES = (
    "ls -la", "git status", "rg -n 'def main' src | head", "npm test -- --watch=false", ORDINARY, "rm -rf build dist",
    "python - <<'PY'\nprint(1)\nPY", "for f in *.txt; do wc -l \"$f\"; done", "docker compose up -d", "make -j4 test",
)  # fmt: skip


def scanned(times: int) -> float:
    """Ask the recommended policies about so many calls of a transcript, each of them another one."""
    hooks = Hooks()
    hooks.use(RECOMMENDED)
    policies_only(hooks)
    with tempfile.TemporaryDirectory() as home:
        path = Path(home, ".claude/projects/p/s.jsonl")
        path.parent.mkdir(parents=True)
        with path.open("w") as file:
            for number in range(times):
                given = {"command": f"{LINES[number % len(LINES)]}\necho {number}"}
                use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": given}
                entry = {"type": "assistant", "sessionId": "s", "cwd": CWD, "message": {"content": [use]}}
                file.write(json.dumps(entry) + "\n")
        began = time.perf_counter()
        report = scan(hooks, find_transcripts(home))
        took = time.perf_counter() - began
    assert report.calls == times, "a scan reads every call"
    return took


def history() -> Row:
    return Row(
        "scan",
        "the recommended policies on the calls of a transcript",
        [
            Contestant("a call in interpose scan", scanned),
            Contestant("a process of Python that does nothing", bare_process),
        ],
        [Limit("scan", "a call in interpose scan", "a process of Python that does nothing", 1.0)],
    )


ROWS: dict[str, Callable[[], Row]] = {"line": one_line, "long": linear, "scan": history}


def main() -> int:
    chosen = options().parse_args()
    status = run(chosen, ROWS, {"policies": str(len(POLICIES))})
    if chosen.cases:
        tallies = {path.stem: judged(path, chosen.ring) for path in sorted(chosen.cases.glob("*.jsonl"))}
        print(f"\n{report(tallies, chosen.show)}")
        through, needless = sum(tallies.values(), Tally()).shares
        status = max(status, MET if through <= MOST_THROUGH and needless <= MOST_NEEDLESS else MISSED)
    if chosen.lines:
        count, found = alarms(chosen.lines)
        share, others = len(found) / max(1, count), len(alarms(chosen.lines, changed=True)[1])
        verdict = "met" if share <= MOST_ALARMS else "MISSED"
        print(f"\nordinary lines: {len(found)} of {count} ({share:.2%}) are stopped by the recommended set in a clean")
        print(f"tree, at most {MOST_ALARMS:.0%}: {verdict}; {others} with uncommitted changes")
        for line, said in found[: chosen.show]:
            print(f"    {line[:110]!r}  {said[:90]}")
        status = max(status, MET if share <= MOST_ALARMS else MISSED)
    return status


if __name__ == "__main__":
    sys.exit(main())
