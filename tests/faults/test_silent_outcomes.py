"""Hooks that are silent are run without much ado; nobody must be able to tell by the outcome."""

import asyncio
import gc
import os
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import CALL, eventually
from tests.faults.silent_firings import Hook

from interpose import AuditStore, Hooks, Outcome, context, deny, modify
from interpose.audit.reader import open_store


@pytest.mark.parametrize("inline", [False, True])
def test_a_silent_firing_tells_of_every_hook(inline: bool) -> None:
    hooks = Hooks()

    async def hook(event: Any) -> None:
        return None

    for name in ("a", "b", "c"):
        hooks.register("PreToolUse", hook, name=name, inline=inline, on_error="abort" if name == "b" else None)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert [(result.hook, result.status, result.decision) for result in outcome.results] == [
        ("a", "ok", "none"), ("b", "ok", "none"), ("c", "ok", "none"),
    ]  # fmt: skip
    assert all(0 <= result.duration < 5 for result in outcome.results)
    assert outcome.results == outcome.results


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("speaks", [False, True])
def test_all_hooks_and_the_outcome_have_the_same_call_id(speaks: bool, inline: bool) -> None:
    hooks, seen = Hooks(), []

    async def hook(event: Any) -> None:
        seen.append(event.tool_use_id)

    async def last(event: Any) -> Any:
        seen.append(event["tool_use_id"])
        return context("said") if speaks else None

    for one in (hook, hook, last):
        hooks.register("PreToolUse", one, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert seen == [outcome.tool_use_id] * 3
    assert outcome.input["tool_use_id"] == outcome.input["tool_use_id"] == seen[0]


@pytest.mark.parametrize("inline", [False, True])
def test_an_event_that_a_hook_keeps_is_whole_whoever_has_read_the_outcome_before(inline: bool) -> None:
    hooks, kept = Hooks(), []

    async def hook(event: Any) -> None:
        kept.append(event)

    hooks.register("PreToolUse", hook, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))
    whole = dict(outcome.input)

    assert (kept[0].cwd, dict(kept[0])) == (os.getcwd(), whole)
    assert outcome.input == whole


@pytest.mark.parametrize("inline", [False, True])
def test_each_of_two_flat_mappings_is_a_copy_of_the_hooks_own(inline: bool) -> None:
    hooks, seen = Hooks(), list[Any]()
    given = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "mcp_server": {"name": "files"}}

    async def hook(event: Any) -> None:
        for name in ("tool_input", "mcp_server"):
            seen.append(dict(event[name]))
            event[name].clear()

    for name in ("a", "b"):
        hooks.register("PreToolUse", hook, name=name, inline=inline)

    asyncio.run(hooks.fire("PreToolUse", **given))

    assert seen == [{"command": "ls"}, {"name": "files"}] * 2
    assert given == {"tool_name": "Bash", "tool_input": {"command": "ls"}, "mcp_server": {"name": "files"}}


def test_what_a_hook_has_set_in_its_event_stays_however_often_that_is_read_as_a_whole() -> None:
    hooks, seen = Hooks(), list[Any]()

    async def hook(event: Any) -> None:
        len(event)
        event["cwd"] = "/elsewhere"
        seen.append(dict(event.items())["cwd"])

    hooks.register("PreToolUse", hook)

    asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert seen == ["/elsewhere"]


@pytest.mark.parametrize("inline", [False, True])
def test_a_field_of_any_name_reads_as_an_attribute_of_a_silent_outcome(inline: bool) -> None:
    hooks = Hooks()
    words = {"task": "t", "route": "r", "times": "x", "firing": "f", "depth": "d", "copiers": "c", "token": "k"}

    async def hook(event: Any) -> None:
        return None

    hooks.register("PreToolUse", hook, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL, **words))

    assert {word: getattr(outcome, word) for word in words} == words


def test_a_guard_that_was_run_through_looks_again_at_what_changed_afterwards() -> None:
    hooks = Hooks()

    async def guard(event: Any) -> Any:
        return deny("no") if event.tool_input["command"] == "rm" else None

    async def changes(event: Any) -> Any:
        return modify(tool_input={"command": "rm"})

    hooks.register("PreToolUse", guard, name="guard", on_error="abort")
    hooks.register("PreToolUse", changes, name="changes")

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert outcome.denied
    assert [(result.hook, result.round) for result in outcome.results] == [
        ("guard", 1), ("changes", 1), ("guard", 2),
    ]  # fmt: skip


