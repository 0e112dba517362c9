"""``interpose agents`` and ``interpose check --agent``: what a person reads before relying on a hook in an agent."""

import json

import pytest

from interpose.cli import main
from interpose.dialects.agents import AGENTS

HOOKS = """
hooks:
  PreToolUse:
    - {name: never, type: script, handler: '/deny "no"'}
    - {name: maybe, type: script, handler: '/ask "sure?"'}
    - {name: dry, command: 'true'}
    - {name: noted, type: script, handler: '/log info seen'}
  PostToolUseFailure:
    - {name: advice, type: script, handler: '/context "look"'}
  Stop:
    - {name: tests, type: script, handler: '/deny "run the tests"'}
"""


@pytest.fixture
def check(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "hooks.yaml"
    file.write_text(HOOKS)

    def run(*words):
        status = main(["check", str(file), *words])
        return status, capsys.readouterr().out

    return run


def test_the_matrix_has_a_line_for_each_agent_and_fits_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    assert main(["agents"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(AGENTS)]] == list(AGENTS)
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if line.startswith("cline")).split()[1:4] == ["~", "–", "~"]


def test_the_matrix_as_json_has_every_row_with_its_evidence(capsys):
    assert main(["agents", "--json"]) == 0

    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert list(found) == list(AGENTS)
    rows = found["codex"]["contracts"][0]["effects"]
    ask = next(row for row in rows if (row["event"], row["effect"]) == ("PreToolUse", "ask"))
    assert (ask["support"], ask["evidence"]) == ("degraded", "run")


def test_one_agent_is_shown_event_by_event(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    assert main(["agents", "show", "gemini"]) == 0

    said = capsys.readouterr().out
    assert "Gemini CLI  >=0.60,<0.70, since 2026-11-16, run here" in said
    assert "PreToolUse (BeforeTool)" in said
    assert "✓ holds: deny, reason, ask, rewrite" in said
    assert max(map(len, said.splitlines())) <= 80


def test_an_unknown_agent_is_a_mistake_with_the_nearest_name(capsys):
    assert main(["agents", "show", "codx"]) == 1
    assert "codx is not an agent that is known here (did you mean codex?)" in capsys.readouterr().err


def test_check_says_for_each_hook_what_holds_in_an_agent(check):
    status, said = check("--agent", "codex")

    assert status == 0
    assert "  never  PreToolUse\n    ✓ holds: deny, reason\n" in said
    assert (
        "  maybe  PreToolUse\n    ✓ holds: reason\n    ~ ask: a deny; with `questions:` it waits for a person first\n"
        in said
    )
    assert "  advice  PostToolUseFailure\n    – never runs: Codex has no such event\n" in said
    assert "  tests  Stop\n    ✓ holds: keep going\n" in said
    assert "A call goes on if the program of a hook fails so: error, killed, missing," in said
    assert max(map(len, said.splitlines()[1:])) <= 80


def test_check_as_json_has_what_is_weakened_and_lost(check):
    _, said = check("--agent", "cline", "--json")

    hooks = {one["hook"]: one for one in json.loads(said)["agent"]["hooks"]}
    assert [row["effect"] for row in hooks["never"]["weakened"]] == ["deny"]
    assert [row["effect"] for row in hooks["never"]["lost"]] == ["reason"]
    assert [row["effect"] for row in hooks["tests"]["lost"]] == ["keep_going"]
    assert (hooks["noted"]["holds"], hooks["noted"]["lost"]) == ([], [])


def test_check_without_an_agent_says_nothing_of_agents(check):
    assert "agent" not in json.loads(check("--json")[1])


def test_check_refuses_an_agent_that_is_not_known(check):
    assert check("--agent", "codx")[0] == 1


def test_hooks_of_which_the_same_holds_are_named_together(check, tmp_path):
    (tmp_path / "hooks.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - {name: one, command: a}\n    - {name: two, command: b}\n"
        "    - {name: maybe, type: script, handler: /ask why}\n"
    )

    _, said = check("--agent", "codex")

    assert "  2 hooks  PreToolUse\n    one, two\n    ✓ holds: deny, reason, rewrite, context\n" in said
    assert said.count("rewrite") == 1
    assert "  maybe  PreToolUse\n" in said
