"""An outcome for a person: the decision and its reason, the changes, and the result of every hook."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...dialects.reply import changed_fields
from ...model import Outcome, Result, row_of
from ...replies import clean
from ...runtime.regex import regex
from . import paint, short_path

__all__ = ["STATUS_COLOURS", "change_lines", "labelled_lines", "print_outcome", "subject_of", "unexpected_stderr"]

_VERDICTS = {
    "deny": ("DENIED", "red"),
    "ask": ("ASK", "yellow"),
    "allow": ("GO ON", "green"),
    "none": ("GO ON", "green"),
}
STATUS_COLOURS = {"ok": "green", "failed": "red", "timeout": "red", "skipped": "dim"}
_TRACE_LINE = regex(r'^  File "(.+?)", line (\d+)', re.MULTILINE)
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LONGEST = 2_000
_MOST_LINES = 12
_MANY = 12
"""With more hooks than that, those that had nothing to say are counted and not listed."""


def print_outcome(outcome: Outcome, before: Mapping[str, Any], declared: str = "") -> None:
    """Print an outcome; ``declared`` is the name that rules know the tool by, if it has another."""
    for line in _lines(outcome, before, declared):
        print(line)


def _lines(outcome: Outcome, before: Mapping[str, Any], declared: str) -> Iterator[str]:
    yield _headline(outcome) + (f", declared as {clean(declared)}" if declared else "")
    if outcome.reason:
        yield from labelled_lines("", outcome.reason)
    if not outcome.continue_:
        yield from labelled_lines("the agent stops: ", outcome.stop_reason or "no reason given")
    if outcome.interrupt:
        yield "  the agent is interrupted"
    for name, value in changed_fields(outcome, before).items():
        yield from change_lines(name, before.get(name), value)
    for text in outcome.context:
        yield from labelled_lines("context: ", text)
    for item in outcome.inject:
        yield from labelled_lines(f"inject ({item.strategy}): ", item.content)
    for text in outcome.messages:
        yield from labelled_lines("message: ", text)
    if outcome.suppress_output:
        yield "  the tool's output is not shown"
    for key, value in outcome.extra.items():
        yield from labelled_lines(f"{key}: ", value if isinstance(value, str) else _short(value))
    if outcome.shadow is not None and outcome.shadow.decision != outcome.decision:
        yield from labelled_lines("not enforced: ", f"{outcome.shadow.decision} {outcome.shadow.reason}".strip())
    yield from _hooks(outcome)
    for wish in outcome.ignored:
        yield from labelled_lines(f"without effect, {wish.hook}: ", wish.wish)


def _headline(outcome: Outcome) -> str:
    verdict, colour = _VERDICTS[outcome.decision]
    if outcome.keep_going:
        verdict, colour = "KEEP GOING", "yellow"
    elif outcome.granted:
        verdict = "GRANTED"
    return f"{paint(verdict, colour, 'bold')}  {outcome.event}{_subject(outcome)}"


def subject_of(outcome: Outcome) -> str:
    """Return what a matcher is compared with at that event, as hooks have left it; nothing where there is none."""
    name = row_of(outcome).subject
    subject = outcome.input.get(name) if name else None
    return subject if isinstance(subject, str) else ""


def _subject(outcome: Outcome) -> str:
    subject = subject_of(outcome)
    return f" {paint(clean(subject), 'cyan')}" if subject else ""


def labelled_lines(label: str, text: str) -> Iterator[str]:
    """Return text behind its label as lines, without control characters, and cut if it is long."""
    shown = clean(text)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]} … ({len(shown) - _LONGEST} more characters; --json has all)"
    first, *more = shown.splitlines() or [""]
    yield f"  {paint(label, 'dim')}{first}"
    for line in more:
        yield f"  {' ' * len(label)}{line}"


def change_lines(name: str, old: Any, new: Any) -> Iterator[str]:
    """Return a changed field as lines; of an object only the keys that differ."""
    yield f"  {paint(name, 'bold')} was changed:"
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield from _pair("", old, new)
        return
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) != new.get(key) or (key in old) != (key in new):
            yield from _pair(
                f"{clean(str(key))}: ", old.get(key), new.get(key), gone=key not in new, new_key=key not in old
            )


def _pair(label: str, old: Any, new: Any, *, gone: bool = False, new_key: bool = False) -> Iterator[str]:
    if not new_key and old is not None:
        yield paint(f"    - {label}{_short(old)}", "red")
    if not gone:
        yield paint(f"    + {label}{_short(new)}", "green")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return clean(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")


def _hooks(outcome: Outcome) -> Iterator[str]:
    results = outcome.results
    if not results:
        yield paint("  no hook ran", "dim")
        return
    quiet = [result for result in results if len(results) > _MANY and _is_quiet(result)]
    shown = [result for result in results if result not in quiet]
    width = min(40, max((len(_name(result)) for result in shown), default=0))
    for result in shown:
        colour = STATUS_COLOURS[result.status]
        said: str = result.decision if result.decision != "none" else "-"
        if not result.enforced and said != "-":
            said = f"({said})"
        line = f"  {_name(result):<{width}}  {paint(f'{result.status:<7}', colour)}  {said:<6}  {_time(result)}"
        yield f"{line}  {_explain(result)}".rstrip()
        yield from _traces(result, outcome)
    for status, what in (("ok", "no objection"), ("skipped", "not reached")):
        if said_nothing := [result for result in quiet if result.status == status]:
            took = f" in {sum(result.duration for result in quiet) * 1000:.1f} ms" if status == "ok" else ""
            yield paint(f"  {len(said_nothing)} more: {what}{took}", "dim")


def _is_quiet(result: Result) -> bool:
    """Return whether a hook had nothing to say, or was not reached."""
    if result.status == "skipped":
        return not result.evidence
    return result.status == "ok" and result.reply is None and not result.evidence


def _traces(result: Result, outcome: Outcome) -> Iterator[str]:
    """Return where a function raised, and what a command wrote, unless it is shown already."""
    if place := _place(result):
        yield from labelled_lines("  at: ", short_path(place))
    if printed := str(result.evidence.get("stdout", "")).strip():
        yield from labelled_lines("  stdout: ", "\n".join(printed.splitlines()[:_MOST_LINES]))
    if written := unexpected_stderr(result, outcome):
        yield from labelled_lines("  stderr: ", "\n".join(written.splitlines()[-_MOST_LINES:]))


def unexpected_stderr(result: Result, outcome: Outcome) -> str:
    """Return what a command wrote to standard error, unless it is the error, the reason or the context already."""
    written = str(result.evidence.get("stderr", "")).rstrip()
    shown = (str(result.error or ""), result.reason, *outcome.context, *outcome.messages)
    return "" if any(written.strip() in text for text in shown) else written


def _place(result: Result) -> str:
    """Return the line of the hook's own code in which it raised."""
    trace = result.error.trace if result.error is not None else ""
    found = [(path, line) for path, line in _TRACE_LINE.findall(trace) if not path.startswith(_PACKAGE)]
    return ":".join(found[-1]) if found else ""


def _name(result: Result) -> str:
    again = " (again)" if result.round > 1 else ""
    return clean(result.hook)[:40] + again


def _time(result: Result) -> str:
    return " " * 10 if result.status == "skipped" else f"{result.duration * 1000:7.1f} ms"


def _explain(result: Result) -> str:
    """Return the error, the reason, or why the hook did not run."""
    if result.error is not None:
        return paint(f"{result.error.code}: {_first_line(str(result.error))}", "red")
    if result.reason:
        return _first_line(result.reason)
    if "if" in result.evidence:
        return f"if {result.evidence['if']} does not hold"
    if "once" in result.evidence:
        return "once: it has run"
    if result.evidence.get("background"):
        return "runs in the background"
    return "not reached" if result.status == "skipped" else ""


def _first_line(text: str) -> str:
    return (clean(text).splitlines() or [""])[0][:200]
