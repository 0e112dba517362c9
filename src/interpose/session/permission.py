"""Whether a call may run without a question: what the hooks said, the rules, and the mode. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..errors import BadHook, UsageError, nearest
from ..matching import Condition, compile_condition
from ..model import Outcome
from ..records import Record

__all__ = ["KINDS", "MODES", "Rules", "Verdict", "judge", "kind_of", "mode_of", "strictest"]

_STRICTEST_FIRST = ("deny", "ask", "allow")
MODES = ("default", "acceptEdits", "plan", "bypass")
KINDS = ("read", "edit", "run")
_MODE_SPELLINGS = {"bypassPermissions": "bypass"}

_READS = frozenset(["Read", "Glob", "Grep", "LS", "NotebookRead"])
_EDITS = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])


class Verdict(Record, kw_only=False):
    """What is to be done with a call: run it, refuse it, or ask; and why."""

    what: Literal["run", "refuse", "ask"]
    reason: str = ""


def mode_of(word: str) -> str:
    """Return a mode of permission by its name."""
    mode = _MODE_SPELLINGS.get(word, word)
    if mode not in MODES:
        raise UsageError(f"mode: {word!r} is no mode of permission", hint=nearest(word, MODES) or ", ".join(MODES))
    return mode


def kind_of(tool_name: str, said: str | None = None) -> str:
    """Say what a tool does: as the host says, else as its name tells; what is not known may do anything."""
    if said is not None:
        if said not in KINDS:
            raise UsageError(f"kind: {said!r} is no kind of tool", hint=", ".join(KINDS))
        return said
    return "read" if tool_name in _READS else "edit" if tool_name in _EDITS else "run"


class Rules:
    """What a person has decided beforehand: ``{"Bash(git push *)": "ask", "Read": "allow"}``. The strictest counts.

    ``harmless`` are calls that need no question as long as nobody wants one: unlike a rule that allows, they do not
    answer a hook that asks.
    """

    def __init__(self, rules: Mapping[str, str] | None = None, *, harmless: Iterable[str] = ()) -> None:
        self._rules = [(text, answer, _condition(text, answer)) for text, answer in (rules or {}).items()]
        self._harmless = [_condition(text, "allow") for text in harmless]

    def __call__(self, call: Mapping[str, Any]) -> tuple[str, str]:
        """Return the strictest answer of the rules that hold for a call, and the rule that gave it.

        A rule that lets calls through has to be sure of the whole call; one that keeps them back has not.
        """
        found: dict[str, str] = {}
        for text, answer, condition in self._rules:
            if _holds(condition, call, answer):
                found.setdefault(answer, text)
        return next(((answer, found[answer]) for answer in _STRICTEST_FIRST if answer in found), ("", ""))

    def is_harmless(self, call: Mapping[str, Any]) -> bool:
        """Say whether a call may run if nobody has said anything about it."""
        return any(_holds(condition, call, "allow") for condition in self._harmless)


def _holds(condition: Condition, call: Mapping[str, Any], answer: str) -> bool:
    try:
        return condition.covers(call) if answer == "allow" else condition(call)
    except Exception:  # an input whose own methods break; what cannot be judged is kept back
        return answer != "allow"


def strictest(*rules: Mapping[str, str]) -> dict[str, str]:
    """Return rules from several places as one set: of two answers to one rule the stricter holds."""
    merged: dict[str, str] = {}
    for text, answer in (pair for some in rules for pair in some.items()):
        merged[text] = min(merged.get(text, answer), answer, key=_STRICTEST_FIRST.index)
    return merged


def _condition(text: str, answer: str) -> Condition:
    if answer not in _STRICTEST_FIRST:
        raise UsageError(f"rules: {answer!r} for {text} is no answer", hint="allow, ask or deny")
    try:
        condition = compile_condition(text)
    except BadHook as error:
        raise UsageError(f"rules: {error.problem.what.removeprefix('if: ')}", hint=error.problem.hint) from None
    if condition is None:
        raise UsageError("rules: a rule without text", hint="write it like Bash(git push *)")
    return condition


def judge(outcome: Outcome, call: Mapping[str, Any], *, rules: Rules, mode: str, kind: str, default: str) -> Verdict:
    """Say whether a call may run, after its hooks were heard. A deny holds in every mode, whoever said it."""
    answer, rule = rules(call)
    if outcome.denied:
        return Verdict("refuse", outcome.reason or "denied by a hook")
    if answer == "deny":
        return Verdict("refuse", f"denied by the rule {rule}")
    if mode == "plan" and kind != "read":
        return Verdict("refuse", "in plan mode nothing is changed: only tools that read may run")
    asked = outcome.decision == "ask"
    if not asked and answer != "ask" and (outcome.granted or default == "allow" or rules.is_harmless(call)):
        return Verdict("run")
    if answer == "allow" or mode == "bypass" or (mode == "acceptEdits" and kind == "edit"):
        return Verdict("run")
    return Verdict("ask", outcome.reason if asked else f"the rule {rule} asks" if answer == "ask" else "")
