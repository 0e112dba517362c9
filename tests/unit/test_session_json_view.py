"""What hooks see of the objects of a framework, and what happens if they cannot see them."""

import dataclasses
import datetime
import enum
import json
import uuid
from collections import OrderedDict, UserDict, deque, namedtuple
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import pytest
from tests.unit.session_hosts import Collector, Tool, both, saying

from interpose import CannotShow, Hooks, ask, context, json_view, later, modify

Point = namedtuple("Point", "x y")  # noqa: PYI024 - as frameworks have them


class Color(enum.Enum):
    RED = "red"


class Level(str, enum.Enum):  # noqa: UP042 - as frameworks have them
    HIGH = "high"


class Flag(enum.IntEnum):
    ON = 1


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


@dataclasses.dataclass
class Order:
    item: str
    count: int = 1
    parts: list[Any] = dataclasses.field(default_factory=list, repr=False)
    limit: ClassVar[int] = 5


class Model:
    """As a model of Pydantic looks: an export that leaves a field out must not hide it."""

    model_fields: ClassVar[dict[str, Any]] = {"name": None, "secret": None}
    model_extra: ClassVar[dict[str, Any]] = {"more": 1}
    more = 1

    def __init__(self, name: str, secret: Any) -> None:
        self.name, self.secret = name, secret

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {"name": self.name}


class Secret:
    def get_secret_value(self) -> str:
        return "hunter2"

    def __str__(self) -> str:
        return "**********"


class Content:
    def to_dict(self) -> dict[str, Any]:
        return {"type": "text", "when": datetime.date(2026, 1, 2)}


