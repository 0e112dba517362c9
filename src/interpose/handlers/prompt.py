"""Hooks that ask a model to judge an event: with one request (``prompt``), or with an agent that looks around.

The handler writes the event for the model, without secrets, asks, and returns the verdict; what a verdict means at an
event is for the dialect to say. A connection is opened for each event and closed with it, at the deadline and on
cancellation too.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import Any

from ..event import Event
from ..model import Hook
from ..models import Model, ModelError
from ..models.configured import ConfiguredModel
from ..models.judging import SYSTEM, Judgement, Occasion, Ruling, ask_once, filled
from ..records import Record
from ..redaction import Redactor
from ..replies import Ended, Failure, HookFailed, Reply
from ..runtime.regex import regex
from ..strict_json import Unencodable, encode
from . import hold_to_trust
from ._metered_model import MeteredModel

__all__ = ["AGENT", "TIMEOUTS", "Ask", "Judge", "JudgeHandler", "ask_once", "judge_of", "lazy_agent"]

TIMEOUTS = {"prompt": 30.0, "agent": 60.0}
"""Seconds that a hook of each kind has if it has no timeout."""

AGENT = "interpose.agent.judge"
"""The module whose function ``investigate`` answers hooks of type ``agent``. It is above this one, and imported when
the first of them runs."""

Ask = Callable[[Model, str, Occasion], Awaitable[Ruling]]

_MOST_VERDICTS = 256
_CHARACTERS_PER_TOKEN = 4
_VOLATILE = frozenset({"session_id", "transcript_path", "agent_transcript_path", "prompt_id", "tool_use_id",
                       "timestamp", "duration_ms"})  # fmt: skip
"""Fields that differ from event to event and say nothing about what happens."""
_HIDDEN = regex(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

_inside: ContextVar[bool] = ContextVar("interpose_inside_agent_hook", default=False)


class Judge(Record):
    """What a hook of type ``prompt`` or ``agent`` asks, and whom."""

    prompt: str
    model: str = ""
    """The name of the model as it is written; nothing stands for the default one."""
    configured: ConfiguredModel = ConfiguredModel()
    continues: bool = True
    cache: bool = True
    timeout: float | None = None
    """Seconds that it has if the hook has no timeout; None stands for the engine's."""
    dialect: str = "native"
    write: Callable[[Event], Mapping[str, Any]]
    """Writes an event in the dialect of the hook."""
    project: Callable[[object], str]
    """Returns the project of an event in this directory."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What two hooks that do the same have in common."""
        return self.prompt, self.model, self.continues


def judge_of(hook: Hook) -> Judge | None:
    """Return what a hook asks a model; None if it asks none."""
    target = hook.binding.target
    return target if isinstance(target, Judge) else None


