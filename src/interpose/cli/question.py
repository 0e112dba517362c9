"""A question about a call, as a person gets to see it: all of what will run, and nothing that only looks like it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..replies import clean
from ..session import Question
from .words import flat

__all__ = ["lines_of"]

_LONG = 1_000
"""Characters from which on the beginning of a question may have left the screen before its end is read."""

# Letters and marks that leave nothing to be seen, though Python counts them as printable: what chooses among the shapes
# of the letter before it, fillers of Hangul, and the blank of Braille.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BLANKS = re.compile(" {20,}")
_WORD = re.compile(r"[^\W\d_]+")


def lines_of(question: Question) -> Iterator[str]:
    """Return the call on one line, then why it is asked about, and what is easily overlooked in it."""
    call = _UNSEEN.sub(_escaped, clean(question.call)).replace("\n", "\\n")
    yield _BLANKS.sub(lambda found: f" [{len(found[0])} blanks] ", call)
    if question.reason:
        yield f"because: {flat(question.reason)}"
    if strange := next((word for word in _WORD.findall(call) if _is_mixed(word)), ""):
        yield f"careful: a word in it mixes letters that look alike: {strange} is {strange!a}"
    if len(call) > _LONG:
        yield f"careful: it is long, {len(call):,} characters, and its beginning may have left the screen"


def _escaped(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _is_mixed(word: str) -> bool:
    """Say whether a word has letters of our alphabet, and others that are of another one or only dressed up as ours."""
    others = [letter for letter in word if not letter.isascii()]
    if not others or len(others) == len(word):
        return any(unicodedata.normalize("NFKC", letter).isascii() for letter in others)
    return any(not unicodedata.name(letter, "").startswith("LATIN ") for letter in others)
