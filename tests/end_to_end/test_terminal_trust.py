"""Questions at a terminal: whoever does not clearly say yes has said no."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "interpose"


def at_a_terminal(project: Path, answer: str, *words: str) -> tuple[int, str]:
    """Run a command at a terminal of its own, answer its question, and return its exit status and all that was seen."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(project.parent), "LANG": "C.UTF-8", "TERM": "dumb"}
    running = subprocess.Popen(
        [COMMAND, *words],
        cwd=project,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen, asked, deadline = "", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(ours, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not part:
            break
        seen += part.decode()
        if not asked and seen.endswith("[y/N] "):
            os.write(ours, f"{answer}\n".encode())
            asked = True
    os.close(ours)
    return running.wait(10), seen.replace("\r\n", "\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".interpose"
    folder.mkdir(parents=True)
    (folder / "hooks.yaml").write_text("hooks:\n  Stop:\n    - {name: trace, command: touch ran}\n")
    return folder.parent


@pytest.mark.parametrize("answer", ["n", "", "yes please"])
def test_a_file_is_not_trusted_without_a_clear_yes(project: Path, answer: str) -> None:
    status, seen = at_a_terminal(project, answer, "trust")

    assert status == 1
    assert f"Trust {project}/.interpose/hooks.yaml with 1 hook? [y/N]" in seen
    assert f"not trusted  {project}/.interpose/hooks.yaml\n" in seen


def test_hooks_run_once_only_after_a_yes(project: Path) -> None:
    assert at_a_terminal(project, "y", "trust")[0] == 0

    status, seen = at_a_terminal(project, "n", "doctor")
    assert status == 0
    assert "Run 1 hook once, with an event that stands for nothing real? [y/N]" in seen
    assert not (project / "ran").exists()

    at_a_terminal(project, "y", "doctor")
    assert (project / "ran").exists()
