"""The table of frameworks and what hooks do in each, from the kept results of the adapters' tests."""

from __future__ import annotations

import json
from pathlib import Path

from .markdown import code, table

__all__ = ["frameworks"]

_RESULTS = Path(__file__).parents[2] / "tests" / "adapters" / "results"

SENTENCES = {
    "deny": "A hook denies a call",
    "deny_by_command": "A shell command denies a call",
    "crash": "A guard that crashes denies",
    "rewrite": "A hook rewrites the input",
    "misfit": "A rewrite that does not fit the schema is refused",
    "redact": "A hook rewrites the result",
    "context": "Context of a result reaches the model",
    "failure": "A tool that fails is an event",
    "ask_yes": "A function answers a question with yes",
    "ask_no": "… with no",
    "ask_edited": "… with another input",
    "ask_edited_badly": "Guards judge that input again",
    "ask_nobody": "Without an approver, it is denied",
    "pause_yes": "The framework's own pause, then yes",
    "pause_no": "… then no",
    "pause_edited": "… then another input",
    "halt": "A hook ends the turn",
    "prompt_denied": "A hook denies a prompt",
    "prompt_context": "Context of a prompt reaches the model",
    "message": "Hooks rewrite what the model is asked and answers",
    "stop": "A hook does not let the agent stop",
    "parallel": "Parallel calls",
    "streamed": "Streamed runs",
    "sync": "Without an event loop",
    "cancelled": "A cancelled run",
    "subagent": "An agent inside of a tool",
    "subagent_denied": "A hook denies that agent",
    "handoff": "A handoff",
    "handoff_denied": "A hook denies a handoff",
    "conversations": "Two conversations at once",
    "framework_object": "Objects of the framework in the input",
}
"""What each row of the table shows, in a few words."""


def frameworks() -> str:
    """Return the table, what was tested, and why a cell does not hold."""
    results = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(_RESULTS.glob("*.json"))}
    columns = {
        f"{name}: {place}" if place else name: rows
        for name, result in results.items()
        for place, rows in result.get("places", {"": result.get("rows")}).items()
    }
    reasons: list[str] = []
    rows = []
    for row, sentence in SENTENCES.items():
        cells = []
        for name, found in columns.items():
            said = found.get(row, "not tried")
            if said.startswith("cannot: "):
                why = f"`{name.partition(':')[0]}`: {said.removeprefix('cannot: ')}"
                if why not in reasons:
                    reasons.append(why)
                said = f"[{reasons.index(why) + 1}]"
            cells.append("yes" if said == "holds" else said)
        rows.append((sentence, *cells))
    tested = [(code(name), ", ".join(result["tested"])) for name, result in results.items()]
    listed = "\n".join(f"{at}. {why}" for at, why in enumerate(reasons, 1))
    return "\n".join([
        table(("what hooks do", *(code(name) for name in columns)), rows),
        "\nA number is a reason why the framework cannot do it:\n", listed, "\nTested with:\n",
        table(("adapter", "packages"), tested),
    ])  # fmt: skip
