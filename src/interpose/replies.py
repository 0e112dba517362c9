"""What a hook answers: ``deny() ask() allow() modify() context() inject()``, and the Reply they make.

Every dialect reads a hook's answer into a Reply; a Failure stands where there is no answer to read. Both are plain
data: what a reply may do at an event is for ``decide`` to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .model import STRICTNESS, HookError, Injection
from .records import Record, made_by
from .runtime.copies import Uncopyable
from .runtime.faults import LONGEST, is_one_of, said, trace_of, type_name
from .runtime.regex import regex
from .runtime.workers import NoThread

__all__ = ["STRATEGIES", "Ended", "Failure", "HookFailed", "Reply", "allow", "ask", "clean", "context", "deny",
           "describe", "inject", "is_plain", "modify"]  # fmt: skip

STRATEGIES = ("tool_result", "user_message", "system_context")
"""The channels of an injection."""

FailureClass = Literal["unloadable", "misstated", "unasked", "broken", "late"]
"""Cannot be loaded; its decision cannot be understood; could not be asked because of the event; broke; was late."""

_CODES: dict[FailureClass, frozenset[str]] = {
    "unloadable": frozenset({"import_failed", "bad_handler", "spawn_not_found", "spawn_permission", "spawn_format",
                             "spawn_busy", "launch_error", "handler_type", "isolation_unavailable", "changed",
                             "http_header", "mcp_package", "mcp_server", "nats_no_fleet", "nats_package",
                             "nats_credentials", "nats_worker_unloadable", "model_bad_script", "model_no_key",
                             "model_no_model", "model_no_package", "model_not_allowed"}),
    "misstated": frozenset({"bad_decision", "bad_reply", "bad_verdict", "nats_worker_misstated"}),
    "unasked": frozenset({"payload", "payload_too_big", "bad_input", "cwd_missing", "cwd_changed", "spawn_too_big",
                          "model_context_too_long", "model_rejected", "nats_too_large", "nats_worker_unasked"}),
    "late": frozenset({"timeout"}),
}  # fmt: skip
_KINDS = {code: kind for kind, codes in _CODES.items() for code in codes}

# C0 without tab and newline, DEL and C1, the marks that turn text around, and line separators.
_UNSHOWABLE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
# A whole escape sequence goes, not only its first byte.
_ESCAPES = regex(r"(?s)\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x07|\x1b\\|$)|[@-Z\\-_])")


def clean(text: str) -> str:
    """Return text that is safe to show: no control characters, no terminal escapes, no lone surrogates."""
    if _UNSHOWABLE.search(text):
        text = _UNSHOWABLE.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class Failure(Record, kw_only=False):
    """Why a hook gave no usable answer."""

    code: str
    text: str
    trace: str = ""
    evidence: Mapping[str, Any] = made_by(factory=dict)
    misstated: bool = False  # whether the hook may have denied, whatever the code says

    @property
    def kind(self) -> FailureClass:
        """Which line of the failure table it belongs to."""
        kind = _KINDS.get(self.code, "broken")
        return "misstated" if self.misstated and kind != "unloadable" else kind

    @property
    def error(self) -> HookError:
        """The failure as a result shows it."""
        return HookError(clean(self.text)[:2000], self.code, clean(self.trace)[:8000])


class HookFailed(Exception):
    """Raised by a handler that has nothing to answer with; never leaves the engine."""

    def __init__(self, code: str, text: str, *, trace: str = "", evidence: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.failure = Failure(code, text, trace=trace, evidence=evidence or {})


def describe(error: BaseException) -> Failure:
    """Return the failure that an exception of a hook stands for."""
    try:
        if type(error) is HookFailed:
            return error.failure
        if type(error) is NoThread:
            return Failure("spawn_resource", str(error))
        if is_one_of(error, MemoryError):
            return Failure("hook_crash", "MemoryError: out of memory")
        if type(error) is Uncopyable:
            return Failure("payload", f"the input cannot be copied: {error}")
        text = f"raised {said(error)}"
        if is_one_of(error, BaseExceptionGroup):
            members = BaseExceptionGroup.__dict__["exceptions"].__get__(error)[:10]
            text = f"{text}: {'; '.join(said(member, 200) for member in members)}"
        return Failure("hook_crash", text[:LONGEST], trace=trace_of(error))
    except BaseException:  # an exception that fights being looked at
        return Failure("hook_crash", f"raised {type_name(error)}")


class Ended(Record):
    """How a command ended and what it wrote, or what a server answered: a dialect reads it as the hook's answer."""

    status: int = 0  # a negative one is the number of the signal that ended it
    stdout: bytes = b""
    stderr: str = ""  # the beginning of what it wrote to standard error, as text
    failure: Failure | None = None  # why there is no answer to read: it could not be started, was late, said too much
    evidence: Mapping[str, Any] = made_by(factory=dict)
    only_json: bool = False  # whether text that is not JSON is no answer in any dialect


