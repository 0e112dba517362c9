"""Texts that commands write into a pipe, as far as they stand in the line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .. import programs
from .words import MANY, ONE, RawCommand, base_name, is_known, pieces_of

__all__ = [
    "is_plain",
    "is_text",
    "literal_text",
    "printed_file",
    "printed_text",
    "reads_data",
    "texts_of",
    "with_input",
]


def is_text(word: str) -> bool:
    """Return whether a word is more than a word for a shell: it has a blank or another separator."""
    return any(mark in word for mark in " \n\t;|&`") or "$(" in word


def is_plain(text: str) -> bool:
    """Return whether a text is one command without redirections and substitutions."""
    return not re.search(r"[;|&\n<>()`]", text)


def texts_of(raw: RawCommand) -> list[str]:
    """Return the text that a command writes, as far as it stands in the line."""
    texts = [one.text for one in raw.redirections if one.text]
    if raw.words:
        name = base_name(raw.words[0])
        if name in ("echo", "printf", "yes"):
            texts.append(" ".join(raw.words[1:]))
            texts += [word for word in raw.words[1:] if is_text(word)]
    return texts


def literal_text(commands: Sequence[RawCommand]) -> str:
    """Return the text that commands write into a pipe; empty if it is not wholly in the line."""
    if not commands:
        return ""
    producer, *others = commands
    if any(one.words != ["cat"] or one.redirections for one in others) or producer.assigned:
        return ""
    name, *words = producer.words or [""]
    texts = [one.text for one in producer.redirections]
    if name == "cat" and not words and len(texts) == 1:
        return texts[0]
    if texts or not words or not all(map(is_known, words)) or "\\" in "".join(words).replace("\\n", ""):
        return ""
    if name == "echo" and "\\" not in "".join(words):
        words = words[1:] if words[0] == "-n" else words
        return "" if words and words[0].startswith("-") else " ".join(words)
    if name == "printf" and words[0] in ("%s", "%s\\n"):
        return ("" if words[0] == "%s" else "\n").join(words[1:])
    return words[0].replace("\\n", "\n") if name == "printf" and "%" not in words[0] and len(words) == 1 else ""


def printed_text(word: str, commands: Sequence[RawCommand]) -> str:
    """Return the text of the file ``<(echo …)``; empty if a word is something else, or not wholly in the line.

    ``commands`` are all those of the text in which the word stands.
    """
    pieces = pieces_of(word)
    one = pieces[0] if len(pieces) == 1 else ""
    if isinstance(one, str) or one.pipe != "<" or one.commands is None:
        return ""
    return literal_text(commands[slice(*one.commands)])


def printed_file(commands: Sequence[RawCommand]) -> str:
    """Return the one file that cat writes into a pipe; empty if something else is written."""
    if len(commands) != 1 or commands[0].redirections or len(commands[0].words) != 2:
        return ""
    name, path = commands[0].words
    plain = name == "cat" and is_known(path) and not path.startswith(("-", "/dev/", "/proc/"))
    return path if plain else ""


def reads_data(raw: RawCommand) -> bool:
    """Return whether a command takes what it reads for data."""
    return bool(raw.words) and base_name(raw.words[0]) in programs.READS_DATA


def with_input(words: list[str], options: Mapping[str, str]) -> list[str]:
    """Add the input of xargs as unknown words: at the end, or where the replaced text is."""
    for option, default in (("I", ""), ("J", ""), ("i", "{}"), ("replace", "{}")):
        if option in options:
            replaced = options[option] or default
            return [word.replace(replaced, ONE) if replaced and is_known(replaced) else word + ONE for word in words]
    return [*words, MANY]
