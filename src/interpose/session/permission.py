"""Whether a call runs, is refused or is asked about: the hooks' outcome, the rules and the mode. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..errors import BadHook, UsageError, nearest
from ..matching import Condition, compile_condition
from ..model import Outcome, strictest
from ..records import Record

__all__ = ["KINDS", "MODES", "Rules", "Verdict", "judge", "kind_of", "merge_rules", "mode_of"]

MODES = ("default", "acceptEdits", "plan", "bypass")
KINDS = ("read", "edit", "run")
_MODE_SPELLINGS = {"bypassPermissions": "bypass"}

_READS = frozenset(["Read", "Glob", "Grep", "LS", "NotebookRead"])
_EDITS = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])


class Verdict(Record, kw_only=False):
    """What to do with a call, and why."""

    what: Literal["run", "refuse", "ask"]
    reason: str = ""


def mode_of(word: str) -> str:
    """Return a permission mode by its name."""
    mode = _MODE_SPELLINGS.get(word, word)
    if mode not in MODES:
        raise UsageError(f"mode: {word!r} is not a permission mode", hint=nearest(word, MODES) or ", ".join(MODES))
    return mode


def kind_of(tool_name: str, said: str | None = None) -> str:
    """Return what a tool does: what the host says, or what its name tells; an unknown tool is a ``run``."""
    if said is not None:
        if said not in KINDS:
            raise UsageError(f"kind: {said!r} is not a kind of tool", hint=", ".join(KINDS))
        return said
    return "read" if tool_name in _READS else "edit" if tool_name in _EDITS else "run"


class Rules:
    """Permission rules: ``{"Bash(git push *)": "ask", "Read": "allow"}``. Of those that match, the strictest wins.

    ``harmless`` are calls that run without a question unless a hook or a rule asks. Unlike a rule that allows, they do
    not overrule a hook that asks.
    """

    def __init__(self, rules: Mapping[str, str] | None = None, *, harmless: Iterable[str] = ()) -> None:
        self._rules = [(text, answer, _condition(text, answer)) for text, answer in (rules or {}).items()]
        self._harmless = [_condition(text, "allow") for text in harmless]

    def __call__(self, call: Mapping[str, Any]) -> tuple[str, str]:
        """Return the strictest answer of the rules that match a call, and the rule that gave it.

        A rule that allows must cover the whole call; for one that asks or denies a part is enough.
        """
        found: dict[str, str] = {}
        for text, answer, condition in self._rules:
            if _holds(condition, call, answer):
                found.setdefault(answer, text)
        if not found:
            return "", ""
        answer = strictest(found)
        return answer, found[answer]

    def is_harmless(self, call: Mapping[str, Any]) -> bool:
        """Say whether a call may run that no hook and no rule decided about."""
        return any(_holds(condition, call, "allow") for condition in self._harmless)


def _holds(condition: Condition, call: Mapping[str, Any], answer: str) -> bool:
    try:
        return condition.covers(call) if answer == "allow" else condition(call)
    except Exception:  # an input whose own methods raise: only rules that ask or deny match it
        return answer != "allow"


def merge_rules(*rules: Mapping[str, str]) -> dict[str, str]:
    """Return rules from several sources as one mapping; of two answers to one rule the stricter is kept."""
    merged: dict[str, str] = {}
    for text, answer in (pair for some in rules for pair in some.items()):
        merged[text] = strictest((merged.get(text, answer), answer))
    return merged


def _condition(text: str, answer: str) -> Condition:
    if answer not in ("deny", "ask", "allow"):
        raise UsageError(f"rules: {answer!r} for {text} is not an answer", hint="allow, ask or deny")
    try:
        condition = compile_condition(text)
    except BadHook as error:
        raise UsageError(f"rules: {error.problem.what.removeprefix('if: ')}", hint=error.problem.hint) from None
    if condition is None:
        raise UsageError("rules: a rule without text", hint="write it like Bash(git push *)")
    return condition


def judge(outcome: Outcome, call: Mapping[str, Any], *, rules: Rules, mode: str, kind: str, default: str) -> Verdict:
    """Return what to do with a call after its hooks ran. A deny of a hook or a rule holds in every mode."""
    answer, rule = rules(call)
    if outcome.denied:
        return Verdict("refuse", outcome.reason or "denied by a hook")
    if answer == "deny":
        return Verdict("refuse", f"denied by the rule {rule}")
    if mode == "plan" and kind != "read":
        return Verdict("refuse", "only tools that read may run in plan mode")
    asked = outcome.decision == "ask"
    if not asked and answer != "ask" and (outcome.granted or default == "allow" or rules.is_harmless(call)):
        return Verdict("run")
    if answer == "allow" or mode == "bypass" or (mode == "acceptEdits" and kind == "edit"):
        return Verdict("run")
    return Verdict("ask", outcome.reason if asked else f"the rule {rule} asks" if answer == "ask" else "")
