"""The agent at a terminal: it asks, it can be interrupted, and it takes leave in order."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

COMMAND = Path(sys.executable).parent / "interpose"

HOOKS = {
    "hooks": {
        "SessionEnd": [{"command": "echo SessionEnd >> events.txt"}],
        "PostToolUseFailure": [{"command": "grep -o '\"is_interrupt\":true' >> events.txt"}],
    }
}


class Terminal:
    """A command with a terminal of its own, and what was seen there."""

    def __init__(self, words: list[str], project: Path, term: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = {"PATH": os.environ["PATH"], "HOME": str(project.parent), "LANG": "C.UTF-8", "TERM": term}
        self._running = subprocess.Popen(
            [COMMAND, *words], cwd=project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""
        self._looked = 0

    def until(self, text: str) -> str:
        """Look until a text appears after what was looked at before."""
        begun, deadline = self._looked, time.monotonic() + 60
        while text not in self.seen[begun:]:
            assert time.monotonic() < deadline, f"{text!r} was not seen in {self.seen[begun:]!r}"
            if select.select([self._ours], [], [], 0.1)[0]:
                try:
                    self.seen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", os.read(self._ours, 65536).decode())
                except OSError:  # the terminal's other end is closed
                    assert text in self.seen[begun:], f"{text!r} was not seen in {self.seen[begun:]!r}"
        self._looked = self.seen.index(text, begun) + len(text)
        return self.seen[begun:]

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        self._running.send_signal(signal.SIGINT)

    def wait(self) -> int:
        deadline = time.monotonic() + 60
        while self._running.poll() is None and time.monotonic() < deadline:
            if select.select([self._ours], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self._ours, 65536).decode()
                except OSError:
                    break
        return self._running.wait(10)

    def close(self) -> None:
        if self._running.poll() is None:
            self._running.kill()
            self._running.wait()
        os.close(self._ours)


@contextmanager
def terminal(project: Path, *words: str, term: str = "xterm-256color") -> Iterator[Terminal]:
    made = Terminal(["run", "-c", "hooks.yaml", "-m", "scripted:turns.yaml", *words], project, term)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "hooks.yaml").write_text(yaml.safe_dump(HOOKS))
    return folder


def script(project: Path, *turns: Any) -> None:
    (project / "turns.yaml").write_text(yaml.safe_dump({"turns": list(turns)}))


def is_running(project: Path) -> bool:
    """Whether what the tool has started is still there: it writes its process id down."""
    try:
        os.kill(int((project / "pid.txt").read_text()), 0)
    except (ProcessLookupError, FileNotFoundError):
        return False
    return True


WAIT = {"call": {"Bash": {"command": "echo $$ > pid.txt; echo waiting > there.txt; sleep 600"}}}


def until_it_waits(project: Path) -> None:
    deadline = time.monotonic() + 60
    while not (project / "there.txt").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("answer", "comes"), [("y", "✓ Bash"), ("n", "the person said no"), ("", "the person said no")]
)
def test_a_call_that_nobody_decides_is_asked_about(project: Path, answer: str, comes: str) -> None:
    script(project, {"call": {"Bash": {"command": "echo made > made.txt"}}}, {"say": "Done."})

    with terminal(project, "Make it.") as seen:
        seen.until("run it? [y/N]")
        seen.type(f"{answer}\n")
        seen.until(comes)
        status = seen.wait()

    assert status == 0
    assert (project / "made.txt").exists() == (answer == "y")


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_ends_the_tool_and_the_session_in_order(project: Path, term: str) -> None:
    script(project, WAIT, {"say": "Never said."})

    with terminal(project, "--mode", "bypass", "Wait.", term=term) as seen:
        until_it_waits(project)
        seen.interrupt()
        status = seen.wait()

    assert status == 130
    assert (project / "events.txt").read_text().split() == ['"is_interrupt":true', "SessionEnd"]
    assert not is_running(project)
    assert "Traceback" not in seen.seen


def test_ctrl_c_at_the_prompt_of_a_conversation_interrupts_the_turn_first_and_the_session_next(project: Path) -> None:
    script(project, WAIT, {"needs": "interrupted", "say": "I was interrupted."})

    with terminal(project, "--mode", "bypass") as seen:
        seen.until("> ")
        seen.type("Wait.\n")
        until_it_waits(project)
        seen.interrupt()
        seen.until("interrupted")
        seen.until("> ")
        seen.type("What happened?\n")
        seen.until("I was interrupted.")
        seen.until("> ")
        seen.interrupt()
        status = seen.wait()

    assert status == 130
    assert (project / "events.txt").read_text().split() == ['"is_interrupt":true', "SessionEnd"]
    assert not is_running(project)


def test_a_conversation_ends_with_the_input(project: Path) -> None:
    script(project, {"say": "Hello."})

    with terminal(project) as seen:
        seen.until("> ")
        seen.type("Hi.\n")
        seen.until("Hello.")
        seen.until("> ")
        seen.type("\x04")
        status = seen.wait()

    assert status == 0
    assert (project / "events.txt").read_text().split() == ["SessionEnd"]
