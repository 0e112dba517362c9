"""The data types: Hook, Binding, Result, Outcome, Decision. They are frozen, and decide nothing.

An outcome is made on every firing. So it holds references to what the firing wrote down, and makes results, lists and
copies when they are read.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Generic, Literal, NoReturn, Protocol, Self, TypeVar, cast

from .event import FILLED_WHEN_READ, Event, event_type
from .events import EventSpec
from .records import Record, made_by, replace
from .runtime.copies import ATOMS, copied_if_possible

__all__ = ["NOTHING_SAID", "STRICTNESS", "Binding", "Decision", "Firing", "Health", "Hook", "HookEffect", "HookError",
           "Ignored", "Injection", "Outcome", "Result", "Seal", "Settings", "Status", "Template", "VerdictPart",
           "facts_of", "field_of", "fire_without_hooks", "hooks_spoke", "make_outcome", "row_of", "strictest",
           "with_decision", "with_fields"]  # fmt: skip

Decision = Literal["deny", "ask", "allow", "none"]
STRICTNESS: dict[str, int] = {"deny": 3, "ask": 2, "allow": 1, "none": 0}
"""The order of decisions: the strictest of several holds."""

Status = Literal["ok", "failed", "timeout", "skipped"]

_T = TypeVar("_T")


def strictest(decisions: Iterable[str]) -> Decision:
    """Return the strictest of several decisions; ``none`` if there are none."""
    return cast("Decision", max(decisions, key=STRICTNESS.__getitem__, default="none"))


class Health:
    """How the past runs of one hook affect its next run: the only thing about a hook that changes."""

    def __init__(self) -> None:
        self.failures = 0
        self.open_until = 0.0
        self.denied_last = False
        self.once: dict[str, Any] = {}  # the claim of a firing: setdefault() gives it to one of many threads


class Seal(Protocol):
    """The snapshot that the hooks of a trusted configuration are run from."""

    def broken(self) -> str:
        """Return the path of what is missing; an empty text if nothing is."""


class Binding(Record):
    """How a hook is run: what is called, and how its answer is read."""

    call: Callable[[Event], Any] | None = None  # the Python callable; None for a hook that a handler runs
    awaits: bool = False  # whether calling it gives a coroutine
    handler: Callable[..., Any] | None = None  # of this hook alone; without one, the handler of its type runs it
    target: Any = None  # what the handler runs: for a command, its ``Command``
    read: Callable[[EventSpec, object], Any] | None = None  # reads an answer; None stands for the native dialect
    seal: Seal | None = None  # the snapshot that it is run from


class Hook(Record, eq=False):
    """One configured reaction to one event."""

    row: EventSpec
    handler: Any
    type: str = "python"
    name: str | None = None
    label: str = ""
    matcher: str = ""
    matches: Callable[[str], bool] | None = None
    condition: str | None = None
    judge: Callable[[Mapping[str, Any]], str | None] | None = None
    priority: int = 100
    timeout: float | None = None
    on_error: str | None = None
    enabled: bool = True
    enforce: bool = True
    locked: bool = False
    parallel: bool = False
    background: bool = False
    once: bool = False
    inline: bool = False
    scope: str | None = None
    layer: str = "code"
    source: str = ""
    description: str = ""
    dialect: str = "native"
    rewrites_in_group: bool = False  # whether what it changes counts although others run beside it
    binding: Binding = Binding()
    sequence: int = 0
    health: Health = made_by(factory=Health)

    _hidden = frozenset({"matches", "judge", "health", "binding"})

    @property
    def event(self) -> str:
        """The name of the event it reacts to."""
        return self.row.name


class Settings(Record):
    """What holds for all hooks of one engine. Times are seconds; 0 means not set."""

    error_behavior: Literal["log", "skip", "abort"] = "log"
    default_timeout: float = 0.0
    timeout_ceiling: float = 0.0
    total_timeout: float = 0.0
    max_hooks_per_point: int = 50
    enforce: bool = True
    redirect_output: bool = False  # whether what Python hooks print goes to the log instead of standard output


class HookError(str):
    """Why a hook failed: reads as its text and has a stable ``code``."""

    __slots__ = ("code", "trace")
    code: str
    trace: str

    def __new__(cls, text: str, code: str, trace: str = "") -> Self:  # noqa: D102 - made by the engine
        self = super().__new__(cls, text)
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "trace", trace)
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a HookError cannot be changed")

    def __reduce__(self) -> Any:
        return HookError, (str(self), self.code, self.trace)


class _Shown(Record, kw_only=False):
    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {name: getattr(self, name) for name in self._parts}


class Injection(_Shown, kw_only=False):
    """Text that a hook puts beside a tool's result, and the channel it goes through."""

    content: str
    strategy: str = "tool_result"