class JudgeHandler:
    """Asks the model of a hook for its verdict on an event."""

    ends_itself = True
    only_reads = True

    def __init__(self, ask: Ask = ask_once, hooks: Any = None, rules: Callable[[], Mapping[str, str]] = dict) -> None:
        """``hooks`` hold for what an agent does; ``rules`` returns further secrets: a kind, and its pattern."""
        self._ask = ask
        self._hooks = hooks
        self._rules = rules
        self._scripted: dict[str, Model] = {}
        self._verdicts: OrderedDict[bytes, Ruling] = OrderedDict()
        self._lock = Lock()

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Judgement | Ended | Reply:
        """Ask, and return the verdict, or why there is none."""
        judge = judge_of(hook)
        if judge is None:
            raise TypeError(f"{hook.label} asks no model")
        if hook.type == "agent" and _inside.get():
            # It would have to be asked about that one's calls too, and so on.
            return Reply(evidence={"skipped": "the event is a call of the agent of such a hook"})
        evidence: dict[str, Any] = {"model": judge.configured.spec or "default"}
        try:
            async with asyncio.timeout(max(0.0, deadline - monotonic())):
                ruling = await self._rule(hook, judge, event, evidence)
        except TimeoutError:
            return Ended(failure=Failure("timeout", "the model gave no verdict", evidence=evidence))
        except HookFailed as error:
            return Ended(failure=_with_evidence(error.failure, evidence))
        except ModelError as error:
            return Ended(failure=Failure(f"model_{error.code}", str(error), evidence=evidence))
        if ruling.ok is None:
            return Ended(failure=Failure("bad_verdict", ruling.flaw, evidence=evidence))
        if not ruling.ok and not ruling.reason:
            ruling = ruling._replace(reason=f"{hook.label}: the model says no, and gives no reason")
        evidence |= {"ok": ruling.ok, "said": ruling.reason}
        return Judgement(ruling, judge.continues, evidence)

    async def _rule(self, hook: Hook, judge: Judge, event: Event, evidence: dict[str, Any]) -> Ruling:
        hold_to_trust(hook.binding.seal)
        said = _written(judge, event)
        redact = _redactor(tuple(self._rules().items())) if judge.configured.redact else None
        key = _key(judge, hook, said) if judge.cache else None
        if key is not None and (known := self._recall(key)) is not None:
            evidence["cached"] = True
            return known
        if redact is not None:
            redact.refresh()
        text = filled(judge.prompt, _as_text(said if redact is None else redact.value(said)))
        occasion = Occasion(
            self._hooks, _project(hook, judge, event), str(event.get("session_id") or ""),
            str(event.get("agent_id") or ""), redact or str,
        )  # fmt: skip
        model = MeteredModel(self._open(judge.configured), judge.configured, occasion.session_id)
        try:
            if (len(SYSTEM) + len(text)) // _CHARACTERS_PER_TOKEN > model.window:
                raise HookFailed("payload_too_big", f"the event is too long for {model.name}")
            before = _inside.set(hook.type == "agent" or _inside.get())
            try:
                ruling = await self._ask(model, text, occasion)
            finally:
                _inside.reset(before)
        finally:
            evidence.update(model=model.name, calls=model.calls, tokens=model.tokens)
            await model.close()
            await asyncio.sleep(0)  # a generator of the client's stream is closed by a task of its own
        if key is not None and ruling.ok is not None and not ruling.flaw:
            self._remember(key, ruling)
        return ruling

    def _open(self, configured: ConfiguredModel) -> Model:
        """Return a client; a scripted model is kept, since it has to know which turns it has played."""
        if configured.kind != "scripted":
            return configured.open()
        with self._lock:
            if configured.spec not in self._scripted:
                self._scripted[configured.spec] = configured.open()
            return self._scripted[configured.spec]

    # Verdicts that were given before.

    def _recall(self, key: bytes) -> Ruling | None:
        with self._lock:
            known = self._verdicts.get(key)
            if known is not None:
                self._verdicts.move_to_end(key)
            return known

    def _remember(self, key: bytes, ruling: Ruling) -> None:
        with self._lock:
            self._verdicts[key] = ruling
            while len(self._verdicts) > _MOST_VERDICTS:
                self._verdicts.popitem(last=False)


@lru_cache(maxsize=8)
def _redactor(rules: tuple[tuple[str, str], ...]) -> Redactor:
    """Return the redactor with these further rules: to make one takes longer than to use it."""
    return Redactor(rules=rules)


def _with_evidence(failure: Failure, evidence: Mapping[str, Any]) -> Failure:
    return Failure(failure.code, failure.text, trace=failure.trace, evidence={**evidence, **failure.evidence})


def _written(judge: Judge, event: Event) -> dict[str, Any]:
    """Return the event as plain JSON data; raise HookFailed if it cannot be written."""
    try:
        said: dict[str, Any] = json.loads(encode(dict(judge.write(event))))
    except Unencodable as error:
        raise HookFailed(error.code, str(error)) from None
    return said


def _project(hook: Hook, judge: Judge, event: Event) -> str:
    """Return the directory in which an agent may look."""
    directory = judge.project(event.get("cwd"))
    if hook.type == "agent" and not os.path.isdir(directory):
        raise HookFailed("cwd_missing", f"the project to look at does not exist: {directory[:200]!a}")
    return directory


def _as_text(said: Mapping[str, Any]) -> str:
    """Return the event as a model reads it: characters that are not shown are written as escapes."""
    text = json.dumps(said, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise HookFailed("payload", "the input has half a character in it (a lone surrogate)") from None
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _key(judge: Judge, hook: Hook, said: Mapping[str, Any]) -> bytes:
    """Return what a verdict is remembered by: the model, the instruction and the content of the event."""
    content = {name: value for name, value in said.items() if name not in _VOLATILE}
    configured = judge.configured
    parts = (configured.spec, configured.base_url, configured.redact, judge.prompt, hook.event, content)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()


def lazy_agent() -> Ask:
    """Return the function that asks an agent; the agent is imported when it is first asked."""

    async def investigate(model: Model, text: str, occasion: Occasion) -> Ruling:
        try:
            found: Ask = import_module(AGENT).investigate
        except (ImportError, AttributeError) as error:
            raise HookFailed("handler_type", f"hooks of type agent need {AGENT}, which is not there: {error}") from None
        return await found(model, text, occasion)

    return investigate
