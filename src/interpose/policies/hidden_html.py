"""Remove comments and invisible elements from HTML and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..runtime.regex import regex

__all__ = ["strip_html"]

_LONGEST_TAG = 4_000
_TAG = regex(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
_HIDDEN_STYLE = regex(
    r"(?:^|[;\s\"'{])(?:display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?![.0-9])|font-size:0(?![.0-9])|"
    r"max-height:0(?![.0-9])|(?:left|top|text-indent):-[0-9]{4,}|clip:rect\(0|color:transparent)"
)
_COLOUR = regex(r"(?:^|;)(background(?:-color)?|color):([^;]+)")
_ATTRIBUTE = regex(r"""([A-Za-z_:][-A-Za-z0-9_:.]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_MARK = regex(r"<!--|<[A-Za-z][^<]{0,400}?(?:style|hidden)", re.IGNORECASE)


def strip_html(text: str, removed: Counter[str]) -> str:
    """Return the text without comments and invisible elements, except in code; count what is removed."""
    if not _MARK.search(text):
        return text
    return "".join(_stripped(part, removed) if is_text else part for is_text, part in _without_code(text))


def _without_code(text: str) -> Iterator[tuple[bool, str]]:
    """Yield parts of Markdown, and whether each is outside of fenced code."""
    fence = ""
    kept = list[str]()
    for line in text.splitlines(keepends=True):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            yield not fence, "".join(kept)
            yield False, line
            fence, kept = "" if fence else mark, []
        else:
            kept.append(line)
    yield not fence, "".join(kept)


def _is_code(text: str, at: int) -> bool:
    """Return whether a place is between backticks of one line."""
    begin = max(text.rfind("\n", 0, at), at - 1_000) + 1
    end = text.find("\n", at, at + 1_000)
    return text.count("`", begin, at) % 2 == 1 and "`" in text[at : end if end >= 0 else at + 1_000]


def _stripped(text: str, removed: Counter[str]) -> str:
    kept, at, done = list[str](), 0, 0
    while (at := text.find("<", at)) >= 0:
        if _is_code(text, at):
            at += 1
            continue
        if text.startswith("<!--", at):
            end = text.find("-->", at + 4)
            end = len(text) if end < 0 else end + 3
            what = "HTML comment"
        else:
            end, what = _hidden_end(text, at), "invisible HTML element"
        if end > at:
            kept.append(text[done:at])
            removed[what] += 1
            at = done = end
        else:
            at += 1
    return "".join([*kept, text[done:]])


def _hidden_end(text: str, at: int) -> int:
    """Return where an invisible element that begins here ends; the same place if none begins."""
    found = _TAG.match(text, at)
    if found is None or found[1]:
        return at
    close = text.find(">", found.end(), at + _LONGEST_TAG)
    if close < 0 or not _is_hidden(text[found.end() : close]):
        return at
    name = found[2].lower()
    if name in _VOID or text[close - 1] == "/":
        return close + 1
    depth, place = 1, close + 1
    same = re.compile(rf"<(/?){re.escape(name)}(?![A-Za-z0-9-])", re.IGNORECASE)
    for one in same.finditer(text, place):
        depth += -1 if one[1] else 1
        if depth == 0:
            end = text.find(">", one.end())
            return len(text) if end < 0 else end + 1
    return len(text)


def _is_hidden(attributes: str) -> bool:
    for found in _ATTRIBUTE.finditer(attributes):
        name, value = found[1].lower(), (found[2] or "").strip("\"'")
        if name == "hidden" and value.lower() not in ("false", "until-found"):
            return True
        if name == "style":
            style = re.sub(r"\s*([:;])\s*|\s+", lambda space: space[1] or " ", value.lower())
            if _HIDDEN_STYLE.search(style) or _has_one_colour(style):
                return True
    return False


def _has_one_colour(style: str) -> bool:
    """Return whether the text has the colour of its background."""
    colours = {
        "background" if found[1].startswith("back") else "color": found[2].strip() for found in _COLOUR.finditer(style)
    }
    if len(colours) < 2:
        return colours.get("color") in ("white", "#fff", "#ffffff", "rgba(0,0,0,0)") and "font-size:1px" in style
    return _plain(colours["color"]) == _plain(colours["background"])


def _plain(colour: str) -> str:
    named = {"white": "#ffffff", "black": "#000000", "#fff": "#ffffff", "#000": "#000000"}
    return named.get(colour, colour)
