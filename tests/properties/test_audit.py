"""What is true of every record and of every redaction."""

import json
import sqlite3

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_redaction import HARMLESS, NAMED, SECRETS

from interpose import Hooks
from interpose.audit.columns import columns_of, run_of, what_of
from interpose.audit.entries import LONGEST, encode, entry_of
from interpose.redaction import Redactor

REDACTOR = Redactor(b"properties", environ={"SOME_TOKEN": 'wéird "value" \\ here'})

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from(HARMLESS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=15,
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)
secrets = st.sampled_from([*SECRETS.values(), 'wéird "value" \\ here'])
around = st.text(alphabet=" \n\t\"\\'{}:,.;()é\ud800", max_size=8)


@given(anything, st.text(), st.none() | st.text() | st.integers())
def test_every_input_becomes_one_line_of_strict_json_with_the_columns_that_follow_from_it(value, name, session):
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, inline=True)
    fields = {"tool_name": name, "tool_input": {"value": value}, "session_id": session}
    outcome = hooks.fire_sync("PreToolUse", **fields)

    entry = entry_of(outcome, "", REDACTOR)

    body = json.loads(entry.text, parse_constant=lambda _: 1 / 0)
    assert entry.text.isascii()
    assert "\n" not in entry.text
    assert len(entry.text) <= LONGEST
    assert entry.columns == columns_of(body)
    for column in entry.columns[:3]:
        column.encode()


@given(plain)
def test_redaction_keeps_the_shape_of_a_value_and_is_done_after_once(value):
    once = REDACTOR.value(value)

    assert json.loads(encode(once)) == once
    assert REDACTOR.value(once) == once
    if isinstance(value, list):
        assert len(once) == len(value)


@given(st.lists(st.tuples(around, secrets), min_size=1, max_size=4), around)
def test_a_secret_is_gone_whatever_stands_around_it(parts, end):
    text = "".join(before + secret for before, secret in parts) + end

    # What follows directly on a secret may become a part of it; then it goes with it.
    made = REDACTOR(text)

    for before, secret in parts:
        if before or len(parts) == 1:
            assert secret not in made


@given(plain, secrets, st.integers(0, 3))
def test_what_redaction_changes_is_suspected_in_the_encoded_text(value, secret, nesting):
    text: object = f"x {secret} y"
    for _ in range(nesting):
        text = json.dumps(text)
    encoded = encode([value, text])

    assert REDACTOR.suspects(encoded.encode())
    assert secret not in encode(REDACTOR.value(json.loads(encoded)))


@given(st.sampled_from(sorted(NAMED)), st.text(max_size=20))
def test_whatever_is_changed_was_suspected(case, more):
    template, secret = NAMED[case]
    value = {"text": template.format(secret) + more}

    if REDACTOR.value(value) != value:
        assert REDACTOR.suspects(encode(value).encode())


@given(st.text())
def test_what_was_not_suspected_would_not_be_changed(text):
    encoded = encode({"text": text})

    if not REDACTOR.suspects(encoded.encode()):
        assert REDACTOR.value({"text": text}) == {"text": text}


@given(
    st.sampled_from(["ok", "failed", "timeout", "skipped"]), st.sampled_from(["none", "allow", "ask", "deny"]),
    st.sampled_from([1, 2]), st.booleans(),
)  # fmt: skip
def test_the_fate_of_a_hook_is_a_number_and_back(status, decision, round, enforced):
    assert run_of(what_of(status, decision, round, enforced)) == (status, decision, round, enforced)


@given(st.text())
def test_columns_can_be_stored(text):
    columns = columns_of({"event": text, "subject": text, "input": {"session_id": text}})

    base = sqlite3.connect(":memory:")
    found = base.execute("SELECT ?, ?, ?", columns[:3]).fetchone()
    base.close()
    assert found == columns[:3]
