"""What would be decided differently, shown as a code review: what was, what would be, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..events import TABLE
from ..model import Outcome, row_of
from ..replay.recording import Recorded, Recording
from ..replay.runner import Replay, Replayed, deciders_of
from ..replies import clean
from .report import difference
from .words import cut, flat, paint

__all__ = ["Review", "summary_of"]

_LONGEST = 160
_OF_THE_MOMENT = ("session_id", "transcript_path", "cwd", "hook_event_name", "tool_use_id", "permission_mode",
                  "agent_id", "tool_name")  # fmt: skip


class Review:
    """Shows every difference as it comes, and in the end how many there were."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __call__(self, result: Replayed) -> None:
        """Show one event, if there is something to say of it."""
        if result.error:
            print(f"{_headline(result.recorded)}\n{paint('! left out:', 'yellow')} {flat(result.error)}\n")
        elif result.differences:
            print("\n".join(_lines(result)) + "\n", flush=True)

    def sum_up(self, done: Replay) -> None:
        """Say how many events were looked at, and how many would be decided differently."""
        colour = "red" if done.different else "green"
        for note in (*self._recording.notes, *done.notes):
            print(f"{paint('note:', 'yellow')} {flat(note)}")
        print(paint(flat(summary_of(done)), colour, "bold"))


def summary_of(done: Replay) -> str:
    """Return in one sentence what came of a replay."""
    count = len(done.results)
    what = "session" if done.recording.kind == "store" else done.recording.kind
    said = f"{count} event{'' if count == 1 else 's'} of {what} {done.recording.name}: "
    if done.different or not all(one.compared for one in done.results):
        said += f"{done.different or 'none'} would be decided differently"
    else:
        said += "all would be decided the same"
    for number, what in (
        (done.count(lambda one: one.reworded), "the same for another reason"),
        (done.count(lambda one: not one.compared and not one.error), "not compared: what became of them is not known"),
        (done.count(lambda one: one.error), "left out"),
        (done.count(lambda one: one.broken), "in which a hook failed"),
        (done.count(lambda one: one.shadowed), "with decisions that are not enforced"),
    ):
        said += f", {number} {what}" if number else ""
    return said


def _lines(result: Replayed) -> Iterator[str]:
    then, now = result.recorded, result.outcome
    assert now is not None  # noqa: S101 - only what was decided again can differ
    yield _headline(then)
    yield from (f"  {line}" for line in _given(then))
    if set(result.differences) - set(row_of(now).modifies):
        yield paint(f"- was: {_was(then)}", "red")
        yield paint(f"+ now: {_now(now)}", "green")
    for name, old, new in result.changes():
        yield from difference(clean(name), old, new)
    for text in result.broken:
        yield f"{paint('! failed now:', 'yellow')} {flat(text)}"
    if now.shadow is not None:
        yield f"{paint('! not enforced:', 'yellow')} {flat(f'{now.shadow.decision} {now.shadow.reason}')}"
    if then.redacted:
        yield f"{paint('! redacted:', 'yellow')} the hooks did not see what was taken out of this input"


def _headline(then: Recorded) -> str:
    row = TABLE.get(then.event)
    subject: Any = then.fields.get(row.subject) if row is not None and row.subject else ""
    shown = f" {paint(flat(subject), 'cyan')}" if isinstance(subject, str) and subject else ""
    return f"{paint(flat(then.event), 'bold')}{shown}  {paint(flat(f'{then.time}  {then.id}'), 'dim')}"


def _given(then: Recorded) -> Iterator[str]:
    """Return in a line or two what the event was about."""
    for name, value in then.fields.items():
        if name in _OF_THE_MOMENT or value in ("", None, {}):
            continue
        parts: Mapping[str, Any] = value if isinstance(value, Mapping) else {name: value}
        for key, part in parts.items():
            text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=repr)
            yield f"{flat(str(key))}: {cut(flat(text), _LONGEST)}"


def _was(then: Recorded) -> str:
    if then.derived:
        return flat(f"{then.derived}{f': {then.reason}' if then.reason else ''}")
    return _decided(then.decision, then.granted, then.keep_going, then.continues, then.reason, then.deciders)


def _now(now: Outcome) -> str:
    reason = now.reason or now.stop_reason
    return _decided(now.decision, now.granted, now.keep_going, now.continue_, reason, tuple(deciders_of(now)))


def _decided(
    decision: str, granted: bool, keep_going: bool, continues: bool, reason: str, deciders: tuple[str, ...]
) -> str:
    said = "keep going" if keep_going else "granted" if granted else "go on" if decision == "none" else decision
    stops = "" if continues else ", and the agent stops"
    by = f" ({', '.join(deciders)})" if deciders else ""
    return flat(f"{said}{stops}{f' {reason}' if reason else ''}{by}")
