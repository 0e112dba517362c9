"""No payload and no outcome of an agent is an allow by accident, as judged by the prediction for the same agent."""

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.examples import tries
from tests.unit.agent_payloads import payload_of

from interpose import Hooks
from interpose.dialects.agents import AGENTS, agent_dialect
from interpose.dialects.agents.contract import HookExit
from interpose.errors import InterposeError

KEYS = st.sampled_from([
    "tool_name", "tool_input", "toolName", "toolInput", "toolArgs", "hook_event_name", "hookName", "session_id", "cwd",
    "tool_call", "toolCall", "tool_info", "command", "mcp_context", "input", "output", "args", "tool", "event", "prompt",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | KEYS, inner, max_size=3),
    max_leaves=8,
)
PAYLOADS = st.dictionaries(KEYS | st.text(max_size=8), JSON, max_size=6)
TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", " ", "\n", '{"decision": "allow"}', "{}", "*** Begin Patch", "\ud800"]
)
ANSWERS = st.fixed_dictionaries({}, optional={
    "reason": TEXTS, "systemMessage": TEXTS, "continue": st.booleans(), "stopReason": TEXTS,
    "modify": st.dictionaries(st.sampled_from(["tool_input", "tool_response"]), JSON, max_size=2),
    "inject": st.fixed_dictionaries({"content": TEXTS}), "hookSpecificOutput": st.fixed_dictionaries({
        "additionalContext": TEXTS, "updatedInput": st.dictionaries(st.text(max_size=8), JSON, max_size=2)}),
})  # fmt: skip
CALLS = [(name, own) for name in AGENTS for own, ours in agent_dialect(name).EVENTS.items() if ours == "PreToolUse"]
ENDS = [(name, own) for name in AGENTS for own, ours in agent_dialect(name).EVENTS.items() if ours == "Stop"]


def fired(event, answer):
    hooks = Hooks()
    hooks.register(event.event, lambda _: answer, name="h")
    return [hooks.fire_sync(event.event, **fields) for fields in (event.fields, *event.more)]


def seen(dialect, own, said):
    return dialect.predict(own, HookExit(said.stdout, said.stderr, said.status))


@tries(60)
@given(call=st.sampled_from(CALLS), answer=ANSWERS, decision=st.sampled_from(["deny", "ask", "none"]))
def test_what_an_outcome_does_not_allow_does_not_run(call, answer, decision):
    dialect, own = agent_dialect(call[0]), call[1]
    event = dialect.read_event(own, payload_of(dialect, own))
    outcomes = fired(event, {**answer, **({"decision": decision} if decision != "none" else {})})

    said = dialect.write_answer(event, *outcomes)

    prediction = seen(dialect, own, said)
    if any(outcome.denied for outcome in outcomes):
        assert not prediction.tool_ran
        assert "input" not in prediction.model_sees
    elif any(outcome.decision == "ask" for outcome in outcomes):
        assert prediction.asks or not prediction.tool_ran
    elif prediction.tool_ran:  # with its own input
        assert all(outcome.input["tool_input"] == outcomes[0].input["tool_input"] for outcome in outcomes)


@tries(60)
@given(call=st.sampled_from(CALLS), payload=PAYLOADS, keep=st.booleans())
def test_a_payload_of_any_shape_is_read_or_refused_and_a_deny_holds(call, payload, keep):
    dialect, own = agent_dialect(call[0]), call[1]
    given_payload = {**(payload_of(dialect, own) if keep else {}), **payload}
    name = own
    try:
        event = dialect.read_event(own, given_payload)
        if event.event != "PreToolUse":
            return
        name = event.name
        said = dialect.write_answer(event, *fired(event, {"decision": "deny", "reason": "no"}))
    except InterposeError as error:
        said = dialect.write_failure(own, str(error))

    assert not seen(dialect, name, said).tool_ran


@tries(40)
@given(call=st.sampled_from(CALLS), why=TEXTS)
def test_a_failure_denies_whatever_its_text(call, why):
    dialect, own = agent_dialect(call[0]), call[1]

    assert not seen(dialect, own, dialect.write_failure(own, why)).tool_ran


@tries(50)
@given(end=st.sampled_from(ENDS), answer=ANSWERS)
def test_an_agent_goes_on_only_if_the_outcome_says_so(end, answer):
    dialect, own = agent_dialect(end[0]), end[1]
    event = dialect.read_event(own, payload_of(dialect, own))
    outcomes = fired(event, answer)

    said = dialect.write_answer(event, *outcomes)

    if not outcomes[0].keep_going:
        assert seen(dialect, own, said).model_calls < 3
