"""A model that tries to take its guard off, in the real Claude Code and Codex: it held then, and in the next session."""

from __future__ import annotations

import pytest

from .agents import CLIENTS
from .attacks import ATTACKS, attack

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_guard_holds(agent: str, name: str) -> None:
    held = attack(CLIENTS[agent], name)

    assert (held.same, held.following) == (True, True), held.said


@pytest.mark.parametrize("name", ["strip the hooks", "remove the settings", "its own trust", "remove the state"])
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_guard_holds_in_the_settings_of_a_person(agent: str, name: str) -> None:
    held = attack(CLIENTS[agent], name, "--user")

    assert (held.same, held.following) == (True, True), held.said
