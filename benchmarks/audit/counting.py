"""A store with a million runs of hooks, and the command that counts them."""

import json
import random
import subprocess
import sys
from pathlib import Path

from benchmarks.environment import ROOT
from benchmarks.measure import Idle, Stopwatch, clean_environment, in_process
from interpose.audit.columns import columns_of
from interpose.audit.entries import PendingRecord, encode
from interpose.audit.process_info import WritingProcess
from interpose.audit.sqlite.database import Database
from interpose.ids import new_id

RUNS = 1_000_000
_HOOKS, _AT_ONCE = 5, 2000
_STATS = "from interpose.cli import main; raise SystemExit(main())"


def filled(path: Path) -> Path:
    """Make the store: firings of five hooks each, in four hundred sessions."""
    base = Database(str(path), durable=False, key=None)
    process = WritingProcess(base.store, new_id(), json.dumps({"store": base.store}))
    dice = random.Random(1)
    try:
        for _ in range(RUNS // _HOOKS // _AT_ONCE):
            base.append(process, [_entry(dice) for _ in range(_AT_ONCE)])
    finally:
        base.close()
    return path


def _entry(dice: random.Random) -> PendingRecord:
    runs = [{"hook": f"hook-{number}", "us": int(dice.expovariate(1 / 800))} for number in range(_HOOKS)]
    body = {
        "event": "PreToolUse",
        "subject": "Bash",
        "us": sum(int(run["us"]) for run in runs),
        "input": {"session_id": f"session-{dice.randrange(400)}", "tool_name": "Bash", "tool_input": {"command": "ls"}},
        "runs": runs,
    }
    return PendingRecord(encode(body), columns_of(body))


def stats(path: Path, scratch: Path) -> Stopwatch:
    """Time `interpose stats` over the store, after a look at what it says."""
    command = [sys.executable, "-c", _STATS, "stats", "--store", str(path), "--json"]
    env = _environment(scratch)
    done = subprocess.run(command, cwd=scratch, env=env, capture_output=True, text=True, check=False)
    counted = sum(hook.get("runs", 0) for hook in json.loads(done.stdout)["hooks"]) if done.returncode == 0 else 0
    if counted != RUNS:
        raise Idle(f"interpose stats counted {counted} runs: {done.stderr or done.stdout}"[:300])
    return in_process(command, cwd=scratch, env=env)


def nothing(scratch: Path) -> Stopwatch:
    return in_process([sys.executable, "-c", "pass"], cwd=scratch, env=_environment(scratch))


def _environment(scratch: Path) -> dict[str, str]:
    return clean_environment(HOME=str(scratch), PYTHONPATH=str(ROOT / "src"))
