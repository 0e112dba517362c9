"""Context variables and thread locals: the caller's reach the hook, and the hook's do not reach the host."""

import asyncio
import threading
from contextvars import ContextVar
from typing import Any

import pytest
from tests.faults.hosts import CALL, WAYS, Way, run

from interpose import Hooks

every_way = pytest.mark.parametrize("way", WAYS, ids=str)

word: ContextVar[str] = ContextVar("word", default="nobody's")


@every_way
def test_the_callers_context_variables_reach_the_hook(way: Way) -> None:
    """Fault 150."""
    seen: list[str] = []
    hooks = Hooks()
    way.register(hooks, lambda event: seen.append(word.get()))

    async def host() -> None:
        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)

    if way.loop:
        run(host())
    else:
        token = word.set("the host's")
        hooks.fire_sync("PreToolUse", **CALL)
        word.reset(token)

    assert seen == ["the host's"]


@pytest.mark.parametrize("awaits", [False, True])
def test_the_callers_context_variables_reach_a_hook_in_the_background(awaits: bool) -> None:
    """Fault 150: also that of a host whose loop it does not share."""
    seen: list[str] = []
    ended = threading.Event()

    def look(event: Any) -> None:
        seen.append(word.get())
        ended.set()

    async def look_async(event: Any) -> None:
        look(event)

    hooks = Hooks()
    hooks.register("PreToolUse", look_async if awaits else look, async_=True)

    token = word.set("the host's")
    hooks.fire_sync("PreToolUse", **CALL)
    word.reset(token)

    assert ended.wait(30)
    assert seen == ["the host's"]


def sets_the_word(event: Any) -> None:
    word.set("the hook's")


@every_way
def test_what_a_hook_sets_is_not_seen_by_the_host(way: Way) -> None:
    """Fault 150: neither while the firing lasts nor afterwards."""
    hooks = Hooks()
    way.register(hooks, sets_the_word)

    async def host() -> str:
        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)
        return word.get()

    if way.loop:
        assert run(host()) == "the host's"
    else:
        token = word.set("the host's")
        hooks.fire_sync("PreToolUse", **CALL)
        after = word.get()
        word.reset(token)
        assert after == "the host's"


@pytest.mark.parametrize("way", [way for way in WAYS if not way.inline and not (way.loop and way.awaits)], ids=str)
def test_what_a_hook_stores_in_its_thread_is_not_seen_by_the_host(way: Way) -> None:
    """Fault 150: where a hook has a thread of its own."""
    local = threading.local()

    way.outcome(lambda event: setattr(local, "word", "the hook's"))

    assert not hasattr(local, "word")


def test_what_an_inline_coroutine_sets_after_a_pause_is_not_seen_by_the_host() -> None:
    """Fault 150: it goes on in the context that it began in."""
    seen: list[str] = []

    async def hook(event: Any) -> None:
        word.set("first")
        await asyncio.sleep(0)
        seen.append(word.get())
        word.set("second")
        await asyncio.sleep(0.001)
        seen.append(word.get())

    async def host() -> str:
        hooks = Hooks()
        hooks.register("PreToolUse", hook, inline=True)
        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)
        return word.get()

    assert run(host()) == "the host's"
    assert seen == ["first", "second"]


def test_context_variables_still_reach_hooks_after_one_was_left_behind() -> None:
    """Fault 150: the firing goes on in a new thread and a new task, in the caller's context."""
    release, seen = threading.Event(), []

    async def host() -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(5), timeout=0.05)
        hooks.register("PreToolUse", lambda event: seen.append(word.get()))

        @hooks.on("PreToolUse")
        async def coroutine(event: Any) -> None:
            seen.append(word.get())

        word.set("the host's")
        await hooks.fire("PreToolUse", **CALL)
        release.set()

    run(host())

    assert seen == ["the host's"] * 2


def test_a_thread_keeps_nothing_of_the_last_callers_context() -> None:
    """Fault 150: the next job of the same thread runs in the context of its own caller."""
    seen: list[str] = []
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def hook(event: Any) -> None:
        seen.append(word.get())
        word.set("left over")

    for _ in range(20):
        hooks.fire_sync("PreToolUse", **CALL)

    assert seen == ["nobody's"] * 20
