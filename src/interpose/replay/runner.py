"""Fire recorded events with another configuration and compare the decisions. Runs no tool.

The hooks run with ``INTERPOSE_REPLAY=1`` in their environment, so that they can skip side effects. Those that ask a
model or a server answer from the record. Nothing is written to an audit store.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InterposeError
from ..executors.blocking import blocking_executor
from ..hooks import Hooks
from ..model import Outcome, row_of
from ..runtime.coroutines import drive
from ..session.readings import route_of_call
from .answers import RecordedAnswers, answer_from_record, not_asked
from .environment import variable_set, with_variable
from .recording import UNKNOWN, Recorded, Recording

__all__ = ["MARK", "Replay", "Replayed", "deciders_of", "prepared", "replay"]

MARK = "INTERPOSE_REPLAY"
"""Set to 1 in the environment of hooks while events are replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One recorded event, and its outcome with the other configuration."""

    recorded: Recorded
    outcome: Outcome | None = None
    differences: tuple[str, ...] = ()
    """What differs: decision, granted, keep_going, continue, or the name of a field."""
    error: str = ""
    """Why the event could not be fired."""

    @property
    def compared(self) -> bool:
        """Whether both decisions are known."""
        return self.outcome is not None and self.recorded.decision != UNKNOWN

    @property
    def reworded(self) -> bool:
        """Whether the decision is the same and the reason is not."""
        then, now = self.recorded, self.outcome
        if now is None or not self.compared or self.differences or then.derived:
            return False
        return then.reason != now.reason

    @property
    def not_asked(self) -> list[str]:
        """The hooks that ask a model or a server, and whose answer is not in the record."""
        return not_asked(self.outcome.results) if self.outcome is not None else []

    @property
    def shadowed(self) -> bool:
        """Whether hooks that are not enforced decided something."""
        return self.outcome is not None and self.outcome.shadow is not None

    @property
    def broken(self) -> list[str]:
        """The hooks that failed, each with its error."""
        results = self.outcome.results if self.outcome is not None else ()
        return [f"{one.hook}: {one.error.code}: {one.error}" for one in results if one.error is not None]

    def changes(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the fields with another final value: name, recorded value, new value."""
        if self.outcome is not None:
            for name in self.differences:
                if name in row_of(self.outcome).modifies:
                    yield name, _recorded_value(self.recorded, name), self.outcome.input.get(name)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        then, now = self.recorded, self.outcome
        was = {"decision": then.decision, "reason": then.reason, "granted": then.granted,
               "keep_going": then.keep_going, "continue": then.continues, "hooks": list(then.deciders),
               "permissions": [dict(one) for one in then.permissions], "derived": then.derived}  # fmt: skip
        shown = None if now is None else {
            "decision": now.decision, "reason": now.reason, "granted": now.granted, "keep_going": now.keep_going,
            "continue": now.continue_, "hooks": list(deciders_of(now)),
            "not_enforced": now.shadow.decision if now.shadow is not None else None,
        }  # fmt: skip
        return {
            "id": then.id, "event": then.event, "time": then.time, "input": dict(then.fields),
            "redacted": then.redacted, "differences": list(self.differences), "was": was, "now": shown,
            "changes": [{"field": name, "was": old, "now": new} for name, old, new in self.changes()],
            "failed": self.broken, "not_asked": self.not_asked, "error": self.error,
        }  # fmt: skip


