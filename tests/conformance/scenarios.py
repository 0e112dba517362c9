"""A tiny runner: a scenario is an id, a sentence, an event, what each hook says, and everything the host is told.

    scenario(
        "S0-48", "a pre-hook that returns abort aborts the action",
        at("pre:tool", tool="shell"),
        [{"abort": True, "reason": "no"}],
        decision="deny", reason="no",
    )

A hook says what stands in its place: an answer, an exception that it raises, a function of the event that makes the
answer, ``HANGS``, ``Imported("module.function")``, or any of these in ``hook(...)`` with options. Hooks are called first, second, third and so on. What
a scenario does not write down must not happen: effects are compared whole, and every scenario is played with its hooks
written in every style.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import pytest

from interpose import Hooks, Outcome, Reply

HANGS = object()
"""What a hook says that never answers."""

TOO_LONG = 30.0
"""How many seconds it hangs. A host that is told later has waited for it."""


@dataclass(frozen=True)
class Imported:
    """A hook that is named by its path, not given."""

    path: str


ASYNC, SYNC, INLINE, NO_LOOP = "async", "sync", "inline", "without a loop"
STYLES = (ASYNC, SYNC, INLINE, NO_LOOP)
"""An async function, a function (in a thread), a function in the caller's task, a function where there is no loop."""
COMMAND, COMMAND_NO_LOOP = "command", "command without a loop"
"""A shell script that prints the answer, on one of the two hosts: for scenarios in which every hook says something that
JSON can say."""

NAMES = ("first", "second", "third", "fourth", "fifth")

SILENCE: dict[str, Any] = {
    "decision": "none",
    "reason": "",
    "granted": False,
    "changed": {},
    "context": [],
    "messages": [],
    "inject": [],
    "suppress_output": False,
    "keep_going": False,
    "continue_": True,
    "stop_reason": "",
    "interrupt": False,
    "ignored": [],
    "extra": {},
}
"""The effect of a firing in which nothing was said."""


@dataclass(frozen=True)
class At:
    """An event as the host fires it."""

    event: str
    fields: Mapping[str, Any]


def at(event: str, **fields: Any) -> At:
    return At(event, fields)


@dataclass(frozen=True)
class Says:
    """What one hook says, and the options it is registered with."""

    what: Any
    options: Mapping[str, Any] = field(default_factory=dict)


def hook(what: Any = None, **options: Any) -> Says:
    return Says(what, options)


def named(hooks: Iterable[Any]) -> list[Says]:
    """Return hooks with their names: first, second, third, unless they have one."""
    said = [one if isinstance(one, Says) else Says(one) for one in hooks]
    return [Says(one.what, {"name": name, **one.options}) for one, name in zip(said, NAMES[: len(said)], strict=True)]


@dataclass
class Played:
    """What came of a firing: the whole effect, who was called in which order, and what each of them was told."""

    outcome: Outcome
    effect: dict[str, Any]
    called: list[str]
    heard: list[dict[str, Any]]


@dataclass(frozen=True)
class Scenario:
    """One sentence of the specification."""

    sentence: str
    event: At
    hooks: list[Says]
    effect: dict[str, Any]
    settings: Mapping[str, Any]

    def play(self, style: str) -> dict[str, Any]:
        """Return the whole effect, with every hook written in one style."""
        return play(self.event, self.hooks, style, **self.settings).effect


def scenario(
    ids: str,
    sentence: str,
    event: At,
    hooks: Iterable[Any],
    *,
    settings: Mapping[str, Any] | None = None,
    **effect: Any,
) -> Any:
    """Return one row of a table, named after its requirements and its sentence."""
    speakers = named(hooks)
    everyone = [one.options["name"] for one in named(speakers)]
    whole = SILENCE | {"results": ["ok"] * len(speakers), "called": everyone, "in_time": True} | effect
    return pytest.param(Scenario(sentence, event, speakers, whole, settings or {}), id=f"{ids} {sentence}".strip())


def table(*rows: Any, styles: Iterable[str] = STYLES) -> Callable[[Any], Any]:
    """Give a test every row of a table; a row is one test, in which it is played in every style."""

    def mark(test: Callable[[Scenario, str], None]) -> Any:
        def every_style(scenario: Scenario) -> None:
            more = _commands(scenario) if tuple(styles) == STYLES else ()
            in_every_style(lambda style: test(scenario, style), (*styles, *more))

        every_style.__name__, every_style.__doc__ = test.__name__, test.__doc__
        return pytest.mark.parametrize("scenario", rows)(every_style)

    return mark


def in_every_style(test: Callable[[str], None], styles: Iterable[str] = STYLES) -> None:
    """Call a test with each style. What is raised is the first failure; a note names all styles that fail."""
    failed: dict[str, Exception] = {}
    for style in styles:
        try:
            test(style)
        except Exception as error:
            failed[style] = error
    for first in failed.values():
        first.add_note(f"styles that fail: {', '.join(failed)}")
        raise first


