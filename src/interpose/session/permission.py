"""Whether a call runs, is refused or is asked about: the hooks' outcome, the rules and the mode. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

from ..errors import BadHook, UsageError, nearest
from ..matching import Condition, compile_rule
from ..matching.declared_tools import KINDS, DeclaredTool
from ..matching.grades import GRADES, Grade
from ..model import strictest
from ..records import Record

__all__ = ["MODES", "By", "HooksSaid", "RuleAnswer", "Rules", "Verdict", "judge", "kind_of", "merge_rules", "mode_of"]

MODES = ("default", "acceptEdits", "plan", "bypass")
_MODE_SPELLINGS = {"bypassPermissions": "bypass"}

_READS = frozenset(["Read", "Glob", "Grep", "LS", "NotebookRead"])
_EDITS = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])


By = Literal["person", "rule", "mode", "hook", "default", "nobody"]
"""Who or what decides about a call."""


class Verdict(Record, kw_only=False):
    """What to do with a call, why, and what says so; nothing does if the call is simply allowed."""

    what: Literal["run", "refuse", "ask"]
    reason: str = ""
    by: By | None = None
    rule: str = ""
    place: str = ""
    """Where the rule is written."""


class RuleAnswer(Record, kw_only=False):
    """What the rules say about a call, which rule says so, and how sure it is that the rule matches."""

    answer: str = ""
    rule: str = ""
    grade: Grade = "certain"
    place: str = ""

    @property
    def reason(self) -> str:
        """What the model and the person are told."""
        says = {"deny": f"denied by the rule {self.rule}", "ask": f"the rule {self.rule} asks"}.get(self.answer, "")
        if self.grade == "possible":
            return f"{says}, which this call may match"
        return (
            f"its input does not tell all that this call does, and the rule {self.rule} may match it"
            if self.grade == "opaque"
            else says
        )


def mode_of(word: str) -> str:
    """Return a permission mode by its name."""
    mode = _MODE_SPELLINGS.get(word, word)
    if mode not in MODES:
        raise UsageError(f"mode: {word!r} is not a permission mode", hint=nearest(word, MODES) or ", ".join(MODES))
    return mode


def kind_of(tool_name: str, said: str | None = None, tool: DeclaredTool | None = None) -> str:
    """Return what a tool does: what the host says, or its declaration, or its name; an unknown tool is a ``run``.

    A declaration of a project's file cannot make a tool less restricted than its name does.
    """
    if said is not None:
        if said not in KINDS:
            raise UsageError(f"kind: {said!r} is not a kind of tool", hint=", ".join(KINDS))
        return said
    kind = "read" if tool_name in _READS else "edit" if tool_name in _EDITS else "run"
    if tool is None:
        return kind
    declared = tool.kind or kind_of(tool.name)
    return max(kind, declared, key=KINDS.index) if "user" in tool.above else declared


class Rules:
    """Permission rules: ``{"Bash(git push *)": "ask", "Read": "allow"}``. Of those that match, the strictest wins.

    ``harmless`` are calls that run without a question unless a hook or a rule asks. Unlike a rule that allows, they do
    not overrule a hook that asks. ``places`` says where a rule is written, by its text.
    """

    def __init__(
        self,
        rules: Mapping[str, str] | None = None,
        *,
        harmless: Iterable[str] = (),
        places: Mapping[str, str] | None = None,
    ) -> None:
        self._rules = [(text, answer, _condition(text, answer)) for text, answer in (rules or {}).items()]
        self._harmless = [(text, _condition(text, "allow")) for text in harmless]
        self._places = places or {}

    def __repr__(self) -> str:
        rules = {text: answer for text, answer, _ in self._rules}
        return f"Rules({rules!r}, harmless={[text for text, _ in self._harmless]!r})"

    def __call__(self, call: Mapping[str, Any], *, leaves_out: bool = False) -> RuleAnswer:
        """Return the strictest answer of the rules that match a call, and the rule that gave it.

        A rule that allows must cover the whole call. For one that asks or denies a part is enough; it asks about a call
        that cannot be read. ``leaves_out`` says that the call is a search whose tool leaves out what rules deny.
        """
        found: dict[str, RuleAnswer] = {}
        for text, answer, condition in self._rules:
            if answer == "allow":
                grade: Grade | None = "certain" if _covers(condition, call) else None
            else:
                grade = condition.grade(call)
            if grade is None or (grade == "opaque" and leaves_out):
                continue
            ruled = RuleAnswer("ask" if grade == "opaque" else answer, text, grade, self._places.get(text, ""))
            before = found.get(ruled.answer)
            # Of two that deny, the surer one is named. Of two that ask, the less sure one: fewer modes answer it.
            less_sure = 0 if before is None else GRADES.index(grade) - GRADES.index(before.grade)
            if before is None or (less_sure > 0 if ruled.answer == "ask" else less_sure < 0):
                found[ruled.answer] = ruled
        return found[strictest(found)] if found else RuleAnswer()

    def left_out(self, call: Mapping[str, Any]) -> Callable[[str], bool]:
        """Return a function that says whether rules keep a file out of what a search returns, by its absolute path.

        Rules that ask keep out nothing if they match the search itself: then it runs because the answer was yes.
        """
        names = [str(call[key]) for key in ("tool_name", "host_tool_name") if key in call]
        found = [
            condition.files(name, str(call.get("cwd") or ""))
            for _, answer, condition in self._rules
            for name in names
            if answer == "deny" or (answer == "ask" and condition.grade(call) not in ("certain", "possible"))
        ]
        tests = [test for test in found if test is not None]
        return lambda path: any(test(path) for test in tests)

    def harmless(self, call: Mapping[str, Any]) -> RuleAnswer:
        """Return the rule by which a call may run that no hook and no other rule decided about, if there is one."""
        for text, condition in self._harmless:
            if _covers(condition, call):
                return RuleAnswer("allow", text, place=self._places.get(text, ""))
        return RuleAnswer()


def _covers(condition: Condition, call: Mapping[str, Any]) -> bool:
    try:
        return condition.covers(call)
    except Exception:  # an input whose own methods raise
        return False


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
        return compile_rule(text)
    except BadHook as error:
        raise UsageError(f"rules: {error.problem.what}", hint=error.problem.hint) from None


class HooksSaid(Protocol):
    """What ``judge`` reads of an outcome."""

    @property
    def decision(self) -> str:
        """The strictest decision of the hooks."""

    @property
    def reason(self) -> str:
        """Why."""

    @property
    def granted(self) -> bool:
        """Whether a hook granted the call."""


def judge(
    outcome: HooksSaid,
    call: Mapping[str, Any],
    *,
    rules: Rules,
    mode: str,
    kind: str,
    default: str,
    leaves_out: bool = False,
) -> Verdict:
    """Return what to do with a call after its hooks ran. A deny of a hook or a rule holds in every mode."""
    if call.get("problem"):
        return Verdict("refuse", call["problem"], "nobody")
    ruled = rules(call, leaves_out=leaves_out)
    if outcome.decision == "deny":
        return Verdict("refuse", outcome.reason or "denied by a hook", "hook")
    if ruled.answer == "deny":
        return Verdict("refuse", ruled.reason, "rule", ruled.rule, ruled.place)
    if mode == "plan" and kind != "read":
        return Verdict("refuse", "only tools that read may run in plan mode", "mode")
    asked = outcome.decision == "ask"
    if not asked and ruled.answer != "ask":
        if default == "allow":
            return _RUN
        if outcome.granted:
            return Verdict("run", outcome.reason, "hook")
        if ruled.answer != "allow":
            ruled = rules.harmless(call)
    # A call that cannot be read may be more than an edit.
    is_edit = kind == "edit" and ruled.grade != "opaque"
    if ruled.answer == "allow":
        return Verdict("run", "", "rule", ruled.rule, ruled.place)
    reason = outcome.reason if asked else ruled.reason
    if mode == "bypass" or (mode == "acceptEdits" and is_edit):
        return Verdict("run", reason, "mode", ruled.rule, ruled.place)
    by: By = "hook" if asked else "rule" if ruled.rule else "default"
    return Verdict("ask", reason, by, ruled.rule, ruled.place)


_RUN = Verdict("run")