class Ignored(_Shown, kw_only=False):
    """An effect that a hook requested and that was not applied."""

    hook: str
    wish: str


class Result(Record, kw_only=False):
    """What became of one hook in one firing."""

    hook: str
    type: str
    status: Status
    decision: Decision = "none"
    reason: str = ""
    error: HookError | None = None
    duration: float = 0.0
    round: int = 1
    enforced: bool = True
    reply: Any = None
    source: str = ""
    evidence: Mapping[str, Any] = made_by(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        error = None if self.error is None else {"code": self.error.code, "text": str(self.error)}
        shown = {
            "hook": self.hook, "type": self.type, "status": self.status, "decision": self.decision,
            "reason": self.reason, "error": error, "duration_ms": round(self.duration * 1000, 3),
            "round": self.round, "enforced": self.enforced,
        }  # fmt: skip
        return {**shown, "evidence": dict(self.evidence)} if self.evidence else shown


class HookEffect(Record, frozen=False):
    """The effect of one reply at its row, or of all replies of a firing, merged. The default has no effect."""

    decision: Decision = "none"
    reason: str = ""
    granted: bool = False
    changes: dict[str, Any] = made_by(factory=dict)
    context: list[str] = made_by(factory=list)
    messages: list[str] = made_by(factory=list)
    inject: list[Injection] = made_by(factory=list)
    ignored: list[Any] = made_by(factory=list)  # wishes of one reply; of all, each with its hook
    extra: dict[str, Any] = made_by(factory=dict)
    suppress_output: bool = False
    keep_going: bool = False
    continue_: bool = True
    stop_reason: str = ""
    interrupt: bool = False
    ends: bool = False  # whether no further hook runs
    shadow: HookEffect | None = None  # what would hold if every hook were enforced, if that is something else


NOTHING_SAID = HookEffect()


class Template:
    """A row as one engine fires it: fills in what the host did not give."""

    __slots__ = ("_base", "_changeable", "_name", "_rest", "_usual", "event_type", "row")

    def __init__(self, row: EventSpec, session_id: str) -> None:
        defaults = {**row.defaults(), "session_id": session_id, "hook_event_name": row.name}
        self.row = row
        self.event_type = event_type(row)
        self._name = row.name
        self._rest = [name for name in FILLED_WHEN_READ if defaults.pop(name, None) is not None]
        self._changeable = [(name, type(value)) for name, value in defaults.items() if type(value) in (dict, list)]
        # The only changeable field, no name if there is none. If it is the flat one of an input, none is missing there.
        self._usual = None if len(self._changeable) > 1 else "".join(name for name, _ in self._changeable)
        self._base = {**defaults}  # without gaps, which would make every copy slower

    def begin(self, given: dict[str, Any]) -> tuple[dict[str, Any], str, tuple[str, ...]]:
        """Return the input without what is filled in when it is read; and the fields that a hook gets a copy of.

        First the one whose value is a mapping with nothing changeable in it, as in most firings, then the others.
        """
        fields, flat = self._base | given, ""
        deep: tuple[str, ...] = ()
        fields["hook_event_name"] = self._name  # whatever was given
        for name in given:  # noqa: PLC0206 - faster than items(), for so few
            value = given[name]
            kind = type(value)
            if kind is str:  # as most are: faster than to look it up
                continue
            if kind is dict and not flat:
                for key in value:
                    inner = type(value[key])
                    if inner is not str and inner not in ATOMS:
                        deep = (*deep, name)
                        break
                else:
                    flat = name
            elif kind not in ATOMS:
                deep = (*deep, name)
        if flat != self._usual:
            for name, make in self._changeable:
                if name not in given:
                    fields[name] = make()
                    deep = (*deep, name)
        return fields, flat, deep

    def rest(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Return the always-present fields that an input still lacks."""
        return {name: _found_out(name) for name in self._rest if not fields.get(name)}

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input with all fields."""
        fields = self.begin(dict(given))[0]
        return {**fields, **self.rest(fields)}


_numbers = itertools.count(1)


def _found_out(name: str) -> str:
    if name == "tool_use_id":
        return f"toolu_{os.getpid():x}_{next(_numbers)}"
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


class Firing:
    """The firing that an outcome comes from. This class is for an outcome without one: its entries are results."""

    __slots__ = ("__dict__",)
    background = False  # whether it ran a hook in the background, which decides nothing
    depth = 1  # how many firings it ran inside of, itself included
    given: Any = None  # the fields before the first change; None if no hook changed any
    writer: Callable[..., dict[str, Any]] | None = None  # writes an outcome as a reply in a dialect

    def rest(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: the same ones each time."""
        return {}

    def results(self, entries: Sequence[Any]) -> tuple[Result, ...]:
        """Return what the firing wrote down about its hooks as a host reads it."""
        return tuple(map(deepcopy, entries))

    def fates(self, entries: Sequence[Any]) -> Sequence[Any]:
        """Return what became of each hook, not copied."""
        return entries


_NO_FIRING: tuple[Firing, Sequence[Any], HookEffect] = (Firing(), (), NOTHING_SAID)


class VerdictPart(Generic[_T]):
    """A part of the verdict, read as an attribute of the outcome; of a list or mapping, a copy."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, outcome: Outcome | None, owner: type) -> _T:
        value: Any = self if outcome is None else getattr(outcome._said[2], self._name)
        if type(value) is dict:
            value = {key: copied_if_possible(item) for key, item in value.items()}
        return cast("_T", list(value) if type(value) is list else value)

    def __set__(self, outcome: Outcome, value: object) -> NoReturn:
        raise AttributeError(f"the {self._name} of an outcome cannot be changed")


class Outcome:
    """All results of one firing, merged: what the host does. It cannot be changed, and is compared by its value.

    The final fields of the event read as attributes (``outcome.tool_input``). Every list and mapping is a copy: what
    a caller does to it changes nothing here.
    """

    __slots__ = ("_fields", "_said", "_template", "_whole")
    _template: Template
    _fields: dict[str, Any]
    _whole: dict[str, Any]  # the completed fields; set when they are first read
    _said: tuple[Firing, Sequence[Any], HookEffect]  # firing, what became of its hooks, verdict; set if any ran

    decision = VerdictPart[Decision]("``deny``, ``ask``, ``allow``, or ``none`` if no hook decided.")
    reason = VerdictPart[str]("Why: the reasons of the hooks that decided.")
    granted = VerdictPart[bool]("True only if a hook allowed the action in words that grant: then no question is due.")
    context = VerdictPart[list[str]]("Texts for the model.")
    messages = VerdictPart[list[str]]("Texts for the person.")
    inject = VerdictPart[list[Injection]]("Texts beside the tool's result, each with its channel.")
    suppress_output = VerdictPart[bool]("True if the tool's output is kept from the model.")
    keep_going = VerdictPart[bool]("True if the agent, which wants to stop, goes on; the reason says what is left.")
    continue_ = VerdictPart[bool]("False if the agent's turn ends, with ``stop_reason``.")
    stop_reason = VerdictPart[str]("Why the turn ends.")
    interrupt = VerdictPart[bool]("True if a denied permission request also interrupts the agent.")
    ignored = VerdictPart[list[Ignored]]("Effects that hooks requested and that were not applied.")
    extra = VerdictPart[dict[str, Any]]("Other keys of hooks' answers, and facts about the engine.")

    @property
    def event(self) -> str:
        """The name of the event that was fired."""
        return self._template.row.name

    @property
    def allowed(self) -> bool:
        """True only if the action may run now: not on deny, not on ask."""
        return self.decision not in ("deny", "ask")

    @property
    def denied(self) -> bool:
        """True if the action must not run."""
        return self.decision == "deny"

    @property
    def input(self) -> dict[str, Any]:
        """The final fields of the event."""
        return {name: copied_if_possible(value) for name, value in self._whole.items()}

    @property
    def shadow(self) -> Outcome | None:
        """What would hold if every hook were enforced; None if all are."""
        source, entries, verdict = self._said
        shadow = verdict.shadow
        return None if shadow is None else make_outcome(self._template, self._fields, (source, entries, shadow))

    @property
    def results(self) -> tuple[Result, ...]:
        """What became of each hook, in the order in which they ran."""
        source, entries, _ = self._said
        return source.results(entries)

    def __getattr__(self, name: str) -> Any:
        if name == "_said":
            return _NO_FIRING
        if name == "_whole":  # kept: a field that is found out when it is read stays the same
            source = self._said[0]
            no_firing = source is _NO_FIRING[0]
            self._whole = self._template.complete(self._fields) if no_firing else {**self._fields, **source.rest()}
            return self._whole
        if name.startswith("_"):
            raise AttributeError(name)
        fields, row = self._whole, self._template.row
        field = row.words.get(name, name)
        if field in fields:
            return copied_if_possible(fields[field])
        if name in row.optional:
            return None
        raise AttributeError(f"the outcome of {row.name} has no {name!r}", name=name, obj=self)

    def __repr__(self) -> str:
        because = f", reason={self.reason!r}" if self.reason else ""
        ran = len(self.results)
        return f"<Outcome of {self.event}: {self.decision}{because}, {ran} hook{'' if ran == 1 else 's'}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        same_input = self.event == other.event and self._whole == other._whole
        return same_input and self._said[2] == other._said[2] and self.results == other.results

    def __hash__(self) -> int:
        return hash((self.event, self.decision, self.reason))

    def __reduce__(self) -> Any:
        source, _, verdict = self._said
        whence = copied_if_possible(source.given), source.writer
        return _remake, (self._template.row, self.input, verdict, self.results, *whence)

    def reply(self, dialect: str = "native") -> dict[str, Any]:
        """Return it as the reply of one hook: what ``fire --reply`` prints, ``native`` or in an agent's words.

        What the dialect has no field for is logged.
        """
        source = self._said[0]
        return source.writer(dialect, self, source.given or self._fields) if source.writer else {}

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``interpose fire --json`` prints it."""
        shown: dict[str, Any] = {name: getattr(self, name) for name in _SHOWN}
        shown["continue"] = shown.pop("continue_")
        for name in ("inject", "ignored", "results"):
            shown[name] = [item.to_dict() for item in shown[name]]
        if self.shadow is not None:
            shown["shadow"] = {"decision": self.shadow.decision, "reason": self.shadow.reason}
        return shown


_SHOWN = ("event", "decision", "allowed", "denied", "granted", "reason", "input", "context", "inject", "messages",
          "suppress_output", "keep_going", "continue_", "stop_reason", "interrupt", "extra", "ignored",
          "results")  # fmt: skip


async def fire_without_hooks(template: Template, fields: dict[str, Any]) -> Outcome:
    """Return the outcome of an event that no hook is on."""
    outcome = Outcome()
    outcome._template = template
    outcome._fields = fields
    return outcome


def make_outcome(
    template: Template, fields: dict[str, Any], said: tuple[Firing, Sequence[Any], HookEffect] = _NO_FIRING
) -> Outcome:
    """Return the outcome of a firing: its input; and the firing, its list of runs and the verdict."""
    outcome = Outcome()
    outcome._template = template
    outcome._fields = fields
    outcome._said = said
    return outcome


def _remake(
    row: EventSpec, fields: dict[str, Any], verdict: HookEffect, results: tuple[Result, ...], given: Any, writer: Any
) -> Outcome:
    source = Firing()
    source.given, source.writer = given, writer
    return make_outcome(Template(row, ""), fields, (source, results, verdict))


# Functions and no attributes of an outcome: those are the fields of its event.


def facts_of(outcome: Outcome) -> tuple[EventSpec, dict[str, Any], Sequence[Any], HookEffect, Any, int, bool]:
    """Return what an outcome was made of, not copied: for a recorder, which reads it at once and changes nothing.

    The row, the fields, what became of each hook, the verdict; the fields before the first change; the depth of the
    firing, and whether it ran in the background.
    """
    source, entries, verdict = outcome._said
    row, fields = outcome._template.row, outcome._whole
    return row, fields, source.fates(entries), verdict, source.given, source.depth, source.background


def hooks_spoke(outcome: Outcome) -> bool:
    """Say whether any hook of the firing said anything; if none did, the fields are those that it was fired with."""
    return outcome._said[2] is not NOTHING_SAID


def field_of(outcome: Outcome, name: str) -> Any:
    """Return a final field of the event itself, not a copy: the host's own object if no hook changed it; or None."""
    fields = outcome._fields
    return fields[name] if name in fields else outcome._whole.get(name)


def with_fields(outcome: Outcome, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Outcome:
    """Return an outcome with other fields, which a function makes of a copy of its own."""
    return make_outcome(outcome._template, change({**outcome._fields}), outcome._said)


def with_decision(outcome: Outcome, decision: Decision, reason: str) -> Outcome:
    """Return an outcome with the decision that a person has made where it asked; an allow grants."""
    source, entries, verdict = outcome._said
    decided = replace(verdict, decision=decision, reason=reason, granted=decision == "allow")
    return make_outcome(outcome._template, outcome._fields, (source, entries, decided))


def row_of(outcome: Outcome) -> EventSpec:
    """Return the row of the event that was fired."""
    return outcome._template.row
