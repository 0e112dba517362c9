"""Look-alike names of MCP tools, and descriptions that try to steer the model."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .hidden_characters import strip_characters, strip_escapes

__all__ = ["look_alike", "skeleton", "suspicions", "texts_of"]

_LIKE = {
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "ѕ": "s", "һ": "h", "і": "i", "ј": "j", "к": "k", "ӏ": "l",
    "м": "m", "н": "h", "п": "n", "о": "o", "р": "p", "ԛ": "q", "г": "r", "т": "t", "у": "y", "ѵ": "v", "ԝ": "w",
    "х": "x", "α": "a", "β": "b", "ε": "e", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u",
    "χ": "x", "ϲ": "c", "ı": "i", "ɡ": "g", "ԍ": "g", "ƅ": "b", "ʟ": "l", "ꞁ": "l",
}  # fmt: skip
"""Letters of other scripts that look like those of ASCII."""
_DIGITS = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": "", "_": "", " ": "", ".": ""})
_MOST_TEXTS = 2_000
_LONGEST = 200_000

_ORDERS = (
    "do not tell", "don't tell", "do not mention", "don't mention", "do not inform", "don't inform", "do not notify",
    "do not reveal", "without telling", "without informing", "without the user's knowledge", "keep this secret",
    "hide this from", "ignore previous instructions", "ignore all previous", "ignore prior instructions",
    "ignore the above", "disregard previous", "disregard all", "<important>", "<system>", "[system]",
    "<secret>", "you must always call", "before using any other tool", "before calling any other tool",
    "before any other tool",
)  # fmt: skip
_FILES = (
    "~/.ssh", ".ssh/", "id_rsa", "id_ed25519", "~/.aws", ".aws/credentials", "/etc/passwd", "/etc/shadow", "/mcp.json",
    ".claude/settings", ".claude.json", ".git-credentials", ".netrc", "~/.kube", "~/.gnupg",
)  # fmt: skip
_TAKING = ("read", "content", "pass ", "include", "send", "provide", "attach", "append")
"""Words that ask for what is in a file; a description may name a file that a tool uses."""


def skeleton(name: str) -> str:
    """Return a name as it looks: without case, separators, and the difference of 0 and o or 1, l and i."""
    folded = "".join(_LIKE.get(letter, letter) for letter in unicodedata.normalize("NFKC", name).lower())
    return folded.translate(_DIGITS).replace("rn", "m").replace("vv", "w")


def look_alike(name: str) -> str:
    """Return the ASCII name that a name with other letters looks like; empty if it looks like none."""
    if name.isascii():
        return ""
    plain = "".join(_LIKE.get(letter, letter) for letter in unicodedata.normalize("NFKC", name).lower())
    plain = "".join(letter for letter in plain if unicodedata.category(letter) not in ("Cf", "Mn", "Cc"))
    return plain if plain.isascii() else ""


def suspicions(tool: Mapping[str, Any], others: Iterable[str]) -> str:
    """Return what is wrong with the texts of a tool's definition, as the end of a sentence; empty if nothing is."""
    names = [other for other in others if other.startswith("mcp__")]
    own = str(tool.get("name", "")).rpartition("__")[0]
    for text in texts_of(tool):
        strip_characters(strip_escapes(text, removed := Counter[str]()), removed, code=True)
        if removed:
            return f"has hidden text ({', '.join(sorted(removed))})"
        folded = " ".join(unicodedata.normalize("NFKC", text).lower().split())
        for word in _ORDERS:
            if word in folded:
                return f"gives the model orders ({word!r})"
        if any(word in folded for word in _TAKING):
            for word in _FILES:
                if word in folded:
                    return f"asks for files with secrets ({word!r})"
        for name in names if "mcp__" in text else ():
            if name in text and name.rpartition("__")[0] != own:
                return f"tells the model about the tool {name} of another server"
    return ""


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in a definition: its description, and those in its schema."""
    waiting, left = [value], _MOST_TEXTS
    while waiting and left:
        one, left = waiting.pop(), left - 1
        if isinstance(one, str):
            yield one[:_LONGEST]
        elif isinstance(one, Mapping):
            waiting += [*one.values(), *(key for key in one if isinstance(key, str))]
        elif isinstance(one, (list, tuple)):
            waiting += one
