"""Hooks that ask a model, an HTTP server, an MCP server or a worker: a replay takes their answers from the record.

To ask again costs money, tells others what happened, and may change something there. A hook whose answer is not in the
record is not asked, and its result says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..event import Event
from ..handlers.prompt import judge_of
from ..hooks import Hooks
from ..model import Hook, Result
from ..records import replace
from ..replies import Failure, Reply

__all__ = ["KINDS", "RecordedAnswers", "answer_from_record", "not_asked"]

KINDS = ("http", "mcp_tool", "nats", "prompt", "agent")
"""The types of hooks that ask others."""
_NOT_ASKED = "not_asked"
_FROM_RECORD = "from_record"


class RecordedAnswers:
    """The handler of hooks that ask others: answers as the record says that they have answered to this event."""

    only_reads = True

    def __init__(self) -> None:
        self._runs: list[Mapping[str, Any]] = []
        self._keeps_going = self._grants = False

    def begin(self, runs: Iterable[Mapping[str, Any]] = (), *, keeps_going: bool = False, grants: bool = False) -> None:
        """Answer for another event from now on: with the results of its hooks, and what came of them."""
        self._runs = [run for run in runs if run.get("round", 1) == 1 and run.get("status") != "skipped"]
        self._keeps_going, self._grants = keeps_going, grants

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Reply | Failure:
        """Return the recorded answer."""
        return self.blocking(hook, event, deadline)

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Reply | Failure:
        """Return the recorded answer."""
        for run in self._runs:
            if run.get("hook") == hook.label and run.get("type") == hook.type:
                return self._answer(run)
        return Reply(evidence={_NOT_ASKED: f"a hook of type {hook.type} is asked with --live only"})

    def _answer(self, run: Mapping[str, Any]) -> Reply | Failure:
        error, decision, reason = run.get("error"), run.get("decision"), str(run.get("reason") or "")
        if isinstance(error, Mapping):
            return Failure(str(error.get("code", "hook_crash")), str(error.get("text", "")))
        evidence = {_FROM_RECORD: True}
        if decision in ("deny", "ask", "allow"):
            return Reply(
                decision=decision, reason=reason, grants=decision == "allow" and self._grants, evidence=evidence
            )
        return Reply(reason=reason, keep_going=bool(reason) and self._keeps_going, evidence=evidence)


def answer_from_record(hooks: Hooks) -> RecordedAnswers | None:
    """Let hooks that ask others answer from a record, from now on; return None if there are none.

    A scripted model sends no request, so a hook that has one runs.
    """
    everything = list(hooks)
    if not any(map(_asks, everything)):
        return None
    answers = RecordedAnswers()
    silent = [
        replace(hook, binding=replace(hook.binding, handler=answers)) if _asks(hook) else hook for hook in everything
    ]
    hooks.engine.registry.exchange(everything, silent, {}, {}, hooks.settings.max_hooks_per_point)
    return answers


def _asks(hook: Hook) -> bool:
    judge = judge_of(hook)
    return hook.type in KINDS and (judge is None or judge.configured.kind != "scripted")


def not_asked(results: Iterable[Result]) -> list[str]:
    """Return the hooks that were not asked."""
    return list(dict.fromkeys(one.hook for one in results if _NOT_ASKED in one.evidence))
