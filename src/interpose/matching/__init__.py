"""Decide which hooks an event is for: matchers on names, and ``if`` rules on the input of a tool."""

from .conditions import AnyCondition, Condition, compile_condition, compile_rule
from .names import RENAMED_TOOLS, check_matcher, compile_claude_matcher, compile_matcher, doubt_matcher

__all__ = [
    "RENAMED_TOOLS",
    "AnyCondition",
    "Condition",
    "check_matcher",
    "compile_claude_matcher",
    "compile_condition",
    "compile_matcher",
    "compile_rule",
    "doubt_matcher",
]