class Reply(Record):
    """What one handler answered, in any dialect. Made by ``deny()``, ``ask()``, ``allow()`` and the others."""

    decision: Literal["deny", "ask", "allow"] | None = None
    grants: bool = False
    """Whether an allow was said in words that grant, not only in words that do not object."""
    reason: str = ""
    changes: Mapping[str, Any] = made_by(factory=dict)
    context: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    inject: tuple[Injection, ...] = ()
    suppress: bool = False
    continue_: bool | None = None
    halt: bool = False
    """Ends the agent's turn, with ``stop_reason``, whatever becomes of this one action."""
    stop_reason: str = ""
    interrupt: bool = False
    keep_going: bool = False
    extra: Mapping[str, Any] = made_by(factory=dict)
    ignored: tuple[str, ...] = ()
    """Wishes that the dialect itself has found to be without effect."""
    again: float | None = None
    """Asks for a second call, within so many seconds."""
    problem: Failure | None = None
    """What could not be read of an answer whose decision counts all the same."""
    evidence: Mapping[str, Any] = made_by(factory=dict)

    def __add__(self, other: Reply) -> Reply:
        """Say both: ``modify(prompt=...) + context("...")``. The stricter decision holds."""
        first, second = sorted((self, other), key=lambda reply: -STRICTNESS[reply.decision or "none"])
        go_on = [reply.continue_ for reply in (self, other) if reply.continue_ is not None]
        return Reply(
            decision=first.decision, grants=self.grants or other.grants, reason=first.reason or second.reason,
            changes={**self.changes, **other.changes}, context=self.context + other.context,
            messages=self.messages + other.messages, inject=self.inject + other.inject,
            suppress=self.suppress or other.suppress, continue_=all(go_on) if go_on else None,
            halt=self.halt or other.halt, stop_reason=self.stop_reason or other.stop_reason,
            interrupt=self.interrupt or other.interrupt, keep_going=self.keep_going or other.keep_going,
            extra={**self.extra, **other.extra}, ignored=self.ignored + other.ignored,
        )  # fmt: skip


def is_plain(reply: Reply) -> bool:
    """Say whether a reply has a decision and a reason and no more, as deny(), ask() and allow() make it.

    Such a reply needs no further look. Values are compared by identity and type: this runs no code of a hook.
    """
    more: Any = (reply.context, reply.messages, reply.inject, reply.ignored)
    flags = (reply.suppress, reply.halt, reply.interrupt, reply.keep_going)
    mappings: Any = (reply.changes, reply.extra, reply.evidence)
    return (
        type(reply.decision) is str and reply.decision in ("deny", "ask", "allow") and type(reply.grants) is bool
        and type(reply.reason) is str and type(reply.stop_reason) is str
        and more[0] is more[1] is more[2] is more[3] == () and reply.continue_ is reply.again is reply.problem is None
        and flags[0] is flags[1] is flags[2] is flags[3] is False
        and type(mappings[0]) is type(mappings[1]) is type(mappings[2]) is dict and mappings == ({}, {}, {})
    )  # fmt: skip


def deny(reason: str = "") -> Reply:
    """Say that the action must not run, and why."""
    return Reply(decision="deny", reason=_text("deny", reason))


def ask(reason: str = "") -> Reply:
    """Say that a person must be asked first, and why."""
    return Reply(decision="ask", reason=_text("ask", reason))


def allow(reason: str = "") -> Reply:
    """Say that the action may run without a question."""
    return Reply(decision="allow", grants=True, reason=_text("allow", reason))


def modify(changes: Mapping[str, Any] | None = None, /, **fields: Any) -> Reply:
    """Replace fields of the event, each whole: ``modify(tool_input={...})``, ``modify(prompt="...")``."""
    if changes is not None and not isinstance(changes, Mapping):
        raise TypeError(f"modify() takes field names and values, not {type(changes).__name__}")
    return Reply(changes={**(changes or {}), **fields})


def context(*texts: str) -> Reply:
    """Add text for the model to read."""
    return Reply(context=tuple(_text("context", text) for text in texts))


def inject(content: str, strategy: str = "tool_result") -> Reply:
    """Put text beside a tool's result: in it, after it as a user message, or into the system context."""
    if strategy not in STRATEGIES:
        raise ValueError(f"inject(): no strategy {strategy!r}; there are {', '.join(STRATEGIES)}")
    return Reply(inject=(Injection(_text("inject", content), strategy),))


def _text(function: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{function}() takes text, not {type(value).__name__}")
    return value