def test_a_hook_that_waits_in_the_middle_is_timed_from_its_own_beginning() -> None:
    hooks = Hooks()

    async def silent(event: Any) -> None:
        return None

    async def waits(event: Any) -> None:
        await asyncio.sleep(30)

    for name, hook in {"a": silent, "b": waits, "c": silent}.items():
        hooks.register("PreToolUse", hook, name=name, timeout=0.6)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert [(result.hook, result.status) for result in outcome.results] == [
        ("a", "ok"), ("b", "timeout"), ("c", "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize("inline", [False, True])
def test_a_hook_that_holds_the_loop_past_its_deadline_is_late_although_it_is_silent(inline: bool) -> None:
    hooks = Hooks()

    async def holds(event: Any) -> None:
        time.sleep(0.05)  # noqa: ASYNC251 - that is its fault

    async def silent(event: Any) -> None:
        return None

    hooks.register("PreToolUse", holds, name="holds", timeout=0.02, inline=inline)
    hooks.register("PreToolUse", silent, name="silent", timeout=5, inline=inline)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert [(result.hook, result.status) for result in outcome.results] == [("holds", "timeout"), ("silent", "ok")]


def test_a_hook_that_had_failed_is_forgiven_when_it_is_silent() -> None:
    fails = [True, False, True]
    hooks = Hooks()

    async def hook(event: Any) -> None:
        if fails.pop(0):
            raise ValueError("boom")

    registered = hooks.register("PreToolUse", hook)

    async def main() -> list[int]:
        counts = []
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            counts.append(registered.health.failures)
        return counts

    assert asyncio.run(main()) == [1, 0, 1]


def test_hooks_of_several_lanes_are_run_in_their_order() -> None:
    hooks, seen = Hooks(), []

    def marks(name: str) -> Hook:
        async def hook(event: Any) -> None:
            seen.append(name)

        return hook

    for number in range(8):
        hooks.register("PreToolUse", marks(f"{number}"), name=f"{number}", inline=number // 2 % 2 == 0)

    outcome = asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert seen == [result.hook for result in outcome.results] == [f"{number}" for number in range(8)]


def test_observers_that_come_later_are_told_of_every_hook() -> None:
    hooks, told = Hooks(), []

    async def hook(event: Any) -> None:
        return None

    hooks.register("PreToolUse", hook)

    asyncio.run(hooks.fire("PreToolUse", **CALL))
    subscription = hooks.observe(lambda message: told.append(message["subtype"]))
    asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert eventually(lambda: told == ["hook_started", "hook_response"])
    subscription.close()


def test_a_loop_that_is_over_is_let_go_when_the_next_one_comes() -> None:
    hooks, loops = Hooks(), []

    async def hook(event: Any) -> None:
        return None

    async def main() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        for _ in range(3):
            await hooks.fire("PreToolUse", **CALL)
            await asyncio.sleep(0)

    hooks.register("PreToolUse", hook)

    for _ in range(5):
        asyncio.run(main())
    gc.collect()

    assert [loop() is not None for loop in loops[:-1]] == [False] * 4


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("late", [False, True], ids=["from the start", "later"])
def test_a_recorder_hears_of_every_firing_in_which_nobody_speaks(inline: bool, late: bool) -> None:
    hooks = Hooks()
    heard: list[str] = []

    async def silent(event: Any) -> None:
        pass

    hooks.register("PreToolUse", silent, inline=inline)

    async def main() -> None:
        if late:
            for _ in range(3):
                await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
        hooks.record(lambda outcome: heard.append(outcome.tool_name))
        for _ in range(3):
            await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})

    asyncio.run(main())

    assert heard == ["Bash"] * 3


def test_a_required_record_that_cannot_be_made_denies_what_nobody_speaks_about() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, inline=True)

    class Broken:
        required = True

        def __call__(self, outcome: Outcome) -> None:
            raise OSError("no disk")

    async def main() -> list[bool]:
        hooks.record(Broken())
        return [(await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})).allowed for _ in range(3)]

    assert asyncio.run(main()) == [False] * 3


def test_a_recorded_firing_inside_of_another_runs_its_hooks_once() -> None:
    hooks = Hooks()
    ran: list[str] = []
    heard: list[tuple[str, int]] = []

    async def outer(event: Any) -> None:
        for _ in range(2):
            await hooks.fire("PostToolUse", tool_name="Bash", tool_response="")

    async def inner(event: Any) -> None:
        ran.append("inner")

    hooks.register("PreToolUse", outer)
    hooks.register("PostToolUse", inner)
    hooks.record(lambda outcome: heard.append((outcome.event, len(outcome.results))))

    asyncio.run(hooks.fire("PreToolUse", tool_name="Bash", tool_input={}))

    assert ran == ["inner"] * 2
    assert heard == [("PostToolUse", 1), ("PostToolUse", 1), ("PreToolUse", 1)]


def test_the_store_has_the_runs_of_hooks_that_keep_silent(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.record(store := AuditStore(tmp_path / "audit.db"))
    hooks.register("PreToolUse", lambda event: None, name="silent", inline=True)

    async def main() -> None:
        for _ in range(3):
            await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})

    asyncio.run(main())
    store.close()

    with open_store(str(tmp_path / "audit.db")) as reader:
        assert [[run["hook"] for run in firing.runs] for firing in reader.firings()] == [["silent"]] * 3
