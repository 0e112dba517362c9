"""The same sessions in every agent, attached: a tool runs only where our outcome says so.

What an agent cannot do is what its contract says beforehand: each expectation is made from the contract's rows.
``make test-clients`` installs the agents and runs this; ``make test-clients ARGS='-k codex'`` runs one.
"""

from __future__ import annotations

import pytest

from interpose.dialects.agents import agent_dialect
from interpose.dialects.agents.contract import Effect

from .agents import CLIENTS
from .rig import Client
from .situations import SITUATIONS, Seen, play

pytestmark = pytest.mark.clients


@pytest.fixture(params=CLIENTS.values(), ids=list(CLIENTS))
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    return found


def support(client: Client, event: str, effect: Effect) -> str:
    """Return whether an agent has an effect at an event; an event without a row has none."""
    rows = agent_dialect(client.name).CONTRACTS[0].effects
    return next((row.support for row in rows if (row.event, row.effect) == (event, effect)), "impossible")


def honours(client: Client, event: str, effect: Effect) -> bool:
    return support(client, event, effect) == "honoured"


def assert_stopped(seen: Seen) -> None:
    assert "ran" not in seen.marks, seen.run
    assert "TOKRAN1" not in seen.model_sees
    assert seen.model_calls <= 2, "it was sent back to work"


def test_ordinary_work_goes_on(client: Client) -> None:
    seen = play(client, "ordinary")

    assert seen.marks == {"ran"}, seen.run
    assert "TOKRAN1" in seen.model_sees
    assert seen.model_calls == 2


def test_a_denied_command_does_not_run_and_the_model_reads_why(client: Client) -> None:
    seen = play(client, "deny")

    assert_stopped(seen)
    assert ("TOKREASON" in seen.model_sees) == honours(client, "PreToolUse", "reason")
    assert seen.model_calls == (2 if honours(client, "PreToolUse", "deny") else 1)  # degraded: the run ends


def test_what_nobody_can_be_asked_about_does_not_run(client: Client) -> None:
    assert_stopped(play(client, "ask"))


def test_a_rewritten_command_runs_instead_or_nothing_does(client: Client) -> None:
    seen = play(client, "rewrite")

    assert_stopped(seen)
    assert seen.marks == ({"rewritten"} if honours(client, "PreToolUse", "rewrite") else set())


def test_a_result_is_redacted_where_the_contract_says_so(client: Client) -> None:
    seen = play(client, "redact")

    assert ("TOKSECRET" in seen.model_sees) == (support(client, "PostToolUse", "result") == "impossible"), seen.run


def test_context_reaches_the_model_after_a_call(client: Client) -> None:
    seen = play(client, "context at a result")

    assert "TOKREMARK" in seen.model_sees, seen.run
    assert ("TOKCTXRESULT" in seen.model_sees) == honours(client, "PostToolUse", "context")


def test_context_reaches_the_model_at_the_prompt_and_the_start(client: Client) -> None:
    seen = play(client, "context at the prompt and the start")

    assert "TOKRAN1" in seen.model_sees, seen.run
    assert ("TOKCTXPROMPT" in seen.model_sees) == honours(client, "UserPromptSubmit", "context")
    assert ("TOKCTXSTART" in seen.model_sees) == honours(client, "SessionStart", "context")


def test_a_refused_prompt_reaches_no_model(client: Client) -> None:
    seen = play(client, "refuse a prompt")

    assert (seen.model_calls == 0) == honours(client, "UserPromptSubmit", "deny"), seen.run


def test_the_agent_keeps_going_once(client: Client) -> None:
    seen = play(client, "keep going")

    assert seen.model_calls == (2 if honours(client, "Stop", "keep_going") else 1), seen.run
    assert ("TOKMORE" in seen.model_sees) == honours(client, "Stop", "keep_going")


def test_a_subagent_is_guarded_too(client: Client) -> None:
    if not client.has_subagents:
        pytest.skip(f"{client.name} starts no subagent headless and offline")

    seen = play(client, "subagent")

    assert "ran" not in seen.marks, seen.run
    assert ("TOKREASON" in seen.model_sees) == honours(client, "PreToolUse", "reason")


def test_a_tool_of_an_mcp_server_is_denied_by_its_name(client: Client) -> None:
    seen = play(client, "mcp")

    assert "noted" not in seen.marks, seen.run


@pytest.mark.parametrize(
    "name",
    ["broken configuration", "changed configuration", "a hook that hangs", "missing program", "missing interpreter",
     "engine killed"],
)  # fmt: skip
def test_a_failure_of_ours_lets_nothing_through(client: Client, name: str) -> None:
    assert_stopped(play(client, name))


def test_every_situation_is_played() -> None:
    with open(__file__, encoding="utf-8") as opened:
        source = opened.read()

    assert [name for name in SITUATIONS if f'"{name}"' not in source] == []
