"""Every policy does what its cases say: they are its examples on the page, and its tests."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest

from interpose import Hooks
from interpose.policies import POLICIES, find_policy
from interpose.policies.cases import CWD, HOME, RESULTS, PolicyCase, cases_of

_SESSIONS = count()


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", CWD)


def result_of(policy: str, case: PolicyCase, state_home: str) -> tuple[str, str]:
    """Return what a policy does about a case, and why."""
    hooks = Hooks()
    hooks.use(policy, **case.options)
    session = f"session-{next(_SESSIONS)}"
    os.environ["XDG_STATE_HOME"] = os.path.join(state_home, session)
    for event, fields in case.before:
        earlier = hooks.fire_sync(event, **{"session_id": session, **fields})
        assert not any(result.error for result in earlier.results), earlier.results
    outcome = hooks.fire_sync(case.event, **{"session_id": session, "tool_use_id": "call", **case.fields})
    if outcome.decision in ("deny", "ask"):
        return outcome.decision, outcome.reason
    if any(result.error for result in outcome.results):
        return "error", str(outcome.results)
    if outcome.keep_going:
        return "deny", outcome.reason
    changed = {key for key, value in outcome.input.items() if key in case.fields and value != case.fields[key]}
    if case.changed:
        assert {key: outcome.input[key] for key in case.changed} == dict(case.changed)
    return ("change" if changed or outcome.context else "pass"), ""


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_does_what_its_cases_say(name: str, tmp_path: Path) -> None:
    wrong = []
    for case in cases_of(name):
        result, reason = result_of(name, case, str(tmp_path))
        if result != case.result:
            wrong.append(f"{case.result} expected, {result} found: {case.text} {dict(case.options)} {reason}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_has_cases_of_both_kinds_and_one_sentence(name: str) -> None:
    results = {case.result for case in cases_of(name)}
    assert "pass" in results
    assert results - {"pass"}
    assert results <= set(RESULTS)
    policy = find_policy(name)
    assert policy.name == name
    assert policy.prevents.endswith(".")
    assert all(one.purpose for one in policy.parameters)
