"""Variables count only if the agent was started with them: its settings may be those of a cloned project."""

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from interpose.handlers.processes import tool_environment
from interpose.person import environment
from interpose.person.environment import drop_variables_of_settings
from interpose.redaction import Redactor
from interpose.runtime.set_aside import forget_variables, variables_set_aside


@pytest.fixture(autouse=True)
def _environment_of_the_test():
    before = dict(os.environ)
    yield
    forget_variables()
    os.environ.clear()
    os.environ.update(before)


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
            monkeypatch.setattr(environment, "nearest_host", lambda: pids[0])
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


OF_SETTINGS = {"HTTPS_PROXY": "http://proxy.example", "GIT_DIR": "/elsewhere", "SETTING": "a value", "LANG": "xx"}


def test_a_variable_gets_the_value_back_that_the_agent_was_started_with(hosts):
    hosts(("claude", {"LANG": "C.UTF-8", "HTTPS_PROXY": "http://own.example"}))
    os.environ.update(OF_SETTINGS)

    drop_variables_of_settings()

    now = {name: os.environ.get(name) for name in OF_SETTINGS}
    assert now == {"HTTPS_PROXY": "http://own.example", "GIT_DIR": None, "SETTING": None, "LANG": "C.UTF-8"}
    aside = variables_set_aside()
    assert {name: aside[name.encode()].decode() for name in OF_SETTINGS} == OF_SETTINGS


def test_what_the_agent_sets_for_each_hook_stays(hosts):
    hosts(("claude", {}))
    given = {"CLAUDE_PROJECT_DIR": "/p", "AI_AGENT": "claude-code_2-1-325_harness", "HOME": "/h", "XDG_STATE_HOME": "/s",
             "INTERPOSE_DEPTH": "3"}  # fmt: skip
    os.environ.update(given)

    drop_variables_of_settings()

    assert {name: os.environ.get(name) for name in given} == given


@pytest.mark.parametrize("programs", [[("runner", {})], [("runner", {}), ("claude", {})]])
def test_a_program_that_is_no_agent_gives_its_hooks_any_variable(hosts, programs):
    hosts(*programs)
    os.environ.update(OF_SETTINGS)

    drop_variables_of_settings()

    assert {name: os.environ.get(name) for name in OF_SETTINGS} == OF_SETTINGS


def test_what_was_set_aside_for_one_event_is_not_there_at_the_next(hosts, monkeypatch):
    hosts(("claude", {}))
    os.environ["SETTING"] = "a value"
    drop_variables_of_settings()
    monkeypatch.setattr(environment, "nearest_host", lambda: 0)

    drop_variables_of_settings()

    assert dict(variables_set_aside()) == {}


def test_a_tool_does_not_get_what_was_set_aside(hosts):
    hosts(("claude", {}))
    os.environ["HTTPS_PROXY"] = "http://proxy.example"

    drop_variables_of_settings()

    assert "HTTPS_PROXY" not in tool_environment(["HTTPS_PROXY"])


def test_secrets_in_settings_are_still_hidden(hosts):
    hosts(("claude", {}))
    os.environ["DEPLOY_TOKEN"] = "vb82hf-sdkfj2-k29fkx"

    drop_variables_of_settings()

    assert "vb82hf" not in Redactor()("it is vb82hf-sdkfj2-k29fkx")
