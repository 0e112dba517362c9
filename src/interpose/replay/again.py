"""Decide recorded events again with another configuration, and say where it decides differently. Runs no tool.

The hooks themselves do run, with ``INTERPOSE_REPLAY=1`` in their environment, so that one with side effects can leave
them out. Nothing is written to an audit store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from ..errors import InterposeError
from ..hooks import Hooks
from ..model import Outcome, row_of
from .marks import marked, with_mark
from .recorded import UNKNOWN, Recorded, Recording

__all__ = ["MARK", "Replay", "Replayed", "deciders_of", "prepared", "replay"]

MARK = "INTERPOSE_REPLAY"
"""Set to 1 in the environment of hooks while events are replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One recorded event, and what the other configuration makes of it."""

    recorded: Recorded
    outcome: Outcome | None = None
    differences: tuple[str, ...] = ()
    """In which points the two differ: decision, granted, keep_going, continue, or the name of a field."""
    error: str = ""
    """Why it could not be fired at all."""

    @property
    def compared(self) -> bool:
        """Whether both decisions are known."""
        return self.outcome is not None and self.recorded.decision != UNKNOWN

    @property
    def reworded(self) -> bool:
        """Whether the same was decided for another reason."""
        then, now = self.recorded, self.outcome
        if now is None or not self.compared or self.differences or then.derived:
            return False
        return then.reason != now.reason

    @property
    def shadowed(self) -> bool:
        """Whether hooks decided something that is not enforced."""
        return self.outcome is not None and self.outcome.shadow is not None

    @property
    def broken(self) -> list[str]:
        """The hooks that failed this time, each with why."""
        results = self.outcome.results if self.outcome is not None else ()
        return [f"{one.hook}: {one.error.code}: {one.error}" for one in results if one.error is not None]

    def changes(self) -> Iterator[tuple[str, Any, Any]]:
        """Return the fields that end up different: name, what it was, what it is now."""
        if self.outcome is not None:
            for name in self.differences:
                if name in row_of(self.outcome).modifies:
                    yield name, _then(self.recorded, name), self.outcome.input.get(name)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        then, now = self.recorded, self.outcome
        was = {"decision": then.decision, "reason": then.reason, "granted": then.granted,
               "keep_going": then.keep_going, "continue": then.continues, "hooks": list(then.deciders),
               "derived": then.derived}  # fmt: skip
        shown = None if now is None else {
            "decision": now.decision, "reason": now.reason, "granted": now.granted, "keep_going": now.keep_going,
            "continue": now.continue_, "hooks": list(deciders_of(now)),
            "not_enforced": now.shadow.decision if now.shadow is not None else None,
        }  # fmt: skip
        return {
            "id": then.id, "event": then.event, "time": then.time, "input": dict(then.fields),
            "redacted": then.redacted, "differences": list(self.differences), "was": was, "now": shown,
            "changes": [{"field": name, "was": old, "now": new} for name, old, new in self.changes()],
            "failed": self.broken, "error": self.error,
        }  # fmt: skip


@dataclass(slots=True)
class Replay:
    """What came of a whole recording."""

    recording: Recording
    results: list[Replayed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, what: Callable[[Replayed], Any]) -> int:
        """Return of how many events something is true."""
        return sum(bool(what(result)) for result in self.results)

    @property
    def different(self) -> int:
        """How many events would be decided differently."""
        return self.count(lambda result: result.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; of events that are decided the same, only their number."""
        told = [one for one in self.results if one.differences or one.error or one.reworded]
        return {
            "recording": self.recording.name,
            "kind": self.recording.kind,
            "events": len(self.results),
            "different": self.different,
            "same": self.count(lambda one: one.compared and not one.differences),
            "reworded": self.count(lambda one: one.reworded),
            "unknown": self.count(lambda one: not one.compared and not one.error),
            "left_out": self.count(lambda one: one.error),
            "notes": [*self.recording.notes, *self.notes],
            "results": [one.to_dict() for one in told],
        }


