"""One event is decided once: an agent that calls two entries of ours for it gets the same answer twice.

The answer is kept for some seconds in a locked file of the user's state directory, one for each call. An entry that
asks again has another call before it, which only looks the same, and decides anew.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...dialects.agents.exchange import HookOutput
from ...state.locked import locked_json

__all__ = ["KnownAnswer", "answered_once"]

KIND = "answers"
_SECONDS = 20.0
_VOLATILE = frozenset({"timestamp"})


class KnownAnswer:
    """The answer to an event; None if it is not known yet."""

    def __init__(self, answer: HookOutput | None = None) -> None:
        self.answer = answer


@contextmanager
def answered_once(agent: str, entry: str, event: str, payload: Mapping[str, Any]) -> Iterator[KnownAnswer]:
    """Yield what another entry has answered to the same event, and keep what is answered now.

    The file is locked meanwhile, so that of two entries that are called at once the second waits for the first. A file
    that cannot be used is none: then both decide.
    """
    with locked_json(KIND, _key(agent, event, payload), needed=False) as state:
        now = time.time()
        if not isinstance(at := state.get("at"), float) or not 0 <= now - at < _SECONDS:
            state.clear()
        asked = state.get("entries")
        said = state.get("answer")
        found = KnownAnswer()
        if isinstance(asked, list) and entry not in asked and isinstance(said, list) and _is_answer(said):
            found.answer = HookOutput(*said)
            asked.append(entry)
        else:
            state.clear()
        yield found
        if found.answer is not None and not state:
            answer = found.answer
            state |= {"at": now, "entries": [entry], "answer": [answer.stdout, answer.stderr, answer.status]}


def _is_answer(said: list[Any]) -> bool:
    return [type(part) for part in said] == [str, str, int]


def _key(agent: str, event: str, payload: Mapping[str, Any]) -> str:
    """Return what names an event: the session, the call and the event; a payload without ids names itself."""
    call = payload.get("tool_use_id", payload.get("toolUseId"))
    session = payload.get("session_id", payload.get("sessionId", payload.get("conversation_id")))
    if isinstance(call, str) and call and isinstance(session, str):
        return "\0".join((agent, session, _spelled(event), call))
    rest = {name: value for name, value in payload.items() if name not in _VOLATILE}
    text = json.dumps(rest, sort_keys=True, default=repr)
    return "\0".join((agent, _spelled(event), hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()))


def _spelled(event: str) -> str:
    return event.lower()
