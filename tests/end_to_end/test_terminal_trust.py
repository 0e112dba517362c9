"""Questions at a terminal: whoever does not clearly say yes has said no."""

from pathlib import Path

import pytest
from tests.terminals import Terminal, of_a_project

pytestmark = pytest.mark.slow


def at_a_terminal(project: Path, answer: str, *words: str) -> tuple[int, str]:
    """Run a command at a terminal, answer its question, and return its exit status and all that was seen."""
    with Terminal(*words, environment=of_a_project(project, "dumb"), cwd=project) as terminal:
        terminal.until("[y/N] ")
        terminal.type(f"{answer}\n")
        return terminal.wait(), terminal.seen


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


def test_a_hook_is_shown_with_its_condition_within_80_columns(project: Path) -> None:
    (project / ".interpose" / "hooks.yaml").write_text(
        "hooks:\n  PreToolUse:\n"
        "    - {name: a-guard-of-the-branch, matcher: Write|Edit, if: Write(src/**), command: ./check-branch.sh || exit 2}\n"
        "    - {name: push, if: Bash(git push *), command: 'true'}\n"
    )

    _, seen = at_a_terminal(project, "n", "trust")

    shown = seen.partition("it arms 2 hooks:\n")[2].partition("  live")[0].splitlines()
    assert shown == [
        "    PreToolUse Write|Edit  line 3",
        "      a-guard-of-the-branch: ./check-branch.sh || exit 2",
        "      if Write(src/**)",
        "    PreToolUse             push: true  line 4",
        "      if Bash(git push *)",
    ]
    assert max(map(len, shown)) <= 80


def test_hooks_run_once_only_after_a_yes(project: Path) -> None:
    assert at_a_terminal(project, "y", "trust")[0] == 0

    status, seen = at_a_terminal(project, "n", "doctor")
    assert status == 0
    assert "Run 1 hook with made-up events? [y/N]" in seen
    assert not (project / "ran").exists()

    at_a_terminal(project, "y", "doctor")
    assert (project / "ran").exists()
