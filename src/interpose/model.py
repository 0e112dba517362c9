"""The nouns: Hook, Result, Outcome. They are read, never changed, and decide nothing.

Outcomes are made on every firing, so that of a firing in which nothing happened is two references; the rest is made
when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self, cast

from .event import Event, Template
from .events import Row
from .records import Record, made_by

__all__ = [
    "STRICTNESS",
    "Binding",
    "Decision",
    "Health",
    "Hook",
    "HookError",
    "Ignored",
    "Injection",
    "Outcome",
    "Result",
    "Seal",
    "Settings",
    "Status",
    "row_of",
    "strictest",
    "subject_of",
]

Decision = Literal["deny", "ask", "allow", "none"]
Status = Literal["ok", "failed", "timeout", "skipped"]


class Health:
    """What one hook's runs so far mean for its next: the only thing about a hook that changes."""

    __slots__ = ("denied_last", "failures", "once", "open_until")

    def __init__(self) -> None:
        self.failures = 0
        self.open_until = 0.0
        self.denied_last = False
        # A claim is taken by pop(), which only one of many threads can win.
        self.once: list[None] = [None]


class Seal(Protocol):
    """The files that a trusted configuration runs, as they were when a person trusted them."""

    def broken(self) -> str:
        """Return the path of a file that has changed since; an empty text if none has."""


class Binding(Record):
    """How a hook is run: what is called, and how its answer is read."""

    call: Callable[[Event], Any] | None = None
    """The Python callable; None for a hook that a handler runs."""
    awaits: bool = False
    """Whether calling it gives a coroutine."""
    handler: Callable[..., Any] | None = None
    """A handler of this hook alone; without one, the handler of its type runs it."""
    target: Any = None
    """What the handler runs: for a command, its ``Command``."""
    read: Callable[[Row, object], Any] | None = None
    """Reads an answer into a Reply or a Failure; None stands for the native dialect."""
    seal: Seal | None = None
    """The trusted files of the configuration that the hook comes from."""


class Hook(Record, eq=False):
    """One configured reaction to one event."""

    row: Row
    handler: Any
    type: str = "python"
    name: str | None = None
    label: str = ""
    matcher: str = ""
    matches: Callable[[str], bool] | None = None
    condition: str | None = None
    judge: Callable[[Mapping[str, Any]], bool] | None = None
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
    rewrites_in_group: bool = False
    """Whether what it changes counts although others run beside it: in their order, the last one holds."""
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
    redirect_output: bool = False
    """Whether what Python hooks print goes to the log instead of the host's standard output."""


class HookError(str):
    """Why a hook failed: reads as its text and has a stable ``code``."""

    __slots__ = ("code", "trace")
    code: str
    trace: str

    def __new__(cls, text: str, code: str, trace: str = "") -> Self:  # noqa: D102 - made by the engine
        self = super().__new__(cls, text)
        self.code = code
        self.trace = trace
        return self

    def __reduce__(self) -> Any:
        return HookError, (str(self), self.code, self.trace)


class Injection:
    """Text that a hook puts beside a tool's result, and the channel it goes through."""

    __slots__ = ("content", "strategy")

    def __init__(self, content: str, strategy: str = "tool_result") -> None:
        self.content = content
        self.strategy = strategy

    def __repr__(self) -> str:
        return f"Injection({self.content!r}, {self.strategy!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Injection) and (self.content, self.strategy) == (other.content, other.strategy)

    def __hash__(self) -> int:
        return hash((self.content, self.strategy))

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"content": self.content, "strategy": self.strategy}


