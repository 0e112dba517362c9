"""Questions that wait in the record: the approver that asks them, and how they are answered."""

from .answering import answer_question
from .approver import DEFAULT_WAIT, Questions, WaitingCall

__all__ = ["DEFAULT_WAIT", "Questions", "WaitingCall", "answer_question"]
