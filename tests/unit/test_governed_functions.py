"""Functions that are governed by hooks, without a framework."""

import asyncio
import functools
import inspect
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import pytest

from interpose import Event, Hooks, Reply, UsageError, allow, ask, context, deny, inject, modify
from interpose.adapters.functions import Refused, acting_as, governed


def hooks_with(handler: Any, event: str = "PreToolUse", **options: Any) -> Hooks:
    hooks = Hooks()
    hooks.register(event, handler, **options)
    return hooks


class Seen:
    """Hooks that write down the inputs of calls."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.hooks = hooks_with(self.note)

    def note(self, event: Event) -> None:
        self.inputs.append(dict(event.tool_input))


def changing(**fields: Any) -> Hooks:
    def change(event: Event) -> Reply:
        return modify(tool_input={**event.tool_input, **fields})

    return hooks_with(change)


def shell(cmd: str) -> str:
    """Run a command."""
    return f"ran: {cmd}"


async def ashell(cmd: str) -> str:
    await asyncio.sleep(0)
    return f"ran: {cmd}"


def everything(a: int, /, b: str, *rest: str, c: bool = False, **more: Any) -> list[Any]:
    return [a, b, rest, c, more]


def test_a_function_keeps_its_name_text_and_signature():
    [made] = governed(Hooks(), [everything])

    assert made.__name__ == "everything"
    assert made.__doc__ == everything.__doc__
    assert inspect.signature(made) == inspect.signature(everything)
    assert get_type_hints(made) == get_type_hints(everything)


def test_a_governed_function_does_not_lead_to_the_function_without_hooks():
    [made] = governed(Hooks(), [shell])

    assert inspect.unwrap(made) is made


def test_annotations_that_are_texts_are_types_for_the_framework():
    def late(when: "datetime", how: "Annotated[str, 'how']" = "x") -> "str":
        return ""

    [made] = governed(Hooks(), [late])

    assert inspect.signature(made).parameters["when"].annotation is datetime
    assert made.__annotations__["how"] == Annotated[str, "how"]


@pytest.mark.parametrize("function", [shell, ashell])
def test_a_hook_denies_a_function(function):
    [made] = governed(hooks_with(lambda event: deny("not here")), [function])

    made = asyncio.run(made("ls")) if inspect.iscoroutinefunction(made) else made("ls")

    assert made == f"{function.__name__} was not run: not here"


def test_a_refusal_is_raised_if_the_host_wants_that():
    [made] = governed(hooks_with(lambda event: deny("not here")), [shell], raises=True)

    with pytest.raises(Refused, match="not here"):
        made("ls")


def test_a_hook_rewrites_the_arguments_of_a_function():
    [made] = governed(changing(cmd="ls -la"), [shell])

    assert made("ls") == "ran: ls -la"


def test_hooks_see_all_arguments_by_name_with_defaults():
    seen = Seen()
    [made] = governed(seen.hooks, [everything])

    result = made(1, "two", "three", "four", d={"e": 5})

    assert seen.inputs == [{"a": 1, "b": "two", "rest": ["three", "four"], "c": False, "d": {"e": 5}}]
    assert result == [1, "two", ("three", "four"), False, {"d": {"e": 5}}]


def test_every_kind_of_parameter_can_be_rewritten():
    [made] = governed(changing(a=2, b="B", rest=["R"], c=True, d="D"), [everything])

    assert made(1, "two", d=4) == [2, "B", ("R",), True, {"d": "D"}]


def test_two_arguments_that_hooks_could_not_tell_apart_are_refused():
    [made] = governed(Hooks(), [everything])

    assert made(1, "b", a=3) == "two arguments are called a: hooks cannot tell them apart"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"cmd": 5}, "5 is not of type 'string'"),
        ({"other": "x"}, "'other' was unexpected"),
        ({"mode": "weird"}, "'weird' is not one of"),
        ({"many": ["x"]}, "'x' is not of type 'integer'"),
        ({"by_name": {"x": "y"}}, "'y' is not of type 'integer'"),
        ({"may_miss": "x"}, "'x' is not"),
        ({"token": "x"}, "False schema does not allow 'x'"),
    ],
)
def test_a_rewrite_that_does_not_fit_the_function_is_refused(fields, why):
    def typed(
        cmd: str, mode: Literal["a", "b"] = "a", many: list[int] = [], by_name: dict[str, int] = {},  # noqa: B006
        may_miss: int | None = None, token: Any = None,
    ) -> str:  # fmt: skip
        raise AssertionError("it ran")

    [made] = governed(changing(**fields), [typed], unseen=["token"])

    assert why in made("ls")


def test_a_rewrite_that_leaves_out_a_required_argument_is_refused():
    [made] = governed(hooks_with(lambda event: modify(tool_input={})), [shell])

    assert "'cmd' is a required property" in made("ls")


@dataclass
class Place:
    city: str


def visit(when: datetime, place: Place, note: str = "") -> str:
    return f"{when.year} {place.city} {note}"


NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)


def test_objects_are_json_for_hooks_and_objects_for_the_function():
    [made] = governed(changing(note="changed"), [visit])

    assert made(NOON, Place("Oslo")) == "2026 Oslo changed"


@pytest.mark.parametrize("field", ["when", "place"])
def test_an_object_cannot_be_rewritten(field):
    [made] = governed(changing(**{field: "2027-01-01"}), [visit])

    assert (
        made(NOON, Place("Oslo")) == f"a hook changed {field}, and only arguments that are JSON values can be changed"
    )


def test_an_object_that_hooks_cannot_see_is_refused_by_its_name():
    [made] = governed(Hooks(), [shell])

    refused = made(object())

    assert refused.startswith("shell was not run: its input cannot be shown to hooks: cmd:")


def test_unseen_parameters_reach_the_function_and_no_hook():
    seen, marker = Seen(), object()

    def with_context(ctx: object, cmd: str) -> bool:
        return ctx is marker

    [made] = governed(seen.hooks, [with_context], unseen=["ctx"])

    assert made(marker, "ls") is True
    assert seen.inputs == [{"cmd": "ls"}]


def test_a_default_that_is_no_json_stays_with_the_function():
    seen, marker = Seen(), object()

    def connect(cmd: str, client: object = marker) -> bool:
        return client is marker

    [made] = governed(seen.hooks, [connect])

    assert made("ls") is True
    assert seen.inputs == [{"cmd": "ls"}]


class Tools:
    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, cmd: str) -> str:
        self.ran.append(cmd)
        return cmd

    @staticmethod
    def fixed(cmd: str) -> str:
        return cmd

    async def __call__(self, cmd: str) -> str:
        return cmd


def test_methods_are_governed_on_their_object():
    tools = Tools()
    run, fixed = governed(changing(cmd="new"), [tools.run, tools.fixed])

    assert (run("old"), fixed("old"), tools.ran) == ("new", "new", ["new"])
    assert list(inspect.signature(run).parameters) == ["cmd"]


def test_a_mapping_names_what_has_no_name():
    named: dict[str, Any] = {"part": functools.partial(ashell), "called": Tools()}
    part, called = governed(changing(cmd="new"), named)

    assert (part.__name__, called.__name__) == ("part", "called")
    assert asyncio.run(part(cmd="old")) == "ran: new"
    assert asyncio.run(called("old")) == "new"


def numbers(to: int) -> Any:
    yield from range(to)


async def anumbers(to: int) -> Any:
    yield to


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ([lambda cmd: cmd], "it has no name"),
        ([functools.partial(shell)], "it has no name"),
        ([shell, shell], "two functions have its name"),
        ([numbers], "is a generator"),
        ([anumbers], "is a generator"),
        ([Tools], "is not a function"),
        ({"five": 5}, "is not a function"),
    ],
)
def test_what_cannot_be_governed_is_an_error_at_once(functions: Any, why: str):
    with pytest.raises(UsageError, match=why):
        governed(Hooks(), functions)


def test_a_function_cannot_pause():
    with pytest.raises(UsageError, match="a function cannot pause"):
        governed(Hooks(), [shell], ask="native")


def test_a_person_answers_and_edits():
    hooks = hooks_with(lambda event: ask("sure?"))

    assert governed(hooks, [shell])[0]("ls") == "shell was not run: sure? (there is no approver)"
    assert governed(hooks, [shell], ask=lambda question: True)[0]("ls") == "ran: ls"
    edited = governed(hooks, [shell], ask=lambda question: allow() + modify(tool_input={"cmd": "pwd"}))
    assert edited[0]("ls") == "ran: pwd"


def test_a_hook_that_cannot_be_asked_denies():
    def broken(event: Event) -> None:
        raise RuntimeError("broken")

    [made] = governed(hooks_with(broken, on_error="abort"), [shell])

    assert "was not run" in made("ls")


def test_a_plain_function_that_returns_a_coroutine_is_an_error_and_nothing_of_it_runs():
    ran = []

    async def later() -> None:
        ran.append(1)

    def plain(cmd: str) -> Any:
        return later()

    [made] = governed(Hooks(), [plain])

    with pytest.raises(TypeError, match="make it `async def`"):
        made("ls")
    assert ran == []


def test_an_error_of_the_function_is_raised_and_is_an_event():
    failures = []

    def fails(cmd: str) -> str:
        raise ValueError("the tool broke")

    [made] = governed(hooks_with(lambda event: failures.append(event.error), "PostToolUseFailure"), [fails])

    with pytest.raises(ValueError, match="the tool broke"):
        made("ls")
    assert failures == ["the tool broke"]


def test_a_result_keeps_its_type_unless_a_hook_changes_it():
    def count(cmd: str) -> dict[str, int]:
        return {"n": 1}

    [same] = governed(hooks_with(lambda event: None, "PostToolUse"), [count])
    [changed] = governed(hooks_with(lambda event: modify(tool_response={"n": 2}), "PostToolUse"), [count])

    assert same("x") == {"n": 1}
    assert changed("x") == {"n": 2}


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (context("look out"), '{"n": 1}\nlook out'),
        (inject("and this", strategy="user_message"), '{"n": 1}\nand this'),
    ],
)
def test_what_hooks_want_the_model_to_know_stands_below_the_result(reply, told):
    def count(cmd: str) -> dict[str, int]:
        return {"n": 1}

    [made] = governed(hooks_with(lambda event: reply, "PostToolUse"), [count])

    assert made("x") == told


def test_all_functions_of_one_list_share_a_session_which_can_be_ended():
    events: list[tuple[str, str]] = []
    hooks = Hooks()
    for name in ("SessionStart", "PreToolUse", "SessionEnd"):
        hooks.register(name, lambda event: events.append((event.hook_event_name, event.session_id)))

    tools = governed(hooks, [shell, ashell], conversation="one")
    tools[0]("ls")
    asyncio.run(tools[1]("ls"))
    tools.sessions.close_sync()

    assert events == [("SessionStart", "one"), ("PreToolUse", "one"), ("PreToolUse", "one"), ("SessionEnd", "one")]


def test_a_host_that_has_sessions_says_which_one_acts():
    seen: list[str] = []
    tools = governed(hooks_with(lambda event: seen.append(event.session_id)), [shell, ashell])

    async def host(name: str) -> None:
        session = await tools.sessions.get(name)
        with acting_as(session):
            tools[0]("ls")
            await tools[1]("ls")

    async def both() -> None:
        await asyncio.gather(host("one"), host("two"))

    asyncio.run(both())

    assert sorted(seen) == ["one", "one", "two", "two"]


def test_a_blocking_function_does_not_wait_for_a_session_that_its_own_loop_begins():
    async def slow_start(event: Event) -> None:
        await asyncio.sleep(0.01)

    blocking, other = governed(hooks_with(slow_start, "SessionStart"), [shell, ashell])

    async def both() -> list[str]:
        task = asyncio.ensure_future(other("a"))
        await asyncio.sleep(0)
        return [blocking("b"), await task]

    results: list[str] = []
    host = threading.Thread(target=lambda: results.extend(asyncio.run(both())), daemon=True)
    host.start()
    host.join(10)  # a loop that is blocked cannot be cancelled
    assert results == ["ran: b", "ran: a"]


def test_a_function_that_is_an_agent_is_one_for_hooks():
    events: list[tuple[str, Any]] = []
    hooks = Hooks()
    hooks.register("SubagentStart", lambda event: events.append(("start", event.agent_type)))
    hooks.register("PreToolUse", lambda event: events.append((event.tool_name, event.agent_id)))

    def helper(task: str) -> str:
        return str(tools[0](task))

    tools = governed(hooks, [shell, helper], agents={"helper": "researcher"})

    assert tools[1]("ls") == "ran: ls"
    assert [name for name, _ in events] == ["helper", "start", "shell"]
    assert events[1] == ("start", "researcher")
    assert events[0][1] != events[2][1]


def test_a_path_is_a_hook_file(tmp_path: Path):
    file = tmp_path / "hooks.yaml"
    file.write_text("hooks:\n  PreToolUse:\n    - {command: \"echo 'no' >&2; exit 2\"}\n", "utf-8")

    assert governed(file, [shell])[0]("ls") == "shell was not run: no"
