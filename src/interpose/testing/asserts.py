"""Asserts on an outcome, whose messages show what every hook did.

The failure of a guard is a deny, and a test that expects a deny would pass although the guard does not work. So every
assert fails if a hook failed, unless ``despite_failures=True``.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from ..model import Outcome, row_of
from .reports import report, shown

__all__ = [
    "assert_allowed",
    "assert_asked",
    "assert_changed",
    "assert_context",
    "assert_denied",
    "assert_keeps_going",
    "assert_no_opinion",
    "says",
]

# pytest leaves frames with this variable out of its tracebacks.
__tracebackhide__ = True


def assert_denied(outcome: Outcome, reason: str | None = None, *, despite_failures: bool = False) -> None:
    """Assert that the action must not run; ``reason`` is a part of the reason, or ``re:…``."""
    __tracebackhide__ = True
    _decided(outcome, "deny", reason, despite_failures)


def assert_asked(outcome: Outcome, reason: str | None = None, *, despite_failures: bool = False) -> None:
    """Assert that a person must be asked; ``reason`` is a part of the reason, or ``re:…``."""
    __tracebackhide__ = True
    _decided(outcome, "ask", reason, despite_failures)


def assert_allowed(outcome: Outcome, *, granted: bool | None = None, despite_failures: bool = False) -> None:
    """Assert that the action may run now; with ``granted``, that a hook did (or did not) allow it explicitly."""
    __tracebackhide__ = True
    if not outcome.allowed:
        _fail(f"expected that the action may run, got {_decision(outcome)}", outcome)
    if granted is not None and outcome.granted is not granted:
        _fail("expected that a hook grants it" if granted else "expected that no hook grants it", outcome)
    _without_failures(outcome, despite_failures)


def assert_no_opinion(outcome: Outcome, *, despite_failures: bool = False) -> None:
    """Assert that no hook made a decision."""
    __tracebackhide__ = True
    _decided(outcome, "none", None, despite_failures)


def assert_keeps_going(outcome: Outcome, reason: str | None = None, *, despite_failures: bool = False) -> None:
    """Assert that the agent must continue; ``reason`` is a part of what it is told, or ``re:…``."""
    __tracebackhide__ = True
    if not outcome.keep_going:
        _fail("expected that the agent keeps going, got that it may stop", outcome)
    _check_reason(outcome, reason)
    _without_failures(outcome, despite_failures)


def assert_changed(outcome: Outcome, *, despite_failures: bool = False, **fields: Any) -> None:
    """Assert that hooks changed these fields to exactly these values; without fields, that they changed one."""
    __tracebackhide__ = True
    changed = {
        name: outcome.input.get(name)
        for result in outcome.results
        if result.enforced
        for name in getattr(result.reply, "changes", None) or {}
        if name in row_of(outcome).modifies
    }
    if not changed and not fields:
        _fail("expected that a hook changes a field, got no change", outcome)
    words = row_of(outcome).words
    for word, value in fields.items():
        name = words.get(word, word)
        if name not in changed:
            _fail(f"expected a change of {name}, got none", outcome)
        if changed[name] != value:
            _fail(f"{name} is not what was expected\n    expected {shown(value)}\n    got      {shown(changed[name])}",
                  outcome)  # fmt: skip
    _without_failures(outcome, despite_failures)


def assert_context(outcome: Outcome, *texts: str, despite_failures: bool = False) -> None:
    """Assert that each text (or ``re:…``) is in the context for the model; without texts, that there is one."""
    __tracebackhide__ = True
    if not texts and not outcome.context:
        _fail("expected a context for the model, got none", outcome)
    for text in texts:
        if not any(says(text, said) for said in outcome.context):
            _fail(f"expected {shown(text)} in a context for the model, got {shown(outcome.context)}", outcome)
    _without_failures(outcome, despite_failures)


def says(wanted: str, text: str) -> bool:
    """Say whether a text contains ``wanted`` or matches ``re:…``; an empty ``wanted`` matches an empty text."""
    if wanted.startswith("re:"):
        return re.search(wanted[3:], text) is not None
    return wanted in text if wanted else not text


def _decided(outcome: Outcome, decision: str, reason: str | None, despite_failures: bool) -> None:
    __tracebackhide__ = True
    if outcome.decision != decision:
        _fail(f"expected {decision}, got {_decision(outcome)}", outcome)
    _check_reason(outcome, reason)
    _without_failures(outcome, despite_failures)


def _check_reason(outcome: Outcome, reason: str | None) -> None:
    __tracebackhide__ = True
    if reason is not None and not says(reason, outcome.reason):
        _fail(f"the reason is not what was expected\n    expected {shown(reason)}\n    got      "
              f"{shown(outcome.reason)}", outcome)  # fmt: skip


def _without_failures(outcome: Outcome, despite_failures: bool) -> None:
    __tracebackhide__ = True
    broken = [result.hook for result in outcome.results if result.status in ("failed", "timeout")]
    if broken and not despite_failures:
        _fail(f"{', '.join(dict.fromkeys(broken))} failed, and has not answered (despite_failures=True if that is "
              "what you test)", outcome)  # fmt: skip


def _decision(outcome: Outcome) -> str:
    return f"{outcome.decision} ({outcome.reason})" if outcome.reason else outcome.decision


def _fail(what: str, outcome: Outcome) -> NoReturn:
    __tracebackhide__ = True
    raise AssertionError(f"{what}\n{report(outcome)}")
