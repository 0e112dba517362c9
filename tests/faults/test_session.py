"""A session among hooks, tools and hosts that break, hang, lie and leave in the middle."""

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import alive
from tests.faults.hosts import BUSY, Program, eventually, program, within
from tests.unit.session_hosts import Collector, Model, Tool, both

from interpose import Hooks, UsageError, context, deny

LS = {"command": "ls"}


async def whole_session(session: Any) -> dict[str, Any]:
    """Do everything that a host can do, and say what became of it."""

    async def explore(child: Any, config: dict[str, Any]) -> str:
        answer = await child.tool("Read", {"file_path": "a"}, Tool())
        return f"child: {answer.content}"

    return {
        "prompt": (await session.prompt("hi")).ok,
        "message": (await session.message("hi", Model("an answer"))).content,
        "tool": (await session.tool("Bash", LS, Tool("a b"))).content,
        "broken tool": (await session.tool("Bash", LS, Tool(OSError("no disk")))).content,
        "write": (await session.write("a", "b", lambda path, content: "c1")).content,
        "spawn": (await session.spawn("explorer", explore)).content,
        "compact": (await session.compact(lambda instructions: "in short")).content,
        "phase": (await session.phase("act")).content,
        "render": (await session.render("v", {"a": 1})).content,
        "notify": (await session.notify("hi")).ok,
        "idle": (await session.teammate_idle("ann")).keep_going,
        "task": (await session.task_completed("1", "x")).ok,
        "stop": (await session.stop("bye")).keep_going,
    }


UNHARMED = {
    "prompt": True, "message": "an answer", "tool": "a b", "broken tool": "no disk", "write": "c1",
    "spawn": "child: done", "compact": "in short", "phase": "act", "render": {"a": 1}, "notify": True, "idle": False,
    "task": True, "stop": False,
}  # fmt: skip


def crashes(event: Any) -> None:
    raise ZeroDivisionError("oh no")


def exits(event: Any) -> None:
    sys.exit(3)


def changes_its_copy(event: Any) -> None:
    event.clear()
    event["tool_input"] = {"command": "rm -rf /"}


def answers_nonsense(event: Any) -> Any:
    return {"fromTheFuture": [event, object()]}


async def cancels_itself(event: Any) -> None:
    raise asyncio.CancelledError


async def crashes_later(event: Any) -> None:
    await asyncio.sleep(0)
    raise ZeroDivisionError("oh no")


class TestHooksThatMisbehaveEverywhere:
    @both
    @pytest.mark.parametrize(
        "hook",
        [crashes, exits, changes_its_copy, answers_nonsense, cancels_itself, crashes_later],
        ids=lambda h: h.__name__,
    )
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_a_session_goes_its_way(self, play: Any, hook: Any) -> None:
        hooks = Hooks()
        for event in hooks.events:
            hooks.register(event, hook, timeout=5)

        assert play(hooks, whole_session, show=lambda text: None) == UNHARMED

    @both
    @pytest.mark.slow
    def test_a_session_whose_hooks_hang_waits_for_each_and_goes_its_way(self, play: Any) -> None:
        hooks = Hooks()
        free = threading.Event()

        async def hangs(event: Any) -> None:
            await asyncio.sleep(60)

        for event in hooks.events:
            hooks.register(event, hangs, timeout=0.02)
            hooks.register(event, lambda event: free.wait(60) and None, timeout=0.02)

        try:
            with within(20 * BUSY):
                assert play(hooks, whole_session, show=lambda text: None) == UNHARMED
        finally:
            free.set()

    @both
    def test_guards_that_break_let_nothing_through(self, play: Any) -> None:
        hooks = Hooks()
        for event in hooks.events:
            hooks.register(event, crashes, on_error="abort", inline=True)

        did = play(hooks, whole_session, show=lambda text: None)

        assert {name for name, value in did.items() if value == UNHARMED[name]} == {"render", "notify", "idle", "stop"}
        assert "oh no" in did["tool"]

    @both
    @pytest.mark.parametrize("lie", [5, {"decision": "Allow"}, {"continue": "no"}, "deny"], ids=repr)
    def test_an_answer_that_cannot_be_understood_lets_no_tool_run(self, play: Any, lie: Any) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: lie, inline=True)
        tool = Tool()

        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, tool)).denied

        assert play(hooks, scenario, default="ask", mode="bypass", approver=lambda question: True) is True
        assert tool.calls == []

    @both
    def test_a_request_for_permission_whose_hook_breaks_is_for_the_person(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register("PermissionRequest", crashes, inline=True)

        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, Tool())).ok

        assert play(hooks, scenario, default="ask", approver=lambda question: True) is True
        assert play(hooks, scenario, default="ask") is False

    @both
    @pytest.mark.slow
    def test_commands_of_a_session_leave_no_process(self, play: Any, tmp_path: Path) -> None:
        hooks = Hooks()
        pids = tmp_path / "pids"
        for event in ("PreToolUse", "SessionEnd"):
            hooks.register(event, command=f"sleep 60 & echo $! $$ >> {pids}; sleep 60", timeout=4)

        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, Tool("a b"))).content

        assert play(hooks, scenario) == "a b"
        left = [int(pid) for pid in pids.read_text().split()]
        assert left
        assert eventually(lambda: not any(map(alive, left)))


