"""The nouns: Hook, Binding, Result, Outcome, Decision. They are frozen, and decide nothing.

An outcome is made on every firing. So it holds references to what the firing wrote down, and makes results, lists and
copies when they are read.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Generic, Literal, NoReturn, Protocol, Self, TypeVar, cast

from .event import Event, Template, copied_if_possible
from .events import EventSpec
from .records import Record, made_by

__all__ = ["NOTHING_SAID", "STRICTNESS", "Binding", "Decision", "Effect", "Health", "Hook", "HookError", "Ignored",
           "Injection", "Outcome", "Result", "Seal", "Settings", "Source", "Status", "VerdictPart", "facts_of",
           "field_of", "hooks_ran", "make_outcome", "row_of", "strictest", "with_fields"]  # fmt: skip

Decision = Literal["deny", "ask", "allow", "none"]
STRICTNESS: dict[str, int] = {"deny": 3, "ask": 2, "allow": 1, "none": 0}
"""The order of decisions: the strictest of several holds."""

Status = Literal["ok", "failed", "timeout", "skipped"]

_T = TypeVar("_T")


def strictest(decisions: Iterable[str]) -> Decision:
    """Return the strictest of several decisions; ``none`` if there are none."""
    return cast("Decision", max(decisions, key=STRICTNESS.__getitem__, default="none"))


class Health:
    """What one hook's runs so far mean for its next: the only thing about a hook that changes."""

    def __init__(self) -> None:
        self.failures = 0
        self.open_until = 0.0
        self.denied_last = False
        self.once = allocate_lock()  # a claim, which only one of many threads gets


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

    error_behavior: str = "log"
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
    """A wish of a hook that had no effect."""

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


class Effect(Record, frozen=False):
    """What was said: by one reply, at its row; or by all of a firing, merged. The default says nothing."""

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
    shadow: Effect | None = None  # what would hold if every hook were enforced, if that is something else


NOTHING_SAID = Effect()


class Source(Protocol):
    """The firing that an outcome comes from."""

    given: Any  # the fields before the first change; None if no hook changed any
    depth: int  # how many firings it ran inside of, itself included
    background: bool  # whether it ran a hook in the background, which decides nothing

    @property
    def writer(self) -> Callable[..., dict[str, Any]] | None:
        """Writes an outcome as a reply, by its dialect and the fields that the event was fired with."""

    def rest(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: the same ones each time."""

    def results(self, entries: Sequence[Any]) -> tuple[Result, ...]:
        """Return what the firing wrote down about its hooks as a host reads it."""


class VerdictPart(Generic[_T]):
    """A part of the verdict, read as an attribute of the outcome; of a list or mapping, a copy."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, outcome: Outcome | None, owner: type) -> _T:
        value: Any = self if outcome is None else getattr(outcome._verdict, self._name)
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
    _said: tuple[Source, Sequence[Any], Effect] | None  # the firing, what became of its hooks, the verdict, if any ran

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
    ignored = VerdictPart[list[Ignored]]("Wishes that had no effect.")
    extra = VerdictPart[dict[str, Any]]("What hooks said that the engine does not know, and what the host should know.")

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
        return {name: copied_if_possible(value) for name, value in self._complete().items()}

    @property
    def shadow(self) -> Outcome | None:
        """What would hold if every hook were enforced; None if all are."""
        shadow = self._verdict.shadow
        if self._said is None or shadow is None:
            return None
        return make_outcome(self._template, self._fields, (*self._said[:2], shadow))

    @property
    def results(self) -> tuple[Result, ...]:
        """Every hook's fate, in the order they ran."""
        return () if self._said is None else self._said[0].results(self._said[1])

    @property
    def _verdict(self) -> Effect:
        return NOTHING_SAID if self._said is None else self._said[2]

    def _complete(self) -> dict[str, Any]:
        """Return all fields, completed once: a field that is found out when it is read stays the same."""
        try:
            return self._whole
        except AttributeError:
            fields, said = self._fields, self._said
            self._whole = self._template.complete(fields) if said is None else {**fields, **said[0].rest()}
            return self._whole

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        fields, row = self._complete(), self._template.row
        field = row.words.get(name, name)
        if field in fields:
            return copied_if_possible(fields[field])
        if name in row.optional:
            return None
        raise AttributeError(f"the outcome of {row.name} has no {name!r}")

    def __repr__(self) -> str:
        because = f", reason={self.reason!r}" if self.reason else ""
        return f"<Outcome of {self.event}: {self.decision}{because}, {len(self.results)} hooks>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        same_input = self.event == other.event and self._complete() == other._complete()
        return same_input and self._verdict == other._verdict and self.results == other.results

    def __hash__(self) -> int:
        return hash((self.event, self.decision, self.reason))

    def __reduce__(self) -> Any:
        source = _Copied() if self._said is None else self._said[0]
        whence = copied_if_possible(source.given), source.writer
        return _remake, (self._template.row, self.input, self._verdict, self.results, *whence)

    def reply(self, dialect: str = "native") -> dict[str, Any]:
        """Return it as the reply of one hook in a dialect, ``native`` or ``claude``: what ``fire --reply`` prints.

        What the dialect has no field for is logged.
        """
        source = _Copied() if self._said is None else self._said[0]
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


def make_outcome(
    template: Template, fields: dict[str, Any], said: tuple[Source, Sequence[Any], Effect] | None = None
) -> Outcome:
    """Return the outcome of a firing: its input and, if hooks ran, the firing, its list of runs and the verdict."""
    outcome = Outcome()
    outcome._template = template
    outcome._fields = fields
    outcome._said = said
    return outcome


class _Copied:
    """Stands for the firing of an outcome that was copied or unpickled: its entries are results."""

    depth, background = 1, False

    def __init__(self, given: Any = None, writer: Callable[..., dict[str, Any]] | None = None) -> None:
        self.given = given
        self.writer = writer

    def rest(self) -> dict[str, str]:
        return {}

    def results(self, entries: Sequence[Result]) -> tuple[Result, ...]:
        return tuple(map(deepcopy, entries))


def _remake(
    row: EventSpec, fields: dict[str, Any], verdict: Effect, results: tuple[Result, ...], given: Any, writer: Any
) -> Outcome:
    return make_outcome(Template(row, ""), fields, (_Copied(given, writer), results, verdict))


# Functions and no attributes of an outcome: those are the fields of its event.


def facts_of(outcome: Outcome) -> tuple[EventSpec, dict[str, Any], Sequence[Any], Effect, Any, int, bool]:
    """Return what an outcome was made of, not copied: for a recorder, which reads it at once and changes nothing.

    The row, the fields, an entry per run of a hook, the verdict; the fields before the first change; the depth of the
    firing, and whether it ran in the background.
    """
    row, fields, said = outcome._template.row, outcome._complete(), outcome._said
    source, entries, verdict = said or (_Copied(), (), NOTHING_SAID)
    return row, fields, entries, verdict, source.given, source.depth, source.background


def hooks_ran(outcome: Outcome) -> bool:
    """Say whether the firing had any hooks."""
    return outcome._said is not None and bool(outcome._said[1])


def field_of(outcome: Outcome, name: str) -> Any:
    """Return a final field of the event itself, not a copy: the host's own object if no hook changed it."""
    return outcome._complete()[name]


def with_fields(outcome: Outcome, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Outcome:
    """Return an outcome with other fields, which a function makes of a copy of its own."""
    return make_outcome(outcome._template, change({**outcome._fields}), outcome._said)


def row_of(outcome: Outcome) -> EventSpec:
    """Return the row of the event that was fired."""
    return outcome._template.row
