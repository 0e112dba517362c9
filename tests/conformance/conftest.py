"""What the tables share."""

import pytest
from tests.conformance.clock import Clock, modules_with_a_clock


@pytest.fixture
def clock(monkeypatch):
    """Time passes only when a hook says so."""
    clock = Clock()
    for module in modules_with_a_clock():
        monkeypatch.setattr(module, "monotonic", clock)
    return clock
