"""An outcome as text for a person who wants to know why: what was decided, and what every hook did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..model import Outcome, Result

__all__ = ["hook_lines", "report", "shown"]

_LONGEST = 500
_OWN = ("session_id", "transcript_path", "cwd", "hook_event_name", "tool_use_id")
"""Fields that the engine fills in, which nobody needs to see who did not give them."""


def report(outcome: Outcome) -> str:
    """Return what came of a firing: the event, the decision, what was said, and every hook's fate."""
    fields = {name: value for name, value in outcome.input.items() if name not in _OWN and value not in ("", None)}
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
    rows = [(_name(result), result.status, result.decision, _why(result)) for result in results]
    if not rows:
        return ["no hook was asked (is there one for this event, does its matcher match, is it switched on?)"]
    width = max(len(row[0]) for row in rows)
    return [f"{name:<{width}}  {status:<7}  {decision:<5}  {why}".rstrip() for name, status, decision, why in rows]


def _name(result: Result) -> str:
    return f"{result.hook} (again)" if result.round == 2 else result.hook


def _why(result: Result) -> str:
    if result.error is not None:
        return f"{result.error.code}: {result.error}"
    if result.status == "skipped" and result.evidence:
        return ", ".join(f"{name}: {value}" for name, value in result.evidence.items())
    changes: Mapping[str, Any] = getattr(result.reply, "changes", None) or {}
    said = [result.reason] if result.reason else []
    said += [f"{name} := {shown(value)}" for name, value in changes.items()]
    return "; ".join(said)


def shown(value: object) -> str:
    """Return a value on one line, cut where nobody reads on."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
