"""Questions that wait for a person in the record: nouns, ids, seals, and whether the process that asks still waits.

A question is a record, and so is its answer. The id of a question is made from a hash of its content: another content
has another id. The answer has the whole hash, and with a key a seal: so an answer counts for what the person was shown,
and only if a process with the key has written it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from time import monotonic, time
from typing import Any, Literal

from ..person.agents import stat_of
from ..records import Record, made_by
from .chain import seal
from .entries import encode

__all__ = ["MAX_WAITING", "MAX_WAITING_OF_SESSION", "QuestionState", "StoredAnswer", "StoredQuestion",
           "describe_asker", "digest_of", "id_of", "is_sealed", "is_waiting", "read_id", "seal_answer"]  # fmt: skip

MAX_WAITING = 200
"""How many questions may wait in one store, and of one session: a program that asks without end is refused."""
MAX_WAITING_OF_SESSION = 20

QuestionState = Literal["waiting", "approved", "refused", "expired", "withdrawn"]

_LONGEST_WAIT = 1e9
"""Seconds that a question may name; the record of another machine may name any number."""
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_READ_AS = str.maketrans({"o": "0", "i": "1", "l": "1", "-": ""})
_ID_LETTERS = 8


def digest_of(text: str) -> str:
    """Return the hash of a question's record, to which an answer is bound."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def id_of(digest: str) -> str:
    """Return the id of a question, such as ``k7mq-2xtd``: the first 40 bits of its hash."""
    bits = int(digest[:10], 16)
    letters = "".join(_LETTERS[bits >> 5 * place & 31] for place in reversed(range(_ID_LETTERS)))
    return f"{letters[:4]}-{letters[4:]}"


def read_id(typed: str) -> str:
    """Return the id that a person has typed, in any case and with or without the hyphen; empty if it is none."""
    letters = typed.strip().lower().translate(_READ_AS)
    if len(letters) != _ID_LETTERS or not set(letters) <= set(_LETTERS):
        return ""
    return f"{letters[:4]}-{letters[4:]}"


def describe_asker(key: str) -> dict[str, Any]:
    """Return what identifies this process, which waits for an answer; ``key`` is the name of its key, if it has one."""
    about: dict[str, Any] = {"pid": os.getpid(), "host": os.uname().nodename}
    found = stat_of("self")
    if found is not None:
        about |= {"started": found[1][19], "space": _process_space()}
    return {**about, "key": key} if key else about


def _process_space() -> str:
    """Return the namespace of process ids: a process id means nothing in another one."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def is_waiting(asker: Mapping[str, Any]) -> bool | None:
    """Say whether the process that asked still runs; None if that cannot be seen from here."""
    if asker.get("host") != os.uname().nodename or asker.get("space", "") != _process_space():
        return None
    pid = asker.get("pid")
    if type(pid) is not int or pid <= 0:
        return False
    if "started" in asker:
        found = stat_of(pid)
        return found is not None and found[1][19] == asker["started"] and found[1][0] not in ("Z", "X")
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def seal_answer(key: bytes | None, store: str, body: Mapping[str, Any]) -> str:
    """Return the seal of an answer in a store; empty without a key."""
    bare = {name: value for name, value in body.items() if name != "seal"}
    made = seal(key, "answer", store, encode(bare))
    return "" if made is None else made.hex()


def is_sealed(key: bytes | None, store: str, body: Mapping[str, Any]) -> bool:
    """Say whether an answer was written by a process with this key; without a key, every answer counts."""
    if key is None:
        return True
    import hmac

    return hmac.compare_digest(str(body.get("seal", "")).encode("utf-8", "replace"),
                               seal_answer(key, store, body).encode())  # fmt: skip


class StoredAnswer(Record):
    """The answer to a question: the person's, or that it expired or was withdrawn."""

    record: int
    time: float
    """Seconds since 1970, by the wall clock."""
    body: dict[str, Any] = made_by(factory=dict)

    def text(self, name: str) -> str:
        """Return a part of the answer as text; empty if it is empty."""
        found = self.body.get(name, "")
        return found if isinstance(found, str) else ""

    @property
    def state(self) -> str:
        """``approved``, ``refused``, ``expired`` or ``withdrawn``; an answer that cannot be read refuses."""
        found = self.text("state")
        return found if found in ("approved", "expired", "withdrawn") else "refused"

    @property
    def person(self) -> str:
        """Who answered, and at which terminal; empty if no person did."""
        user, terminal = self.text("user"), self.text("terminal")
        return f"{user} ({terminal})" if user and terminal else user

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        names = ("user", "terminal", "host", "remembered", "reason")
        edited = {"input": self.body["input"]} if "input" in self.body else {}
        return {"state": self.state, "time": self.time, "record": self.record,
                **{name: self.text(name) for name in names}, **edited}  # fmt: skip


class StoredQuestion(Record):
    """One question in the record. ``body`` has everything; the other fields are its place and its answer."""

    id: str
    record: int
    process: int
    time: float
    """Seconds since 1970, by the wall clock."""
    monotonic: float
    digest: str
    body: dict[str, Any] = made_by(factory=dict)
    answer: StoredAnswer | None = None

    def text(self, name: str) -> str:
        """Return a part of the question as text; empty if it is empty."""
        found = self.body.get(name, "")
        return found if isinstance(found, str) else ""

    @property
    def is_intact(self) -> bool:
        """Whether its content is the one that its id was made from."""
        return id_of(self.digest) == self.id

    @property
    def tool(self) -> str:
        """The tool that the question is about."""
        return self.text("tool_name")

    @property
    def input(self) -> Any:
        """The whole input of the call, redacted as the record is."""
        return self.body.get("tool_input")

    @property
    def asker(self) -> dict[str, Any]:
        """The process that asks."""
        found = self.body.get("asker")
        return found if isinstance(found, dict) else {}

    @property
    def asked_by(self) -> str:
        """The rule or the hook that asks, and where it is written."""
        name = self.text("hook") or self.text("rule") or "default"
        kind = "hook " if self.text("hook") else "rule " if self.text("rule") else ""
        place = f" ({self.text('place')})" if self.text("place") else ""
        return f"{kind}{name}{place}"

    @property
    def wait(self) -> float:
        """The seconds within which an answer counts."""
        found = self.body.get("wait")
        return float(found) if isinstance(found, int | float) and 0 <= found <= _LONGEST_WAIT else 0.0

    @property
    def left(self) -> float:
        """The seconds that are left for an answer, by a clock that is never set where it can be compared."""
        if is_waiting(self.asker):
            return self.wait - (monotonic() - self.monotonic)
        return self.wait - (time() - self.time)

    @property
    def state(self) -> QuestionState:
        """Its state now. A question whose process has ended is withdrawn, although there was nothing to say so."""
        if self.answer is not None:
            return self.answer.state  # type: ignore[return-value]
        if is_waiting(self.asker) is False:
            return "withdrawn"
        return "waiting" if self.left > 0 else "expired"

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON document."""
        names = ("event", "reason", "rule", "hook", "place")
        return {
            "id": self.id, "state": self.state, "session": self.text("session_id"), "agent": self.text("agent_id"),
            "tool": self.tool, "call": self.text("tool_use_id"), "input": self.input,
            **{name: self.text(name) for name in names}, "asked_at": self.time, "wait": self.wait,
            "left": max(0.0, round(self.left, 3)) if self.state == "waiting" else 0.0, "asker": self.asker,
            "record": self.record, "digest": self.digest, "intact": self.is_intact,
            "answer": None if self.answer is None else self.answer.to_dict(),
        }  # fmt: skip
