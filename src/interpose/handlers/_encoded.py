"""An event as the bytes that a hook gets: written in the hook's dialect, and encoded once per dialect in a firing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..event import Event
from ..model import Hook
from ..replies import HookFailed
from ..runtime.faults import said
from ..runtime.regex import regex
from ..strict_json import Unencodable, encode

__all__ = ["check_text", "encoded_event", "written_event"]

Write = Callable[[Event], Mapping[str, Any]]


def encoded_event(event: Event, dialect: str, write: Write) -> bytes:
    """Return an event as JSON; raise HookFailed if it cannot be written."""
    try:
        known: dict[str, bytes] = vars(Event)["encodings"].__get__(event)  # the slot: a field may have this name
    except AttributeError:
        known = event.encodings = {}
    if dialect not in known:
        try:
            known[dialect] = encode(written_event(event, write))
        except Unencodable as error:
            raise HookFailed(error.code, str(error)) from None
    return known[dialect]


def written_event(event: Event, write: Write) -> Mapping[str, Any]:
    """Return the fields of an event in a dialect; raise HookFailed if it cannot be written."""
    try:
        return write(event)
    except Unencodable:
        raise
    except Exception as error:  # a value that the dialect cannot write as text
        raise HookFailed("payload", f"the input cannot be written: {said(error, 200)}") from None


def check_text(hook: Hook, data: bytes) -> None:
    """Raise HookFailed if encoded JSON has half a character in it, which many programs cannot read.

    Where nothing can be denied, a hook that may read it is better than none.
    """
    if "deny" in hook.row.can and b"\\ud" in data and b"\\ud" in _WHOLE.sub(b"", data):
        raise HookFailed("payload", "the input has half a character in it (a lone surrogate)")


_WHOLE = regex(rb"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")  # a backslash, or both halves of a character
