"""The record of a permission: what was decided about a tool call, and by which person, rule, mode or hook.

Sessions make it, and the audit store and traces keep it.
"""

from __future__ import annotations

from typing import Literal

from ..records import Record

__all__ = ["Permission"]


class Permission(Record):
    """What was decided about a tool call that was not simply allowed, and by whom or what.

    ``tool_use_id`` is also in the events that were fired for the call.
    """

    verdict: Literal["allowed", "denied", "asked"]
    """``asked`` means that the question has no answer yet."""
    by: Literal["person", "rule", "mode", "hook", "default", "nobody"]
    """``nobody``: the question could not be put to a person."""
    rule: str = ""
    """The text of the rule, and in ``place`` where it is written."""
    place: str = ""
    hook: str = ""
    mode: str = ""
    reason: str = ""
    asked_at: float | None = None
    """Seconds since 1970, by the wall clock; None if there was no question."""
    answered_at: float | None = None
    remembered: str = ""
    """For how long the answer holds, such as ``session``; empty for this call alone."""
    person: str = ""
    """Who answered, if the question waited in the record; and in ``question`` the id of that question."""
    question: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    session_id: str = ""
    agent_id: str = ""
