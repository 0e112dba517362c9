"""A strict reader for the answers of three systems.

Armament has ``abort`` and ``modify``; MassGen ``allowed``, ``decision``, ``updated_input`` and ``inject``; Goat and
the Claude Agent SDK ``continue``, ``decision``, ``systemMessage`` and ``hookSpecificOutput``. An answer may have all of
them; the strictest decision counts. An answer that cannot be read is never an allow, and neither is one whose deciding
key is misspelt (``near_misses``). Any other unknown key is reported; a guard says nothing that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from ...events import EventSpec
from ...model import STRICTNESS, Injection
from ...replies import STRATEGIES, Failure, Reply, clean
from ...runtime.signals import not_by_signal

__all__ = ["read"]

_DECISIONS = {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask", "defer": "ask"}
_MOST_KEYS = 10_000
_MOST_UNKNOWN = 1000
_MOST_REPORTED = 20
_UNREAD = frozenset({"reason", "asyncTimeout", "hookEventName", "permissionDecisionReason"})
"""Keys at the top level that another key reads."""
_SPECIFIC = frozenset({
    "permissionDecision", "permissionDecisionReason", "decision", "updatedInput", "updatedToolOutput",
    "updatedMCPToolOutput", "additionalContext",
})  # fmt: skip
"""Keys that are read in hookSpecificOutput, and not passed on."""


def read(row: EventSpec, answer: object, guard: bool = False) -> Reply | Failure:
    """Read the return value of a callable, or a decoded JSON answer."""
    if type(answer) is Reply:
        return _check(row, answer)
    if not isinstance(answer, Mapping):
        return Failure(
            "bad_reply",
            f"returned {_kind(answer)}, which is not an answer; return nothing, a mapping or a reply such as deny()",
        )
    try:
        return _AnswerReader(row, _exact(answer), guard).reply()
    except BaseException as error:  # a mapping whose own methods break
        not_by_signal(error)
        return Failure("bad_reply", f"returned a mapping that cannot be read: {_kind(error)}")


def _check(row: EventSpec, reply: Reply) -> Reply | Failure:
    """Check a Reply that was returned by a callable."""
    decision = reply.decision
    if decision is not None and (type(decision) is not str or not STRICTNESS.get(decision)):
        return Failure("bad_decision", f"decision: {_shown(decision)} is no decision; say allow, ask or deny")
    for name in ("grants", "continue_"):
        value = getattr(reply, name)
        if type(value) is not bool and not (name == "continue_" and value is None):
            return Failure("bad_decision", f"{name}: {_shown(value)} where true or false is expected")
    for name, sound in _SOUND.items():
        if not sound(getattr(reply, name)):
            return Failure("bad_reply", f"{name}: {_shown(getattr(reply, name))} cannot be used")
    if misfit := _misfit(row, reply.changes):
        return Failure("bad_output", misfit)
    return reply


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _are_texts(value: object) -> bool:
    return type(value) is tuple and all(type(item) is str for item in value)


def _is_object(value: object) -> bool:
    return type(value) is dict and all(type(key) is str for key in value)


def _are_injections(value: object) -> bool:
    return type(value) is tuple and all(
        type(item) is Injection and type(item.content) is str and item.strategy in STRATEGIES for item in value
    )


def _is_time(value: object) -> bool:
    return value is None or (type(value) is float and 0 < value < float("inf"))


_SOUND: dict[str, Callable[[object], bool]] = {
    "reason": _is_text,
    "changes": _is_object,
    "context": _are_texts,
    "messages": _are_texts,
    "inject": _are_injections,
    "suppress": _is_flag,
    "halt": _is_flag,
    "stop_reason": _is_text,
    "interrupt": _is_flag,
    "keep_going": _is_flag,
    "extra": _is_object,
    "ignored": _are_texts,
    "again": _is_time,
    "problem": lambda value: value is None or type(value) is Failure,
    "evidence": _is_object,
}


class _AnswerReader:
    """Reads one answer; collects its parts and its problems."""

    def __init__(self, row: EventSpec, said: dict[str, Any], guard: bool) -> None:
        self.row = row
        self.said = said
        self.guard = guard
        self.unknown: dict[str, None] = {}
        self.stated = False
        """Whether a key that decides has said something, be it that there is no objection."""
        self.decisions: list[tuple[str, str]] = []  # decision and reason
        self.grants = False
        self.misstated: list[str] = []
        self.wrong: list[str] = []
        self.ignored: list[str] = []
        self.changes: dict[str, Any] = {}
        self.context: list[str] = []
        self.messages: list[str] = []
        self.inject: list[Injection] = []
        self.continue_: bool | None = None
        self.suppress = False
        self.stop_reason = self.specific_reason = ""
        self.interrupt = False
        self.again: float | None = None
        self.extra: dict[str, Any] = {}

    def reply(self) -> Reply | Failure:
        reason = self._text(self.said, "reason")
        self.specific_reason = self._text(self.said, "permissionDecisionReason")
        for key, value in self.said.items():
            reader = _TOP_LEVEL.get(key)
            if reader is not None:
                reader(self, key, value)
            elif key not in _UNREAD:
                self._other(key, value)
        decision, why = max(self.decisions, key=lambda pair: STRICTNESS[pair[0]], default=(None, ""))
        if misfit := _misfit(self.row, self.changes):
            self.wrong.append(misfit)
        if self.misstated:
            if decision != "deny":
                return Failure("bad_decision", "; ".join(self.misstated))
            self.wrong.extend(self.misstated)
        if self.wrong and decision not in ("deny", "ask"):
            return Failure("bad_output", "; ".join(self.wrong))
        if self.unknown and self.guard and not self.stated:
            what = ", ".join(islice(self.unknown, _MOST_REPORTED))
            return Failure("bad_output", f"{what}: not known here, and no key that is known decides; a guard's answer "
                                         "says what it decides, or nothing")  # fmt: skip
        if self.guard and (lone := self._lone_reason(reason)):
            return Failure("bad_decision", f"{_shown(lone)} is a reason without a decision; a guard's answer says what "
                                           "it decides, or nothing")  # fmt: skip
        return Reply(
            decision=decision,  # type: ignore[arg-type]
            grants=self.grants and decision == "allow",
            reason=why or reason,
            changes={} if self.wrong else self.changes,
            context=tuple(self.context),
            messages=tuple(self.messages),
            inject=tuple(self.inject),
            suppress=self.suppress,
            continue_=self.continue_,
            stop_reason=self.stop_reason,
            interrupt=self.interrupt,
            extra=self.extra,
            ignored=(*self.ignored, *self._unknown_wishes()),
            again=self.again if decision not in ("deny", "ask") and self.continue_ is not False else None,
            problem=Failure("bad_output", "; ".join(self.wrong)) if self.wrong else None,
        )

    def _lone_reason(self, reason: str) -> str:
        """Return the reason of an answer that decides nothing and says nothing else, where it could have denied."""
        more = (self.changes, self.context, self.messages, self.inject, self.extra, self.ignored, self.suppress,
                self.again, self.stated)  # fmt: skip
        if any(more) or "deny" not in self.row.can:
            return ""
        return reason or self.stop_reason or self.specific_reason

    def _unknown_wishes(self) -> list[str]:
        wishes = [f"{key}: not known here" for key in islice(self.unknown, _MOST_REPORTED)]
        more = len(self.unknown) - len(wishes)
        return [*wishes, f"{more} more keys: not known here"] if more > 0 else wishes

    def _other(self, key: str, value: object) -> None:
        """Keep a key that is not known, and say so; one that may have been meant to decide is misstated."""
        self.extra[key] = value
        if key.startswith("x-"):
            return
        from ..claude.answers import OUTPUTS

        if key == "terminalSequence" or (key in OUTPUTS.get(self.row.name, ()) and key not in _SPECIFIC):
            if key == "action" and type(value) is str and value == "decline":
                self.decisions.append(("deny", ""))
            return
        from .near_misses import doubt

        shown = clean(key)[:60]
        if len(self.unknown) == _MOST_UNKNOWN:
            self.misstated[:] = [f"more than {_MOST_UNKNOWN} keys are not known here"]
        elif why := doubt(key, value):
            self.misstated.append(f"{shown}: {why}")
        else:
            self.unknown[shown] = None

    # One method for each key.

    def _decide(self, key: str, value: object, reason: str = "", *, grants: bool, in_place: bool = True) -> None:
        if value is None:
            return
        decision = _DECISIONS.get(value) if type(value) is str else None
        if decision is None:
            self.misstated.append(f"{key}: {_shown(value)} is no decision; say allow, ask or deny")
            return
        if type(value) is str and value == "defer":
            self.extra["defer"] = True
        if decision == "allow" and not in_place:
            self.ignored.append(f"{key} allow: not where an allow is read")
            return
        self.stated = True
        self.decisions.append((decision, reason))
        if decision == "allow" and (grants or (type(value) is str and value == "approve")):
            self.grants = True

    def _decision(self, key: str, value: object) -> None:
        if isinstance(value, Mapping):
            self._behavior_of(value, in_place=False)
        else:
            self._decide(key, value, grants=False)

    def _misplaced_decision(self, key: str, value: object) -> None:
        reason = self._text(self.said, "permissionDecisionReason") or self._text(self.said, "message")
        self._decide(key, value, reason, grants=False, in_place=False)

    def _message(self, key: str, value: object) -> None:
        if "behavior" not in self.said and "permissionDecision" not in self.said:
            self._other(key, value)  # otherwise it is their reason

    def _abort(self, key: str, value: object) -> None:
        if self._flag(key, value, decides=True):
            self.decisions.append(("deny", ""))

    def _allowed(self, key: str, value: object) -> None:
        flag = self._flag(key, value, decides=True)
        if flag is not None:
            self.decisions.append(("allow" if flag else "deny", ""))

    def _misplaced_flag(self, key: str, value: object) -> None:
        if type(value) is not bool:
            self._flag(key, value, decides=True)
        elif value is (key == "abort"):
            self.decisions.append(("deny", ""))
        else:
            self.ignored.append(f"{key} {'true' if value else 'false'}: not where it is read")

    def _continue(self, key: str, value: object) -> None:
        flag = self._flag(key, value, decides=True)
        if flag is not None:
            self.continue_ = flag if self.continue_ is None else flag and self.continue_

    def _suppress(self, key: str, value: object) -> None:
        self.suppress = bool(self._flag(key, value))

    def _messages(self, key: str, value: object) -> None:
        if isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value):
            self.messages.extend(map(str.__str__, value))
        elif value is not None:
            self.wrong.append(f"{key}: {_kind(value)} where a list of texts is expected")

    def _extra(self, key: str, value: object) -> None:
        self.extra.update(_exact(value) if isinstance(value, Mapping) else {key: value})

    def _stop_reason(self, key: str, value: object) -> None:
        self.stop_reason = self._text(self.said, key)

    def _system_message(self, key: str, value: object) -> None:
        if text := self._text(self.said, key):
            # System messages come before additional context, whatever the order of the keys.
            self.context.insert(0, text)

    def _modify(self, key: str, value: object) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            self.wrong.append(f"{key}: {_kind(value)} where field names and values are expected")
            return
        self.changes.update(_exact(value))

    def _replace_input(self, key: str, value: object) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            self.wrong.append(f"{key}: {_kind(value)} where an object is expected")
            return
        self.changes["tool_input"] = _exact(value)

    def _replace_output(self, key: str, value: object) -> None:
        self.changes["tool_response"] = value

    def _inject(self, key: str, value: object) -> None:
        if value is None:
            return
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(item, Mapping):
                self.wrong.append(f"inject: {_kind(item)} where content and strategy are expected")
                continue
            said = _exact(item)
            content, strategy = said.pop("content", None), said.pop("strategy", STRATEGIES[0])
            if type(content) is not str:
                self.wrong.append(f"inject.content: {_kind(content)} where text is expected")
            elif type(strategy) is not str or strategy not in STRATEGIES:
                self.wrong.append(f"inject.strategy: {_shown(strategy)}; there are {', '.join(STRATEGIES)}")
            else:
                self.inject.append(Injection(content, strategy))
            for name, more in said.items():
                self._other(name, more)

    def _async(self, key: str, value: object) -> None:
        if not self._flag(key, value):
            return
        seconds = self.said.get("asyncTimeout")
        if seconds is None or (type(seconds) in (int, float) and seconds == 0):
            seconds = 30.0
        if type(seconds) not in (int, float) or not 0 < seconds < float("inf"):
            self.wrong.append(f"asyncTimeout: {_shown(seconds)} where seconds are expected")
            return
        self.again = float(seconds)

    def _specific(self, key: str, value: object) -> None:
        if value is None:
            return
        if not isinstance(value, Mapping):
            self.misstated.append(f"{key}: {_kind(value)} where an object is expected")
            return
        said = _exact(value)
        named = said.pop("hookEventName", None)
        in_place = type(named) is str and (named == self.row.name or named in self.row.aliases)
        if not in_place:
            self.wrong.append(f"hookSpecificOutput.hookEventName: {_shown(named)} where {self.row.name} is expected")
        reason = self._text(said, "permissionDecisionReason")
        self.specific_reason = self.specific_reason or reason
        said.pop("permissionDecisionReason", None)
        for name, item in said.items():
            match name:
                case "decision" if isinstance(item, Mapping):
                    self._behavior_of(item, in_place=in_place)
                case "permissionDecision" | "decision" | "behavior":
                    self._decide(name, item, reason, grants=name != "decision", in_place=in_place)
                case "updatedInput":
                    self._replace_input(name, item)
                case "updatedToolOutput" | "updatedMCPToolOutput":
                    self._replace_output(name, item)
                case "additionalContext":
                    if text := self._text(said, name):
                        self.context.append(text)
                case "abort" | "allowed" | "continue":
                    self._misplaced_flag(name, item)
                case _ if name in self.row.modifies:
                    self.changes[name] = item
                case _:
                    self._other(name, item)

    def _behavior_of(self, value: Mapping[str, Any], *, in_place: bool) -> None:
        said = _exact(value)
        if said.get("behavior") is None:
            self.misstated.append("decision: an object without a behavior is no decision; say allow, ask or deny")
        self._decide("behavior", said.pop("behavior", None), self._text(said, "message"), grants=True,
                     in_place=in_place)  # fmt: skip
        said.pop("message", None)
        if self._flag("interrupt", said.pop("interrupt", None)):
            self.interrupt = True
        self._replace_input("updatedInput", said.pop("updatedInput", None))
        for name, item in said.items():
            if name == "updatedPermissions":
                self.extra[name] = item
            else:
                self._other(name, item)

    def _flag(self, key: str, value: object, *, decides: bool = False) -> bool | None:
        if value is None:
            return None
        if type(value) is bool:
            self.stated = self.stated or decides
            return value
        (self.misstated if decides else self.wrong).append(f"{key}: {_shown(value)} where true or false is expected")
        return None

    def _text(self, said: Mapping[str, Any], key: str) -> str:
        value = said.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.wrong.append(f"{key}: {_kind(value)} where text is expected")
            return ""
        return str.__str__(value)


_TOP_LEVEL: dict[str, Callable[[_AnswerReader, str, Any], None]] = {
    "decision": _AnswerReader._decision,
    "permissionDecision": _AnswerReader._misplaced_decision,
    "behavior": _AnswerReader._misplaced_decision,
    "abort": _AnswerReader._abort,
    "allowed": _AnswerReader._allowed,
    "continue": _AnswerReader._continue,
    "continue_": _AnswerReader._continue,
    "suppressOutput": _AnswerReader._suppress,
    "stopReason": _AnswerReader._stop_reason,
    "systemMessage": _AnswerReader._system_message,
    "modify": _AnswerReader._modify,
    "updated_input": _AnswerReader._replace_input,
    "updatedInput": _AnswerReader._replace_input,
    "inject": _AnswerReader._inject,
    "message": _AnswerReader._message,
    "messages": _AnswerReader._messages,
    "extra": _AnswerReader._extra,
    "async": _AnswerReader._async,
    "async_": _AnswerReader._async,
    "hookSpecificOutput": _AnswerReader._specific,
}


def _exact(value: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a plain dict with text keys, without calling overridden methods of a subclass of dict."""
    pairs: Any = dict.items(value) if isinstance(value, dict) else None
    if pairs is None:
        pairs = [(key, value[key]) for key in islice(value, _MOST_KEYS + 1)]
        if len(pairs) > _MOST_KEYS:
            raise ValueError("too many keys")
    said: dict[str, Any] = {}
    for key, item in pairs:
        if not isinstance(key, str):
            raise TypeError("keys are text")
        said[str.__str__(key)] = str.__str__(item) if isinstance(item, str) else item
    return said


def _misfit(row: EventSpec, changes: Mapping[str, Any]) -> str:
    for name, value in changes.items():
        field = row.words.get(name, name) if isinstance(name, str) else name
        if field in row.modifies and not row.fields[field].fits(value):
            return f"modify {field}: {_kind(value)} where {row.fields[field].kind} is expected"
    return ""


def _kind(value: object) -> str:
    return "nothing" if value is None else str(type.__dict__["__name__"].__get__(type(value)))


def _shown(value: object) -> str:
    """Return a value of a plain type as text, any other by its type: code of a hook's object is never run."""
    if type(value) in (str, int, float, bool, type(None)):
        text = repr(value)
        return text if len(text) <= 60 else text[:57] + "..."
    return _kind(value)
