"""A store with very many runs of hooks, as agents at work would leave it: written by the store's own code."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from interpose.audit.columns import PERMISSION, columns_of, permission_columns
from interpose.audit.entries import PendingRecord, encode
from interpose.audit.process_info import WritingProcess, describe
from interpose.audit.sqlite.database import Database
from interpose.ids import new_id

HOOKS = ("no-force-push", "secret-files", "ask-before-publish", "format-python", "notify")
COMMANDS = (
    "git status", "npm publish --tag next", "pytest -q tests/unit", "rm -rf build", "git push origin main",
    "ls -la src", "rg --files -g '*.py'", "npm test", "docker build -t app .", "curl https://example.org/data.json",
)  # fmt: skip
AT_ONCE = 2048


def write_store(path: Path, runs: int, *, days: float = 6.0) -> int:
    """Write a store with so many runs; return how many records it has."""
    chance = random.Random(7)
    base = Database(str(path), durable=False, key=None)
    process = WritingProcess(base.store, new_id(), encode(describe(base.store, "", False, "")))
    began, written, number = time.time() - days * 86_400, 0, 0
    step = days * 86_400 / (runs / 1.99)  # a firing has two runs on average: the last one was a moment ago
    session, left, entries = "", 0, list[PendingRecord]()
    while written < runs:
        if not left:
            session, left = f"{chance.getrandbits(64):016x}", chance.randint(40, 700)
        left -= 1
        number += 1
        body = _body(chance, session, number)
        written += len(body["runs"])
        entries.append(_entry(PendingRecord(encode(body), columns_of(body)), began + number * step))
        if body.get("decision") == "ask":
            entries.append(_permission(body, began + number * step + 0.001))
        if len(entries) >= AT_ONCE:
            base.append(process, entries)
            entries = []
    base.append(process, entries)
    base.close()
    return number


def _entry(entry: PendingRecord, at: float) -> PendingRecord:
    entry.time = int(at * 1e9)
    return entry


def _body(chance: random.Random, session: str, number: int) -> dict[str, Any]:
    tool = chance.choice(("Bash", "Bash", "Bash", "Edit", "Read", "Read", "Write", "WebFetch"))
    given: dict[str, Any] = {"command": chance.choice(COMMANDS)}
    if tool != "Bash":
        given = {"file_path": f"/home/me/app/src/module_{chance.randint(1, 400)}.py"}
    event = "PreToolUse" if number % 2 else "PostToolUse"
    said, lot = {}, chance.random()
    runs = [
        {"hook": name, "us": int(chance.lognormvariate(7, 1.2))}
        for name in chance.sample(HOOKS, chance.choice((1, 2, 3)))
    ]
    if event == "PreToolUse" and lot < 0.04:
        said = {"decision": "deny" if lot < 0.02 else "ask", "reason": "Publishing needs a person."}
        runs[-1] |= {**said}
    elif lot > 0.99:
        runs[-1] |= {"status": "failed", "error": {"code": "exit", "text": "exit status 1"}}
    return {
        "event": event, "subject": tool, "runs": runs, "us": sum(run["us"] for run in runs), **said,
        "input": {"hook_event_name": event, "session_id": session, "cwd": "/home/me/app", "tool_name": tool,
                  "tool_input": given, "tool_use_id": f"toolu_{number // 2}",
                  "agent_id": chance.choice(("main", "reviewer")),
                  "transcript_path": f"/home/me/.agent/{session}.jsonl", "permission_mode": "default"},
    }  # fmt: skip


def _permission(body: dict[str, Any], at: float) -> PendingRecord:
    given = body["input"]
    told = {
        "verdict": "allowed", "by": "person", "person": "me (/dev/pts/3)", "asked_at": at, "answered_at": at + 9,
        "tool_name": body["subject"], "tool_use_id": given["tool_use_id"], "session_id": given["session_id"],
    }  # fmt: skip
    return _entry(PendingRecord(encode(told), permission_columns(told), PERMISSION, told["tool_use_id"]), at)
