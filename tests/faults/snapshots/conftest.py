"""A person of their own for each test, and a project."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.snapshots.projects import Project


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person of their own."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    yield home
    os.umask(mask)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
