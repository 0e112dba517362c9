"""Hosts that pretend to be another: letters of other scripts, names that are nearly a well-known one, users in URLs."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, name, normalize
from urllib.parse import unquote

from ..runtime.regex import regex
from .effects.tables.well_known_hosts import WELL_KNOWN_HOSTS

__all__ = ["is_lookalike", "is_one_off", "what_is_wrong"]

_LETTERS = str.maketrans(  # Cyrillic, Greek and other letters that look like Latin ones
    "авсԁеһіјкӏмпорԛгѕтսѵԝхузαβεηικνορστυχγωıɡɑꞵｏℓłøđ",
    "abcdehijklmnopqrstuvwxy3abenikvopotuxywigabollod",
)
_DIGITS = str.maketrans("0135", "olse")
_SIMILAR = ("iljtf1", "oce0", "mnrh", "uvwy", "gqpbd", "kxh", "sz5", "aeo", "bh")
"""Letters that are taken for one another."""
_USUAL_PORTS = ("", ":80", ":443")
_ENCODED_TWICE = regex(r"%25[0-9A-Fa-f]{2}")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "HEBREW", "ARABIC", "CHEROKEE")


def what_is_wrong(url: str, known: tuple[str, ...] = ()) -> str:
    """Return how a URL pretends to lead elsewhere, as the end of a sentence; empty if it does not."""
    return _wrong(url, (*WELL_KNOWN_HOSTS, *known))


@lru_cache(maxsize=512)
def _wrong(url: str, known: tuple[str, ...]) -> str:
    scheme, mark, rest = url.partition("://")
    if not mark:
        scheme, rest = "", url
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, at, place = authority.rpartition("@")
    if at and scheme in ("http", "https", "ftp", "") and _looks_like_host(unquote(user.partition(":")[0])):
        return f"whose host is {place}, not {user}"
    if _ENCODED_TWICE.search(url):
        return "which is encoded twice"
    if "\\" in authority or "%" in place or any(dot in place for dot in "\uff0e\u3002\uff61"):
        return "whose host is written in a way that programs read differently"
    host = place if place.startswith("[") else re.sub(r":[0-9]*\Z", "", place)
    if any(category(letter) in ("Cf", "Cc", "Co", "Cn") for letter in host if letter not in "\0\1"):
        return "whose host has invisible characters"
    if scheme in ("http", "https") and host.lower() in known and place[len(host) :] not in _USUAL_PORTS:
        return "which is a well-known host at an unusual port"
    if any(len(_scripts(word)) > 1 for word in re.findall(r"[^\W\d_]+", rest[len(authority) :])):
        return "whose path mixes letters of several scripts"
    if host.endswith(".") and not host.endswith((".local.", ".internal.", ".arpa.")) and re.search("[a-z]", host):
        return "whose host ends with a dot, which programs read differently"
    return _wrong_host(host.rstrip(".").lower(), known)


def _looks_like_host(user: str) -> bool:
    return "." in user.strip(".") and not user.isdigit() and " " not in user


def _wrong_host(host: str, known: tuple[str, ...]) -> str:
    if not re.search(r"[^\0\1.]\.[^\0\1]|[^\x00-\x7f]|xn--", host):
        return ""
    labels = [_decoded(label) for label in host.split(".")]
    if any(category(letter) == "So" for label in labels for letter in label):
        return "whose host has symbols that no name may have"
    if labels[-1] in ("zip", "mov"):
        return "whose host looks like a file"
    if any(len(_scripts(label)) > 1 for label in labels):
        return "whose host mixes letters of several scripts"
    plain = ".".join(map(_skeleton, labels))
    shown = ".".join(labels)
    own = ".".join(labels[-2:])
    if own in known:
        return "" if shown.isascii() else f"whose host looks like {own}"
    foreign = not shown.isascii()
    for one in known:
        if foreign and (plain == one or plain.endswith(f".{one}")):
            return f"whose host only looks like {one}"
        if f".{one}." in f".{plain}." and not plain.endswith(one):
            return f"whose host begins like {one} and is another"
        if is_lookalike(own, one):
            return f"whose host is nearly {one}"
    if foreign and any(
        label.isascii() is False and plain_label.isascii() and not _is_accented(label)
        for label, plain_label in zip(labels, plain.split("."), strict=False)
    ):
        return "whose host has letters of another script that look Latin"
    return ""


def is_lookalike(own: str, known: str) -> bool:
    """Return whether a domain is a known one but for digits in place of letters, or for one letter."""
    if own == known:
        return False
    digits = own.translate(_DIGITS).replace("rn", "m").replace("vv", "w")
    if digits == known or own.replace("1", "i") == known:
        return True
    name_, _, end = own.rpartition(".")
    known_name, _, known_end = known.rpartition(".")
    return end == known_end and len(known_name) >= 5 and is_one_off(name_, known_name, substitutions=True)


def is_one_off(given: str, known: str, *, substitutions: bool = False) -> bool:
    """Return whether a name is another with two letters swapped, one letter missing or one doubled."""
    if given == known or abs(len(given) - len(known)) > 1:
        return False
    at = next(
        (at for at, (one, two) in enumerate(zip(given, known, strict=False)) if one != two), min(len(given), len(known))
    )
    if len(given) == len(known):
        swapped = known[:at] + known[at + 1 : at + 2] + known[at : at + 1] + known[at + 2 :]
        similar = any({given[at], known[at]} <= set(group) for group in _SIMILAR)
        return given == swapped or (substitutions and similar and given[at + 1 :] == known[at + 1 :])
    if len(given) < len(known):
        return given[at:] == known[at + 1 :]
    return given[at + 1 :] == known[at:] and (substitutions or given[at] in (known[at - 1 : at], known[at : at + 1]))


def _decoded(label: str) -> str:
    try:
        found = label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    except (UnicodeError, ValueError):
        return label
    return normalize("NFC", found)


def _skeleton(label: str) -> str:
    """Return a label in the Latin letters that it looks like."""
    mapped = normalize("NFKD", label).translate(_LETTERS)
    return "".join(letter for letter in mapped if category(letter) != "Mn")


def _is_accented(label: str) -> bool:
    """Return whether a label is Latin with accents: bücher."""
    return _scripts(label) == {"LATIN"}


def _scripts(label: str) -> set[str]:
    found = set()
    for letter in label:
        if letter.isalpha():
            said = "LATIN" if letter.isascii() else name(letter, "").split(" ")[0]
            found.add(said if said in _SCRIPTS else "LATIN" if said == "FULLWIDTH" else "OTHER")
    return found
