"""What tests of sessions share."""

from pathlib import Path

import pytest


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state directory of its own, in which sessions keep what they have asked."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
