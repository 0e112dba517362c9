"""The values that the variables of a command may have: each makes a variant of the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .context import Context
from .flow import State, choices_of, fill, split_words
from .words import MarkedWord, RawCommand, is_known

__all__ = ["positional_values", "variants"]

_MOST_POSITIONAL = 50


def variants(raw: RawCommand, context: Context, state: State) -> Iterator[tuple[RawCommand, Context]]:
    """Yield a command with the values that its variables may have; with one that is not known, as it is written."""
    texts = [*raw.words, *(part for one in raw.redirections for part in (one.target, one.text))]
    if not any(isinstance(one, MarkedWord) for one in texts):
        yield raw, context
        return
    choices = choices_of(texts, state)
    unknown = {name for name in choices[0] if choices[0][name] is None}
    for chosen in choices:
        words = [fill(word, chosen, context.parsed) for word in raw.words]
        redirections = [
            one._replace(target=fill(one.target, chosen, context.parsed), text=fill(one.text, chosen, context.parsed))
            for one in raw.redirections
        ]
        variant = raw.filled(words, redirections)
        within = context._replace(raw=variant)
        if any(chosen[name] is not None for name in unknown):
            within = within._replace(grade="possible", why="a variable may hold it")
        yield variant, within
        several = split_words(words, chosen)
        if several:
            variant = raw.filled(several, redirections)
            yield variant, context._replace(raw=variant, grade="possible", why="a variable may hold it")


def positional_values(words: Sequence[str]) -> Mapping[str, tuple[str | None, ...]]:
    """Return the values of ``$0``, ``$1`` … as variables; none if one of them is not known."""
    if len(words) > _MOST_POSITIONAL or not all(map(is_known, words)):
        return {}
    return {str(at): (word,) for at, word in enumerate(words)}
