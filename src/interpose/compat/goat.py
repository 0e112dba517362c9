"""Goat's ``Runner``: a map of events to matchers, ``fire`` for the outputs, and pure functions that read them.

A callback takes ``(input, tool_use_id, context)``; the input is the object that was fired. It returns a
``HookJSONOutput``, a mapping with the keys of the JSON protocol, or None; it raises where Go returns an error. ``fire``
returns the output of every hook and merges nothing; only ``continue: false`` ends it. The pure functions say what the
outputs mean for the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ..decide import weigh
from ..dialects import native
from ..event import Event
from ..events import TABLE, EventSpec
from ..hooks import Hooks
from ..model import Outcome, Result
from ..replies import Failure, Reply
from ..telemetry.lifecycle import Observer, Subscription
from ._adapter import Arguments, adapted, read_reply

__all__ = [
    "AsyncHookJSONOutput",
    "HookCallback",
    "HookCallbackMatcher",
    "HookJSONOutput",
    "Results",
    "Runner",
    "SyncHookJSONOutput",
    "collect_additional_context",
    "process_pre_tool_use_results",
    "process_stop_results",
]

HookCallback = Callable[[Any, str, Mapping[str, Any]], Any]

_WORDS = {
    "continue_": "continue",
    "suppress_output": "suppressOutput",
    "stop_reason": "stopReason",
    "decision": "decision",
    "system_message": "systemMessage",
    "reason": "reason",
    "hook_specific_output": "hookSpecificOutput",
}
_LEGACY = {"approve": "allow", "block": "deny"}

_fired: ContextVar[Any] = ContextVar("interpose_goat_input")
"""The input of the current firing."""


@dataclass(slots=True)
class SyncHookJSONOutput:
    """The synchronous answer of a hook. ``None`` and ``""`` mean that the field was not given."""

    continue_: bool | None = None
    suppress_output: bool | None = None
    stop_reason: str = ""
    decision: str = ""
    system_message: str = ""
    reason: str = ""
    hook_specific_output: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, without fields that were not given."""
        said = {word: getattr(self, name) for name, word in _WORDS.items()}
        return {word: value for word, value in said.items() if value is not None and value != ""}


@dataclass(slots=True)
class AsyncHookJSONOutput:
    """The hook is to be called a second time, within so many seconds (0 means 30)."""

    async_: bool = True
    async_timeout: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"async": self.async_, "asyncTimeout": self.async_timeout}


@dataclass(slots=True)
class HookJSONOutput:
    """The answer of one hook: a sync part, an async part, or neither. ``raw`` is the original answer."""

    sync: SyncHookJSONOutput | None = None
    async_: AsyncHookJSONOutput | None = None
    raw: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, answer: Any) -> Self:
        """Return the output for an answer: one of these objects, a mapping, a reply, or None."""
        match answer:
            case cls():
                return answer if answer.raw is not None else replace(answer, raw=answer)
            case SyncHookJSONOutput():
                return cls(sync=answer, raw=answer)
            case AsyncHookJSONOutput():
                return cls(async_=answer, raw=answer)
            case Reply():
                return cls(sync=_sync_of(answer), raw=answer)
            case None:
                return cls()
            case Mapping() if answer.get("async") or answer.get("async_"):
                return cls(async_=AsyncHookJSONOutput(async_timeout=answer.get("asyncTimeout", 0)), raw=answer)
            case Mapping():
                said = {name: answer[key] for name, word in _WORDS.items() for key in (name, word) if key in answer}
                return cls(sync=SyncHookJSONOutput(**said), raw=answer)
            case _:
                raise TypeError(f"{type(answer).__name__} is not what a hook answers")

    @property
    def decision(self) -> str:
        """The decision as ``allow`` or ``deny``, also for ``approve`` and ``block``; empty if there is none."""
        said = self.sync.decision if self.sync else ""
        return _LEGACY.get(said, said)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        part = self.async_ if self.async_ is not None and self.async_.async_ else self.sync
        return part.to_dict() if part else {}


@dataclass(slots=True)
class HookCallbackMatcher:
    """Callbacks and commands, and the tool names they match; ``timeout`` in seconds for each of them, 0 for none."""

    matcher: str = ""
    hooks: Sequence[HookCallback] = ()
    timeout: float = 0
    commands: Sequence[str] = ()


