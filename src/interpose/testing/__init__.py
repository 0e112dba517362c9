"""For tests of hooks: fire one hook on an event, and assert on the outcome.

    from interpose.testing import assert_denied, fire

    def test_rm_is_denied():
        outcome = fire(no_rm, "PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"})
        assert_denied(outcome, reason="Destructive")

If a hook fails, the asserts fail too, even if the failure is a deny, unless they are told to expect it. Cases in files
(``load_cases``, ``run_case``) are what ``interpose test`` and the pytest plugin run.
"""

import typing as _typing

from .asserts import (
    assert_allowed,
    assert_asked,
    assert_changed,
    assert_context,
    assert_denied,
    assert_keeps_going,
    assert_no_opinion,
)
from .cases import Case, load_cases
from .comparison import CaseResult, Difference, run_case
from .firing import OutcomeCapture, event, fire
from .reports import report

__all__ = [
    "Case",
    "CaseResult",
    "Difference",
    "OutcomeCapture",
    "assert_allowed",
    "assert_asked",
    "assert_changed",
    "assert_context",
    "assert_denied",
    "assert_keeps_going",
    "assert_no_opinion",
    "event",
    "fire",
    "load_cases",
    "report",
    "run_case",
]


def __getattr__(name: str) -> _typing.Any:
    """Return names that have changed, with a warning."""
    if name == "Recorder":
        import warnings

        what = "interpose.testing.Recorder is called interpose.testing.OutcomeCapture now"
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        return OutcomeCapture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
