"""Variables that weaken what is enforced count only if the agent was started with them."""

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from interpose.person import environment
from interpose.person.environment import drop_variables_of_settings


@pytest.fixture
def hosts(monkeypatch, tmp_path):
    """Return a function that starts programs with some variables, and makes them the ones above this process."""
    with ExitStack() as stack:

        def start(*programs):
            pids = []
            for name, variables in programs:
                script = tmp_path / name
                script.write_text("import sys; print(flush=True); sys.stdin.read()\n")
                child = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         env={**variables, "PATH": os.environ["PATH"]})  # fmt: skip
                stack.enter_context(child)
                assert child.stdout is not None
                assert child.stdin is not None
                stack.callback(child.stdin.close)
                child.stdout.readline()  # it runs now
                pids.append(child.pid)
            monkeypatch.setattr(environment, "hosts_above", lambda: pids)
            monkeypatch.setattr(environment, "_is_typed", lambda pid: True)

        yield start


OFF = {"INTERPOSE_OFF": "locked out"}


@pytest.mark.parametrize(
    ("programs", "dropped"),
    [
        ([("claude", {})], ["INTERPOSE_OFF"]),
        ([("claude", OFF)], []),
        ([("claude", {"INTERPOSE_OFF": "another"})], ["INTERPOSE_OFF"]),
        ([("myagent", OFF), ("runner", {})], []),
        ([("codex", OFF), ("claude", {})], ["INTERPOSE_OFF"]),
        ([("myagent", OFF), ("claude", {})], ["INTERPOSE_OFF"]),
        ([("codex", OFF), ("claude", OFF), ("runner", {})], []),
    ],
)
def test_the_first_agent_must_have_been_started_with_it(hosts, monkeypatch, programs, dropped):
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    hosts(*programs)

    assert drop_variables_of_settings() == dropped
    assert ("INTERPOSE_OFF" in os.environ) == (not dropped)


def test_a_person_who_starts_it_by_hand_is_believed(monkeypatch):
    monkeypatch.setenv("INTERPOSE_TRUST", "all")
    monkeypatch.setattr(environment, "hosts_above", lambda: None)

    assert drop_variables_of_settings() == []


def test_what_cannot_be_seen_is_not_believed(monkeypatch):
    monkeypatch.setenv("INTERPOSE_TRUST", "all")
    monkeypatch.setattr(environment, "hosts_above", list)

    assert drop_variables_of_settings() == ["INTERPOSE_TRUST"]
