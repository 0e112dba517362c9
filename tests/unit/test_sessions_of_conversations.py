"""The sessions of many conversations: found by id, begun once, ended when they are idle or too many."""

import asyncio
import threading
from typing import Any

import pytest
from tests.unit.session_hosts import Collector, Tool

from interpose import Hooks, Sessions, UsageError

LS = {"command": "ls"}


def of(heard: Collector, event: str) -> list[str]:
    return [one.session_id for one in heard.of(event)]


def age(session: Any, seconds: float) -> None:
    """Let a session have been used so long ago."""
    session._used_at -= seconds


def test_a_session_is_found_by_its_id_and_begun_once_by_many_tasks() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def slow(event: Any) -> None:
        await asyncio.sleep(0)

    hooks.register("SessionStart", slow)

    async def main() -> list[Any]:
        async with hooks.sessions(cwd="/") as sessions:
            found = await asyncio.gather(*(sessions.get(name) for name in ("a", "b", "a", "a", "b")))
            assert ("a" in sessions, "c" in sessions, len(sessions)) == (True, False, 2)
            return found

    found = asyncio.run(main())

    assert [session.session_id for session in found] == ["a", "b", "a", "a", "b"]
    assert found[0] is found[2] is found[3]
    assert found[0].cwd == "/"
    assert sorted(of(heard, "SessionStart")) == ["a", "b"]
    assert sorted(of(heard, "SessionEnd")) == ["a", "b"]


def test_many_threads_and_tasks_share_one_session() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def main() -> set[str]:
        async with hooks.sessions() as sessions:
            barrier = threading.Barrier(4)

            def in_a_thread() -> str:
                barrier.wait()
                with_state = sessions.get_sync("a")
                return str(with_state.tool("Bash", LS, Tool()).ok)

            threads = [asyncio.to_thread(in_a_thread) for _ in range(4)]
            return {*(await asyncio.gather(*threads)), str((await sessions.get("a")).session_id)}

    assert asyncio.run(main()) == {"True", "a"}
    assert (of(heard, "SessionStart"), of(heard, "SessionEnd")) == (["a"], ["a"])


def test_options_of_get_are_those_of_the_beginning() -> None:
    async def main() -> Any:
        async with Hooks().sessions(model="m1", default="ask") as sessions:
            first = await sessions.get("a", model="m2", source="resume")
            again = await sessions.get("a", model="m3")
            return first is again, first.model, first.source, first.default

    assert asyncio.run(main()) == (True, "m2", "resume", "ask")


def test_the_one_not_used_for_the_longest_time_goes_if_there_are_too_many() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def main() -> list[str]:
        async with hooks.sessions(keep=2) as sessions:
            for name in ("a", "b", "a", "c"):
                await sessions.get(name)
            ended = of(heard, "SessionEnd")
            await sessions.get("b")  # begun anew
            return ended

    assert asyncio.run(main()) == ["b"]
    assert of(heard, "SessionStart") == ["a", "b", "c", "b"]


def test_a_session_in_use_is_not_ended() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def main() -> None:
        async with hooks.sessions(keep=1, idle=60) as sessions:
            busy, running = await sessions.get("a"), asyncio.Event()
            ready = asyncio.Event()

            async def tool(given: Any) -> str:
                ready.set()
                await running.wait()
                return "x"

            task = asyncio.create_task(busy.tool("Bash", LS, tool))
            await ready.wait()
            half = await sessions.get("b")
            call = await half.begin_tool("Bash", LS)
            age(busy, 1000)
            age(half, 1000)
            await sessions.get("c")
            assert of(heard, "SessionEnd") == []

            running.set()
            assert (await task).ok
            assert (await call.done("x")).ok
            await sessions.get("d")
            assert sorted(of(heard, "SessionEnd")) == ["a", "b", "c"]

    asyncio.run(main())


def test_a_call_that_was_dropped_does_not_keep_a_session() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def main() -> None:
        async with hooks.sessions(idle=60) as sessions:
            session = await sessions.get("a")
            await session.begin_tool("Bash", LS)
            age(session, 1000)
            await sessions.get("b")
            assert of(heard, "SessionEnd") == ["a"]

    asyncio.run(main())


