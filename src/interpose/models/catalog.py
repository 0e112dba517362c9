"""The default models, and the context sizes of known models.

Both go out of date. A model that is not listed gets a usual size: if its context is larger, the conversation is
compacted too early; if it is smaller, the API reports that and the agent compacts.
"""

from __future__ import annotations

__all__ = ["ANTHROPIC_MODEL", "MAX_TOKENS", "OPENAI_MODEL", "window_of"]

ANTHROPIC_MODEL = "claude-sonnet-5-5"
OPENAI_MODEL = "gpt-6-sol"  # newer ones take tools through OpenAI's other API only, which no other server has
"""The models that are used if only the API is named."""

MAX_TOKENS = 32_000
"""The maximum tokens of one answer, thinking included, for an API that requires a limit."""

# The prefix of a name and the context size in tokens; the first match counts.
_WINDOWS = (
    ("claude-fable-5", 1_000_000),
    ("claude-haiku-5", 1_000_000),
    ("claude-mythos-5", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-", 200_000),
    ("gpt-6", 922_000),  # of 1,050,000; the rest is kept for the answer
    ("gpt-5", 272_000),  # of 400,000, as above
    ("gpt-4.1", 1_000_000),
    ("", 128_000),
)


def window_of(name: str) -> int:
    """Return the context size of a model in tokens."""
    return next(size for beginning, size in _WINDOWS if name.startswith(beginning))