class TestTools:
    @both
    @pytest.mark.parametrize("error", [StopIteration, RecursionError, MemoryError, ExceptionGroup("x", [OSError()])])
    def test_whatever_a_tool_raises_is_an_answer(self, play: Any, error: Any) -> None:
        tool = Tool(error if isinstance(error, Exception) else error("x"))

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, tool)

        answer = play(Hooks(), scenario)

        assert (answer.ok, answer.denied, bool(answer.reason)) == (False, False, True)

    @both
    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
    def test_an_interruption_is_told_and_goes_on(self, play: Any, error: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        seen: list[Any] = []

        async def scenario(session: Any) -> None:
            try:
                await session.tool("Bash", LS, Tool(error("x")))
            except error as passed:
                seen.append(passed)

        play(hooks, scenario)

        assert [type(passed) for passed in seen] == [error]
        [event] = heard.of("PostToolUseFailure")
        assert (event.is_interrupt, event.error) == (True, "x")
        assert heard.names[-1] == "SessionEnd"

    def test_a_call_that_is_cancelled_is_told_and_the_cancellation_goes_on(self) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def main() -> None:
            async with hooks.session() as session:
                runs = asyncio.Event()

                async def tool(given: Any) -> None:
                    runs.set()
                    await asyncio.Future()

                call = asyncio.ensure_future(session.tool("Bash", LS, tool))
                await runs.wait()
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call

        asyncio.run(main())

        assert heard.names == ["SessionStart", "Setup", "PreToolUse", "PostToolUseFailure", "SessionEnd"]
        assert heard.of("PostToolUseFailure")[0].is_interrupt is True

    @pytest.mark.parametrize("slow", ["PostToolUseFailure", "SessionEnd"])
    def test_a_second_cancellation_does_not_cut_short_what_is_told(self, slow: str) -> None:
        hooks = Hooks()
        begun, told = asyncio.Event(), []

        async def hear(event: Any) -> None:
            begun.set()
            await asyncio.sleep(0.05)
            told.append(event.row.name)

        hooks.register(slow, hear)

        async def main() -> None:
            async def host() -> None:
                async with hooks.session() as session:
                    await session.tool("Bash", LS, lambda given: asyncio.Future())

            task = asyncio.ensure_future(host())
            await asyncio.sleep(0)
            while not task.done():
                task.cancel()
                if begun.is_set():
                    break
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())

        assert told == [slow]

    def test_a_call_that_is_cancelled_after_the_session_is_cancelled_and_nothing_else(self) -> None:
        async def main() -> None:
            async with Hooks().session() as session:
                call = asyncio.ensure_future(session.tool("Bash", LS, lambda given: asyncio.Future()))
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

        asyncio.run(main())

    @both
    def test_a_result_that_cannot_be_copied_reaches_the_model(self, play: Any) -> None:
        """Hooks cannot look at it, and say so; the call goes on."""
        hooks = Hooks()
        hooks.register("PostToolUse", lambda event: context("seen"), inline=True)
        result = threading.Lock()

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool(result))

        answer = play(hooks, scenario)

        assert answer.content is result
        assert [(r.status, r.error and r.error.code) for r in answer.outcomes[-1].results] == [("failed", "payload")]


