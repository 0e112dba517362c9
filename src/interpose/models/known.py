"""What we know of models before we ask them: which to take by default, and how much each can hold.

Both go out of date. A model that is not listed gets the size that all models of its maker have had for long: one that
holds more is then compacted too early, and one that holds less says so, which the agent understands.
"""

from __future__ import annotations

__all__ = ["ANTHROPIC_MODEL", "MOST_TOKENS", "OPENAI_MODEL", "window_of"]

ANTHROPIC_MODEL = "claude-sonnet-5-5"
OPENAI_MODEL = "gpt-6-sol"  # newer ones take tools through OpenAI's other protocol only, which no other server speaks
"""The models that are asked when only their maker is named."""

MOST_TOKENS = 32_000
"""How long one answer may be where the API wants to be told, thoughts included. All listed models can do that."""

# The beginning of a name and the tokens that fit; the first that fits counts.
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
    """Return how many tokens the model of this name can be sent."""
    return next(size for beginning, size in _WINDOWS if name.startswith(beginning))
