"""Answers to questions of a fleet, and the questions as their nodes post them.

An answer names the team, the node and the question with the hash of its content: it counts for nothing else. A posted
question has the text of its record, from which every reader makes that hash anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import time
from typing import Any

from ..audit.entries import encode
from ..audit.questions import StoredQuestion, digest_of, id_of
from ..config.fleet import TOKEN, FleetSettings
from ..errors import UsageError
from ..records import Record, made_by
from ..runtime.regex import regex
from ..strict_json import BadJson, decode
from .keys import PrivateKey, public_of
from .signed import SignedForm, json_object

__all__ = [
    "BadAnswer",
    "BadQuestion",
    "GivenAnswer",
    "PostedQuestion",
    "SignedAnswer",
    "posted",
    "read_answer",
    "read_posted",
    "sign_answer",
]  # fmt: skip

_LONGEST = 1024 * 1024
_LONGEST_REASON = 2000
_LONGEST_WHO = 200
_LONGEST_FATE = 20_000
"""Bytes that are left for what becomes of a question."""
_DIGEST = regex(r"[0-9a-f]{64}")
_ID = regex(r"[0-9a-z]{4}-[0-9a-z]{4}")
_CLOCKS = 120.0
"""Seconds by which clocks may differ: a node that has not said that a question has expired may still wait."""
_LATEST = 1e11
"""Seconds since 1970 that a question may name: later than every question, and a time that can be calculated with."""
_STATES = ("waiting", "approved", "refused", "expired", "withdrawn")


class BadAnswer(UsageError):
    """An answer that does not count, with the reason."""

    code = "fleet_answer"


class BadQuestion(UsageError):
    """A posted question that cannot be read."""

    code = "fleet_question"


class GivenAnswer(Record):
    """What a person answers to one question of one node."""

    team: str
    node: str
    question: str
    digest: str
    """The hash of the question's content."""
    state: str
    """``approved`` or ``refused``."""
    reason: str = ""
    remembered: str = ""
    """``session``, or nothing."""
    input: Any = None
    """The input that the call is to run with instead of its own; None if it runs as it is."""
    user: str = ""
    terminal: str = ""
    host: str = ""
    time: float
    key: str
    """The public key of the one who answers."""


class SignedAnswer(Record):
    """An answer whose signature fits."""

    answer: GivenAnswer
    signature: str
    name: str
    """What this configuration calls the key; empty if it does not know it."""

    @property
    def who(self) -> str:
        """Who has answered, in words: the name of the key counts, the rest is what that person's machine says."""
        at = f"{self.answer.user}@{self.answer.host}" if self.answer.host else self.answer.user
        return f"{self.name or self.answer.key} ({at})" if at else self.name or self.answer.key


_FORM = SignedForm(
    name="an answer", domain="answer to a question", longest=_LONGEST, error=BadAnswer,
    types={
        "team": str, "node": str, "question": str, "digest": str, "state": str, "reason": str, "remembered": str,
        "input": object, "user": str, "terminal": str, "host": str, "time": float, "key": str,
    },
)  # fmt: skip


def sign_answer(answer: GivenAnswer, key: PrivateKey) -> tuple[bytes, str]:
    """Return an answer as it is stored, and its signature; raise UsageError if it could not be read."""
    if answer.key != public_of(key):
        raise ValueError("an answer names the key that signs it")
    text = _FORM.write(answer)
    _parsed(text)
    return _FORM.sign(text, key)


def read_answer(stored: bytes, settings: FleetSettings, *, node: str, known: bool = True) -> SignedAnswer:
    """Return a stored answer for this team and a node; raise BadAnswer with the reason if it does not count.

    With ``known`` the key has to be one of the approvers. What question it answers is not looked at.
    """
    text, signature = _FORM.open(stored)
    answer = _parsed(text)
    names = {key: name for name, key in settings.approvers}
    if known and answer.key not in names:
        raise BadAnswer(f"is signed by a key that is not one of the approvers: {answer.key}",
                        hint="approvers: of the node's own configuration names the keys")  # fmt: skip
    _FORM.verify(answer.key, text, signature)
    if answer.team != settings.team:
        raise BadAnswer(f"is for the team {answer.team}, not for {settings.team}")
    if answer.node != node:
        raise BadAnswer(f"is for the node {answer.node}, not for {node}")
    return SignedAnswer(answer=answer, signature=signature, name=names.get(answer.key, ""))


def _parsed(text: str) -> GivenAnswer:
    answer = GivenAnswer(**_FORM.parse(text))
    _FORM.require(answer, text, {
        "team": TOKEN.fullmatch(answer.team), "node": TOKEN.fullmatch(answer.node),
        "question": _ID.fullmatch(answer.question), "digest": _DIGEST.fullmatch(answer.digest),
        "state": answer.state in ("approved", "refused"), "remembered": answer.remembered in ("", "session"),
        "reason": len(answer.reason) <= _LONGEST_REASON,
        "user": max(map(len, (answer.user, answer.terminal, answer.host))) <= _LONGEST_WHO,
    })  # fmt: skip
    return answer


