"""Fires events at an even rate into a store, in a process of its own, as agents at work do."""

import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.environment import ROOT
from benchmarks.measure import clean_environment
from interpose import AuditStore, Hooks


class Firing:
    """The process. ``ended()`` returns what it has fired and lost, once it is over."""

    def __init__(self, path: Path, rate: int, seconds: float) -> None:
        self.seconds = seconds
        command = [sys.executable, "-m", "benchmarks.ui.firing", str(path), str(rate), str(seconds)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=clean_environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
        )

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def ended(self) -> dict[str, int]:
        said, _ = self._process.communicate(timeout=120)
        found: dict[str, int] = json.loads(said)
        return found

    def problems(self, rate: int) -> list[str]:
        """What keeps this from being the load that was promised."""
        found = self.ended()
        problems = [f"{found['lost']} events were lost"] if found["lost"] else []
        if found["fired"] < 0.9 * rate * self.seconds:
            problems.append(f"only {found['fired'] / self.seconds:,.0f} events a second were recorded")
        return problems


def _main(path: str, rate: int, seconds: float) -> None:
    hooks, fired = Hooks(), 0
    with AuditStore(path) as store:
        hooks.record(store)
        began = time.perf_counter()
        while (now := time.perf_counter() - began) < seconds:
            for _ in range(max(0, min(200, int(now * rate) - fired))):
                hooks.fire_sync(
                    "PreToolUse", tool_name="Bash", tool_input={"command": f"echo {fired}"}, session_id="busy"
                )
                fired += 1
            time.sleep(0.001)
        store.flush()
        lost = store.health.lost
    print(json.dumps({"fired": fired, "lost": lost}))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
