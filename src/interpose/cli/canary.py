"""A harmless event for any hook, and what one hook makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from ..events import Row
from ..hooks import Hooks
from ..matching.names import is_glob
from ..model import Health, Hook, Outcome, Result
from ..records import replace
from ..replay.environment import variable_set, with_variable
from ..routes import deadline
from .outputs import collected

__all__ = ["LONGEST", "SLOW", "Run", "canary", "run_once"]

LONGEST = 5.0
"""Seconds that a hook gets here at most."""

SLOW = 0.1
"""Seconds above which an agent feels a hook."""

MARK = "INTERPOSE_DOCTOR"
"""Set to 1 in the environment, so that a hook with side effects can leave them out."""

_TOOL_INPUTS: dict[str, dict[str, Any]] = {
    "command": {"command": "true", "description": "do nothing"},
    "file": {"file_path": "example.txt", "path": "example.txt", "content": "", "old_string": "a", "new_string": "a"},
    "web": {"url": "https://example.invalid/", "prompt": "", "query": ""},
}
_TOOLS = {
    "command": ("Bash", "BashOutput", "shell", "Shell", "sh"),
    "file": ("Write", "Edit", "MultiEdit", "Read", "NotebookEdit", "Glob", "Grep"),
    "web": ("WebFetch", "WebSearch"),
}
_SAMPLES: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_response": "",
    "prompt": "Good morning.",
    "output": "Good morning.",
    "model": "example",
    "message": "Nothing has happened.",
    "path": "example.txt",
    "file_path": "example.txt",
    "content": "",
    "config": {},
    "source": "startup",
    "reason": "other",
    "trigger": "manual",
    "error": "an example",
    # An agent that was kept going once may stop: the answer that lets a canary end.
    "stop_hook_active": True,
}


def canary(hook: Hook) -> dict[str, Any]:
    """Return the fields of an event that a hook of this row might see, and that stands for nothing real."""
    row = hook.row
    fields = {name: _sample(row, name) for name, field in row.fields.items() if field.always and name in _SAMPLES}
    if row.subject:
        fields[row.subject] = _subject(hook, fields.get(row.subject, "example"))
    if "tool_input" in row.fields:
        fields["tool_input"] = _tool_input(str(fields.get("tool_name", "")))
    return {**fields, "session_id": "interpose-doctor"}


def _sample(row: Row, name: str) -> Any:
    value = _SAMPLES[name]
    return value if row.fields[name].fits(value) else row.defaults()[name]


def _subject(hook: Hook, usual: str) -> str:
    """Return a subject that the hook's matcher takes, if one can be told from its text."""
    plain = [part.strip() for part in hook.matcher.split("|") if not is_glob(part) and part.isidentifier()]
    for candidate in (*plain, usual):
        if candidate and (hook.matches is None or hook.matches(candidate)):
            return candidate
    return usual


def _tool_input(tool: str) -> dict[str, Any]:
    kind = next((kind for kind, tools in _TOOLS.items() if tool in tools), None)
    if kind is not None:
        return dict(_TOOL_INPUTS[kind])
    return {name: value for sample in _TOOL_INPUTS.values() for name, value in sample.items()}


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a hook and its canary."""

    result: Result
    outcome: Outcome
    seconds: float
    """How long it took; of a slow one, the median of three."""
    printed: str
    """What a Python hook wrote on the host's own standard output."""


def run_once(hooks: Hooks, hook: Hook) -> Run:
    """Run one hook of an engine with a canary; a slow one three times."""
    engine = _engine_of(hooks, hook)
    fields = canary(hook)
    with variable_set(MARK), collected() as printed:
        outcome = engine.fire_sync(hook.event, **fields)
        result = outcome.results[0]
        times = [result.duration]
        if result.status == "ok" and result.duration > SLOW:
            # Once is not enough to call it slow: the first call may import, or wake up a disk.
            times += [engine.fire_sync(hook.event, **fields).results[0].duration for _ in range(2)]
    return Run(result, outcome, median(times), "".join(printed))


def _engine_of(hooks: Hooks, hook: Hook) -> Hooks:
    """Return an engine with this hook alone, which runs whatever its matcher, its condition and its switch say."""
    engine = Hooks(error_behavior=hooks.settings.error_behavior, events=hooks.events)
    engine.engine.handlers = hooks.engine.handlers
    alone = replace(
        with_variable(hook, MARK), timeout=min(deadline(hook, hooks.settings), LONGEST), matches=None, judge=None,
        enabled=True, enforce=True, once=False, background=False, parallel=False, scope=None, health=Health(),
    )  # fmt: skip
    engine.engine.registry.add([alone])
    return engine
