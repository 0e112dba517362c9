"""The host's side: the order of the lifecycle events, tool permission, and context for the next model call.

A host calls one method before each action. The session fires the events that belong to the action, in their order, and
returns what the host must do.
"""

from .answers import Answer, Question
from .options import SessionOptions
from .session import Session
from .sync_session import SyncSession

__all__ = ["Answer", "Question", "Session", "SessionOptions", "SyncSession"]
