"""What command lines and tools do, read with small tables per program: which files they delete, what they push."""

from .database_tools import effects_of_query
from .effect import KINDS, Effect, phrase_of, say, shown
from .lines import effects_of_line, unread
from .tools import Edit, edits_of_input, effects_of_input, is_patch_tool

__all__ = [
    "KINDS",
    "Edit",
    "Effect",
    "edits_of_input",
    "effects_of_input",
    "effects_of_line",
    "effects_of_query",
    "is_patch_tool",
    "phrase_of",
    "say",
    "shown",
    "unread",
]
