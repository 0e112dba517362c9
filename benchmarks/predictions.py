"""How often the dialects of coding agents predict what the real agents did.

    python -m benchmarks.predictions [--rows FILE]… [--show] [--json]

A row has the shell line of a hook, and what an agent did with it: whether the tool ran, how often the model was called,
and which marked texts reached the model. The line is run here with ``sh``, and ``predict`` gets how it ended. Without
``--rows``, those of ``benchmarks/observed`` are used.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interpose.dialects.agents import agent_dialect
from interpose.dialects.agents.contract import HookExit

__all__ = ["OBSERVED", "Observed", "Verdict", "judge", "observed_rows"]

MARKS = {
    "TOKERR": "stderr", "TOKOUT": "stdout", "TOKREASON": "reason", "TOKCTX": "context", "TOKINPUT": "input",
    "TOKRESULT": "result", "TOKSTOP": "stop_reason", "TOKSYS": "system_message", "TOKRAN1": "tool_output",
}  # fmt: skip
"""The marked texts of a row, and the words of a prediction."""
OBSERVED = Path(__file__).with_name("observed")
MOST_CALLS = 4
"""More calls of the model than this count as one: an agent that is sent back without an end."""
_DEADLINE = 2.0
_STOPS = {"Stop", "SubagentStop", "AfterAgent", "TaskComplete"}


class Observed(NamedTuple):
    """One row: what an agent did."""

    client: str
    case: str
    event: str
    hook: str
    tool_ran: bool
    model_calls: int
    model_sees: frozenset[str]
    timeout: float | None = None
    tool: str = "shell"
    """What the model called: the shell, or another tool, which leaves no trace of a run."""


class Verdict(NamedTuple):
    """A row, and whether the prediction holds for it."""

    row: Observed
    wrong: tuple[str, ...]


def observed_rows(path: Path) -> Iterator[Observed]:
    """Read the rows of a file, in either of the two formats."""
    document = json.loads(path.read_text())
    for row in document.get("rows", ()):
        seconds = _seconds(row["client"], row.get("options") or {})
        yield Observed(
            row["client"], row["case"], row["event"], row["hook"], row["tool_ran"], row["model_calls"],
            frozenset(row["model_sees"]), seconds, "mcp" if row["case"].startswith("mcp-") else "shell",
        )  # fmt: skip
    for row in document.get("observed", ()):
        yield from _claude_row(row)


def _claude_row(row: Mapping[str, Any]) -> Iterator[Observed]:
    """Read a row of Claude Code; those about several hooks or matchers are about something else."""
    (event, groups), *others = row["hooks"].items()
    entries = [entry for group in groups for entry in group["hooks"]]
    if others or len(entries) != 1 or "matcher" in groups[0] or row["id"].startswith("failure-"):
        return
    entry = entries[0]
    if "onFailure" in entry:
        return
    hook = entry["command"].replace("{box}", "$BOX")
    calls, sees = row["model_calls"], frozenset(row["model_sees"])
    yield Observed("claude", row["id"], event, hook, row["tool_ran"], calls, sees, entry.get("timeout"), "unmarked")


def judge(rows: Sequence[Observed]) -> list[Verdict]:
    """Return what of each row was predicted wrongly."""
    return [Verdict(row, tuple(_differences(row))) for row in rows]


def _differences(row: Observed) -> Iterator[str]:
    dialect = agent_dialect(row.client)
    with tempfile.TemporaryDirectory() as box:
        ran, sees, calls, turns = True, frozenset[str](), 2, 0
        while True:
            ended = _run(row, box)
            said = dialect.predict(row.event, ended)
            sees = sees | said.model_sees | _marked(ended, said.model_sees)
            if turns == 0:
                ran, calls = said.tool_ran, said.model_calls
            if said.model_calls <= 2 or row.event not in _STOPS:
                break
            turns += 1
            calls = 2 + turns
            if calls > MOST_CALLS:
                break
    marks = {mark for mark, word in MARKS.items() if word in sees and (mark in row.hook or mark == "TOKRAN1")}
    if row.tool != "shell":
        marks.discard("TOKRAN1")
    if row.tool == "mcp":
        ran = False  # a tool of a server leaves no trace of a run
    if ran != row.tool_ran:
        yield f"tool_ran: {ran} where {row.tool_ran} was seen"
    if min(calls, MOST_CALLS) != min(row.model_calls, MOST_CALLS):
        yield f"model_calls: {calls} where {row.model_calls} was seen"
    if marks != row.model_sees:
        yield f"model_sees: {_listed(marks)} where {_listed(row.model_sees)} was seen"


def _marked(ended: HookExit, sees: frozenset[str]) -> frozenset[str]:
    """Return the words of all marks in a stream that reaches the model as it is."""
    texts = [text for text, word in ((ended.stdout, "stdout"), (ended.stderr, "stderr")) if word in sees]
    return frozenset(word for mark, word in MARKS.items() if any(mark in text for text in texts))


def _run(row: Observed, box: str) -> HookExit:
    """Run the line of a hook as an agent does; None is the status of one that takes longer than its deadline."""
    seconds = row.timeout if row.timeout is not None else 30.0
    try:
        ended = subprocess.run(
            ["/bin/sh", "-c", row.hook], input="{}", capture_output=True, text=True, check=False, cwd=box,
            timeout=min(seconds, _DEADLINE) if row.timeout is not None else seconds,
            env={"BOX": box, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return HookExit(status=None)
    return HookExit(ended.stdout, ended.stderr, ended.returncode)


def _seconds(client: str, options: Mapping[str, Any]) -> float | None:
    value: float | None = options.get("timeoutSec", options.get("timeout"))
    return value / 1000 if value is not None and client in ("gemini", "auggie") else value


def _listed(marks: Any) -> str:
    return ", ".join(sorted(marks)) or "nothing"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the agreement per client; return 1 if it is below the bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predictions", description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=Path, action="append", metavar="FILE")
    parser.add_argument("--show", action="store_true", help="print each row that was predicted wrongly")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--at-least", type=float, default=0.95, metavar="SHARE")
    given = parser.parse_args(arguments)
    paths = given.rows or sorted(OBSERVED.glob("*.json"))
    verdicts = judge([row for path in paths for row in observed_rows(path)])
    total, right = Counter(v.row.client for v in verdicts), Counter(v.row.client for v in verdicts if not v.wrong)
    share = sum(right.values()) / max(1, sum(total.values()))
    if given.json:
        wrong = [{"client": v.row.client, "case": v.row.case, "wrong": list(v.wrong)} for v in verdicts if v.wrong]
        clients = {name: [right[name], total[name]] for name in total}
        sums = {"rows": sum(total.values()), "right": sum(right.values()), "share": round(share, 4)}
        print(json.dumps({**sums, "clients": clients, "wrong": wrong}))
        return 0 if share >= given.at_least else 1
    for name in total:
        print(f"{name:<10} {right[name]:>4} of {total[name]:>4}  {right[name] / total[name]:>7.1%}")
    print(f"{'all':<10} {sum(right.values()):>4} of {sum(total.values()):>4}  {share:>7.1%}")
    for verdict in verdicts if given.show else ():
        for problem in verdict.wrong:
            print(f"  {verdict.row.client} {verdict.row.case}: {problem}")
    return 0 if share >= given.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
