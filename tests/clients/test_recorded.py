"""What the real agents did with the answers of hooks is what their dialects predict."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmarks.predictions import OBSERVED, observed_rows

from interpose.dialects.agents import agent_dialect
from interpose.dialects.agents.contract import HookExit

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = sorted(RECORDED.glob("answers-*.json"))
MARKS = {
    "TOKERR": "stderr", "TOKOUT": "stdout", "TOKREASON": "reason", "TOKCTX": "context", "TOKINPUT": "input",
    "TOKRESULT": "result", "TOKSTOP": "stop_reason", "TOKSYS": "system_message", "TOKRAN1": "tool_output",
}  # fmt: skip


@cache
def ended(hook: str) -> HookExit:
    """Run the shell line of a row, and say how it ended."""
    if hook.startswith("sleep"):
        return HookExit(status=None)
    done = subprocess.run(
        ["/bin/bash", "-c", hook.replace("touch $BOX/markonce; ", "")], capture_output=True, text=True,
        stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "BOX": "/nowhere"}, check=False,
    )  # fmt: skip
    return HookExit(done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_every_recorded_answer_is_predicted(path: Path) -> None:
    recorded = json.loads(path.read_text())
    dialect = agent_dialect(recorded["agent"])

    wrong = []
    for row in recorded["rows"]:
        said = dialect.predict(row["event"], ended(row["hook"]), recorded["version"])
        printed = ended(row["hook"])
        # What the hook has not said cannot be seen; of what it prints plainly the model reads all.
        seen = {MARKS[mark] for mark in MARKS if mark in row["hook"]} & said.model_sees
        if "stdout" in said.model_sees:
            seen |= {MARKS[mark] for mark in MARKS if mark in printed.stdout}
        seen |= said.model_sees & {"tool_output"}
        found = (row["tool_ran"], min(row["model_calls"], 3), sorted(MARKS[mark] for mark in row["model_sees"]))
        predicted = (said.tool_ran, said.model_calls, sorted(seen))
        if predicted != found:
            wrong.append(f"{row['case']}: predicted {predicted}, it was {found}")

    assert wrong == []


@pytest.mark.parametrize("path", sorted(set(RECORDED.glob("*.json")) - set(ANSWERS)), ids=lambda path: path.stem)
def test_every_recorded_event_is_read(path: Path) -> None:
    recorded = json.loads(path.read_text())
    dialect = agent_dialect(recorded["agent"])

    read = [
        (name, one["session"], dialect.read_event(name, one["payload"]))
        for name, events in recorded["events"].items()
        if name in dialect.EVENTS
        for one in events
    ]

    assert {event.event for name, _, event in read if name in dialect.EVENTS} <= set(dialect.EVENTS.values()) | {""}
    before = {session: event.fields for name, session, event in read if event.event == "PreToolUse"}
    assert tool(before["shell"]) == ("Bash", "touch $BOX/ran; printf 'TOK%s' RAN1")
    assert before["mcp"]["tool_name"] == "mcp__house__note"
    assert before["mcp"]["tool_input"] == {"text": "hello"}
    assert before["write"]["tool_name"] in {"Write", "Edit"}
    assert before["write"]["tool_input"]["file_path"] == "/home/someone/project/note.txt"


def tool(fields: dict[str, Any]) -> tuple[str, str]:
    """Return the name of a call's tool, and its command."""
    return fields["tool_name"], fields["tool_input"]["command"]


@pytest.mark.parametrize(
    "path", [path for path in sorted(RECORDED.glob("*.json")) if path not in ANSWERS], ids=lambda path: path.stem
)
def test_a_row_that_rests_on_a_run_is_at_an_event_that_was_fired(path: Path) -> None:
    recorded = json.loads(path.read_text())
    dialect = agent_dialect(recorded["agent"])
    rows = [row for file in (*OBSERVED.glob("*.json"), *ANSWERS) for row in observed_rows(file)]
    own = {*recorded["events"], *(row.event for row in rows if row.client == recorded["agent"])}
    fired = {dialect.EVENTS.get(name, name) for name in own}

    contract = dialect.CONTRACTS[0]
    claimed = {row.event for row in contract.effects if row.evidence == "run"}
    claimed |= {row.event for row in contract.failures if row.evidence == "run"}
    assert claimed <= fired
    assert fired.isdisjoint(contract.unseen)
