"""Which content of each question of the fleet was shown on this machine.

The id of a question is short enough to be typed, so two contents with one id can be made. A node could show a harmless
one, and exchange it before the answer is typed. An approval counts for the content that was listed here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...runtime.faults import log
from ...state.directories import state_path, write_privately

if TYPE_CHECKING:
    from ...fleet.answers import PostedQuestion

__all__ = ["note_shown", "require_shown"]

_MOST = 2000


def note_shown(questions: Iterable[PostedQuestion]) -> None:
    """Note the content of questions that are shown; a note that cannot be written is logged."""
    known = _read()
    before = dict(known)
    for one in questions:
        known[_key(one)] = one.digest
    if known == before:
        return
    try:
        write_privately(_path(), json.dumps(dict(list(known.items())[-_MOST:])).encode())
    except OSError as error:
        log("warning", "fleet: %s: %s", _path(), error)


def require_shown(question: PostedQuestion) -> None:
    """Raise UsageError if another content was shown under the id of a question."""
    if _read().get(_key(question), question.digest) != question.digest:
        what = f"{question.id} is not the question any more that was shown: node {question.node} has exchanged it"
        more = f"interpose questions show {question.id} --fleet --node {question.node}"
        raise UsageError(what, hint=f"read it again: {more}")


def _key(question: PostedQuestion) -> str:
    return f"{question.team}/{question.key}"


def _path() -> str:
    return state_path(os.path.join("fleet", "shown.json"))


def _read() -> dict[str, Any]:
    try:
        with open(_path(), "rb") as opened:
            found = json.loads(opened.read(1024 * 1024))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