SHOWN: list[Any] = [
    (None, None), (True, True), (5, 5), (1.5, 1.5), ("x", "x"), (float("inf"), "inf"), (10**30, 10**30),
    (Text("plain"), "plain"), (Flag.ON, 1), (Color.RED, "red"), (Level.HIGH, "high"),
    (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
    (datetime.date(2026, 1, 2), "2026-01-02"), (datetime.time(3, 4), "03:04:00"), (datetime.timedelta(minutes=2), 120.0),
    (Decimal("1.10"), "1.10"), (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (Path("/a/b"), "/a/b"), (PurePosixPath("c"), "c"), (b"text", "text"), (bytearray(b"text"), "text"),
    (b"\xff\x00", {"base64": "/wA="}), (memoryview(b"ab"), "ab"),
    ((1, 2), [1, 2]), ({3, 1, 2}, [1, 2, 3]), (frozenset("ba"), ["a", "b"]), (range(3), [0, 1, 2]),
    (OrderedDict(a=(1,)), {"a": [1]}), (UserDict({"a": 1}), {"a": 1}), (Point(1, b"y"), {"x": 1, "y": "y"}),
    ({1: "a", None: "b", False: "c", Color.RED: "d", 2.5: "e"}, {"1": "a", "null": "b", "false": "c", "red": "d", "2.5": "e"}),
    (Order("tea", parts=[Path("p")]), {"item": "tea", "count": 1, "parts": ["p"]}),
    (Model("ann", Color.RED), {"name": "ann", "secret": "red", "more": 1}), (Secret(), "**********"),
    (Content(), {"type": "text", "when": "2026-01-02"}), (OSError("no"), "OSError: no"),
    ({"deep": [{"order": Order("x")}]}, {"deep": [{"order": {"item": "x", "count": 1, "parts": []}}]}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=lambda value: type(value).__name__)
def test_an_object_is_shown_as_json(value: Any, shown: Any) -> None:
    made = json_view(value)

    assert made == shown
    assert type(made) is type(shown)
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_a_real_model_of_pydantic_is_shown_with_all_its_fields() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        day: datetime.date

    class Outer(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        model_config = pydantic.ConfigDict(extra="allow")
        inner: Inner
        hidden: str = pydantic.Field("x", exclude=True)
        key: Any = pydantic.SecretStr("hunter2")

    value = Outer(inner=Inner(day=datetime.date(2026, 1, 2)), more=Path("p"))

    assert json_view(value) == {"inner": {"day": "2026-01-02"}, "hidden": "x", "key": "**********", "more": "p"}


class Breaks:
    def to_dict(self) -> Any:
        raise ZeroDivisionError


NOT_SHOWN: list[Any] = [
    ({"a": [1, object()]}, "a[1]: a value of type object has no JSON view"),
    ({"a": {"b": print}}, "a.b: a value of type builtin_function_or_method has no JSON view"),
    (object(), "a value of type object has no JSON view"),
    ({"order": Order("x", parts=[iter("ab")])}, "order.parts[0]: a value of type str_ascii_iterator has no JSON view"),
    ({"a": (x for x in "ab")}, "a: a value of type generator has no JSON view"),
    ({"a": deque([1])}, "a: a value of type deque has no JSON view"),
    ({"a": Order}, "a: a value of type type has no JSON view"),
    ({"a": Breaks()}, "a: a value of type Breaks raised ZeroDivisionError"),
    ({"a": {(1, 2): 3}}, "a: a value of type tuple cannot be the name of a field"),
    ({"a": {1: 1, "1": 2}}, "a: two keys are both written as '1'"),
    ({"a": 1j}, "a: a value of type complex has no JSON view"),
]


@pytest.mark.parametrize(("value", "told"), NOT_SHOWN, ids=[told for _, told in NOT_SHOWN])
def test_what_cannot_be_shown_is_named_with_its_field(value: Any, told: str) -> None:
    with pytest.raises(CannotShow) as raised:
        json_view(value)

    assert raised.value.problem.what.replace("str_iterator", "str_ascii_iterator") == told


def test_a_value_within_itself_is_not_followed_for_ever() -> None:
    value: dict[str, Any] = {}
    value["self"] = value

    with pytest.raises(CannotShow, match="nested deeper than 100 levels, or within itself"):
        json_view(value)


# In a session.

ORDER = Order("tea", parts=[Path("/tmp/x")])
AS_JSON = {"order": {"item": "tea", "count": 1, "parts": ["/tmp/x"]}}


@both
def test_hooks_see_json_and_the_tool_gets_the_object(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)
    given, tool = {"order": ORDER}, Tool({"made": ORDER})

    async def scenario(session: Any) -> Any:
        return await session.tool("buy", given, tool)

    answer = play(hooks, scenario, view=json_view)

    assert tool.calls[0] is given
    assert answer.content is tool.result
    assert (answer.changed, answer.input) == (False, given)
    assert heard.of("PreToolUse")[0].tool_input == AS_JSON
    assert heard.of("PostToolUse")[0].tool_response == {"made": AS_JSON["order"]}


@both
def test_what_a_hook_changes_is_what_the_tool_and_the_model_get(play: Any) -> None:
    hooks = saying("PreToolUse", modify(tool_input={"order": "coffee"}))
    hooks.register("PostToolUse", lambda event: modify(tool_response={**event.tool_response, "extra": 1}))
    tool = Tool({"made": ORDER})

    async def scenario(session: Any) -> Any:
        return await session.tool("buy", {"order": ORDER}, tool)

    answer = play(hooks, scenario, view=json_view)

    assert tool.calls == [{"order": "coffee"}]
    assert answer.content == {"made": AS_JSON["order"], "extra": 1}
    assert answer.changed


@both
@pytest.mark.parametrize("hook", [True, False])
def test_an_input_that_cannot_be_shown_is_denied_and_the_field_is_named(play: Any, hook: bool) -> None:
    hooks, seen = Hooks(), []
    if hook:
        hooks.register("PreToolUse", lambda event: seen.append(event.tool_input), name="guard")
    tool = Tool()

    async def scenario(session: Any) -> Any:
        return await session.tool("buy", {"order": ORDER, "link": object()}, tool)

    answer = play(hooks, scenario, view=json_view, mode="bypass")

    assert (tool.calls, seen, answer.ok, answer.denied) == ([], [], False, True)
    assert answer.reason == (
        "its input cannot be shown to hooks: link: a value of type object has no JSON view "
        "(give the session a view of your own)"
    )
    assert answer.permission.by == "nobody"
    if hook:
        assert [(result.hook, result.error.code) for result in answer.outcome.results] == [("guard", "payload")]


@both
def test_a_result_that_no_hook_changed_is_the_hosts_own(play: Any) -> None:
    result = {"made": Path("/x")}

    async def scenario(session: Any) -> Any:
        return await session.tool("buy", {}, lambda given: result)

    answer = play(saying("PostToolUse", context("note")), scenario, view=json_view)

    assert (answer.content is result, answer.changed) == (True, False)


@both
def test_a_result_that_cannot_be_shown_is_shown_as_text(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)
    result = {"made": print}

    async def scenario(session: Any) -> Any:
        return await session.tool("buy", {}, lambda given: result)

    assert play(hooks, scenario, view=json_view).content is result
    assert heard.of("PostToolUse")[0].tool_response == '{"made": "<built-in function print>"}'


@both
def test_an_object_is_not_written_down_but_given_again(
    play: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    given = {"order": ORDER}

    async def write(session: Any) -> Any:
        return (await session.begin_tool("buy", given, id="t1")).to_dict()

    async def resume(session: Any) -> Any:
        call = await session.resume(pending, input=given)
        await call.said(True)
        return call.input is given, call.state

    hooks = saying("PreToolUse", ask("?"), name="guard")
    pending = play(hooks, write, view=json_view, approver=later, session_id="s1")

    assert pending["shown"] == AS_JSON
    assert play(hooks, resume, view=json_view, approver=later, session_id="s1") == (True, "run")


@both
def test_a_subagent_has_the_view_of_its_parent(play: Any) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    async def loop(child: Any, config: Any) -> Any:
        return (await child.tool("buy", {"order": ORDER}, Tool())).content

    async def scenario(session: Any) -> Any:
        return await session.spawn("buyer", loop)

    play(hooks, scenario, view=json_view)

    assert heard.of("PreToolUse")[0].tool_input == AS_JSON
