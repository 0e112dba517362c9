"""Fold what the hooks said into what the host does. Pure; strictest wins; nothing is lost in silence.

``weigh`` says what one reply does at one row; ``merge`` makes an outcome of all of them. A wish that the row does
not grant is kept in ``ignored``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from .event import Template, plain_copy
from .events import Row
from .model import Decision, Hook, HookError, Ignored, Injection, Outcome, Result, Status
from .replies import Failure, Reply, clean

__all__ = ["Effect", "Ran", "Rest", "Silent", "add_late", "merge", "on_failure", "only_stricter", "quiet",
           "spelled_out", "weigh"]  # fmt: skip

Silent = tuple[Any, float]
"""A run in which nothing was said: the step, and how long it took."""

Rest = Callable[[], dict[str, str]]
"""Gives the fields of an input that are found out when they are read."""

_STRICTNESS: dict[str | None, int] = {"deny": 3, "ask": 2, "allow": 1, None: 0}


class Effect:
    """What one reply does at its row."""

    __slots__ = ("changes", "context", "continue_", "decision", "ends", "extra", "granted", "ignored", "inject",
                 "interrupt", "keep_going", "messages", "reason", "stop_reason", "suppress")  # fmt: skip

    def __init__(self) -> None:
        self.decision: Literal["deny", "ask", "allow"] | None = None
        self.granted = False
        self.reason = ""
        self.changes: dict[str, Any] = {}
        self.context: list[str] = []
        self.messages: list[str] = []
        self.inject: list[Injection] = []
        self.suppress = False
        self.keep_going = False
        self.interrupt = False
        self.continue_ = True
        self.stop_reason = ""
        self.extra: dict[str, Any] = {}
        self.ignored: list[str] = []
        self.ends = False


class Ran:
    """One hook's run, as the chain writes it down; a Result is made of it when somebody reads."""

    __slots__ = ("duration", "effect", "enforced", "error", "evidence", "hook", "reply", "round", "status")

    def __init__(
        self,
        hook: Hook,
        status: Status,
        duration: float,
        effect: Effect | None = None,
        error: HookError | None = None,
        *,
        reply: Any = None,
        round: int = 1,
        enforced: bool = True,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        self.hook = hook
        self.status: Status = status
        self.duration = duration
        self.effect = effect
        self.error = error
        self.reply = reply
        self.round = round
        self.enforced = enforced
        self.evidence = evidence or {}

    def result(self) -> Result:
        """Return what the host sees of it."""
        effect = self.effect
        return Result(
            hook=self.hook.label,
            type=self.hook.type,
            status=self.status,
            decision=(effect.decision or "none") if effect else "none",
            reason=effect.reason if effect else "",
            error=self.error,
            duration=self.duration,
            round=self.round,
            enforced=self.enforced,
            reply=self.reply,
            source=self.hook.source,
            evidence=self.evidence,
        )


def weigh(row: Row, reply: Reply, *, may_change: bool = True) -> Effect:
    """Say what a reply does at a row. ``may_change`` is false where a change can have no effect."""
    effect = Effect()
    effect.ignored.extend(reply.ignored)
    effect.extra.update(reply.extra)
    _weigh_decision(row, reply, effect)
    _weigh_continue(row, reply, effect)
    _weigh_changes(row, reply, effect, may_change)
    _grant(row, "context", [clean(text) for text in reply.context if text], effect.context, effect)
    _grant(row, "inject", [Injection(clean(i.content), i.strategy) for i in reply.inject], effect.inject, effect)
    effect.messages.extend(clean(text) for text in reply.messages if text)
    if reply.suppress:
        effect.suppress = "suppress" in row.can
        if not effect.suppress:
            effect.ignored.append("suppress")
    if reply.interrupt:
        effect.interrupt = "interrupt" in row.can and effect.decision == "deny"
        if not effect.interrupt:
            effect.ignored.append("interrupt")
    return effect


def _grant(row: Row, right: str, wished: Sequence[Any], granted: list[Any], effect: Effect) -> None:
    if right in row.can:
        granted.extend(wished)
    elif wished:
        effect.ignored.append(right)


def _weigh_decision(row: Row, reply: Reply, effect: Effect) -> None:
    reason = clean(reply.reason)
    match reply.decision:
        case "deny" if "deny" in row.can:
            effect.decision, effect.reason, effect.ends = "deny", reason, True
        case "deny" if "keep going" in row.can:
            effect.keep_going, effect.reason = True, reason
        case "deny":
            effect.ignored.append("deny")
            if "context" in row.can and reason:
                effect.context.append(reason)
        case "ask" if row.can & {"ask", "deny"}:
            effect.decision, effect.reason = "ask", reason
            if "ask" not in row.can:
                # The host cannot ask here; not to go on by itself is all that an ask can mean.
                effect.ignored.append("ask")
        case "ask":
            effect.ignored.append("ask")
        case "allow" if "allow" in row.can:
            effect.decision, effect.reason, effect.granted = "allow", reason, reply.grants
        case "allow" if reply.grants:
            effect.ignored.append("allow")
        case "allow":
            effect.reason = reason
        case None:
            effect.reason = reason
    if reply.keep_going:
        effect.keep_going = effect.keep_going or "keep going" in row.can
        if not effect.keep_going:
            effect.ignored.append("keep going")


def _weigh_continue(row: Row, reply: Reply, effect: Effect) -> None:
    if reply.halt:
        effect.continue_, effect.stop_reason = False, clean(reply.stop_reason)
    if reply.continue_ is None:
        return
    why = clean(reply.stop_reason or reply.reason)
    if reply.continue_:
        effect.keep_going = effect.keep_going or row.continue_keeps_going is True
        return
    effect.ends = True
    if row.continue_keeps_going is False:
        # Told to stop being idle: with a reason the teammate works on, without one nothing is meant.
        if why:
            effect.keep_going, effect.reason = True, why
        return
    effect.continue_, effect.stop_reason = False, clean(reply.stop_reason)
    if "interrupt" in row.can:
        effect.interrupt = True
        why = why or "interrupted by hook"
    if "deny" in row.can:
        effect.reason = effect.reason if effect.decision == "deny" and effect.reason else why
        effect.decision, effect.granted = "deny", False


def _weigh_changes(row: Row, reply: Reply, effect: Effect, may_change: bool) -> None:
    wished = {row.words.get(name, name): value for name, value in reply.changes.items()}
    for name, value in wished.items():
        grantable = may_change and name in row.modifies and effect.decision != "deny"
        if grantable and row.changes_need_allow:
            grantable = effect.decision == "allow" and effect.granted
        if grantable:
            effect.changes[name] = plain_copy(value)
        else:
            effect.ignored.append(f"modify {clean(str(name))}")


def only_stricter(effect: Effect) -> Effect:
    """Return what counts of an effect in the second round: a deny or an ask; the rest is without effect."""
    kept = Effect()
    kept.ignored = list(effect.ignored)
    if effect.decision in ("deny", "ask"):
        kept.decision, kept.reason, kept.ends = effect.decision, effect.reason, effect.ends
        kept.continue_, kept.stop_reason, kept.interrupt = effect.continue_, effect.stop_reason, effect.interrupt
    wishes = {
        "allow": effect.granted,
        "context": effect.context,
        "inject": effect.inject,
        "message": effect.messages,
        "suppress": effect.suppress,
        "keep going": effect.keep_going,
    }
    kept.ignored += [f"{wish} in the second round" for wish, wished in wishes.items() if wished]
    return kept


def on_failure(row: Row, hook: Hook, failure: Failure, policy: str) -> Effect | None:
    """Return the deny that a failure stands for, or None where the firing goes on."""
    own_word_opens = failure.kind == "unloadable" and hook.on_error in ("log", "skip")
    closed = policy == "abort" or failure.kind == "misstated" or (failure.kind == "unloadable" and not own_word_opens)
    if not closed or "deny" not in row.can:
        return None
    effect = Effect()
    effect.decision, effect.ends = "deny", True
    effect.reason = f"{hook.label} failed: {failure.error}"
    return effect


class _Spoken(Outcome):
    """The outcome of a firing in which hooks ran."""

    __slots__ = ("_ran", "_rest", "_results", "context", "continue_", "decision", "extra", "granted", "ignored",
                 "inject", "interrupt", "keep_going", "messages", "reason", "shadow", "stop_reason",
                 "suppress_output")  # fmt: skip
    _ran: Sequence[Ran | Silent]
    _rest: Rest | None
    _results: tuple[Result, ...]

    @property
    def input(self) -> dict[str, Any]:
        """The final fields of the event."""
        rest, self._rest = self._rest, None
        if rest is not None:
            self._given = {**self._given, **rest()}
        return self._given

    @property
    def results(self) -> Sequence[Result]:
        """Every hook's fate, in the order they ran."""
        try:
            return self._results
        except AttributeError:
            self._results = tuple(spelled_out(ran).result() for ran in self._ran)
            return self._results


def spelled_out(ran: Ran | Silent) -> Ran:
    """Return a run as it is written down if there is something to say about it."""
    if isinstance(ran, Ran):
        return ran
    step, duration = ran
    return Ran(step.hook, "ok", duration, enforced=step.enforced)


class _Unmoved(Outcome):
    """The outcome of a firing in which hooks ran and none had anything to say."""

    __slots__ = ("_ran", "_rest", "_results")
    _ran: Sequence[Ran | Silent]
    _rest: Rest | None
    _results: tuple[Result, ...]

    input = _Spoken.input
    results = _Spoken.results


def quiet(template: Template, fields: dict[str, Any], ran: list[Ran | Silent], rest: Rest | None) -> Outcome:
    """Return the outcome of a firing whose hooks all kept silent."""
    outcome = _Unmoved()
    outcome._template = template
    outcome._given = fields
    outcome._ran = ran
    outcome._rest = rest
    return outcome


def merge(
    template: Template,
    fields: dict[str, Any],
    ran: Sequence[Ran | Silent],
    *,
    rest: Rest | None = None,
    extra: Mapping[str, Any] | None = None,
    as_if_enforced: bool = False,
) -> Outcome:
    """Make one outcome of all runs, in their order."""
    outcome = _Spoken()
    outcome._template = template
    outcome._given = fields
    outcome._ran = ran
    outcome._rest = rest
    outcome.shadow = None
    outcome.context, outcome.messages, outcome.inject, outcome.ignored = [], [], [], []  # type: ignore[misc]
    outcome.extra = {}  # type: ignore[misc]
    outcome.suppress_output = outcome.keep_going = outcome.interrupt = False
    outcome.continue_, outcome.stop_reason = True, ""
    decisive: Literal["deny", "ask", "allow"] | None = None
    granted = False
    counted: list[Effect] = []
    said_by: dict[str, str] = {}
    for run in ran:
        if not isinstance(run, Ran) or run.effect is None:
            continue
        effect = run.effect
        outcome.ignored.extend(Ignored(run.hook.label, wish) for wish in effect.ignored)
        if not (run.enforced or as_if_enforced):
            continue
        counted.append(effect)
        if _STRICTNESS[effect.decision] > _STRICTNESS[decisive]:
            decisive = effect.decision
        granted = granted or effect.granted
        outcome.context.extend(effect.context)
        outcome.messages.extend(effect.messages)
        outcome.inject.extend(effect.inject)
        for key, value in effect.extra.items():
            if key in outcome.extra and outcome.extra[key] is not value:
                outcome.ignored.append(Ignored(said_by[key], f"{key}: a later hook said something else"))
            outcome.extra[key], said_by[key] = value, run.hook.label
        outcome.suppress_output = outcome.suppress_output or effect.suppress
        outcome.keep_going = outcome.keep_going or effect.keep_going
        outcome.interrupt = outcome.interrupt or effect.interrupt
        if not effect.continue_:
            outcome.continue_ = False
            outcome.stop_reason = outcome.stop_reason or effect.stop_reason
    outcome.decision = decisive or "none"
    outcome.granted = granted and decisive == "allow"
    outcome.reason = _reasons(counted, decisive, outcome.keep_going)
    outcome.extra.update(extra or {})
    if not as_if_enforced and any(isinstance(run, Ran) and run.effect is not None and not run.enforced for run in ran):
        outcome.shadow = merge(template, fields, ran, rest=rest, extra=extra, as_if_enforced=True)
    return outcome


def add_late(outcome: Outcome, row: Row, said: Iterable[Ran]) -> Outcome:
    """Add what background hooks of earlier firings have said since."""
    for run in said:
        effect = run.effect
        if effect is None:
            continue
        wishes = list(effect.ignored)
        if effect.decision is not None:
            wishes.append(f"{effect.decision}: a background hook decides nothing")
        if effect.context and "context" in row.can:
            outcome.context.extend(effect.context)
        outcome.messages.extend(effect.messages)
        outcome.ignored.extend(Ignored(run.hook.label, wish) for wish in wishes)
    return outcome


def _reasons(effects: Iterable[Effect], decisive: Decision | str | None, keep_going: bool) -> str:
    """Join the reasons of those who decided, each once."""
    if decisive is not None:
        said = [effect.reason for effect in effects if effect.decision == decisive]
    elif keep_going:
        said = [effect.reason for effect in effects if effect.keep_going]
    else:
        said = []
    return "\n".join(dict.fromkeys(reason for reason in said if reason))