@dataclass(slots=True)
class Replay:
    """The results of a whole recording."""

    recording: Recording
    results: list[Replayed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, condition: Callable[[Replayed], Any]) -> int:
        """Return how many results satisfy a condition."""
        return sum(bool(condition(result)) for result in self.results)

    @property
    def different(self) -> int:
        """How many events have differences."""
        return self.count(lambda result: result.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data; events without differences are only counted."""
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
            "not_asked": self.count(lambda one: one.not_asked),
            "notes": [*self.recording.notes, *self.notes],
            "results": [one.to_dict() for one in told],
        }


def prepared(hooks: Hooks, *, live: bool = False) -> Hooks:
    """Prepare hooks for a replay: they record nothing, ``INTERPOSE_OFF`` has no effect, and their commands get
    ``INTERPOSE_REPLAY=1``. With ``live``, hooks that ask a model or a server ask it again.
    """
    hooks.record(None)
    hooks.engine.off = ""
    everything = list(hooks)
    hooks.engine.registry.exchange(
        everything, [with_variable(hook, MARK) for hook in everything], {}, {}, hooks.settings.max_hooks_per_point
    )
    if not live:
        answer_from_record(hooks)
    return hooks


def replay(
    hooks: Hooks,
    recording: Recording,
    told: Callable[[Replayed], None] | None = None,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Replay:
    """Fire every event of a recording through ``prepared`` hooks, in order; ``told`` is called with each result."""
    done = Replay(recording)
    absent = sorted({directory for one in recording.events if (directory := _missing_directory(one))})
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        done.notes.append(f"the directory {absent[0]}{more} is not here; hooks run in the current one instead")
    handlers = (hook.binding.handler for hook in hooks)
    answers = next((handler for handler in handlers if isinstance(handler, RecordedAnswers)), None)
    with variable_set(MARK):
        for recorded in recording.events:
            if answers is not None:
                answers.begin(recorded.runs, keeps_going=recorded.keep_going, grants=recorded.granted)
            with around():
                result = _fire_again(hooks, recorded)
            done.results.append(result)
            if told is not None:
                told(result)
    silent = Counter(hook for one in done.results for hook in one.not_asked)
    for hook, count in silent.items():
        events = f"{count} event{'s' if count > 1 else ''}"
        done.notes.append(f"{hook} was not asked about {events}: its answer is not in the record; --live asks it")
    return done


def _as_host_gave(hooks: Hooks, recorded: Recorded) -> Recorded:
    """Return an event of a declared tool under the host's names, as it is fired."""
    if hooks.engine.tools is None or "host_tool_name" not in recorded.fields:
        return recorded
    final = hooks.engine.tools.undeclared({**recorded.fields, **recorded.final})
    fields = hooks.engine.tools.undeclared(recorded.fields)
    return replace(recorded, fields=fields, final={name: final[name] for name in recorded.final})


def _fire_again(hooks: Hooks, recorded: Recorded) -> Replayed:
    recorded = _as_host_gave(hooks, recorded)
    given = {name: value for name, value in recorded.fields.items() if name != "hook_event_name"}
    if given.get("agent_id", "") is None:
        del given["agent_id"]  # recorded as null if there was no agent
    if _missing_directory(recorded):
        del given["cwd"]
    try:
        route = route_of_call(hooks.engine, recorded.event, given)
        outcome = drive(hooks.engine.fire(route, given, blocking_executor))
    except InterposeError as error:
        return Replayed(recorded=recorded, error=str(error))
    compare = _different_effects if recorded.derived else _differences
    differences = () if recorded.decision == UNKNOWN else tuple(compare(recorded, outcome))
    return Replayed(recorded=recorded, outcome=outcome, differences=differences)


def _differences(then: Recorded, now: Outcome) -> Iterator[str]:
    """Compare with a recorded decision."""
    if then.decision != now.decision:
        yield "decision"
    elif then.granted != now.granted:
        yield "granted"
    if then.keep_going != now.keep_going:
        yield "keep_going"
    if then.continues != now.continue_:
        yield "continue"
    yield from _fields(then, now)


def _different_effects(then: Recorded, now: Outcome) -> Iterator[str]:
    """Compare with a decision that was derived from a transcript: only different effects count."""
    if then.decision == "ask":  # a person refused: a deny or another question has the same effect
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
    """Yield the fields with another final value, unless both decisions deny."""
    if then.decision == "deny" and now.denied:
        return
    final = now.input
    for name in sorted(row_of(now).modifies):
        if name in final and final[name] != _recorded_value(then, name, final[name]):
            yield name


def _recorded_value(recorded: Recorded, name: str, default: Any = None) -> Any:
    """Return the recorded final value of a field."""
    return recorded.final.get(name, recorded.fields.get(name, default))


def deciders_of(outcome: Outcome) -> Iterable[str]:
    """Return the hooks that made the decision."""
    said = [
        one.hook
        for one in outcome.results
        # A hook that makes an agent continue has no decision, but a reason.
        if one.enforced and (one.reason if outcome.keep_going else one.decision == outcome.decision != "none")
    ]
    return tuple(dict.fromkeys(said))


def _missing_directory(recorded: Recorded) -> str:
    """Return the directory of an event if it does not exist on this machine; empty if it does."""
    cwd: Any = recorded.fields.get("cwd")
    return cwd if isinstance(cwd, str) and cwd and not os.path.isdir(cwd) else ""
