"""A session's methods: which events they fire, in which order, how it begins and ends, and mistakes in its use."""

import asyncio
import inspect
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from tests.unit.session_hosts import LS, Collector, Model, Tool, both

from interpose import Hooks, Session, SyncSession, UsageError
from interpose.errors import Problem
from interpose.session import SessionOptions


@both
def test_a_whole_session_fires_each_event_where_it_belongs(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def explore(child: Any, config: dict[str, Any]) -> str:
        await child.message("look around", Model())
        await child.tool("Read", {"file_path": "a"}, Tool())
        return "found it"

    async def scenario(session: Any) -> None:
        await session.prompt("fix it")
        await session.phase("act")
        await session.message("fix it", Model())
        await session.tool("Bash", LS, Tool())
        await session.tool("Bash", LS, Tool(OSError("no disk")))
        await session.write("a.py", "x", lambda path, content: "c1")
        await session.spawn("explorer", explore)
        await session.compact(lambda instructions: "in short")
        await session.render("timeline", {})
        await session.notify("done")
        await session.teammate_idle("ann", "blue")
        await session.task_completed("7", "fix it")
        await session.stop("bye")

    play(hooks, scenario, default="ask", approver=lambda question: True, show=lambda text: None)

    tool = ["PreToolUse", "PermissionRequest", "Notification"]
    assert heard.names == [
        "SessionStart", "Setup",
        "UserPromptSubmit",
        "pre:session:phase", "post:session:phase",
        "pre:message", "post:message",
        *tool, "PostToolUse",
        *tool, "PostToolUseFailure",
        "pre:git:write", "post:git:write",
        "pre:agent:spawn", "SubagentStart", "pre:message", "post:message", *tool, "PostToolUse", "SubagentStop",
        "post:agent:complete",
        "PreCompact", "PostCompact", "SessionStart",
        "pre:view:render", "Notification", "TeammateIdle", "TaskCompleted",
        "Stop",
        "SessionEnd",
    ]  # fmt: skip


@both
def test_every_event_says_whose_it_is(play: Any, tmp_path: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def explore(child: Any, config: dict[str, Any]) -> None:
        await child.tool("Read", {}, Tool())

    async def scenario(session: Any) -> None:
        await session.spawn("explorer", explore, agent_id="e1")

    play(hooks, scenario, session_id="s", cwd=tmp_path, mode="bypassPermissions", transcript_path="/t/s.jsonl")

    def whose(event: Any) -> tuple[Any, ...]:
        names = ("session_id", "cwd", "permission_mode", "transcript_path", "agent_id", "agent_type")
        return tuple(event.get(name) for name in names)

    ours = ("s", str(tmp_path), "bypassPermissions", "/t/s.jsonl", "main", None)
    its = (*ours[:4], "e1", "explorer")
    in_the_subagent = {"SubagentStart", "PreToolUse", "PostToolUse", "SubagentStop"}
    assert {event.row.name: whose(event) for event in heard.events} == {
        name: its if name in in_the_subagent else ours for name in heard.names
    }


CALLS = [
    ("prompt", ("hi",)),
    ("message", ("hi", Model())),
    ("tool", ("Bash", LS, Tool())),
    ("stop", ()),
    ("spawn", ("explorer", lambda child, config: None)),
    ("compact", (str,)),
    ("phase", ("act",)),
    ("write", ("a", "b", lambda path, content: "")),
    ("render", ("v", {})),
    ("notify", ("hi",)),
    ("setup", ()),
    ("teammate_idle", ("ann",)),
    ("task_completed", ("1", "x")),
]


class TestBeginningAndEnd:
    @both
    def test_a_session_that_is_resumed_needs_no_setup(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def scenario(session: Any) -> None:
            await session.setup("maintenance")

        play(hooks, scenario, source="resume", model="m", env_file="/e")

        assert heard.names == ["SessionStart", "Setup", "SessionEnd"]
        start, setup, end = heard.events
        assert (start.source, start.model, start.get("env_file")) == ("resume", "m", "/e")
        assert (setup.trigger, setup.get("env_file"), end.reason) == ("maintenance", "/e", "other")

    @both
    def test_a_session_that_was_ended_does_not_end_again(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def scenario(session: Any) -> list[Any]:
            return [await session.end("logout"), await session.end()]

        first, second = play(hooks, scenario)

        assert (first.ok, second) == (True, None)
        assert [event.reason for event in heard.of("SessionEnd")] == ["logout"]

    def test_two_who_end_it_at_once_end_it_once(self) -> None:
        hooks = Hooks()
        ends = []

        async def end(event: Any) -> None:
            await asyncio.sleep(0)
            ends.append(event)

        hooks.register("SessionEnd", end)

        async def main() -> None:
            async with hooks.session() as session:
                await asyncio.gather(session.end(), session.end())

        asyncio.run(main())

        assert len(ends) == 1

    @both
    def test_what_is_raised_inside_still_ends_the_session(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def scenario(session: Any) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            play(hooks, scenario)

        assert heard.names[-1] == "SessionEnd"

    @pytest.mark.parametrize(("method", "arguments"), CALLS, ids=[name for name, _ in CALLS])
    def test_what_is_called_outside_of_it_is_a_mistake(self, method: str, arguments: Any) -> None:
        session = Hooks().session_sync()
        call = getattr(session, method)

        with pytest.raises(UsageError, match="this session has not begun"):
            call(*arguments)
        with session:
            pass
        with pytest.raises(UsageError, match="this session is over"):
            call(*arguments)

    def test_one_that_runs_is_not_ended_by_who_would_begin_it_again(self) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        session = hooks.session_sync()
        session.start()

        with pytest.raises(UsageError, match="has begun already"), session:
            pass

        assert session.tool("Bash", LS, Tool()).ok
        assert "SessionEnd" not in heard.names

    @both
    def test_it_begins_once(self, play: Any) -> None:
        async def scenario(session: Any) -> None:
            await session.start()

        with pytest.raises(UsageError, match="has begun already"):
            play(Hooks(), scenario)


def test_a_session_that_is_cancelled_while_it_ends_tells_its_end_and_is_cancelled() -> None:
    told: list[str] = []

    async def main() -> None:
        begun, release = asyncio.Event(), asyncio.Event()

        async def hear(event: Any) -> None:
            begun.set()
            await release.wait()
            told.append(event.reason)

        hooks = Hooks()
        hooks.register("SessionEnd", hear)
        session = hooks.session()
        await session.start()
        ending = asyncio.create_task(session.end("logout"))
        await begun.wait()
        ending.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await ending

    asyncio.run(main())

    assert told == ["logout"]


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"default": "deny"}, "default: 'deny' is neither allow nor ask"),
            ({"mode": "plam"}, r"mode: 'plam' is not a permission mode \(did you mean plan\?\)"),
            ({"rules": {"Bash(ls)": "yes"}}, r"rules: 'yes' for Bash\(ls\) is not an answer \(allow, ask or deny\)"),
            ({"rules": {"Bash(ls": "deny"}}, r"rules: 'Bash\(ls' has no closing parenthesis"),
            ({"rules": {" ": "deny"}}, "rules: a rule without text"),
            ({"max_continues": -1}, "max_continues: -1 is not a number of times"),
            ({"max_continues": True}, "max_continues: True is not a number of times"),
            ({"show": asyncio.sleep}, "show: an asynchronous function cannot be used"),
        ],
    )
    def test_an_option_that_means_nothing_is_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            Hooks().session(**options)

    @both
    def test_a_mode_is_checked_when_it_is_set(self, play: Any) -> None:
        async def scenario(session: Any) -> str:
            session.mode = "plan"
            for word, hint in [("plann", "did you mean plan?"), ("x", "default, acceptEdits, plan, bypass")]:
                with pytest.raises(UsageError) as caught:
                    session.mode = word
                assert caught.value.problem == Problem(f"mode: {word!r} is not a permission mode", hint=hint)
            mode: str = session.mode
            return mode

        assert play(Hooks(), scenario) == "plan"

    def test_what_a_session_without_a_loop_keeps_to_itself_cannot_be_read(self) -> None:
        with pytest.raises(AttributeError, match="_engine"):
            _ = Hooks().session_sync()._engine

    def test_what_a_session_without_a_loop_does_not_have_cannot_be_set(self) -> None:
        with pytest.raises(AttributeError, match="a session has no 'modus'"):
            Hooks().session_sync().modus = "plan"

    @pytest.mark.parametrize("name", ["session", "session_sync"])
    @pytest.mark.parametrize(
        ("old", "new", "value"),
        [("asker", "approver", lambda question: True), ("most_keep_goings", "max_continues", 2)],
    )
    def test_the_old_name_of_an_option_is_read_with_a_warning(self, name: str, old: str, new: str, value: Any) -> None:
        make: Any = getattr(Hooks(), name)

        with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now") as warned:
            session = make(**{old: value})
        with pytest.raises(UsageError, match=f"{old} is the old name of {new}: only one can be given"):
            make(**{old: value, new: value})

        assert getattr(session, new) is value
        assert [warning.filename for warning in warned] == [__file__]

    @pytest.mark.parametrize("name", ["session", "session_sync"])
    def test_the_old_name_of_an_attribute_is_the_new_one_with_a_warning(self, name: str) -> None:
        session = getattr(Hooks(), name)(approver=lambda question: True)

        with pytest.warns(DeprecationWarning, match="asker is called approver now"):
            session.asker = None
        with pytest.warns(DeprecationWarning, match="most_keep_goings is called max_continues now"):
            assert session.most_keep_goings == session.max_continues

        assert session.approver is None

    def test_the_options_are_those_that_a_session_takes(self) -> None:
        taken = set(inspect.signature(Session).parameters)

        assert taken - {"engine", "backend", "parent"} == set(SessionOptions.__annotations__)

    @both
    def test_a_kind_of_tool_that_does_not_exist_is_refused(self, play: Any) -> None:
        async def scenario(session: Any) -> None:
            await session.tool("Bash", LS, Tool(), kind="reads")

        with pytest.raises(UsageError, match="kind: 'reads' is not a kind of tool"):
            play(Hooks(), scenario)


class TestWithoutALoop:
    @pytest.mark.parametrize(
        "scenario",
        [
            lambda session, function: session.tool("Bash", LS, function),
            lambda session, function: session.message("hi", function),
            lambda session, function: session.compact(function),
            lambda session, function: session.write("a", "b", function),
            lambda session, function: session.spawn("explorer", function),
        ],
        ids=["tool", "message", "compact", "write", "spawn"],
    )
    def test_an_asynchronous_function_is_a_mistake_that_says_so(self, scenario: Any) -> None:
        async def function(*given: Any) -> None:
            raise AssertionError("must not run")

        with (
            Hooks().session_sync() as session,
            pytest.raises(UsageError, match=r"function is asynchronous, this session is not \(use hooks.session\(\)"),
        ):
            scenario(session, function)

    def test_an_asynchronous_approver_is_a_mistake_that_says_so(self) -> None:
        async def approver(question: Any) -> bool:
            raise AssertionError("must not run")

        with (
            Hooks().session_sync(default="ask", approver=approver) as session,
            pytest.raises(UsageError, match="approver is asynchronous"),
        ):
            session.tool("Bash", LS, Tool())

    def test_no_event_loop_is_loaded_for_it(self) -> None:
        program = """
            import sys
            from interpose import Hooks, deny
            hooks = Hooks()
            hooks.register("PreToolUse", lambda event: deny("no") if "rm" in event.tool_input["command"] else None)
            with hooks.session_sync(default="ask", approver=lambda question: True) as session:
                session.prompt("hi")
                session.message("hi", lambda prompt, system: "yes")
                print(session.tool("Bash", {"command": "ls"}, lambda given: "a b").content)
                print(session.tool("Bash", {"command": "rm"}, lambda given: "a b").content)
                print(session.spawn("explorer", lambda child, config: "found").content)
                session.stop()
            print("asyncio" in sys.modules)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=True
        )

        assert done.stdout.splitlines() == ["a b", "Bash was not run: no", "found", "False"]

    def test_what_the_session_knows_can_be_read(self) -> None:
        with Hooks().session_sync(session_id="s", cwd="/") as session:
            assert (session.session_id, session.cwd, session.halted, session.pending_context) == ("s", "/", "", ())


def test_a_session_that_is_joined_fires_nothing_of_its_own() -> None:
    hooks, events = Hooks(), []
    hooks.record(lambda outcome: events.append(outcome.event))

    async def host() -> None:
        session = hooks.session(session_id="begun elsewhere")
        session.join()
        await session.tool("Read", {"file_path": "a"}, lambda given: "text")
        with pytest.raises(UsageError, match="has begun already"):
            session.join()

    asyncio.run(host())

    assert events == ["PreToolUse", "PostToolUse"]


@pytest.mark.parametrize("over", [False, True], ids=["new", "over"])
def test_a_session_that_does_not_run_acts_as_nobody_else(over: bool) -> None:
    session = Hooks().session_sync()
    if over:
        session.start()
        session.end()

    with pytest.raises(UsageError, match="this session"):
        session.act_as("scout")


def test_a_session_shows_its_id_its_agent_and_whether_it_runs() -> None:
    session = Hooks().session_sync(session_id="s1", agent_id="scout")

    shown = [repr(session)]
    session.start()
    shown.append(repr(session))
    session.end()
    shown.append(repr(session.inner))

    assert shown == [
        "<SyncSession of <Session s1 of the agent 'scout': not begun>>",
        "<SyncSession of <Session s1 of the agent 'scout': running>>",
        "<Session s1 of the agent 'scout': over>",
    ]


def test_a_method_that_a_session_does_not_have_is_named_beside_the_class_that_the_host_knows() -> None:
    session = Hooks().session_sync()

    with pytest.raises(AttributeError) as raised:
        session.prommpt("hello")

    assert str(raised.value) == "SyncSession has no 'prommpt'"
    assert (raised.value.name, raised.value.obj) == ("prommpt", session)  # Python suggests a name from these
    assert {"prompt", "mode", "begin_tool"} <= set(dir(session))


@pytest.mark.parametrize("name", ["prompt", "tool", "message", "begin_tool", "begin_message", "begin_agent", "resume"])
def test_a_blocking_method_shows_the_parameters_of_the_coroutine(name: str) -> None:
    blocking, coroutine = (inspect.signature(getattr(face, name)) for face in (SyncSession, Session))

    assert blocking.parameters == coroutine.parameters
    assert blocking.return_annotation == coroutine.return_annotation.replace("Begun", "Blocking")
