"""A scratch directory with configurations and a home of its own, and processes that know of nothing else."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.commands.programs import Programs
from benchmarks.measure import Idle, Stopwatch

BIN = Path(sys.executable).parent
MANY = 1000

Proof = Callable[[subprocess.CompletedProcess[bytes]], str]
"""Returns what is wrong with how a process ended, or nothing."""

_FUNCTION = """
def answers(event):
    return {"systemMessage": "seen: " + event["tool_input"]["command"]}
"""

# Nineteen hooks as people have them; none of them runs for `ls`, though two have to look at it.
_OTHERS = """
    - {name: paths, matcher: Write|Edit, handler: project_hooks.paths}
    - {name: secrets, matcher: "mcp__*", handler: project_hooks.secrets, onError: abort}
    - {name: push, if: Bash(git push *), command: ./check-branch.sh, timeout: 5}
    - {name: remove, if: Bash(rm *), command: ./ask-first.sh}
    - {name: network, matcher: WebFetch|WebSearch, handler: project_hooks.network}
    - {name: notebooks, matcher: NotebookEdit, handler: project_hooks.notebooks, priority: 20}
    - {name: agents, matcher: Task, command: "echo agent >> log", timeout: 2}
  PostToolUse:
    - {name: format, matcher: Write|Edit, command: ./format.sh, async: true}
    - {name: lint, matcher: Write|Edit, command: ./lint.sh, timeout: 30}
    - {name: audit, handler: project_hooks.audit}
    - {name: tests, matcher: "*Edit", command: ./tests.sh, timeout: 60}
  UserPromptSubmit:
    - {name: words, handler: project_hooks.words}
    - {name: context, command: git status --short}
  SessionStart:
    - {name: welcome, handler: project_hooks.welcome}
    - {name: prepare, command: ./prepare.sh, timeout: 10}
  Stop:
    - {name: done, handler: project_hooks.done}
  SubagentStop:
    - {name: collect, handler: project_hooks.collect}
  Notification:
    - {name: bell, command: ./bell.sh}
  PreCompact:
    - {name: keep, handler: project_hooks.keep}
"""


class Scene:
    """Where the processes run, what they are given, and what they must have done."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.home = scratch / "home"
        self.project = scratch / "project"
        for directory in (self.home, self.project):
            directory.mkdir()
        self.programs = Programs(scratch)
        (self.project / "timed_hooks.py").write_text(_FUNCTION, encoding="utf-8")
        self.python = self.twenty("python", "handler: timed_hooks.answers")
        trivial = f"type: command, handler: {json.dumps(self.programs.trivial)}"
        self.tree = self.twenty("tree", trivial)
        self.group = self.twenty("group", f"{trivial}, isolation: group")
        self.many = self.project / "many.yaml"
        self.many.write_text(_many(), encoding="utf-8")
        self._caches = 0

    def twenty(self, name: str, matching: str) -> Path:
        """A configuration of twenty hooks, of which one is for Bash."""
        path = self.project / f"{name}.yaml"
        text = f"hooks:\n  PreToolUse:\n    - {{name: timed, matcher: Bash, {matching}}}{_OTHERS}"
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", **more}

    def run(self, command: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, cwd=self.project, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )

    def timed(self, command: Sequence[str], proof: Proof) -> Stopwatch:
        """Whole runs of a command; how each ended is looked at after it was timed."""
        env = self.environment()

        def timed(loops: int) -> float:
            began = time.perf_counter()
            ended = [self.run(command, env) for _ in range(loops)]
            seconds = time.perf_counter() - began
            for end in ended:
                prove(end, proof)
            return seconds

        return timed

    # --- What is timed --------------------------------------------------------------------------------------

    def nothing(self) -> Stopwatch:
        """A bare interpreter, in the same environment."""
        return self.timed([sys.executable, "-c", "pass"], printed(b""))

    def fire(self, config: Path, proof: Callable[[Mapping[str, Any]], str]) -> Stopwatch:
        """`interpose fire` where a compiled form of the configuration is there, and used."""
        command = [str(BIN / "interpose"), "fire", "PreToolUse", "--tool", "Bash", "--tool-input", '{"command": "ls"}',
                   "--json", "--config", str(config)]  # fmt: skip
        outcome = outcome_of(proof)
        prove(self.run(command, self.environment()), outcome)
        kept = self.home / ".cache" / "interpose"
        digest = hashlib.sha256(config.read_bytes()).hexdigest()
        before = _listed(kept)
        if not any(name.startswith(digest) for name in before):
            raise Idle(f"interpose fire has left no compiled form of {config.name}")
        timed = self.timed(command, outcome)

        def still_compiled(loops: int) -> float:
            seconds = timed(loops)
            after = _listed(kept)
            if any(after.get(name) != made for name, made in before.items()):
                raise Idle("the compiled form was made anew")
            return seconds

        return still_compiled

    def load(self) -> Stopwatch:
        """Loading many hooks in a process that finds no compiled form."""
        code = (
            "import sys; from interpose import Hooks; hooks = Hooks.load(sys.argv[1]); print(len(list(hooks)), end='')"
        )
        command = [sys.executable, "-c", code, str(self.many)]
        proof = printed(str(MANY).encode())

        def timed(loops: int) -> float:
            seconds = 0.0
            for _ in range(loops):
                with TemporaryDirectory(dir=self.scratch) as cache:
                    env = self.environment(XDG_CACHE_HOME=cache)
                    began = time.perf_counter()
                    end = self.run(command, env)
                    seconds += time.perf_counter() - began
                    prove(end, proof)
                    if len(_listed(Path(cache) / "interpose")) != 1:
                        raise Idle("nothing was compiled, so something else was read")
            return seconds

        return timed

    def help(self) -> Stopwatch:
        return self.timed([str(BIN / "interpose"), "--help"], mentions(b"fire"))

    def check(self) -> Stopwatch:
        return self.timed([str(BIN / "interpose"), "check", str(self.python)], mentions(b"20 hooks", 0, 1))

    def event_as_sent(self) -> bytes:
        """What the compiled command reads, byte for byte, so that the floor can be given the same."""
        copy = self.scratch / "event.json"
        config = self.twenty("copy", f"command: {json.dumps(f'cat > {copy}')}")
        self.fire(config, ran(None))
        return copy.read_bytes()


