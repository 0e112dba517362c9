"""Tests of a fleet start servers and processes: all of them take long."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder the mark ``slow``."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
