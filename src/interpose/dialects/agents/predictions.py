"""The parts that every prediction is made of: what happens to a tool call, and how an answer is parsed.

``ordinary`` is what happens without a hook: the tool runs, the model reads its output and answers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contract import Prediction

__all__ = ["ended_run", "object_in", "ordinary", "refused_prompt", "replaced_result", "rewritten", "sent_back",
           "specific", "stopped_tool", "text_in"]  # fmt: skip


def ordinary(*also: str) -> Prediction:
    """Return that the tool runs; the model reads its output and some texts of the hook."""
    return _prediction(True, frozenset(("tool_output", *also)), 2)


def stopped_tool(*sees: str, asks: bool = False) -> Prediction:
    """Return that the tool does not run, and that the model goes on with some texts of the hook."""
    return _prediction(False, frozenset(sees), 2, asks)


def rewritten(*also: str) -> Prediction:
    """Return that the tool runs with the input of the hook, and not with its own."""
    return _prediction(False, frozenset(("input", *also)), 2)


def replaced_result(*sees: str) -> Prediction:
    """Return that the tool has run, and that the model reads some texts of the hook instead of its output."""
    return _prediction(True, frozenset(sees), 2)


def ended_run(*, tool_ran: bool) -> Prediction:
    """Return that the run ends, so that the model is not called again."""
    return _prediction(tool_ran, frozenset(), 1)


def refused_prompt() -> Prediction:
    """Return that the model is not called at all."""
    return _prediction(False, frozenset(), 0)


def sent_back(*sees: str) -> Prediction:
    """Return that the agent works on at its end, with some texts of the hook."""
    return _prediction(True, frozenset(("tool_output", *sees)), 3)


def object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None if it is something else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def specific(said: dict[str, Any]) -> dict[str, Any]:
    """Return ``hookSpecificOutput``; an empty object if it is none."""
    found = said.get("hookSpecificOutput")
    return found if isinstance(found, dict) else {}


def text_in(said: dict[str, Any], name: str) -> str:
    """Return a field that is text without spaces around; empty if it is anything else."""
    found = said.get(name)
    return found.strip() if isinstance(found, str) else ""


def _prediction(tool_ran: bool, sees: frozenset[str], calls: int, asks: bool = False) -> Prediction:
    from .contract import Prediction  # an event that is only answered needs none

    return Prediction(tool_ran, sees, calls, asks)
