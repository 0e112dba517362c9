"""Merge what the hooks answered into what the host does. The strictest decision wins, and no effect is lost. Pure.

``weigh`` says what one reply does at one row; ``merge`` makes one effect of all of them. An effect that the row does
not grant is kept in ``ignored``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .events import EventSpec
from .model import Hook, HookEffect, HookError, Ignored, Injection, Result, Status, strictest
from .records import Record, made_by, replace
from .replies import Failure, Reply, clean, is_plain
from .runtime.copies import copied_if_possible, differ, plain_copy

__all__ = ["HookRun", "merge", "on_failure", "only_stricter", "own_reply", "weigh"]


class HookRun(Record, eq=False, kw_only=False, frozen=False):
    """One hook's run, as a firing writes it down; a Result is made of it when it is read."""

    hook: Hook
    status: Status
    duration: float
    effect: HookEffect | None = None
    error: HookError | None = None
    reply: Reply | None = None
    round: int = 1
    enforced: bool = True
    evidence: Mapping[str, Any] = made_by(factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        return self.effect.changes if self.effect is not None and self.enforced else {}

    def result(self) -> Result:
        hook, effect = self.hook, self.effect or HookEffect()
        return Result(
            hook.label, hook.type, self.status, effect.decision, effect.reason, self.error, self.duration,
            self.round, self.enforced, None if self.reply is None else own_reply(self.reply), hook.source,
            copied_if_possible(dict(self.evidence)),
        )  # fmt: skip


def own_reply(reply: Reply) -> Reply:
    """Return a reply that shares nothing changeable with what a hook has returned, or a host was given."""
    if is_plain(reply):
        return Reply(decision=reply.decision, grants=reply.grants, reason=reply.reason, stop_reason=reply.stop_reason)
    parts = (reply.changes, reply.extra, reply.evidence, reply.problem)
    changes, extra, evidence, problem = map(copied_if_possible, parts)
    return replace(reply, changes=changes, extra=extra, evidence=evidence, problem=problem)


def weigh(row: EventSpec, reply: Reply, *, may_change: bool = True) -> HookEffect:
    """Say what a reply does at a row. ``may_change`` is false where a change can have no effect."""
    effect = HookEffect(ignored=[*reply.ignored], extra={**reply.extra})
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
        effect.suppress_output = "suppress" in row.can
        effect.ignored += [] if effect.suppress_output else ["suppress"]
    if reply.interrupt:
        effect.interrupt = "interrupt" in row.can and effect.decision == "deny"
        effect.ignored += [] if effect.interrupt else ["interrupt"]
    return effect


def _grant(row: EventSpec, right: str, wished: Sequence[Any], granted: list[Any], effect: HookEffect) -> None:
    if right in row.can:
        granted.extend(wished)
    elif wished:
        effect.ignored.append(right)


def _weigh_decision(row: EventSpec, reply: Reply, effect: HookEffect) -> None:
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
        case "allow" | None:
            effect.reason = reason
    if reply.keep_going:
        effect.keep_going = effect.keep_going or "keep going" in row.can
        if not effect.keep_going:
            effect.ignored.append("keep going")


def _weigh_continue(row: EventSpec, reply: Reply, effect: HookEffect) -> None:
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


def _weigh_changes(row: EventSpec, reply: Reply, effect: HookEffect, may_change: bool) -> None:
    wished = {row.words.get(name, name): value for name, value in reply.changes.items()}
    for name, value in wished.items():
        grantable = may_change and name in row.modifies and effect.decision != "deny"
        if grantable and row.changes_need_allow:
            grantable = effect.decision == "allow" and effect.granted
        if grantable:
            effect.changes[name] = plain_copy(value)
        else:
            effect.ignored.append(f"modify {clean(str(name))}")


def only_stricter(effect: HookEffect) -> HookEffect:
    """Return what counts of an effect in the second round: a deny or an ask; the rest is without effect."""
    wishes = {"allow": effect.granted, "context": effect.context, "inject": effect.inject, "message": effect.messages,
              "suppress": effect.suppress_output, "keep going": effect.keep_going}  # fmt: skip
    ignored = [*effect.ignored, *(f"{wish} in the second round" for wish, wished in wishes.items() if wished)]
    if effect.decision not in ("deny", "ask"):
        return HookEffect(ignored=ignored)
    return HookEffect(decision=effect.decision, reason=effect.reason, ends=effect.ends, continue_=effect.continue_,
                  stop_reason=effect.stop_reason, interrupt=effect.interrupt, ignored=ignored)  # fmt: skip


def on_failure(row: EventSpec, hook: Hook, failure: Failure, policy: str) -> HookEffect | None:
    """Return the deny that a failure stands for, or None where the firing goes on."""
    closed = failure.kind in ("misstated", "unasked")
    closed = closed or policy == "abort" or (failure.kind == "unloadable" and hook.on_error not in ("log", "skip"))
    if not closed or "deny" not in row.can:
        return None
    return HookEffect(decision="deny", ends=True, reason=f"{hook.label} failed: {failure.error}")


def merge(
    row: EventSpec, runs: Sequence[HookRun], *, extra: Mapping[str, Any], late: Iterable[HookRun] = (),
    as_if_enforced: bool = False,
) -> HookEffect:  # fmt: skip
    """Merge all runs into one effect, in their order. ``late`` are runs of background hooks of earlier firings."""
    said, said_by = HookEffect(), dict[str, str]()  # what all of them said, and by whom
    ignored = [Ignored(run.hook.label, wish) for run in runs if run.effect for wish in run.effect.ignored]
    counted = [(run.hook.label, run.effect) for run in runs if run.effect and (run.enforced or as_if_enforced)]
    for label, effect in counted:
        for key, value in effect.extra.items():
            if key in said.extra and differ(said.extra[key], value):
                ignored.append(Ignored(said_by[key], f"{key}: a later hook said something else"))
            said.extra[key], said_by[key] = value, label
        said.context += effect.context
        said.messages += effect.messages
        said.inject += effect.inject
        said.granted |= effect.granted
        said.suppress_output |= effect.suppress_output
        said.keep_going |= effect.keep_going
        said.interrupt |= effect.interrupt
        if not effect.continue_:
            said.continue_, said.stop_reason = False, said.stop_reason or effect.stop_reason
    said.decision = decision = strictest(effect.decision for _, effect in counted)
    said.granted = said.granted and decision == "allow"
    decided = [e.reason for _, e in counted if (e.keep_going if decision == "none" else e.decision == decision)]
    said.reason = "\n".join(filter(None, dict.fromkeys(decided)))  # the reasons of the hooks that decided, each once
    for run in late:
        _add_late(run, said, ignored)
    said.ignored, said.extra = ignored, {**said.extra, **extra}
    if not as_if_enforced and any(run.effect and not run.enforced for run in runs):
        said.shadow = merge(row, runs, extra=extra, as_if_enforced=True)
    return said


def _add_late(run: HookRun, said: HookEffect, ignored: list[Ignored]) -> None:
    """Add what a background hook of an earlier firing has said since; it decides nothing."""
    effect = run.effect or HookEffect()
    wishes = [f"{effect.decision}: a background hook decides nothing"] if effect.decision != "none" else []
    ignored += [Ignored(run.hook.label, wish) for wish in (*effect.ignored, *wishes)]
    said.context += effect.context
    said.messages += effect.messages
