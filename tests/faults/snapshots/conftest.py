"""A person of their own for each test, and a project."""

import sys
from pathlib import Path

import pytest
from tests.faults.snapshots.projects import Project


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person of their own, for every test here; what hooks import is forgotten after it."""
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    return home


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
