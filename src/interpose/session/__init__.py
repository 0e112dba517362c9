"""The host's side: which event comes when, who is asked, and what is carried to the next model call.

A host calls one method where something is about to happen; the session fires the events that belong there, in their
order, and says what the host must do.
"""

from .answers import Answer, Question
from .blocking import SyncSession
from .session import Session

__all__ = ["Answer", "Question", "Session", "SyncSession"]
