"""Payloads that real agents have sent are read; the rows that were recorded with them are predicted."""

import json
from pathlib import Path

import pytest
from benchmarks.predictions import judge, observed_rows

from interpose.dialects.agents import agent_dialect
from interpose.dialects.agents.callers import caller_of

RECORDED = Path(__file__).parents[1] / "clients" / "recorded"
EVENTS = [path for path in sorted(RECORDED.glob("*.json")) if "events" in json.loads(path.read_text())]
ANSWERS = sorted(RECORDED.glob("answers-*.json"))

pytestmark = pytest.mark.slow


def payloads(path):
    document = json.loads(path.read_text())
    dialect = agent_dialect(document["agent"])
    for own, entries in document["events"].items():
        for entry in entries:
            if own in dialect.EVENTS:
                yield dialect, own, entry["payload"]


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_every_event_that_an_agent_has_sent_is_read(path):
    for dialect, own, payload in payloads(path):
        event = dialect.read_event(own, payload)

        assert event.event == dialect.EVENTS[own]
        assert event.fields.get("session_id")


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_tools_for_files_and_servers_have_our_names(path):
    found = [(event.fields["tool_name"], event.fields["tool_input"]) for dialect, own, payload in payloads(path)
             if (event := dialect.read_event(own, payload)).event == "PreToolUse"]  # fmt: skip

    names = {name for name, _ in found}
    assert {"Write", "mcp__house__note"} <= names
    assert all("file_path" in given for name, given in found if name in ("Write", "Read", "Edit"))


def test_an_entry_of_claude_is_not_claude_codes_if_copilot_calls_it():
    document = json.loads((RECORDED / "copilot.json").read_text())
    variables = dict.fromkeys(document["variables"], "1")

    callers = {caller_of("claude", entry["payload"], variables)
               for entries in document["events"].values() for entry in entries}  # fmt: skip

    assert callers == {"copilot"}


def test_claude_code_is_not_mistaken_for_another():
    document = json.loads((RECORDED / "claude.json").read_text())
    variables = dict.fromkeys(document["variables"], "1")

    callers = {caller_of("claude", entry["payload"], variables)
               for entries in document["events"].values() for entry in entries}  # fmt: skip

    assert callers == {"claude"}


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_what_an_agent_did_is_what_was_predicted(path):
    verdicts = judge(list(observed_rows(path)))

    wrong = [f"{v.row.case}: {v.wrong}" for v in verdicts if v.wrong]
    assert len(wrong) <= 0.05 * len(verdicts), wrong
