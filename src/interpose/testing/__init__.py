"""What authors of hooks use in their own tests: fire one hook on an event, and say what should have come of it.

    from interpose.testing import assert_denied, fire

    def test_rm_is_denied():
        outcome = fire(no_rm, "PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"})
        assert_denied(outcome, reason="Destructive")

A deny that comes from a hook's failure is no answer to a test's question: the asserts fail on it unless they are told
to expect it. Cases in files (``load_cases``, ``run_case``) are what ``interpose test`` and the pytest plugin run.
"""

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
from .firing import Recorder, event, fire
from .judging import CaseResult, Difference, run_case
from .reports import report

__all__ = [
    "Case",
    "CaseResult",
    "Difference",
    "Recorder",
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