def test_an_idle_session_is_ended_by_itself() -> None:
    hooks = Hooks()
    ended = asyncio.Event()

    async def main() -> None:
        hooks.register("SessionEnd", lambda event: ended.set(), inline=True)
        async with hooks.sessions(idle=0.02) as sessions:
            await sessions.get("a")
            await asyncio.wait_for(ended.wait(), 10)
            assert len(sessions) == 0

    asyncio.run(main())


def test_without_a_loop_an_idle_session_is_ended_at_the_next_get() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    with hooks.sessions(idle=60) as sessions:
        session = sessions.get_sync("a")
        assert session.tool("Bash", LS, Tool()).ok
        age(session.inner, 100)
        sessions.get_sync("b")
        assert of(heard, "SessionEnd") == ["a"]
        sessions.end_sync("b", "done")
        sessions.end_sync("nobody")
        assert of(heard, "SessionEnd") == ["a", "b"]

    assert heard.of("SessionEnd")[1].reason == "done"


def test_a_beginning_that_was_cancelled_is_begun_by_the_next() -> None:
    hooks = Hooks()
    begun: list[asyncio.Event] = []
    go_on = True

    async def hangs(event: Any) -> None:
        begun[0].set()
        if not go_on:
            await asyncio.Event().wait()

    hooks.register("SessionStart", hangs, timeout=30)

    async def main() -> Any:
        nonlocal go_on
        begun.append(asyncio.Event())
        go_on = False
        async with hooks.sessions() as sessions:
            first = asyncio.create_task(sessions.get("a"))
            await begun[0].wait()
            second = asyncio.create_task(sessions.get("a"))
            await asyncio.sleep(0)
            go_on = True
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            return (await second).state

    assert asyncio.run(main()) == "running"


def test_a_caller_that_is_cancelled_while_it_waits_cancels_nothing() -> None:
    hooks = Hooks()

    async def main() -> Any:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def waits(event: Any) -> None:
            begun.set()
            await go_on.wait()

        hooks.register("SessionStart", waits)
        async with hooks.sessions() as sessions:
            first = asyncio.create_task(sessions.get("a"))
            await begun.wait()
            second = asyncio.create_task(sessions.get("a"))
            await asyncio.sleep(0)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            go_on.set()
            return (await first).state

    assert asyncio.run(main()) == "running"


def test_a_beginning_that_fails_is_raised_for_all_and_forgotten() -> None:
    hooks = Hooks()

    def breaks(outcome: Any) -> None:
        raise ZeroDivisionError

    async def main() -> Any:
        async with hooks.sessions() as sessions:
            for _ in range(2):
                with pytest.raises(ZeroDivisionError):
                    await sessions.get("a", on_outcome=breaks)
            return len(sessions), (await sessions.get("a")).state

    assert asyncio.run(main()) == (0, "running")


def test_a_session_that_the_host_has_ended_is_begun_anew() -> None:
    async def main() -> Any:
        async with Hooks().sessions() as sessions:
            first = await sessions.get("a")
            await first.end()
            second = await sessions.get("a")
            await sessions.end("a")
            return first is second, second.state, "a" in sessions

    assert asyncio.run(main()) == (False, "over", False)


def test_closed_sessions_are_not_begun_again() -> None:
    async def main() -> None:
        sessions = Hooks().sessions()
        await sessions.get("a")
        await sessions.close()
        await sessions.close()
        with pytest.raises(UsageError, match="these sessions are closed"):
            await sessions.get("a")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"keep": 0}, "keep: 0 is not a number of sessions"),
        ({"keep": True}, "keep: True is not"),
        ({"idle": 0}, "idle: 0 is not a number of seconds"),
        ({"idle": "1h"}, "idle: '1h' is not"),
        ({"idle": float("nan")}, "idle: nan is not"),
        ({"session_id": "a"}, "session_id: each conversation has its own"),
    ],
)
def test_options_that_cannot_work_are_errors(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Hooks().sessions(**options)


@pytest.mark.parametrize("id", ["", None, 5])
def test_a_conversation_is_named_by_text(id: Any) -> None:
    with Hooks().sessions() as sessions, pytest.raises(UsageError, match="a conversation is named by text"):
        sessions.get_sync(id)
    assert isinstance(sessions, Sessions)


def test_a_session_has_the_id_of_its_conversation() -> None:
    with Hooks().sessions() as sessions, pytest.raises(UsageError, match="each conversation has its own"):
        sessions.get_sync("a", session_id="b")
