"""Globs over paths: ``*``, ``?``, ``[a-z]``, ``{a,b}`` and ``**``; and whether two of them have a path in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..runtime.regex import regex

__all__ = ["glob_to_regex", "has_wildcards", "overlap", "samples", "widened"]

_MOST_VARIANTS = 64
_MOST_STATES = 100_000


def has_wildcards(text: str) -> bool:
    """Return whether a text is more than itself when it is read as a glob."""
    return any(mark in text for mark in "*?[{")


def glob_to_regex(glob: str, across: str = "") -> str:
    """Translate for RE2; with ``across`` a star matches slashes."""
    one = "." if across else "[^/]"
    parts, at, depth = ["(?s)"], 0, 0
    while at < len(glob):
        mark = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            parts.append("(?:[^/]*/)*")
            at += 2
        elif glob.startswith("**", at):
            parts.append(".*")
            at += 1
        elif mark == "*":
            parts.append(f"{one}*")
        elif mark == "?":
            parts.append(one)
        elif mark == "[" and "]" in glob[at + 2 :]:
            end = glob.index("]", at + 2)
            inside = glob[at + 1 : end].replace("\\", r"\\").replace("[", r"\[")
            parts.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            at = end
        elif mark == "{" and "}" in glob[at:]:
            parts.append("(?:")
            depth += 1
        elif mark == "}" and depth:
            parts.append(")")
            depth -= 1
        elif mark == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(mark))
        at += 1
    return "".join(parts) + ")" * depth


_WILDCARD = regex(r"(?:(?<=/)|^)\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]")
_FRESH = "\ue000"
_DEEP = f"{_FRESH}/{_FRESH}/"


def samples(glob: str) -> Iterator[list[str]]:
    """Yield for each glob that ``{a,b}`` stands for some paths that it matches.

    Each wildcard is filled with nothing, with one and with two names that no pattern mentions.
    """
    for variant in without_braces(glob) or ():
        yield [_filled(variant, deep, star) for deep, star in (("", ""), (f"{_FRESH}/", _FRESH), (_DEEP, _FRESH * 2))]


def _filled(glob: str, deep: str, star: str) -> str:
    fillings = {"**/": deep, "**": deep + star, "*": star}

    def fill(found: re.Match[str]) -> str:
        one = found[0]
        return one[1] if len(one) == 3 and one[0] == "[" else fillings.get(one, _FRESH)

    return _WILDCARD.sub(fill, glob)


_RANGE = regex(r"\{[^{},/]*\.\.[^{},/]*\}")
_EXTENDED = regex(r"[@+?!*]\(")
_ODD_CLASS = regex(r"\\|\[[:=.]")


def widened(glob: str) -> list[str]:
    """Return globs without braces for all that a glob finds in programs with more marks.

    These are backslashes, ``[[:alpha:]]``, ``{a..z}`` and ``@(a|b)``. Raise ValueError if the globs are too many.
    """
    found: list[str] = []
    for whole in dict.fromkeys((glob, _RANGE.sub("*", glob))):
        variants = without_braces(whole)
        if variants is None:
            raise ValueError(glob)
        found += (one for variant in variants for one in (variant, _wide(variant)))
    return list(dict.fromkeys(found))


def _wide(glob: str) -> str:
    extended = _EXTENDED.search(glob)
    ends = [extended.start()] if extended else []
    if (at := glob.find("[")) >= 0 and _ODD_CLASS.search(glob, at):
        ends.append(at)
    glob = glob[: min(ends)] + "**" if ends else glob  # from there on it may be anything
    return re.sub(r"\\(.)", r"\1", glob)


def without_braces(glob: str) -> list[str] | None:
    """Return the globs that ``{a,b}`` stands for; None if they are too many."""
    done: list[str] = []
    ahead = [glob]
    while ahead:
        if len(done) + len(ahead) > _MOST_VARIANTS:
            return None
        one = ahead.pop()
        found = re.search(r"\{([^{}]*)\}", one)
        if found is None:
            done.append(one)
        else:
            choices = found[1].split(",")
            if len(choices) > _MOST_VARIANTS:
                return None
            ahead += [one[: found.start()] + choice + one[found.end() :] for choice in choices]
    return done


def overlap(one: str, other: str) -> bool:
    """Return whether a path may match both globs; True if that takes too long to find out."""
    firsts, seconds = without_braces(one), without_braces(other)
    if firsts is None or seconds is None:
        return True
    return any(_overlap(_Automaton(first), _Automaton(second)) for first in firsts for second in seconds)


_ANY, _IN_A_NAME = "any", "in a name"
_TOKEN = regex(_WILDCARD.pattern + "|.", re.DOTALL)


class _Automaton:
    """The states of a glob: ``edges`` consume a character, ``skips`` none; state ``end`` accepts."""

    def __init__(self, glob: str) -> None:
        self.edges: list[list[tuple[str, int]]] = []
        self.skips: list[list[int]] = []
        state = self._state()
        for found in _TOKEN.finditer(glob):
            state = self._add(found[0], state)
        self.end = state

    def _state(self) -> int:
        self.edges.append([])
        self.skips.append([])
        return len(self.edges) - 1

    def _add(self, mark: str, state: int) -> int:
        following = self._state()
        if mark in ("*", "**"):
            self.edges[state].append((_ANY if mark == "**" else _IN_A_NAME, state))
            self.skips[state].append(following)
        elif mark == "**/":
            within = self._state()
            self.skips[state].append(following)
            for inside in (state, within):
                self.edges[inside] += [(_IN_A_NAME, within), ("/", state)]
        else:
            # A class of characters counts as any character: rather one path too many than one too few.
            self.edges[state].append((_IN_A_NAME if mark == "?" or len(mark) > 1 else mark, following))
        return following


def _overlap(one: _Automaton, other: _Automaton) -> bool:
    seen: set[tuple[int, int]] = set()
    ahead = [(0, 0)]
    while ahead:
        pair = ahead.pop()
        if pair in seen:
            continue
        if len(seen) > _MOST_STATES:
            return True
        seen.add(pair)
        first, second = pair
        if first == one.end and second == other.end:
            return True
        ahead += [(skipped, second) for skipped in one.skips[first]]
        ahead += [(first, skipped) for skipped in other.skips[second]]
        for mark, after in one.edges[first]:
            ahead += [(after, then) for other_mark, then in other.edges[second] if _can_be_same(mark, other_mark)]
    return False


def _can_be_same(one: str, other: str) -> bool:
    if _ANY in (one, other) or one == other:
        return True
    return (one == _IN_A_NAME and other != "/") or (other == _IN_A_NAME and one != "/")