class PostedQuestion(Record):
    """A question as its node has posted it, and what became of it."""

    team: str
    node: str
    id: str
    text: str
    """The text of its record, redacted as the record is: the hash of the question is the hash of this."""
    asked: float
    expires: float
    """By the clock of the node, in seconds since 1970."""
    state: str = "waiting"
    by: str = ""
    """Who has answered, or why there was no answer."""
    reason: str = ""
    signature: str = ""
    """The signature of the answer that the node has taken; empty if it was answered on the node itself."""
    ignored: tuple[str, str] = made_by(factory=lambda: ("", ""))
    """The last answer that the node has ignored: its signature, and why."""

    @property
    def key(self) -> str:
        """Its key in the buckets."""
        return f"{self.node}.{self.id}"

    @property
    def digest(self) -> str:
        """The hash of its content."""
        return digest_of(self.text)

    @property
    def is_intact(self) -> bool:
        """Whether its content is the one that its id was made from."""
        return id_of(self.digest) == self.id

    @property
    def waits(self) -> bool:
        """Whether it can be answered, as far as it is known here: the clock of the node may be another one."""
        return self.state == "waiting" and self.left > -_CLOCKS

    @property
    def left(self) -> float:
        """The seconds that are left, if both clocks are right."""
        return self.expires - time()

    @property
    def question(self) -> StoredQuestion:
        """The question, as a store has it."""
        body = decode(self.text.encode("utf-8", "surrogatepass"))
        body = {name: value for name, value in body.items() if name != "asker"}  # a process of another machine
        return StoredQuestion(id=self.id, record=0, process=0, time=self.asked, monotonic=0.0, digest=self.digest,
                              body=body)  # fmt: skip

    def written(self) -> bytes:
        """Return it as it is stored."""
        parts = {name: getattr(self, name) for name in _PARTS}
        return json.dumps({**parts, "ignored": list(self.ignored)}).encode()

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON document."""
        made = {**self.question.to_dict(), "node": self.node, "team": self.team, "state": self.state,
                "left": max(0.0, round(self.left, 3)) if self.state == "waiting" else 0.0, "intact": self.is_intact,
                "by": self.by, "ignored": self.ignored[1]}  # fmt: skip
        del made["record"], made["asker"], made["answer"]
        return {**made, "answered_with": self.reason}


_PARTS: Mapping[str, type | tuple[type, ...]] = {
    "team": str, "node": str, "id": str, "text": str, "asked": (int, float), "expires": (int, float), "state": str,
    "by": str, "reason": str, "signature": str,
}  # fmt: skip


def posted(
    settings: FleetSettings, question: StoredQuestion, expires: float, *, most: int = _LONGEST
) -> PostedQuestion:
    """Return a question of this node as it is posted; raise BadQuestion if it cannot be, or is larger than ``most``."""
    text = encode(question.body)
    made = PostedQuestion(
        team=settings.team, node=settings.node, id=question.id, text=text, asked=question.time, expires=expires
    )
    if made.digest != question.digest or not question.is_intact:
        raise BadQuestion(f"{question.id} is not as it was asked", hint="`interpose log verify` says more")
    size = len(made.written())
    if size + _LONGEST_FATE > min(most, _LONGEST):
        raise BadQuestion(f"{question.id} has {size:,} bytes, which is too much for the fleet", hint="answer it here")
    read_posted(made.written(), team=settings.team, key=made.key)
    return made


def read_posted(stored: bytes, *, team: str, key: str) -> PostedQuestion:
    """Return a posted question; raise BadQuestion if it cannot be read, or claims another place than its own."""
    found = json_object(stored, _LONGEST, BadQuestion)
    ignored = found.pop("ignored", None)
    if set(found) != set(_PARTS):
        raise BadQuestion("does not have the parts of a question", where=key)
    for name, kind in _PARTS.items():
        if not isinstance(found[name], kind) or isinstance(found[name], bool):
            raise BadQuestion(f"its {name} cannot be read", where=key)
    if not isinstance(ignored, list) or len(ignored) != 2 or not all(isinstance(one, str) for one in ignored):
        raise BadQuestion("its ignored cannot be read", where=key)
    made = PostedQuestion(**found, ignored=(ignored[0], ignored[1]))
    if made.team != team or made.key != key or made.state not in _STATES:
        raise BadQuestion("is not at its place", where=key)
    if TOKEN.fullmatch(made.node) is None or _ID.fullmatch(made.id) is None:  # both are shown in commands to type
        raise BadQuestion("is not at the place of a question", where=key)
    if not all(0 <= moment <= _LATEST for moment in (made.asked, made.expires)):
        raise BadQuestion("its time cannot be", where=key)
    try:
        body = decode(made.text.encode())
    except (BadJson, UnicodeEncodeError) as error:
        raise BadQuestion(f"its text cannot be read: {error}", where=key) from None
    if not isinstance(body, dict):
        raise BadQuestion("its text is not a JSON object", where=key)
    return made
