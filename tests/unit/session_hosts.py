"""Two hosts for one scenario: a session on an event loop, and its twin without one.

A scenario is a coroutine function of a session. Without a loop it is driven to its end by hand, so whatever it awaits
must be there at once; a subagent's loop may be written as a coroutine function too.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from interpose import BegunAgent, BegunMessage, BegunTool, Hooks, Session, SyncSession

Scenario = Callable[[Any], Coroutine[Any, Any, Any]]
LS = {"command": "ls"}
RM = {"command": "rm -rf /"}


class Awaited:
    """A session without a loop whose methods can be awaited, for scenarios that are written once."""

    def __init__(self, session: Any) -> None:
        object.__setattr__(self, "_session", session)

    def __getattr__(self, name: str) -> Any:
        value = getattr(object.__getattribute__(self, "_session"), name)
        if isinstance(value, SyncSession):
            return Awaited(value)
        if not inspect.ismethod(value) or not any(
            inspect.iscoroutinefunction(getattr(kind, name, None))
            for kind in (Session, BegunTool, BegunMessage, BegunAgent)
        ):
            return value

        async def call(*arguments: Any, **keywords: Any) -> Any:
            made = value(*map(_plain, arguments), **keywords)
            return Awaited(made) if type(made).__name__.startswith("Blocking") else made

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_session"), name, value)


def _plain(value: Any) -> Any:
    if not inspect.iscoroutinefunction(value):
        return value

    def call(*given: Any) -> Any:
        assert not any(isinstance(one, Session) for one in given), "a session whose methods nobody can await"
        return drive(value(*(Awaited(one) if isinstance(one, SyncSession) else one for one in given)))

    return call


def drive(scenario: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits."""
    try:
        scenario.send(None)
    except StopIteration as end:
        return end.value
    scenario.close()
    raise AssertionError("waited where there is no event loop")


def on_a_loop(hooks: Hooks, scenario: Scenario, **options: Any) -> Any:
    """Play a scenario in a session on an event loop."""

    async def main() -> Any:
        async with hooks.session(**options) as session:
            return await scenario(session)

    return asyncio.run(main())


def without_a_loop(hooks: Hooks, scenario: Scenario, **options: Any) -> Any:
    """Play a scenario in a session without an event loop."""
    with hooks.session_sync(**options) as session:
        return drive(scenario(Awaited(session)))


both = pytest.mark.parametrize("play", [on_a_loop, without_a_loop], ids=["session", "session_sync"])
"""States a fact of both kinds of session."""


class Collector:
    """Hears every event, in order, without saying anything."""

    def __init__(self, hooks: Hooks) -> None:
        self.events: list[Any] = []
        for event in hooks.events:
            hooks.register(event, self.hear, inline=True, priority=1)

    def hear(self, event: Any) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        """The names of the events."""
        return [event.row.name for event in self.events]

    def of(self, name: str) -> list[Any]:
        """The events of one name."""
        return [event for event in self.events if event.row.name == name]


def saying(event: str, answer: Any, **options: Any) -> Hooks:
    """Return hooks of which one says something at an event."""
    hooks = Hooks()
    hooks.register(event, lambda _: answer, **{"inline": True, **options})
    return hooks


class Tool:
    """A tool that keeps what it was called with."""

    def __init__(self, result: Any = "done") -> None:
        self.calls: list[Any] = []
        self.result = result

    def __call__(self, given: Any) -> Any:
        self.calls.append(given)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


class Model:
    """A model that answers the same to everything and keeps what it was sent."""

    def __init__(self, answer: Any = "an answer") -> None:
        self.sent: list[tuple[str, str]] = []
        self.answer = answer

    def __call__(self, prompt: str, system: str) -> Any:
        self.sent.append((prompt, system))
        return self.answer

    @property
    def systems(self) -> list[str]:
        """The system prompts, one for each call."""
        return [system for _, system in self.sent]
