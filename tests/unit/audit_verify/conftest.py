"""A directory of its own for each test, with a key, and with a state directory in it."""

import pytest
from tests.unit.audit_verify.stores import KEY


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "key").write_text(KEY)
    return tmp_path
