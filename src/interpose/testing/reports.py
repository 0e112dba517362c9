"""An outcome as text: the decision, and what every hook did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..model import Outcome, Result

__all__ = ["hook_lines", "report", "shown"]

_MAX_LENGTH = 500
_FILLED_IN = ("session_id", "transcript_path", "cwd", "hook_event_name", "tool_use_id")
"""Fields that the engine fills in, which are not shown."""


def report(outcome: Outcome) -> str:
    """Return an outcome as text: the event, the decision, context and messages, and the result of every hook."""
    fields = {
        name: value for name, value in outcome.input.items() if name not in _FILLED_IN and value not in ("", None)
    }
    lines = [("event", f"{outcome.event}: {', '.join(f'{name}={shown(value)}' for name, value in fields.items())}")]
    said = f"{outcome.decision}: {outcome.reason}" if outcome.reason else outcome.decision
    lines.append(("decision", said))
    if outcome.keep_going:
        lines.append(("", "keeps going"))
    if outcome.shadow is not None:
        lines.append(("shadow", f"{outcome.shadow.decision} (enforce: false, so it has no effect)"))
    lines += [("context", shown(text)) for text in outcome.context]
    lines += [("message", shown(text)) for text in outcome.messages]
    lines += [("inject", shown(item.content)) for item in outcome.inject]
    if "off" in outcome.extra:
        lines.append(("off", f"INTERPOSE_OFF={outcome.extra['off']}: nothing is enforced"))
    lines += [("hooks" if at == 0 else "", line) for at, line in enumerate(hook_lines(outcome.results))]
    lines += [("no effect", f"{item.hook}: {item.wish}") for item in outcome.ignored]
    return "\n".join(f"  {label:<10}{text}".rstrip() for label, text in lines)


def hook_lines(results: Iterable[Result]) -> list[str]:
    """Return a line for every hook: its name, how it ended, what it decided, and why."""
    ran = list(results)
    if not ran:
        return ["no hook ran (is there one for this event, does its matcher match, is it enabled?)"]
    width = max(len(_name(result)) for result in ran)
    lines = []
    for result in ran:
        lines.append(f"{_name(result):<{width}}  {result.status:<7}  {result.decision:<5}  {_why(result)}".rstrip())
        if (written := str(result.evidence.get("stderr", "")).strip()) and written not in _why(result):
            lines.append(f"  stderr: {shown(written)}")
    return lines


def _name(result: Result) -> str:
    return f"{result.hook} (again)" if result.round == 2 else result.hook


def _why(result: Result) -> str:
    if result.error is not None:
        return f"{result.error.code}: {result.error}"
    if "not_asked" in result.evidence:
        return f"not asked: {result.evidence['not_asked']}"
    if result.status == "skipped" and result.evidence:
        return ", ".join(f"{name}: {value}" for name, value in result.evidence.items())
    changes: Mapping[str, Any] = getattr(result.reply, "changes", None) or {}
    said = [result.reason] if result.reason else []
    said += [f"{name} := {shown(value)}" for name, value in changes.items()]
    return "; ".join(said)


def shown(value: object) -> str:
    """Return a value on one line, cut after 500 characters."""
    text = repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}… ({len(text)} characters)"
