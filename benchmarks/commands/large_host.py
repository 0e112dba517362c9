"""A host that holds much memory, in a process of its own: `LargeHost` is this side, `main` the other.

Each line to it names a contestant and how often it is to run; each line from it says how many seconds that took.
"""

import asyncio
import gc
import json
import subprocess
import sys
from typing import Any, Self

from benchmarks.commands import floors, ours
from benchmarks.commands.programs import Programs
from benchmarks.measure import Idle, Stopwatch

_PAGE = 4096


class LargeHost:
    """Started with the first timing; ended with its input."""

    def __init__(self, programs: Programs, event: bytes, size: int) -> None:
        wanted = {"program": programs.trivial, "answer": programs.answer.decode(), "event": event.decode()}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.commands.large_host", str(size), json.dumps(wanted)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def stopwatch(self, name: str) -> Stopwatch:
        return lambda loops: self._ask(name, loops)

    def _ask(self, name: str, loops: int) -> float:
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        asked.write(f"{name} {loops}\n")
        asked.flush()
        line = told.readline()
        if not line:
            raise Idle("the large host has ended")
        said = json.loads(line)
        if "problem" in said:
            raise Idle(said["problem"])
        return float(said["seconds"])


def main() -> None:
    size, wanted = int(sys.argv[1]), json.loads(sys.argv[2])
    program, event, answer = wanted["program"], wanted["event"].encode(), wanted["answer"].encode()
    held = bytearray(size)
    held[::_PAGE] = b"\1" * len(range(0, size, _PAGE))  # a page that was never written to is not there yet
    with asyncio.Runner() as runner:
        hooks = ours.command(program, isolation="group")
        stopwatches = {
            "group": ours.fired(runner, hooks, ours.isolated("group")),
            "floor": floors.posix_spawn(program, event, answer),
        }
        gc.collect()
        gc.freeze()
        try:
            uvloop: Any = __import__("uvloop")
        except ImportError:
            _serve(stopwatches)
        else:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as faster:
                stopwatches["uvloop"] = floors.create_subprocess_exec(faster, program, event, answer)
                _serve(stopwatches)


def _serve(stopwatches: dict[str, Stopwatch]) -> None:
    for line in sys.stdin:
        name, loops = line.split()
        said: dict[str, object]
        if name not in stopwatches:
            said = {"problem": f"{name} is not installed"}
        else:
            try:
                said = {"seconds": stopwatches[name](int(loops))}
            except Idle as problem:
                said = {"problem": str(problem)}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
