"""The recommended policies can be worked with all day: whole sessions and the demonstration go on as without them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.end_to_end.session_files import expected_of, play, session_files

from interpose.cli.demo import create_project
from interpose.cli.demo import play as play_demo
from interpose.cli.run.view import PlainView

RECOMMENDED = ["recommended"]

STOPPED = {
    # It reads a file whose name is secret.txt: a person should be asked.
    "subagents": {"PreToolUse Read", "PreToolUse Read → ask", "PermissionRequest Read", "PostToolUse Read"},
}
"""By session, the events that policies decide otherwise, and rightly so."""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)


@pytest.mark.parametrize("path", session_files(), ids=lambda path: path.stem)
def test_a_session_goes_on_as_without_policies(path: Path, tmp_path: Path) -> None:
    played = play(path, tmp_path / "scratch", policies=RECOMMENDED)

    expected = expected_of(path)
    differing = set(played.events) ^ set(expected["events"])
    assert differing <= STOPPED.get(path.stem, set())
    if not differing:
        assert yaml.safe_load(played.text()) == expected


def decisions(project: Path) -> list[tuple[str, str, str]]:
    """What was decided in the demonstration, in order."""
    status, rows = play_demo(project, PlainView())
    assert status == 0
    return [(row["event"], row["subject"], row["decision"]) for row in rows if row["decision"] != "-"]


@pytest.mark.slow
def test_the_demonstration_goes_on_as_without_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, with_policies = (create_project(tmp_path / name) for name in ("plain", "policies"))
    configuration: dict[str, Any] = yaml.safe_load((with_policies / "hooks.yaml").read_text())
    (with_policies / "hooks.yaml").write_text(yaml.safe_dump({**configuration, "policies": RECOMMENDED}))

    assert decisions(with_policies) == decisions(plain)
