"""Merge what the hooks said into what the host does. Pure; the strictest decision wins; every wish is accounted for.

``weigh`` says what one reply does at one row; ``merge`` makes a verdict of all of them. A wish that the row does
not grant is kept in ``ignored``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from .event import copied_if_possible, plain_copy
from .events import EventSpec
from .model import STRICTNESS, Decision, Hook, HookError, Ignored, Injection, Result, Status, Verdict
from .records import replace
from .replies import Failure, Reply, clean, is_plain

__all__ = ["Effect", "HookRun", "merge", "on_failure", "only_stricter", "own_reply", "weigh"]


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


class HookRun:
    """One hook's run, as a firing writes it down; a Result is made of it when it is read."""

    __slots__ = ("duration", "effect", "enforced", "error", "evidence", "hook", "reply", "round", "status")

    def __init__(
        self,
        hook: Hook,
        status: Status,
        duration: float,
        effect: Effect | None = None,
        error: HookError | None = None,
        *,
        reply: Reply | None = None,
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

    @property
    def changes(self) -> dict[str, Any]:
        """The fields that it changed."""
        return self.effect.changes if self.effect is not None and self.enforced else {}

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
            reply=None if self.reply is None else own_reply(self.reply),
            source=self.hook.source,
            evidence=copied_if_possible(dict(self.evidence)),
        )


def own_reply(reply: Reply) -> Reply:
    """Return a reply that shares nothing changeable with what a hook has returned, or a host was given."""
    if is_plain(reply):
        return Reply(decision=reply.decision, grants=reply.grants, reason=reply.reason, stop_reason=reply.stop_reason)
    parts = (reply.changes, reply.extra, reply.evidence, reply.problem)
    changes, extra, evidence, problem = map(copied_if_possible, parts)
    return replace(reply, changes=changes, extra=extra, evidence=evidence, problem=problem)


def weigh(row: EventSpec, reply: Reply, *, may_change: bool = True) -> Effect:
    """Say what a reply does at a row. ``may_change`` is false where a change can have no effect."""
    effect = Effect()
    effect.ignored.extend(reply.ignored)
    effect.extra.update(reply.extra)
    _weigh_decision(row, reply, effect)
    if reply.halt or reply.continue_ is not None:
        _weigh_continue(row, reply, effect)
    if reply.changes:
        _weigh_changes(row, reply, effect, may_change)
    if reply.context:
        _grant(row, "context", [clean(text) for text in reply.context if text], effect.context, effect)
    if reply.inject:
        _grant(row, "inject", [Injection(clean(i.content), i.strategy) for i in reply.inject], effect.inject, effect)
    if reply.messages:
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


def _grant(row: EventSpec, right: str, wished: Sequence[Any], granted: list[Any], effect: Effect) -> None:
    if right in row.can:
        granted.extend(wished)
    elif wished:
        effect.ignored.append(right)


def _weigh_decision(row: EventSpec, reply: Reply, effect: Effect) -> None:
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


def _weigh_continue(row: EventSpec, reply: Reply, effect: Effect) -> None:
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


def _weigh_changes(row: EventSpec, reply: Reply, effect: Effect, may_change: bool) -> None:
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


def on_failure(row: EventSpec, hook: Hook, failure: Failure, policy: str) -> Effect | None:
    """Return the deny that a failure stands for, or None where the firing goes on."""
    closed = failure.kind in ("misstated", "unasked")
    closed = closed or policy == "abort" or (failure.kind == "unloadable" and hook.on_error not in ("log", "skip"))
    if not closed or "deny" not in row.can:
        return None
    effect = Effect()
    effect.decision, effect.ends = "deny", True
    effect.reason = f"{hook.label} failed: {failure.error}"
    return effect


def merge(
    row: EventSpec,
    runs: Iterable[HookRun],
    *,
    extra: Mapping[str, Any],
    late: Iterable[HookRun] = (),
    as_if_enforced: bool = False,
) -> Verdict:
    """Make one verdict of all runs, in their order. ``late`` are runs of background hooks of earlier firings."""
    decision: Decision = "none"
    context: list[str] = []
    messages: list[str] = []
    inject: list[Injection] = []
    ignored: list[Ignored] = []
    said: dict[str, Any] = {}
    said_by: dict[str, str] = {}
    granted = suppress = keep_going = interrupt = observed = False
    continue_, stop_reason = True, ""
    counted: list[Effect] = []
    for run in runs:
        effect = run.effect
        if effect is None:
            continue
        if effect.ignored:
            ignored += [Ignored(run.hook.label, wish) for wish in effect.ignored]
        if not (run.enforced or as_if_enforced):
            observed = True
            continue
        counted.append(effect)
        if effect.decision is not None and STRICTNESS[effect.decision] > STRICTNESS[decision]:
            decision = effect.decision
        granted |= effect.granted
        context += effect.context
        messages += effect.messages
        inject += effect.inject
        for key, value in effect.extra.items():
            if key in said and said[key] != value:
                ignored.append(Ignored(said_by[key], f"{key}: a later hook said something else"))
            said[key], said_by[key] = value, run.hook.label
        suppress |= effect.suppress
        keep_going |= effect.keep_going
        interrupt |= effect.interrupt
        if not effect.continue_:
            continue_, stop_reason = False, stop_reason or effect.stop_reason
    for run in late:
        _add_late(row, run, context, messages, ignored)
    return Verdict(
        decision=decision,
        reason=_reasons(counted, decision, keep_going),
        granted=granted and decision == "allow",
        context=tuple(context),
        messages=tuple(messages),
        inject=tuple(inject),
        ignored=tuple(ignored),
        extra={**said, **extra},
        suppress_output=suppress,
        keep_going=keep_going,
        continue_=continue_,
        stop_reason=stop_reason,
        interrupt=interrupt,
        shadow=merge(row, runs, extra=extra, as_if_enforced=True) if observed else None,
    )


def _add_late(row: EventSpec, run: HookRun, context: list[str], messages: list[str], ignored: list[Ignored]) -> None:
    """Add what a background hook of an earlier firing has said since; it decides nothing."""
    effect = run.effect
    if effect is None:
        return
    wishes = list(effect.ignored)
    if effect.decision is not None:
        wishes.append(f"{effect.decision}: a background hook decides nothing")
    if "context" in row.can:
        context += effect.context
    messages += effect.messages
    ignored += [Ignored(run.hook.label, wish) for wish in wishes]


def _reasons(effects: Iterable[Effect], decision: Decision, keep_going: bool) -> str:
    """Join the reasons of the hooks that decided, each once."""
    said: dict[str, None] = {}
    for effect in effects:
        counts = effect.decision == decision if decision != "none" else keep_going and effect.keep_going
        if counts and effect.reason:
            said[effect.reason] = None
    return "\n".join(said)
