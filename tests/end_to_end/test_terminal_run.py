"""The agent at a terminal: it asks, it can be interrupted, and it takes leave in order."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.terminals import Terminal, of_a_project

pytestmark = pytest.mark.slow

HOOKS = {
    "hooks": {
        "SessionEnd": [{"command": "echo SessionEnd >> events.txt"}],
        "PostToolUseFailure": [{"command": "grep -o '\"is_interrupt\":true' >> events.txt"}],
    }
}


def terminal(project: Path, *words: str, term: str = "xterm-256color") -> Terminal:
    told = ("run", "-c", "hooks.yaml", "-m", "scripted:turns.yaml", *words)
    return Terminal(*told, environment=of_a_project(project, term), cwd=project)


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