class TestHosts:
    @pytest.mark.parametrize("where", ["in a tool", "in a model call", "between", "in a hook", "in a subagent"])
    def test_a_host_that_is_cancelled_ends_its_session(self, where: str) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def main() -> None:
            waits = asyncio.Event()

            async def forever(*given: Any) -> None:
                waits.set()
                await asyncio.Future()

            if where == "in a hook":
                hooks.register("UserPromptSubmit", forever)
            steps: dict[str, Callable[[Any], Any]] = {
                "in a tool": lambda session: session.tool("Bash", LS, forever),
                "in a model call": lambda session: session.message("hi", forever),
                "between": lambda session: forever(),
                "in a hook": lambda session: session.prompt("hi"),
                "in a subagent": lambda session: session.spawn("explorer", forever),
            }

            async def host() -> None:
                async with hooks.session() as session:
                    await steps[where](session)

            task = asyncio.ensure_future(host())
            await waits.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())

        assert heard.names[-1] == "SessionEnd"
        assert heard.names.count("SessionEnd") == 1

    def test_a_host_that_is_cancelled_while_it_starts_ends_what_it_began(self) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def main() -> None:
            waits = asyncio.Event()

            async def forever(event: Any) -> None:
                waits.set()
                await asyncio.Future()

            hooks.register("SessionStart", forever)

            async def host() -> None:
                async with hooks.session():
                    raise AssertionError("never begun")

            task = asyncio.ensure_future(host())
            await waits.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())

        assert heard.names == ["SessionStart", "SessionEnd"]

    def test_a_time_limit_around_a_call_is_kept(self) -> None:
        async def main() -> None:
            async with Hooks().session() as session:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await session.tool("Bash", LS, lambda given: asyncio.Future())
                assert (await session.tool("Bash", LS, Tool())).ok

        with within(BUSY):
            asyncio.run(main())

    PROGRAM = """
        import time
        from interpose import Hooks
        hooks = Hooks()
        for event in ("SessionStart", "PostToolUseFailure", "SessionEnd"):
            hooks.register(event, lambda event: print(event.row.name, event.get("is_interrupt"), flush=True), inline=True)

        def tool(given):
            print("runs", flush=True)
            time.sleep(30)
    """

    @pytest.mark.parametrize("how", ["session_sync", "session"])
    def test_ctrl_c_is_told_and_ends_the_session(self, how: str) -> None:
        if how == "session":
            main = """
        import asyncio

        async def main():
            async with hooks.session() as session:
                async def tool(given):
                    print("runs", flush=True)
                    for _ in range(300):  # a signal that strikes just before the loop waits is seen after that wait
                        await asyncio.sleep(0.1)
                await session.tool("Bash", {}, tool)

        asyncio.run(main())
    """
        else:
            main = """
        with hooks.session_sync() as session:
            session.tool("Bash", {}, tool)
    """
        with Program(self.PROGRAM + main) as host:
            assert [host.line(), host.line()] == ["SessionStart None", "runs"]
            host.send(signal.SIGINT)
            status, said, complained = host.end()

        assert said.splitlines() == ["PostToolUseFailure True", "SessionEnd None"]
        assert "KeyboardInterrupt" in complained
        assert status != 0

    def test_a_program_that_forgets_its_session_ends(self) -> None:
        done = program(
            """
            from interpose import Hooks
            session = Hooks().session_sync()
            session.start()
            print(session.tool("Bash", {}, lambda given: "a b").content)
            """
        )

        assert (done.returncode, done.stdout, done.stderr) == (0, "a b\n", "")


