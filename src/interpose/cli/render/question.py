"""A call that a person is asked about: the whole of it, with every character that a terminal would hide."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ...redaction.redactor import is_redacted
from ...replies import clean
from ...runtime.regex import regex
from ...session import Question
from . import flat

__all__ = ["question_lines"]

_LONG = 1_000
"""The length of a question above which its beginning may have scrolled off the screen."""

# Characters that show nothing although Python counts them as printable: variation selectors, Hangul fillers and the
# Braille blank.
_INVISIBLE = regex("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_BLANKS = regex(" {20,}")
_WORD = regex(r"[^\W\d_]+")


def question_lines(question: Question) -> Iterator[str]:
    """Return the call on one line, the reason for the question, and warnings about hidden parts of the call."""
    call = _INVISIBLE.sub(_escaped, clean(question.call)).replace("\n", "\\n")
    yield _BLANKS.sub(lambda found: f" [{len(found[0])} blanks] ", call)
    if question.reason:
        yield f"because: {flat(question.reason)}"
    if is_redacted(call):
        yield "careful: a part of it is redacted as a secret: what runs has a text there that is not shown"
    if strange := next((word for word in _WORD.findall(call) if _is_mixed(word)), ""):
        yield f"careful: a word in it mixes letters that look alike: {strange} is {strange!a}"
    if len(call) > _LONG:
        yield f"careful: it is long, {len(call):,} characters, and its beginning may have scrolled away"


def _escaped(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _is_mixed(word: str) -> bool:
    """Return whether a word mixes Latin letters with similar ones of another script, or has only disguised letters."""
    others = [letter for letter in word if not letter.isascii()]
    if not others or len(others) == len(word):
        return any(unicodedata.normalize("NFKC", letter).isascii() for letter in others)
    return any(not unicodedata.name(letter, "").startswith("LATIN ") for letter in others)