def _listed(directory: Path) -> dict[str, int]:
    if not directory.is_dir():
        return {}
    return {entry.name: entry.stat().st_mtime_ns for entry in os.scandir(directory)}


def _many() -> str:
    """A thousand hooks over eight events and some files of functions and commands."""
    events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop", "SubagentStop",
              "PreCompact")  # fmt: skip
    lines = ["hooks:", f"  maxHooksPerPoint: {MANY}"]
    for at, event in enumerate(events):
        lines.append(f"  {event}:")
        for number in range(at, MANY, len(events)):
            lines.append(f"    - name: hook-{number}")
            if event.endswith("ToolUse"):
                lines.append(f"      matcher: {('Bash', 'Write|Edit', 'mcp__*')[number % 3]}")
            if number % 4:
                lines.append(f"      handler: hooks_{number % 20}.check_{number}")
            else:
                lines.append(f"      command: ./check.sh {number}")
            lines.append(f"      timeout: {number % 30 + 1}")
    return "\n".join([*lines, ""])


# --- Proofs -------------------------------------------------------------------------------------------------


def prove(end: subprocess.CompletedProcess[bytes], proof: Proof) -> None:
    """Raise Idle unless the process has done what it is timed for."""
    if problem := proof(end):
        said = (end.stderr.strip() or end.stdout.strip()).decode("utf-8", "replace")[-300:]
        raise Idle(f"{Path(end.args[0]).name} {end.args[1]}: {problem}; status {end.returncode}; it said {said!r}")


def printed(text: bytes) -> Proof:
    return lambda end: "" if (end.returncode, end.stdout, end.stderr) == (0, text, b"") else f"not just {text!r}"


def mentions(text: bytes, *statuses: int) -> Proof:
    wanted = statuses or (0,)
    return lambda end: "" if end.returncode in wanted and text in end.stdout + end.stderr else f"no word of {text!r}"


def outcome_of(proof: Callable[[Mapping[str, Any]], str]) -> Proof:
    """Status 0, and on standard output an outcome: exactly one hook has run."""

    def problem(end: subprocess.CompletedProcess[bytes]) -> str:
        if end.returncode or end.stderr:
            return "it failed"
        outcome = json.loads(end.stdout)
        # The two with a condition on Bash are looked at and skipped.
        became = {result["hook"]: result["status"] for result in outcome["results"]}
        if became != {"timed": "ok", "push": "skipped", "remove": "skipped"}:
            return f"other hooks ran than one: {became}"
        return proof(outcome)

    return problem


def said(text: str) -> Callable[[Mapping[str, Any]], str]:
    """The Python function has seen the tool's input."""
    return lambda outcome: "" if outcome["context"] == [text] else f"the hook said {outcome['context']}, not {text!r}"


def ran(isolation: str | None) -> Callable[[Mapping[str, Any]], str]:
    """The command ran, in the isolation that was asked for."""

    def problem(outcome: Mapping[str, Any]) -> str:
        found = outcome["results"][0]["evidence"].get("isolation")
        return "" if isolation in (None, found) else f"isolation {isolation} is not there: it ran in {found!r}"

    return problem