def prepared(hooks: Hooks) -> Hooks:
    """Make an engine ready for a replay: it records nothing, enforces whatever its owner switched off, and its
    commands are told that this is one.
    """
    hooks.record(None)
    hooks.engine.off = ""
    everything = list(hooks)
    hooks.engine.registry.exchange(
        everything, [with_mark(hook, MARK) for hook in everything], {}, {}, hooks.settings.max_hooks_per_point
    )
    return hooks


def replay(
    hooks: Hooks,
    recording: Recording,
    told: Callable[[Replayed], None] | None = None,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Replay:
    """Fire every event of a recording through hooks that are ``prepared``, in order; tell of each as it comes."""
    done = Replay(recording)
    absent = sorted({directory for one in recording.events if (directory := _absent(one))})
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        done.notes.append(f"the directory {absent[0]}{more} is not here; hooks run in the current one instead")
    with marked(MARK):
        for recorded in recording.events:
            with around():
                result = _again(hooks, recorded)
            done.results.append(result)
            if told is not None:
                told(result)
    return done


def _again(hooks: Hooks, recorded: Recorded) -> Replayed:
    given = {name: value for name, value in recorded.fields.items() if name != "hook_event_name"}
    if given.get("agent_id", "") is None:
        del given["agent_id"]  # on the wire it is null where there is none
    if _absent(recorded):
        del given["cwd"]
    try:
        outcome = hooks.fire_sync(recorded.event, **given)
    except InterposeError as error:
        return Replayed(recorded=recorded, error=str(error))
    compare = _effects if recorded.derived else _everything
    differences = () if recorded.decision == UNKNOWN else tuple(compare(recorded, outcome))
    return Replayed(recorded=recorded, outcome=outcome, differences=differences)


def _everything(then: Recorded, now: Outcome) -> Iterator[str]:
    """Compare with a decision that was written down."""
    if then.decision != now.decision:
        yield "decision"
    elif then.granted != now.granted:
        yield "granted"
    if then.keep_going != now.keep_going:
        yield "keep_going"
    if then.continues != now.continue_:
        yield "continue"
    yield from _fields(then, now)


def _effects(then: Recorded, now: Outcome) -> Iterator[str]:
    """Compare with a decision that was told from what happened: as far as something else would have happened."""
    if then.decision == "ask":  # a person refused: what stops the call, or asks again, changes nothing
        differs = now.granted
    else:
        differs = (then.decision == "deny", False) != (now.denied, now.decision == "ask")
    if differs:
        yield "decision"
    if now.keep_going:
        yield "keep_going"
    if not now.continue_:
        yield "continue"
    yield from _fields(then, now)


def _fields(then: Recorded, now: Outcome) -> Iterator[str]:
    """Name the fields that end up different; what stands in a call that is refused either way does not matter."""
    if then.decision == "deny" and now.denied:
        return
    final = now.input
    for name in sorted(row_of(now).modifies):
        if name in final and final[name] != _then(then, name, final[name]):
            yield name


def _then(recorded: Recorded, name: str, default: Any = None) -> Any:
    """Return what a field was in the end, back then."""
    return recorded.final.get(name, recorded.fields.get(name, default))


def deciders_of(outcome: Outcome) -> Iterable[str]:
    """Return the hooks that said what was decided."""
    said = [
        one.hook
        for one in outcome.results
        # A hook that keeps an agent going decides nothing, but it has a reason.
        if one.enforced and (one.reason if outcome.keep_going else one.decision == outcome.decision != "none")
    ]
    return tuple(dict.fromkeys(said))


def _absent(recorded: Recorded) -> str:
    """Return the directory of an event if it is not on this machine; commands could not run in it."""
    cwd: Any = recorded.fields.get("cwd")
    return cwd if isinstance(cwd, str) and cwd and not os.path.isdir(cwd) else ""