class TestCrowds:
    def test_two_hundred_calls_at_once_keep_to_themselves(self) -> None:
        hooks = Hooks()
        asked: list[str] = []

        async def look(event: Any) -> Any:
            await asyncio.sleep(0)
            number = event.tool_input["number"]
            return deny(f"no {number}") if number % 4 == 0 else context(str(number))

        hooks.register("PreToolUse", look)

        async def approver(question: Any) -> bool:
            await asyncio.sleep(0)
            asked.append(question.tool_use_id)
            return int(question.tool_input["number"]) % 4 != 1

        async def tool(given: Any) -> str:
            await asyncio.sleep(0)
            if given["number"] % 4 == 2:
                raise OSError(f"broken {given['number']}")
            return f"result {given['number']}"

        async def main() -> Any:
            async with hooks.session(default="ask", approver=approver) as session:
                answers = await asyncio.gather(
                    *(session.tool("T", {"number": n}, tool, tool_use_id=f"t{n}") for n in range(200))
                )
                return answers, session.pending_context

        with within(20 * BUSY):
            answers, pending = asyncio.run(main())

        words = {0: "T was not run: no {}", 1: "T was not run: the person said no", 2: "broken {}", 3: "result {}"}
        assert [answer.content for answer in answers] == [words[n % 4].format(n) for n in range(200)]
        assert sorted(asked) == sorted(f"t{n}" for n in range(200) if n % 4)
        assert sorted(pending, key=int) == [str(n) for n in range(200) if n % 4]

    def test_threads_share_a_session(self) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: context(event.tool_use_id), inline=True)
        approver, model, wrong = Tool(True), Model(), []

        def work(session: Any, thread: int) -> None:
            for n in range(50):
                answer = session.tool("T", {"n": n}, lambda given: given["n"], tool_use_id=f"{thread}-{n}")
                spawned = (
                    session.spawn("explorer", lambda child, config: child.tool("T", {}, Tool()).ok)
                    if n % 10 == 0
                    else None
                )
                if answer.content != n or (spawned and spawned.content is not True):
                    wrong.append((thread, n, answer, spawned))
                if n % 7 == 0:
                    session.message("hi", model)

        with hooks.session_sync(default="ask", approver=approver) as session:
            threads = [threading.Thread(target=work, args=(session, number)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            session.message("hi", model)

        assert wrong == []
        got = [text for system in model.systems for text in system.split("\n") if text]
        assert sorted(got) == sorted(f"{thread}-{n}" for thread in range(8) for n in range(50))
        assert not hooks.engine.registry.snapshot.scopes

    def test_sessions_at_the_same_time_do_not_mix(self) -> None:
        hooks = Hooks()

        async def add(event: Any) -> Any:
            await asyncio.sleep(0)
            return context(event.session_id)

        hooks.register("UserPromptSubmit", add)
        models = [Model() for _ in range(20)]

        async def one(number: int) -> None:
            async with hooks.session(session_id=f"s{number}") as session:
                await session.prompt("hi")
                await asyncio.sleep(0)
                await session.message("hi", models[number])

        async def main() -> None:
            await asyncio.gather(*map(one, range(20)))

        asyncio.run(main())

        assert [model.systems for model in models] == [[f"s{number}"] for number in range(20)]


def test_a_session_without_a_loop_works_inside_one() -> None:
    """It stalls the loop meanwhile, and says the same."""
    hooks = Hooks()

    async def guard(event: Any) -> Any:
        await asyncio.sleep(0)
        return deny("no") if event.tool_input["command"] == "rm" else None

    hooks.register("PreToolUse", guard)

    async def main() -> list[bool]:
        with hooks.session_sync() as session:
            return [session.tool("Bash", {"command": line}, Tool()).ok for line in ("ls", "rm")]

    assert asyncio.run(main()) == [True, False]


def test_a_subagent_that_uses_its_session_afterwards_is_told_so() -> None:
    kept: list[Any] = []

    with Hooks().session_sync() as session:
        session.spawn("explorer", lambda child, config: kept.append(child))
        with pytest.raises(UsageError, match="this session is over"):
            kept[0].message("hi", Model())


def test_the_time_of_a_call_is_measured_without_its_hooks() -> None:
    hooks = Hooks()
    took: list[float] = []
    hooks.register("PreToolUse", lambda event: time.sleep(0.5), inline=True)
    hooks.register("PostToolUse", lambda event: took.append(event.duration_ms), inline=True)

    with hooks.session_sync() as session:
        session.tool("Bash", LS, Tool())

    assert 0 <= took[0] < 500
