"""The host's side: the order of the lifecycle events, tool permission, and context for the next model call.

A host calls one method before each action. The session fires the events that belong to the action, in their order, and
returns what the host must do.
"""

from .answers import Answer, Question
from .approval import Approval, later
from .calls import BegunTool
from .messages import BegunMessage
from .options import SessionOptions
from .session import Session
from .subagents import BegunAgent
from .sync_session import BlockingAgent, BlockingMessage, BlockingTool, SyncSession

__all__ = ["Answer", "Approval", "BegunAgent", "BegunMessage", "BegunTool", "BlockingAgent", "BlockingMessage",
           "BlockingTool", "Question", "Session", "SessionOptions", "SyncSession", "later"]  # fmt: skip