class Ignored:
    """A wish of a hook that had no effect."""

    __slots__ = ("hook", "wish")

    def __init__(self, hook: str, wish: str) -> None:
        self.hook = hook
        self.wish = wish

    def __repr__(self) -> str:
        return f"Ignored({self.hook!r}, {self.wish!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ignored) and (self.hook, self.wish) == (other.hook, other.wish)

    def __hash__(self) -> int:
        return hash((self.hook, self.wish))

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"hook": self.hook, "wish": self.wish}


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
        shown = {
            "hook": self.hook,
            "type": self.type,
            "status": self.status,
            "decision": self.decision,
            "reason": self.reason,
            "error": None if self.error is None else {"code": self.error.code, "text": str(self.error)},
            "duration_ms": round(self.duration * 1000, 3),
            "round": self.round,
            "enforced": self.enforced,
        }
        if self.evidence:
            shown["evidence"] = dict(self.evidence)
        return shown


class Outcome:
    """All results of one firing, merged: what the host does.

    This class is the outcome of a firing in which nothing was said; the engine fills a subclass otherwise.
    The final fields of the event read as attributes (``outcome.tool_input``).
    """

    __slots__ = ("_given", "_template")
    _template: Template
    _given: dict[str, Any]

    decision: Decision = "none"
    reason: str = ""
    granted: bool = False
    suppress_output: bool = False
    keep_going: bool = False
    continue_: bool = True
    stop_reason: str = ""
    interrupt: bool = False
    shadow: Outcome | None = None

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
        given = self._given
        if "hook_event_name" not in given or "cwd" not in given:
            given = self._given = self._template.complete(given)
        return given

    # Lists are made when read here: an outcome of nothing stays two references.
    @property
    def context(self) -> list[str]:
        """Texts for the model."""
        return []

    @property
    def messages(self) -> list[str]:
        """Texts for the person."""
        return []

    @property
    def inject(self) -> list[Injection]:
        """Texts beside the tool's result, each with its channel."""
        return []

    @property
    def ignored(self) -> list[Ignored]:
        """Wishes that had no effect."""
        return []

    @property
    def results(self) -> Sequence[Result]:
        """Every hook's fate, in the order they ran."""
        return ()

    @property
    def extra(self) -> dict[str, Any]:
        """What hooks said that the engine has no meaning for, and what the host should know."""
        return {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        given = self.input
        if name in given:
            return given[name]
        row = self._template.row
        if name in row.words:
            return given[row.words[name]]
        if name in row.optional:
            return None
        raise AttributeError(f"the outcome of {row.name} has no {name!r}")

    def __repr__(self) -> str:
        because = f", reason={self.reason!r}" if self.reason else ""
        return f"<Outcome of {self.event}: {self.decision}{because}, {len(self.results)} hooks>"

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``interpose fire --json`` prints it."""
        shown = {
            "event": self.event,
            "decision": self.decision,
            "allowed": self.allowed,
            "denied": self.denied,
            "granted": self.granted,
            "reason": self.reason,
            "input": self.input,
            "context": self.context,
            "inject": [item.to_dict() for item in self.inject],
            "messages": self.messages,
            "suppress_output": self.suppress_output,
            "keep_going": self.keep_going,
            "continue": self.continue_,
            "stop_reason": self.stop_reason,
            "interrupt": self.interrupt,
            "extra": self.extra,
            "ignored": [item.to_dict() for item in self.ignored],
            "results": [item.to_dict() for item in self.results],
        }
        if self.shadow is not None:
            shown["shadow"] = {"decision": self.shadow.decision, "reason": self.shadow.reason}
        return shown


# Functions and no attributes of an outcome: those are the fields of its event.


def row_of(outcome: Outcome) -> Row:
    """Return the row of the event that was fired."""
    return outcome._template.row


def subject_of(outcome: Outcome) -> str:
    """Return what a matcher is compared with at that event, as hooks have left it; nothing where there is none."""
    row = row_of(outcome)
    subject = outcome.input.get(row.subject) if row.subject else None
    return subject if isinstance(subject, str) else ""


STRICTNESS: dict[str, int] = {"deny": 3, "ask": 2, "allow": 1, "none": 0}
"""The order of decisions: of several, the one with the highest number counts."""


def strictest(decisions: Iterable[str]) -> Decision:
    """Return the decision that counts of several; ``none`` if there is none."""
    return cast("Decision", max(decisions, key=STRICTNESS.__getitem__, default="none"))
