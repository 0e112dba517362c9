"""What command lines and tools do, read with small tables per program: which files they delete, what they push."""

from .database_tools import effects_of_query
from .effect import KINDS, Effect, say, shown
from .lines import effects_of_line, unread
from .tools import effects_of_input

__all__ = ["KINDS", "Effect", "effects_of_input", "effects_of_line", "effects_of_query", "say", "shown", "unread"]
