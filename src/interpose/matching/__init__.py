"""Decide which hooks an event is for: matchers on names, and ``if`` rules on the input of a tool."""

from .conditions import AnyCondition, Condition, compile_condition
from .names import compile_claude_matcher, compile_matcher

__all__ = ["AnyCondition", "Condition", "compile_claude_matcher", "compile_condition", "compile_matcher"]