def play(event: At, hooks: Iterable[Any], style: str, /, **settings: Any) -> Played:
    """Fire one event through hooks that say what is given."""
    engine = Hooks(session_id="a session", **settings)
    with TemporaryDirectory() as scratch:
        return _play(engine, event, hooks, style, Path(scratch) / "called")


def _commands(scenario: Scenario) -> tuple[str, ...]:
    """Return the style in which a scenario's hooks can be commands: where nothing is said that is not JSON.

    Processes take most of the time of a table: the sentence of a scenario decides on which of the two hosts they run.
    """
    silent = all(one.what is None or type(one.what) is dict for one in scenario.hooks)
    plain = not any({"parallel", "async_", "inline", "type"} & one.options.keys() for one in scenario.hooks)
    try:
        same = all(json.loads(json.dumps(one.what)) == one.what for one in scenario.hooks) if silent else False
        json.dumps(dict(scenario.event.fields), allow_nan=False)
    except (TypeError, ValueError):
        return ()
    host = (COMMAND, COMMAND_NO_LOOP)[crc32(scenario.sentence.encode()) % 2]
    return (host,) if silent and plain and same and scenario.hooks else ()


def _script(what: Any, name: str, noted: Path) -> dict[str, Any]:
    """Return the options of a command that notes its call and prints its answer."""
    answer = "" if what is None else json.dumps(what)
    line = 'echo "$1" >>"$2"; read -r _; printf %s "$3"'
    return {
        "command": "/bin/sh",
        "args": ["-c", line, "sh", name, str(noted), answer],
        "isolation": "group",
        "cwd": "/",
    }


def _play(engine: Hooks, event: At, hooks: Iterable[Any], style: str, noted: Path) -> Played:
    called: list[str] = []
    heard: list[dict[str, Any]] = []
    release = threading.Event()
    for says in named(hooks):
        if style in (COMMAND, COMMAND_NO_LOOP):
            engine.register(event.event, **_script(says.what, says.options["name"], noted), **says.options)
            continue
        written = (
            says.what.path
            if isinstance(says.what, Imported)
            else _written(says.what, says.options["name"], style, called, heard, release)
        )
        engine.register(event.event, written, inline=style == INLINE, **says.options)
    began = time.monotonic()
    outcome = fired(engine, event, style)
    in_time = time.monotonic() - began < TOO_LONG / 2
    release.set()
    if noted.exists():
        called.extend(noted.read_text().splitlines())
    return Played(outcome, effect_of(outcome, event) | {"called": called, "in_time": in_time}, called, heard)


def fired(engine: Hooks, event: At, style: str = SYNC) -> Outcome:
    """Fire an event as a host with or without an event loop does."""
    if style in (NO_LOOP, COMMAND_NO_LOOP):
        return engine.fire_sync(event.event, **event.fields)

    async def host() -> Outcome:
        return await engine.fire(event.event, **event.fields)

    return asyncio.run(host())


def _written(
    what: Any, name: str, style: str, called: list[str], heard: list[dict[str, Any]], release: threading.Event
) -> Callable[[Any], Any]:
    """Return a hook in one style that notes its call and then says what it should."""

    def speak(event: Any) -> Any:
        called.append(name)
        if isinstance(what, BaseException):
            raise what
        answer = what(event) if callable(what) and not isinstance(what, Reply) else what
        heard.append(dict(event))
        return answer

    def function(event: Any) -> Any:
        answer = speak(event)
        if answer is HANGS:
            release.wait(TOO_LONG)
        return answer

    async def coroutine(event: Any) -> Any:
        answer = speak(event)
        if answer is HANGS:
            await asyncio.sleep(TOO_LONG)
        return answer

    return coroutine if style == ASYNC or (style == INLINE and what is HANGS) else function


def effect_of(outcome: Outcome, event: At) -> dict[str, Any]:
    """Return everything that an outcome tells the host to do."""
    before = Hooks(session_id="a session").fire_sync(event.event, **event.fields).input
    return {name: getattr(outcome, name) for name in SILENCE if name != "changed"} | {
        "changed": {
            name: value
            for name, value in outcome.input.items()
            if value != before.get(name) and (name != "tool_use_id" or name in event.fields)
        },
        "inject": [(item.content, item.strategy) for item in outcome.inject],
        "ignored": [(item.hook, item.wish) for item in outcome.ignored],
        "results": [fate(result) for result in outcome.results],
    }


def fate(result: Any) -> str:
    """Return what became of one hook: its status, why it failed, and the round if it is the second."""
    words = [result.status, result.error.code if result.error else "", "again" if result.round == 2 else ""]
    return " ".join(word for word in words if word)