class Results(list[HookJSONOutput]):
    """The outputs of the hooks, in the order they ran. ``outcome`` also has those that failed."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(output for output in map(_output_of_result, outcome.results) if output is not None)
        self.outcome = outcome


class Runner:
    """Hooks by event, global and scoped; ``emitter`` is called for every hook that starts and ends."""

    def __init__(
        self,
        hooks: Mapping[str, Iterable[Any]] | None = None,
        *,
        emitter: Observer | None = None,
        session_id: str | None = None,
        cwd: str | None = None,
    ) -> None:
        self._cwd = cwd
        self._hooks = Hooks.from_mapping({"hooks": _groups(hooks or {})}, max_hooks_per_point=0, session_id=session_id)
        self.emission: Subscription | None = self._hooks.observe(emitter) if emitter is not None else None

    async def fire(
        self, event: str, input: Any = None, tool_use_id: str | None = None, *, scope: str | None = None
    ) -> Results:
        """Run the hooks that match and return their outputs; errors of hooks are logged and dropped.

        Without a scope the hooks of all scopes run, after the global ones.
        """
        fields = _fields(self._hooks.events.find(event)[0], input)
        if tool_use_id is not None:
            fields["tool_use_id"] = tool_use_id
        if scope is not None:
            fields["agent_id"] = scope
        if self._cwd is not None:
            fields.setdefault("cwd", self._cwd)
        before = _fired.set(input)
        try:
            return Results(await self._hooks.fire(event, **fields))
        finally:
            _fired.reset(before)

    def register_scoped(self, scope: str, hooks: Mapping[str, Iterable[Any]]) -> None:
        """Set the hooks of a scope, in place of those that it had."""
        before = [hook for hook in self._hooks if hook.scope == scope]
        self._hooks.register_scoped(scope, _groups(hooks))
        for hook in before:
            self._hooks.unregister(hook)

    def unregister_scoped(self, scope: str) -> None:
        """Remove a scope with its hooks, if there is one."""
        self._hooks.unregister_scoped(scope)


def process_pre_tool_use_results(results: Iterable[Any]) -> str:
    """Return the first decision among the results: ``deny``, ``allow`` or ``ask``; ``ask`` if there is none."""
    row = TABLE["PreToolUse"]
    for result in map(HookJSONOutput.of, results):
        if result.sync is None:
            continue
        reply = native.read(row, _words_of(result, row))
        if isinstance(reply, Failure):
            if reply.kind == "misstated":
                return "deny"
            continue
        effect = weigh(row, reply)
        if effect.decision == "allow" and not effect.granted:
            continue  # not an explicit permission
        if effect.decision != "none":
            return effect.decision
    return "ask"


def process_stop_results(results: Iterable[Any]) -> bool:
    """Say whether the loop continues: any result has ``continue: true``."""
    return any(result.sync is not None and result.sync.continue_ is True for result in map(HookJSONOutput.of, results))


def collect_additional_context(results: Iterable[Any]) -> str:
    """Return the texts for the next system message, one per line: each result's message, then its context."""
    texts = []
    for result in map(HookJSONOutput.of, results):
        if result.sync is not None:
            specific = result.sync.hook_specific_output
            more = specific.get("additionalContext") if isinstance(specific, Mapping) else None
            texts += [text for text in (result.sync.system_message, more) if text and isinstance(text, str)]
    return "\n".join(texts)


def _groups(hooks: Mapping[str, Iterable[Any]]) -> dict[str, list[dict[str, Any]]]:
    return {event: [_group(event, matcher) for matcher in matchers] for event, matchers in hooks.items()}


def _group(event: str, given: HookCallbackMatcher | Mapping[str, Any]) -> dict[str, Any]:
    """Return a matcher as a group of the engine's configuration."""
    if isinstance(given, HookCallbackMatcher):
        given = {name: getattr(given, name) for name in ("matcher", "hooks", "timeout", "commands")}
    group = {key: value for key, value in given.items() if value}
    group["hooks"] = [adapted(hook, 3, _make_arguments, _read_answer) for hook in group.get("hooks", ())]
    row = TABLE.get(event)
    if row is not None and row.subject != "tool_name":
        group.pop("matcher", None)  # in Goat matchers are for tools; other events match all of them
    return group


def _fields(row: EventSpec, given: Any) -> dict[str, Any]:
    """Return the fields of an input: a mapping, an object with attributes, or None."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    return {name: getattr(given, name) for name in row.fields if hasattr(given, name)}


def _make_arguments(event: Event) -> Arguments:
    return _fired.get(), event.get("tool_use_id") or "", {"signal": None, "async_phase": event.get("async_phase", 1)}


def _read_answer(event: Event, _: Arguments, answer: Any) -> Reply:
    """Return whether to continue and whether to call again; the host reads the rest from the output."""
    try:
        output = HookJSONOutput.of(answer)
    except TypeError:
        return read_reply(event.row, answer, answer)  # the engine refuses it
    reply = read_reply(event.row, _words_of(output, event.row), output)
    return Reply(continue_=reply.continue_, again=reply.again, evidence=reply.evidence)


def _words_of(output: HookJSONOutput, row: EventSpec) -> dict[str, Any]:
    """Return an output with the keys of the JSON protocol; a specific part without an event means this one."""
    said = dict(output.raw) if isinstance(output.raw, Mapping) else output.to_dict()
    if said.get("decision") == "":
        del said["decision"]  # in Goat an empty decision is none
    specific = said.get("hookSpecificOutput")
    if isinstance(specific, Mapping) and not specific.get("hookEventName"):
        said["hookSpecificOutput"] = {**specific, "hookEventName": row.name}
    return said


def _output_of_result(result: Result) -> HookJSONOutput | None:
    """Return the output of a hook; None if it failed, unless its failure is a deny."""
    if not result.enforced:
        return None
    if result.error is not None:
        denied = SyncHookJSONOutput(decision="block", reason=result.reason)
        return HookJSONOutput(sync=denied) if result.decision == "deny" else None
    if result.status != "ok":
        return None
    if "said" in result.evidence:
        output: HookJSONOutput = result.evidence["said"]
        return output
    return HookJSONOutput.of(result.reply or {})


def _sync_of(reply: Reply) -> SyncHookJSONOutput:
    """Return the output for a reply of the engine, such as that of a command."""
    return SyncHookJSONOutput(
        continue_=reply.continue_,
        suppress_output=reply.suppress or None,
        stop_reason=reply.stop_reason,
        decision="approve" if reply.grants else reply.decision or "",
        system_message="\n".join(reply.context),
        reason=reply.reason,
    )
