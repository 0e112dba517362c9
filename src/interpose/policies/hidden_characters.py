"""Remove characters that a person does not see from text, and sequences that a terminal obeys."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from ..runtime.regex import regex

__all__ = ["strip_characters", "strip_escapes"]

_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_NEVER = (
    "\u2060-\u2064\u206a-\u206f\u180e\ufff9-\ufffb\u115f\u1160\u3164\uffa0\u17b4\u17b5\u034f\U0001d173-\U0001d17a\ufeff"
)
_BIDI = "\u202a-\u202e\u2066-\u2069"
_MARKS = "\u200e\u200f\u061c"
_HIDDEN = f"{_TAGS}{_NEVER}{_BIDI}{_MARKS}{_SELECTORS}\u200b-\u200d"
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
# Scripts that join letters, and those that break lines between letters without blanks.
_JOINED = "\u0600-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1700-\u18af\u1a00-\u1cff\ua800-\uabff\ufb50-\ufefc"
_UNSPACED = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1950-\u19df\u3040-\u30ff\u3400-\u9fff"
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff\ufe0f\u20e3\U000e0020-\U000e007f"
# What has variants: symbols and emoji, ideographs, Myanmar, Mongolian and Phags-pa letters; and keys with a cap.
_VARIED = "\u00a9\u00ae\u1000-\u109f\u1800-\u18af\u2000-\uffff\U00010000-\U0003ffff"
_KEYCAPS = frozenset("#*0123456789")
_IN_FLAGS = "\U000e0030-\U000e0039\U000e0061-\U000e007a"

_NAMES = {"tag character": _TAGS, "variation selector": _SELECTORS, "bidirectional control": _BIDI + _MARKS}
_MOST_TOGETHER = 4
_LONGEST = 16
"""Of a longer run of hidden characters nothing stays."""


@cache  # when a text first needs it: classes of so many characters take long to compile
def _shape(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is(characters: str, one: str) -> bool:
    return _shape(f"[{characters}]").match(one) is not None


def strip_characters(text: str, removed: Counter[str], *, code: bool = False) -> str:
    """Return the text without invisible characters, except where a script or an emoji needs them.

    With ``code`` bidirectional controls count in right-to-left text too. What is removed is counted by what it is.
    """
    if text.isascii():
        return text

    def judge(found: re.Match[str]) -> str:
        run, begin, end = found[0], found.start(), found.end()
        kept = _kept(text, run, begin, end, code)
        if not kept and len(run) == 1:
            removed[_name(run)] += 1
            return ""
        gone = Counter(run)
        gone.subtract(kept)
        for character, number in (+gone).items():
            removed[_name(character)] += number
        return kept

    return _shape(f"[{_HIDDEN}]+").sub(judge, text)


@cache
def _name(character: str) -> str:
    return next((name for name, characters in _NAMES.items() if _is(characters, character)), "invisible character")


def _kept(text: str, run: str, begin: int, end: int, code: bool) -> str:
    """Return what stays of a run of invisible characters."""
    before, after = text[begin - 1 : begin], text[end : end + 1]
    if before == "\U0001f3f4" and _shape(f"[{_IN_FLAGS}]{{3,6}}\U000e007f").fullmatch(run):
        return run
    kept = ""
    for at, one in enumerate(run if len(run) <= _LONGEST else ""):
        last = kept[-1:] or before
        if _is(_SELECTORS, one):
            stays = _has_variants(last)
        elif one == "\ufeff":
            stays = begin + at == 0
        else:
            stays = _belongs(text, one, begin, last, after, code)
        if stays and len(kept) < _MOST_TOGETHER:
            kept += one
    return kept


def _has_variants(character: str) -> bool:
    if character.isascii():
        return character in _KEYCAPS
    return _is(_VARIED, character) and not _is(_HIDDEN, character)


def _belongs(text: str, one: str, at: int, before: str, after: str, code: bool) -> bool:
    """Return whether a script or an emoji needs a character."""
    if one == "\u200d":
        is_emoji = _is(_EMOJI, before) and _is(_EMOJI, after)
        return bool(is_emoji or (before and _is(_JOINED, before)))
    if one == "\u200c":
        return bool(before and _is(_JOINED, before) and (not after or _is(_JOINED, after) or not after.isalpha()))
    if one == "\u200b":
        return bool(before and after and _is(_UNSPACED, before) and _is(_UNSPACED, after))
    if one in "\u202d\u202e" or (code and one not in _MARKS):
        return False
    if one in _MARKS or "\u202a" <= one <= "\u202c" or "\u2066" <= one <= "\u2069":
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        begin, end = max(begin, at - 500), min(end if end >= 0 else len(text), at + 500)
        return _shape(f"[{_RIGHT_TO_LEFT}]").search(text, begin, end) is not None
    return False


# Escapes.

_ESCAPE = regex(
    "(?:\x1b\\[|\x9b)([0-?]{0,64})[ -/]{0,8}([@-~])"
    "|\x1b[\\]PX^_]([^\x07\x1b\x9c\n]{0,65536})(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]{0,4}[0-~]|\x1b|\x9b"
)
_SILENT = frozenset("mKABCDEFGlhnsu")
_QUIET_SYSTEM = regex(r"(?:0|1|2|7|8|133|633|697|9;4|3008)(?:;|$)")
_OVERSTRIKE = regex("(.)\x08(?=.)|\x08")


class _Colours:
    """Follows the colours of a terminal: whether text is shown in the colour of its background, or concealed."""

    def __init__(self) -> None:
        self.front = self.back = -1
        self.concealed = False

    def set(self, parameters: str) -> None:
        for one in parameters.split(";") if parameters else ["0"]:
            number = int(one) if one.isdigit() and len(one) < 4 else 0 if one == "" else -1
            if number == 0:
                self.front, self.back, self.concealed = -1, -1, False
            elif number in (38, 48):
                return  # a colour of many follows
            elif number in (8, 28):
                self.concealed = number == 8
            elif 30 <= number <= 39 or 90 <= number <= 97:
                self.front = number % 10 if number != 39 else -1
            elif 40 <= number <= 49 or 100 <= number <= 107:
                self.back = number % 10 if number != 49 else -1

    @property
    def hides(self) -> bool:
        return self.concealed or self.front == self.back != -1


def strip_escapes(text: str, removed: Counter[str]) -> str:
    """Return the text without terminal escapes; colours, cursor moves in a line and titles are not counted."""
    if not any(mark in text for mark in "\x1b\x9b\x08"):
        return text
    kept, at, colours = list[str](), 0, _Colours()
    for found in _ESCAPE.finditer(text):
        kept.append(_shown(text[at : found.start()], colours, removed))
        at = found.end()
        final, system = found[2], found[3]
        if final == "m":
            colours.set(found[1])
        quiet = final in _SILENT if final else system is not None and _QUIET_SYSTEM.match(system) is not None
        if not quiet and len(found[0]) > 2:
            removed["terminal escape"] += 1
    kept.append(_shown(text[at:], colours, removed))
    whole = "".join(kept)
    return _OVERSTRIKE.sub("", whole) if "\x08" in whole else whole


def _shown(text: str, colours: _Colours, removed: Counter[str]) -> str:
    if not colours.hides or not text.strip():
        return text
    removed["concealed text"] += 1
    return ""
