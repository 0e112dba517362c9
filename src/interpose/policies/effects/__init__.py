"""What command lines and tools do, read with small tables per program: which files they delete, what they push."""

from .effect import KINDS, Effect, phrase_of, say, shown
from .lines import effects_of_line
from .tools import effects_of_input

__all__ = ["KINDS", "Effect", "effects_of_input", "effects_of_line", "phrase_of", "say", "shown"]
