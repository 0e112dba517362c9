"""Fire one hook or a whole configuration from a test, make an event, and record what an engine does."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from ..errors import BadEvent, UnknownEvent
from ..event import Event, event_of
from ..events import TABLE, Table
from ..hooks import Hooks
from ..ids import new_id
from ..model import Hook, Outcome, Template
from ..telemetry.lifecycle import Subscription

__all__ = ["OutcomeCapture", "engine_of", "event", "fire"]

SESSION = f"test-{new_id()}"
"""Another in every process: hooks that count must not go on where the last run ended."""

Target = Hooks | Hook | Callable[..., Any] | str | os.PathLike[str] | list[str]


def fire(target: Target, event: str | Event, /, **fields: Any) -> Outcome:
    """Fire an event through a hook and return the outcome.

    The target is a function as it would be registered, a Hook, a program (the path of a script, a command line as in
    ``handler:``, or a list of words), or a ``Hooks`` with everything that is registered there. An async hook can be
    fired from a plain test.
    """
    if isinstance(event, Event):
        name, fields = event.row.name, {**event, **fields}
    else:
        name = event
    return engine_of(target, name).fire_sync(name, **fields)


def engine_of(target: Target, event: str) -> Hooks:
    """Return an engine with this hook alone, or the engine itself."""
    if isinstance(target, Hooks):
        return target
    hooks = Hooks(session_id=SESSION)
    if isinstance(target, Hook):
        _check_event(target, event)
        # With its matcher, its condition and whether it is enabled.
        hooks.engine.registry.add([target])
    elif isinstance(target, os.PathLike):
        # One word, so that a path with a space is not split.
        path = os.path.abspath(os.fspath(target))
        hooks.register(event, [path], type="command", name=os.path.basename(path))
    elif isinstance(target, (str, list)):
        hooks.register(event, target, type="command")
    else:
        hooks.register(event, target)
    return hooks


def _check_event(hook: Hook, event: str) -> None:
    if event not in (hook.row.name, *hook.row.aliases):
        raise BadEvent(f"{hook.label} is a hook of {hook.row.name}, not of {event}", hint=f"fire {hook.row.name}")


def event(name: str, /, *, events: Table = TABLE, **fields: Any) -> Event:
    """Return an event as a hook gets it, for calling a hook's function directly."""
    row, suffix = events.find(name)
    if suffix is not None:
        raise UnknownEvent(f"{name} cannot be fired", hint=f"make {row.name} with {row.subject}={suffix!r}")
    for word, meant in row.words.items():
        if word in fields and meant not in fields:
            fields[meant] = fields.pop(word)
    return event_of(row, Template(row, SESSION).complete(fields))


class OutcomeCapture:
    """Collects what an engine does during a block.

        with OutcomeCapture(hooks) as seen:
            run_my_agent(hooks)
        assert [outcome.event for outcome in seen.outcomes] == ["PreToolUse", "PostToolUse"]

    ``outcomes`` has every outcome, ``messages`` the lifecycle messages of every hook, both in order.
    """

    def __init__(self, hooks: Hooks) -> None:
        self.outcomes: list[Outcome] = []
        self._messages: list[dict[str, Any]] = []
        self._hooks = hooks
        self._before: Any = None
        self._subscription: Subscription | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The lifecycle messages so far; waits for those that are being delivered."""
        if self._subscription is not None:
            self._subscription.flush()
        return self._messages

    def of(self, event: str) -> list[Outcome]:
        """Return the outcomes of one event."""
        row, _ = self._hooks.events.find(event)
        return [outcome for outcome in self.outcomes if outcome.event == row.name]

    def __enter__(self) -> Self:
        self._before = self._hooks.engine.recorder
        self._hooks.record(self._record)
        self._subscription = self._hooks.observe(self._messages.append)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hooks.record(self._before)
        if self._subscription is not None:
            self._subscription.flush()
            self._subscription.close()

    def _record(self, outcome: Outcome) -> Any:
        self.outcomes.append(outcome)
        # The host's own recorder is called as before; the engine waits for what it returns.
        return self._before(outcome) if self._before is not None else None
