"""What a contract promises is what the written answer does, as judged by the prediction for the same agent.

This is the heart of the dialects: an answer is written for each effect at each event of each agent, and the model of
that agent says what it would do with it.
"""

from tests.tables import rows
from tests.unit.agent_payloads import ANSWERS, FAILURES, answered, fails_open, foreseen, payload_of, support

from interpose.dialects.agents import AGENTS, agent_dialect
from interpose.dialects.agents.contract import FAILURES as FAILURE_NAMES
from interpose.dialects.agents.contract import HookExit
from interpose.events import TABLE

CELLS = [(name, own, effect) for name in AGENTS for own, ours in agent_dialect(name).EVENTS.items()
         for effect in ANSWERS if agent_dialect(name).CONTRACTS[0].effect(ours, effect)]  # fmt: skip
EXCEPTIONS = {
    ("droid", "UserPromptSubmit", "deny"),
    ("droid", "UserPromptSubmit", "context"), ("claude", "PermissionRequest", "rewrite"),
}  # fmt: skip
"""Rows that hold only in a part of an agent, which the contract says in words."""


@rows(("name", "own", "effect"), CELLS)
def test_an_answer_does_what_the_contract_promises(name, own, effect):
    dialect = agent_dialect(name)
    row = dialect.CONTRACTS[0].effect(dialect.EVENTS[own], effect)
    assert row is not None

    found = support(dialect, own, row.event, effect)

    if (name, row.event, effect) in EXCEPTIONS:
        assert (row.support, bool(row.instead)) == ("degraded", True)
    elif len([mine for mine, ours in dialect.EVENTS.items() if ours == row.event]) > 1:
        assert row.support in (found, "degraded")
    elif effect != "reason" or found == "honoured":
        assert row.support == found


@rows("name", AGENTS)
def test_every_effect_that_our_events_have_is_in_the_contract(name):
    dialect, lacking = agent_dialect(name), []

    for ours in dict.fromkeys(dialect.EVENTS.values()):
        row = TABLE[ours]
        needed = {"deny": "deny" in row.can, "ask": "ask" in row.can, "grant": "allow" in row.can,
                  "context": "context" in row.can, "keep_going": "keep going" in row.can,
                  "rewrite": "tool_input" in row.modifies, "result": "tool_response" in row.modifies}  # fmt: skip
        lacking += [(ours, effect) for effect, is_needed in needed.items()
                    if is_needed and dialect.CONTRACTS[0].effect(ours, effect) is None]  # fmt: skip

    assert lacking == []


@rows("name", AGENTS)
def test_every_degraded_row_says_what_happens_instead(name):
    rows = [row for contract in agent_dialect(name).CONTRACTS for row in contract.effects]

    assert rows
    assert [row for row in rows if row.support == "degraded" and not row.instead] == []
    assert {row.support for row in rows} <= {"honoured", "degraded", "impossible"}
    assert {row.evidence for row in rows} <= {"run", "read", "documented", "reported"}


@rows("name", AGENTS)
def test_the_failures_that_a_contract_lists_are_those_that_get_through(name):
    dialect = agent_dialect(name)

    for row in dialect.CONTRACTS[0].failures:
        owns = [own for own, ours in dialect.EVENTS.items() if ours == row.event]
        assert row.goes_on == any(fails_open(dialect, own, row.event, row.failure) for own in owns), row
    assert set(FAILURES) == set(FAILURE_NAMES)


@rows(("name", "own"), [(n, own) for n in AGENTS for own in agent_dialect(n).EVENTS])
def test_a_failure_of_ours_stops_what_can_be_stopped_and_keeps_no_agent_going(name, own):
    dialect = agent_dialect(name)

    said = dialect.write_failure(own, "hooks.yaml: is broken")

    seen, event, contract = foreseen(dialect, own, said), dialect.EVENTS[own], dialect.CONTRACTS[0]
    row = contract.effect(event, "deny")
    assert seen.model_calls < 3
    assert said.stderr.strip() or said.stdout.strip()
    if row is not None and row.support != "impossible" and (name, event, "deny") not in EXCEPTIONS:
        assert not seen.tool_ran or event not in ("PreToolUse", "PermissionRequest")
        assert seen.model_calls == 0 or event != "UserPromptSubmit"


@rows(("name", "own"), [(n, own) for n in AGENTS for own in agent_dialect(n).EVENTS])
def test_no_opinion_changes_nothing(name, own):
    dialect = agent_dialect(name)

    said = answered(dialect, own, None)

    nothing = dialect.predict(own, HookExit())
    if name == "antigravity":  # it asks the person if nothing is said
        nothing = dialect.predict(own, HookExit('{"decision": "allow"}'))
    assert (said.status, said.stderr, said.unsaid) == (0, "", ())
    assert foreseen(dialect, own, said) == nothing


@rows("name", AGENTS)
def test_every_event_of_an_agent_has_a_row_here_and_is_read(name):
    dialect = agent_dialect(name)

    for own, ours in dialect.EVENTS.items():
        event = dialect.read_event(own, payload_of(dialect, own))
        assert (event.event, event.name) == (ours, own)
        assert ours in TABLE


@rows(
    ("versions", "inside", "outside"),
    [
        (">=0.160,<0.170", ["0.160", "0.166.0", "0.169.99"], ["0.159.9", "0.170.0", "1.0", "", "unknown"]),
        (">=1.0.97,<1.1", ["1.0.97-0", "v1.0.102"], ["1.0.9", "1.1.0"]),
    ],
)
def test_a_contract_covers_the_versions_of_its_range(versions, inside, outside):
    contract = agent_dialect("codex").CONTRACTS[0]._replace(versions=versions)

    assert [version for version in inside if not contract.covers(version)] == []
    assert [version for version in outside if contract.covers(version)] == []
