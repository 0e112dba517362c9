"""Keys that an answer does not have, and that may have been meant to decide: ``decison``, ``{"denied": true}``.

Only answers with an unknown key come here. The lists are closed: a key that is on none of them, and near none, decides
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from unicodedata import normalize

from ...runtime.regex import regex

__all__ = ["doubt"]

_DECIDING = {key.lower(): key for key in (
    "decision", "permissionDecision", "behavior", "abort", "allowed", "continue", "hookSpecificOutput",
)}  # fmt: skip
_ASKS = frozenset({
    "ask", "askuser", "confirm", "defer", "needsapproval", "needsconfirmation", "requireapproval",
    "requireconfirmation", "requiresapproval", "requiresconfirmation",
})  # fmt: skip
_TRUE_REFUSES = _ASKS | {
    "abort", "aborted", "block", "blocked", "blockedby", "blockreason", "cancel", "dangerous", "denial", "denied",
    "deniedby", "deny", "denyreason", "disallow", "disallowed", "forbid", "forbidden", "halt", "interrupt",
    "malicious", "prevent", "prevented", "refuse", "refused", "reject", "rejected", "rejection", "stop", "terminate",
    "unsafe", "veto", "vetoed", "violation", "violations",
}  # fmt: skip
_FALSE_REFUSES = frozenset({
    "accept", "accepted", "allow", "allowed", "approve", "approved", "authorized", "authorised", "continue", "execute",
    "granted", "ok", "pass", "passed", "permit", "permitted", "proceed", "run", "safe", "valid",
})  # fmt: skip
_WRAPPERS = frozenset({
    "answer", "data", "decide", "hook", "outcome", "output", "permission", "reply", "response", "result", "verdict",
})  # fmt: skip
"""Words under which an object is an answer of another system: ``{"result": {"allow": false}}``."""
_WORD_REFUSES = _FALSE_REFUSES | (_WRAPPERS - {"data", "hook", "output"}) | {
    "access", "action", "approval", "authorization", "effect", "judgement", "judgment", "policy", "ruling", "status",
}  # fmt: skip
"""Words that are no key of an answer. A value decides whether they refuse: true, false, or a word such as ``deny``."""

_REFUSALS = _TRUE_REFUSES | {"blocktool", "decline", "declined", "false", "n", "no", "notallowed", "prohibited"}
_FIRST_WORDS = frozenset({"blocked", "denied", "deny", "forbidden", "refused", "reject", "rejected"})
"""Words that refuse also as the beginning of a text: ``blocked by policy``."""
_ACCEPTED = frozenset({"0", "allow", "allowed", "f", "false", "n", "never", "no", "none", "nothing", "null", "off"})

_PREFIX = regex("^(is|can|may|must|should)")
_ENGLISH = frozenset({"about"})
"""Words one letter from a deciding key, which are near misses only if they are true."""
_SHORT, _LONG = 6, 12
"""How many letters a short key has at most, and a long one at least: a longer one has room for more mistakes."""
_LONGEST = 200
_LEVELS = 4
"""How deep an object below an unknown key is searched for a decision."""


def doubt(key: str, value: object) -> str:
    """Say why an unknown key may have been meant to refuse; return nothing if it is only unknown."""
    if value is None:
        return ""
    word = _folded(key)
    if key not in _DECIDING.values() and (meant := _nearest(word, value)):
        return f"there is no such key; did you mean {meant}?"
    word = _PREFIX.sub("", word)
    if _refuses(word, value) or _refuses_inside(value, _LEVELS) or (word in _WRAPPERS and _refuses_in_words(value)):
        return "it refuses, and is not read here; say decision: deny"
    return ""


def _refuses(word: str, value: object) -> bool:
    """Say whether a value refuses under this word."""
    if word in _TRUE_REFUSES:
        return _is_yes(value)
    if word in _FALSE_REFUSES and type(value) in (int, float) and value == 0:
        return True
    return (word in _WORD_REFUSES or word.endswith(("decision", "behavior"))) and _is_refusal(value)


def _refuses_in_words(value: object) -> bool:
    """Say whether an object that stands where an answer does has a word that refuses."""
    return isinstance(value, dict) and any(
        isinstance(key, str) and _refuses(_PREFIX.sub("", _folded(key)), item)
        for key, item in islice(dict.items(value), _LONGEST)
    )


def _folded(text: str) -> str:
    """Return the letters and digits of a text, in lower case and without accents."""
    return "".join(filter(str.isalnum, map(_plain, text[:_LONGEST]))).lower()


def _plain(letter: str) -> str:
    """Return the letter that an accented, wide or styled one stands for; a ligature stays one letter."""
    if letter.isascii():
        return letter
    parts = "".join(filter(str.isalnum, normalize("NFKD", letter)))
    return parts if len(parts) <= 1 else letter


def _nearest(word: str, value: object) -> str:
    """Return the deciding key that a word is nearly, or if its value refuses, may be; nothing if there is none."""
    if sum(map(str.isascii, word)) * 2 < len(word):
        return ""  # another alphabet
    letters = set(filter(str.isascii, word))
    for folded, key in _DECIDING.items():
        near = 2 if len(folded) > _LONG else 1
        far = near + (len(folded) > _SHORT)
        if abs(len(word) - len(folded)) > far or len(letters.difference(folded)) > far:
            continue  # this spares most words the count
        edits = _distance(word, folded)
        if edits <= near and (word not in _ENGLISH or value is True):
            return key
        if edits <= far and far > near and _refuses(folded, value):
            return key
    return ""


def _distance(word: str, known: str) -> int:
    """Count the letters to insert, leave out, replace or swap; a letter of another alphabet may stand for any."""
    before: list[int] = []
    row = list(range(len(known) + 1))
    for i, letter in enumerate(word, 1):
        previous, before, row = before, row, [i]
        for j, expected in enumerate(known, 1):
            same = letter == expected or not letter.isascii()
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (not same))
            if i > 1 and j > 1 and letter == known[j - 2] and word[i - 2] == expected:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _is_yes(value: object) -> bool:
    """Say whether a value says yes: true, 1, a text such as a reason, or an object with something in it."""
    if isinstance(value, str):
        return bool(value.strip()) and _folded(value) not in _ACCEPTED
    if isinstance(value, (Mapping, list, tuple)):
        return len(value) > 0
    return type(value) in (bool, int, float) and value == 1


def _is_refusal(value: object) -> bool:
    """Say whether a value refuses: false, a word such as ``deny``, or an object with a decision that does."""
    if isinstance(value, str):
        words = re.findall(r"[^\W_]+", value[:_LONGEST].casefold())
        return bool(words) and ("".join(words) in _REFUSALS or words[0] in _FIRST_WORDS)
    return value is False or _refuses_inside(value, _LEVELS)


def _refuses_inside(value: object, levels: int) -> bool:
    """Say whether an object, or one in it, has a deciding key that refuses."""
    if isinstance(value, (list, tuple)):
        return levels > 0 and any(_refuses_inside(item, levels - 1) for item in value[:_LONGEST])
    if not isinstance(value, Mapping) or not levels:
        return False
    for key, item in (
        dict.items(value) if isinstance(value, dict) else [(key, value[key]) for key in islice(value, 200)]
    ):
        match key:
            case "decision" | "permissionDecision" | "behavior" if isinstance(item, str) and _is_refusal(item):
                return True
            case "abort" if item is True:
                return True
            case "allowed" | "continue" if item is False:
                return True
        if _refuses_inside(item, levels - 1):
            return True
    return False
