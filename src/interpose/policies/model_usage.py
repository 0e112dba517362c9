"""Tokens and costs of a session, from what hosts tell: events with ``usage``, and transcripts of Claude Code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..runtime.named_tuples import NamedTuple

__all__ = ["PRICES", "Usage", "cost_of", "read_transcript", "usage_of_event"]

PRICES: dict[str, tuple[float, float]] = {"*opus*": (5.0, 25.0), "*sonnet*": (3.0, 15.0), "*haiku*": (1.0, 5.0)}
"""US dollars for a million tokens, input and output, by the name of the model; the first that matches counts."""

_MILLION = 1_000_000
_CACHE_WRITE, _CACHE_READ = 1.25, 0.1
"""What tokens cost that are written to a cache and read from it, compared with others of the input."""
_MOST_BYTES = 32 * 1024**2
"""How much of a transcript is read at one event; the rest follows at the next."""
_LONGEST_LINE = 16 * 1024**2
_MOST_MESSAGES = 16
_MOST_FILES = 200
_KEYS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class Usage(NamedTuple):
    """What answers of the model have used."""

    tokens: int = 0
    dollars: float = 0.0


def usage_of_event(event: Mapping[str, Any], prices: Mapping[str, tuple[float, float]]) -> Usage:
    """Return what one answer has used: as the host says, or estimated from the length of its texts."""
    given, model = event.get("usage"), str(event.get("model") or "")
    usage = _numbers(given) if isinstance(given, Mapping) else {}
    if not any(usage.values()):
        texts = {"input_tokens": event.get("prompt"), "output_tokens": event.get("output")}
        usage = {key: len(text) // 4 for key, text in texts.items() if isinstance(text, str)}
    dollars = event.get("cost_usd")
    known = isinstance(dollars, (int, float)) and not isinstance(dollars, bool) and 0 <= dollars < _MILLION
    return Usage(sum(usage.values()), float(dollars) if known and dollars else cost_of(usage, model, prices))


def cost_of(usage: Mapping[str, int], model: str, prices: Mapping[str, tuple[float, float]]) -> float:
    """Return what tokens cost in US dollars; 0 for a model without a price."""
    folded = model.lower()
    given, answered = next((price for name, price in prices.items() if fnmatchcase(folded, name.lower())), (0.0, 0.0))
    read = usage.get("input_tokens", 0) + _CACHE_WRITE * usage.get("cache_creation_input_tokens", 0)
    read += _CACHE_READ * usage.get("cache_read_input_tokens", 0)
    return (read * given + usage.get("output_tokens", 0) * answered) / _MILLION


def read_transcript(path: Any, state: dict[str, Any], prices: Mapping[str, tuple[float, float]]) -> Usage:
    """Return what was used since the last call: the lines that were added to a transcript; ``state`` says where."""
    if not isinstance(path, str) or not os.path.isabs(path) or "\0" in path:
        return Usage()
    files = state.setdefault("files", {})
    if path not in files and len(files) >= _MOST_FILES:
        return Usage()
    place = files.setdefault(path, {"read": 0, "messages": {}})
    tokens, dollars = 0, 0.0
    for line in _new_lines(path, place):
        message, usage = _answer_in(line)
        if not usage:
            continue
        # An answer has a line for each of its parts, all with its id and with what it has used so far.
        messages = place["messages"]
        before = messages.pop(message, {})
        added = {key: max(0, usage[key] - before.get(key, 0)) for key in _KEYS}
        messages[message] = {key: max(usage[key], before.get(key, 0)) for key in _KEYS}
        while len(messages) > _MOST_MESSAGES:
            del messages[next(iter(messages))]
        tokens += sum(added.values())
        dollars += cost_of(added, _model_in(line), prices)
    return Usage(tokens, dollars)


def _new_lines(path: str, place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the whole lines that were added to a file."""
    try:
        with open(path, "rb") as opened:
            end = opened.seek(0, os.SEEK_END)
            if end < place["read"]:  # another file of the name
                place["read"] = 0
            opened.seek(place["read"])
            last = min(end, place["read"] + _MOST_BYTES)
            while opened.tell() < last:
                line = opened.readline(_LONGEST_LINE)
                if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
                    break  # it is being written
                place["read"] = opened.tell()
                if b'"usage"' in line and (found := _parsed(line)):
                    yield found
    except OSError:
        return


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answer_in(line: dict[str, Any]) -> tuple[str, dict[str, int]]:
    """Return the id of the answer in a line of a transcript, and what it has used; nothing for other lines."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
        return "", {}
    return str(message.get("id") or line.get("uuid") or ""), _numbers(message["usage"])


def _model_in(line: dict[str, Any]) -> str:
    return str(line["message"].get("model") or "")


def _numbers(usage: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of tokens by their names in Claude's API; those of OpenAI's are read too."""
    given = dict(usage)
    if "input_tokens" not in given:
        given["input_tokens"] = given.get("prompt_tokens", 0)
    if "output_tokens" not in given:
        given["output_tokens"] = given.get("completion_tokens", 0)
    if not given["input_tokens"] and not given["output_tokens"]:
        given["input_tokens"] = given.get("total_tokens", 0)
    return {key: _count(given.get(key, 0)) for key in _KEYS}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0
