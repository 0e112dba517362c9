"""``INTERPOSE_OFF`` counts if a person has typed the agent with it, and not if an agent has started the agent."""

import os

import pytest
from tests.people import MadeUp, process

from interpose.person.environment import drop_variables_of_settings
from interpose.person.evidence import why_not_typed

AGENT = 20


def typed(**facts: object) -> MadeUp:
    """An agent that a person has typed at a shell in a window; facts change it."""
    usual = {"session": 11, "terminal": "pts/0", "variables": {"INTERPOSE_OFF": "locked out"}, **facts}
    parent = usual.pop("parent", 11)
    return MadeUp(
        process(1, 0, "/usr/lib/systemd/systemd"),
        process(10, 1, "/usr/bin/xterm"),
        process(11, 10, "/usr/bin/bash", terminal="pts/0"),
        process(15, 11, "/usr/bin/claude", session=11, terminal="pts/0"),
        process(16, 15, "/usr/bin/bash", session=11, terminal="pts/0"),
        process(AGENT, parent, "/usr/bin/claude", **usual),  # type: ignore[arg-type]
        holds={"pts/0": 10, "pts/1": 15},
    )


def test_an_agent_that_a_person_has_typed() -> None:
    assert why_not_typed(typed(), AGENT) == ""


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"parent": 16}, "started below an agent: claude"),
        ({"parent": 1, "session": AGENT, "terminal": ""}, "it has no terminal"),
        ({"parent": 1, "session": AGENT, "terminal": "pts/1"}, "below an agent"),
        ({"parent": 1}, "left behind"),
        ({"variables": {"CLAUDECODE": "1"}}, "CLAUDECODE is set"),
    ],
    ids=["below another agent", "left behind with setsid", "behind script", "orphaned", "with an agent's variable"],
)
def test_an_agent_that_another_agent_has_started(facts: dict[str, object], why: str) -> None:
    assert why in why_not_typed(typed(**facts), AGENT)


@pytest.mark.parametrize(("is_typed", "left"), [(True, "locked out"), (False, None)])
def test_the_variable_counts_only_then(is_typed: bool, left: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    monkeypatch.setattr("interpose.person.environment.hosts_above", lambda: [AGENT])
    monkeypatch.setattr("interpose.person.environment._first_agent", lambda hosts: hosts[-1])
    monkeypatch.setattr("interpose.person.environment._environment", lambda pid: {"INTERPOSE_OFF": "locked out"})
    monkeypatch.setattr(
        "interpose.person.processes.read_processes", lambda: typed(**({} if is_typed else {"parent": 16}))
    )
    assert drop_variables_of_settings() == ([] if is_typed else ["INTERPOSE_OFF"])
    assert os.environ.get("INTERPOSE_OFF") == left
